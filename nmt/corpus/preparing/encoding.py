"""Turns cleaned training text and held-out pairs into token ids."""

from pathlib import Path

import numpy as np

from nmt.config.config import Config
from nmt.config.data import DataConfig
from nmt.corpus.prepared import SIDES, SequenceWriter, read_examples
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.text.tags import split_tag
from nmt.corpus.text.training_placeholders import insert_in_pair
from nmt.corpus.tokenizers.registry import Tokenizers, load_tokenizers
from nmt.corpus.tokenizers.target_tokens import put_target_first
from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.files.text_files import read_chunks
from nmt.progress import with_progress

_RENUMBERED = 2**22  # ids per block
_ENCODED = 50_000  # lines per block; each distinct word in a block is encoded once


def encode_train(config: Config, texts: tuple[Path, Path], folder: Path) -> Tokenizers:
    """Write the training ids; return the tokenizers with their final numbering."""
    tokenizers = load_tokenizers(config.data, config.tokenizer, folder)
    _encode_text(tokenizers.target, texts[1], folder / "train.target")
    if config.tokenizer.joint and config.tokenizer.subword and not config.tokenizer.run:
        _put_target_first(tokenizers.target.size, folder)
        tokenizers = load_tokenizers(config.data, config.tokenizer, folder)
    _encode_text(tokenizers.source, texts[0], folder / "train.source")
    return tokenizers


def _encode_text(tokenizer: Tokenizer, text: Path, stem: Path) -> None:
    with SequenceWriter(stem) as writer:
        for chunk in with_progress(read_chunks(text, _ENCODED), f"encoding {stem.suffix[1:]}"):
            writer.extend(*tokenizer.encode_flat(chunk))


def _put_target_first(size: int, folder: Path) -> None:
    """Renumber a joint vocabulary of `size` tokens, and the target ids written so far."""
    ids = np.memmap(folder / "train.target.ids", np.int32, "r+")
    blocks = [ids[start : start + _RENUMBERED] for start in range(0, len(ids), _RENUMBERED)]
    used = np.zeros(size, np.bool_)
    for block in with_progress(blocks, "finding the target's tokens"):
        used[block] = True
    numbers = put_target_first(folder / "joint.model", folder / "target.model", used)
    for block in with_progress(blocks, "renumbering"):
        block[:] = numbers[block]


def encode_examples(
    data: DataConfig, tokenizers: Tokenizers, split: str, folder: Path
) -> dict[str, float]:
    """Return the share of known tokens of each side; write the ids of the validation split."""
    texts = read_as_model(data, tokenizers, folder / f"{split}.jsonl")
    coverage: dict[str, float] = {}
    for side in SIDES:
        tokenizer: Tokenizer = getattr(tokenizers, side)
        ids, lengths = tokenizer.encode_flat(texts[side])
        coverage[side] = 1 - int(np.isin(ids, tokenizer.unknown_ids).sum()) / max(1, len(ids))
        if split == "validation":  # the test set is only used as text
            with SequenceWriter(folder / f"{split}.{side}") as writer:
                writer.extend(ids, lengths)
    return coverage


def read_as_model(data: DataConfig, tokenizers: Tokenizers, examples: Path) -> dict[str, list[str]]:
    """Return both sides of held-out pairs, as the model reads them."""
    cleaner, rules = Cleaner(data), tokenizers.placeholder_rules(data)
    texts: dict[str, list[str]] = {side: [] for side in SIDES}
    for example in read_examples(examples):
        tag, source = split_tag(data, example.source)
        source, target = cleaner.tidy(source), cleaner.tidy(example.reference)
        if rules:
            source, target = insert_in_pair(rules, source, target)
        texts["source"].append(tag + cleaner.source_form(source))
        texts["target"].append(cleaner.target_form(target))
    return texts
