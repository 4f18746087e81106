"""The kinds of tokenizers, and the pair of them that a model needs.

All kinds are reversible. To add one, implement `Tokenizer` and name it in `KINDS` and in
`TokenizerConfig.kind`.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import chain
from pathlib import Path

from nmt.config.data import DataConfig
from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.preparing.manifest import require_undamaged
from nmt.corpus.text.capitals import CASING, Casing
from nmt.corpus.text.placeholders import PlaceholderRules
from nmt.corpus.text.target_words import TargetWords
from nmt.corpus.text.training_placeholders import KNOWN_WORDS, RARE_NAMES, KnownWords
from nmt.corpus.tokenizers.subwords import SubwordTokenizer
from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.corpus.tokenizers.words import WordTokenizer
from nmt.files.json_files import unreadable
from nmt.files.text_files import read_chunks
from nmt.special_tokens import NUMBERS, PLACEHOLDERS, TAGS

KINDS: Mapping[str, type[Tokenizer]] = {
    "bpe": SubwordTokenizer,
    "unigram": SubwordTokenizer,
    "char": SubwordTokenizer,
    "spacy": WordTokenizer,
    "whitespace": WordTokenizer,
}


@dataclass(frozen=True)
class Tokenizers:
    """The tokenizers of both sides.

    A joint vocabulary gives both the same ids; for subwords, the target uses only the lower ones.
    """

    source: Tokenizer
    target: Tokenizer
    known: KnownWords | None = None
    """The source words that need no placeholder; None if `data.placeholders` is none."""
    casing: Casing | None = None
    """How target words are capitalized; None unless `data.restore_case` is set."""

    def placeholder_rules(
        self, data: DataConfig, target_words: TargetWords | None = None
    ) -> PlaceholderRules | None:
        """Return what placeholders replace; None if there are none."""
        if self.known is None:
            return None
        knows = lru_cache(10_000)(self.source.knows)
        known = self.known
        written = target_words.words if target_words else frozenset[str]()
        return PlaceholderRules(
            known.words, known.only_names, data.languages, knows, known.names, written
        )


def train_tokenizers(
    data: DataConfig, config: TokenizerConfig, texts: tuple[Path, Path], folder: Path
) -> None:
    """Learn vocabularies from the two text files of the training split; write them to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    symbols = "" if data.placeholders == "none" else PLACEHOLDERS
    if data.number_placeholders and _occur(NUMBERS, texts[0]):
        symbols += NUMBERS
    symbols += TAGS[: len(data.tags)]
    kind, both = KINDS[config.kind], list(zip(data.languages, texts, strict=True))
    if config.joint:
        kind.train(config, both, symbols, folder / kind.files(joint=True)[0])
    else:
        for name, text in zip(kind.files(joint=False), both, strict=True):
            kind.train(config, [text], symbols, folder / name)


def vocabulary_files(config: TokenizerConfig) -> list[str]:
    """Return the names of the vocabulary files of source and target, or of the joint one."""
    return KINDS[config.kind].files(config.joint)


def load_tokenizers(data: DataConfig, config: TokenizerConfig, folder: Path) -> Tokenizers:
    """Load the tokenizers that `prepare` wrote, with their casing rules and known words."""
    paths = [folder / name for name in vocabulary_files(config)]
    require_undamaged([*paths, *(folder / name for name in (CASING, KNOWN_WORDS, RARE_NAMES))])
    source, target = (
        KINDS[config.kind].load(config, language, path)
        for language, path in zip(data.languages, (paths[0], paths[-1]), strict=True)
    )
    if config.joint and target.size > source.size:
        raise unreadable(paths[-1], f"does not match {paths[0].name}")
    casing = Casing.load(folder / CASING) if data.restore_case else None
    known = None
    if data.placeholders != "none":
        known = KnownWords.load(folder, data.placeholders == "names")
    return Tokenizers(source, target, known, casing)


def _occur(characters: str, path: Path) -> bool:
    lines = chain.from_iterable(read_chunks(path))
    return any(not set(characters).isdisjoint(line) for line in lines)
