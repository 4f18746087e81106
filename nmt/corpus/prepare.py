"""The stage `prepare`: turns sentence pairs into prepared data.

>>> from nmt.config_files import load_config
>>> from nmt.corpus.prepare import prepare
>>> prepared = prepare(load_config("sample.yaml"))
"""

import glob
import hashlib
import json
import logging
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from itertools import chain, compress, islice
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nmt.checksums import checksum
from nmt.config import CORPUS_PATHS, Config, DataConfig
from nmt.corpus.casing import CASING, Casing
from nmt.corpus.cleaning import Cleaner
from nmt.corpus.inherited import Inherited
from nmt.corpus.languages import seem_swapped
from nmt.corpus.manifest import FORMAT, read_manifest, require_same_data, write_manifest
from nmt.corpus.placeholders import KnownWords, NameHider, words_of
from nmt.corpus.prepared import (
    SIDES,
    Example,
    PreparedData,
    Sequences,
    SequenceWriter,
    open_prepared,
    read_examples,
    write_examples,
)
from nmt.corpus.readers import Pair, Split
from nmt.corpus.report import CorpusReport, InheritedReport, length_summary
from nmt.corpus.seen import write_seen
from nmt.corpus.sentences import cut
from nmt.corpus.sources import Corpus, open_corpora
from nmt.corpus.splitting import (
    Part,
    assign_parts,
    first_occurrences,
    has_key,
    linked_groups,
    plain,
    sentence_key,
    sentence_keys,
)
from nmt.corpus.tags import split_prefix, tag_prefix
from nmt.corpus.target_pieces import put_target_first
from nmt.corpus.tokenizers import (
    CHUNK,
    KNOWN_WORDS,
    Tokenizer,
    Tokenizers,
    load_tokenizers,
    read_chunks,
    train_tokenizers,
)
from nmt.errors import UserError, shown, writing
from nmt.locks import locked

_LOG = logging.getLogger(__name__)

# validation and test pairs that the user or the corpus provides
Given: TypeAlias = Mapping[Split, list[Pair]]
_PARTS: dict[Split, Part] = {"validation": Part.VALIDATION, "test": Part.TEST}
_NO_KEYS = np.empty(0, np.int64)
_RENUMBERED = 2**22  # ids per block
_ENCODED = 50_000  # lines per block; each distinct word in a block is encoded once
_ENDINGS = {".ids", ".offsets", ".keys", ".jsonl", ".json", ".model"}


def prepare(
    config: Config,
    folder: Path | str | None = None,
    refresh: bool = False,
    run_data: Path | None = None,
) -> PreparedData:
    """Read, clean, split and tokenize the corpus; write the result to `folder`.

    Does nothing if the folder already holds the result for this corpus and configuration. The
    folder is either complete or absent: it is built next to its final location, then moved into
    place. If several processes prepare the same folder, one does the work and the others wait.
    `refresh` downloads the corpus again.

    run_data: the data in a run folder; if the result would differ from it, `UserError` is raised
    before anything is replaced
    """
    corpora = open_corpora(config.data, refresh)
    inherited = Inherited.open(config)
    folder = Path(folder) if folder else default_folder(config)
    fingerprint = _fingerprint(config, corpora, inherited)
    if run_data:
        require_same_data(run_data, fingerprint)
    with _claim(folder) as partial:
        manifest = read_manifest(folder)
        if manifest is None or manifest.fingerprint != fingerprint or not manifest.is_complete():
            _require_own(folder)
            with writing(folder):
                partial.mkdir()
                tokenizers = _write(config, corpora, inherited, partial, fingerprint)
                _replace_folder(folder.resolve(), partial)
            return open_prepared(folder, config.data, config.tokenizer, tokenizers)
        _LOG.info("already prepared %s", folder)
        return open_prepared(folder, config.data, config.tokenizer)


@contextmanager
def _claim(folder: Path) -> Iterator[Path]:
    """Yield a path at which to build `folder`, and lock out other processes."""
    place = folder.resolve()
    with writing(folder):
        place.parent.mkdir(parents=True, exist_ok=True)
    # Each process uses its own path, in case locking is unavailable.
    partial = place.with_name(f".{place.name}.partial-{os.getpid()}")
    lock = place.with_name(f".{place.name}.lock")
    with locked(lock, f"waiting for another process to prepare {folder}") as alone:
        others = place.parent.glob(f".{glob.escape(place.name)}.partial-*") if alone else []
        for remains in {partial, *others}:  # left by killed processes
            shutil.rmtree(remains, ignore_errors=True)
        try:
            yield partial
        finally:
            shutil.rmtree(partial, ignore_errors=True)


def _require_own(folder: Path) -> None:
    """Refuse to replace anything except an empty folder or one that `prepare` wrote."""
    if not folder.exists():
        return
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else {folder.name}
    endings = {Path(name).suffix for name in names}
    if names and not ("prepared.json" in names and endings <= _ENDINGS):
        raise UserError(
            f"{folder}: is not empty, but holds no prepared data; delete it, or move your files"
        )


def _replace_folder(folder: Path, new: Path) -> None:
    """Move `new` to `folder`; delete the old folder only after that succeeds."""
    for path in new.iterdir():  # first, so that a power failure leaves no incomplete files
        with path.open("rb+") as file:
            os.fsync(file.fileno())
    old = new.with_name(f"{new.name}.old")
    shutil.rmtree(old, ignore_errors=True)
    if folder.exists():
        folder.rename(old)
    try:
        new.rename(folder)
    except OSError:
        if old.exists():
            old.rename(folder)
        raise
    shutil.rmtree(old, ignore_errors=True)


def default_folder(config: Config) -> Path:
    """Return ./data/prepared/SOURCE-HASH, with a hash of the data and tokenizer sections."""
    digest = hashlib.sha256(_sections(config).encode()).hexdigest()[:10]
    name = "corpora" if config.data.corpora else config.data.source
    return Path("data", "prepared", f"{name}-{digest}")


def _sections(config: Config, paths: bool = True) -> str:
    """Return the non-default fields of both sections, so that new fields do not change the hash."""
    without = {} if paths else dict.fromkeys(CORPUS_PATHS, True)
    exclude: Any = {**without, "corpora": {"__all__": without}}
    data = config.data.model_dump_json(exclude=exclude, exclude_defaults=True)
    no_run = None if paths else {"run"}
    return data + config.tokenizer.model_dump_json(exclude=no_run, exclude_defaults=True)


def _fingerprint(config: Config, corpora: list[Corpus], inherited: Inherited | None) -> str:
    """Return a hash of everything that the prepared data depends on."""
    digest = hashlib.sha256(f"format {FORMAT}\n".encode())
    digest.update(_sections(config, paths=False).encode())  # files may be moved
    for path in inherited.files(config) if inherited else []:
        digest.update(f"\n{path.name} {checksum(path)}".encode())
    files = [
        (split, path)
        for corpus in corpora
        for split, paths in sorted(corpus.files.items())
        for path in paths
    ]
    size = sum(path.stat().st_size for _, path in files)
    with tqdm(desc="checking corpus", total=size, unit="B", unit_scale=True, delay=2) as bar:
        for split, path in files:
            digest.update(f"\n{split} ".encode())
            with path.open("rb") as file:
                while block := file.read(1 << 20):
                    digest.update(block)
                    bar.update(len(block))
    return digest.hexdigest()


def _write(
    config: Config,
    corpora: list[Corpus],
    inherited: Inherited | None,
    folder: Path,
    fingerprint: str,
) -> Tokenizers:
    texts = (folder / "train.source.txt", folder / "train.target.txt")
    cased = folder / "train.cased.txt" if config.data.restore_case else None
    given = _read_given(config.data, corpora)
    held_out_before = inherited.held_out() if inherited else []
    plan = _plan_splits(config.data, corpora, given, held_out_before, texts, cased)
    for text in filter(None, (*texts, cased)):
        _keep_lines(text, plan.in_train)
    pairs = _write_splits(config.data, given, corpora, plan, folder)
    if cased:
        _learn_casing(cased, folder)
    write_seen(texts, plan.target_keys[plan.in_train], folder)
    hidden = 0 if config.data.carry_over == "none" else _hide_names(config.data, texts, folder)
    if inherited:
        inherited.copy_to(config, folder)
    else:
        train_tokenizers(config.data, config.tokenizer, texts, folder)
    tokenizers = _encode_train(config, texts, folder)
    coverage = {split: _encode_examples(config.data, tokenizers, split, folder) for split in _PARTS}
    _check_coverage(config, coverage)
    lengths = {
        side: length_summary(Sequences.open(folder / f"train.{side}").lengths) for side in SIDES
    }
    report: dict[str, Any] = {
        "read": len(plan.parts),
        "dropped": dict(plan.dropped),
        "pairs": {split: pairs[split] for split in ("train", *_PARTS)},
        "hidden_names": hidden,
        "lengths": lengths,
        "several_sentences": round(float(plan.several[plan.in_train].mean()), 4),
        "vocabulary_size": {side: getattr(tokenizers, side).size for side in SIDES},
        "coverage": coverage,
        "source_in_train": {split: pairs[f"{split} in train"] for split in _PARTS},
        "corpora": _corpus_reports(corpora, plan),
    }
    if inherited:
        report["inherited"] = _fit(config, tokenizers, inherited, folder)
    for text in texts:
        text.unlink()
    (folder / "report.json").write_text(
        json.dumps(report, indent=2, ensure_ascii=False), encoding="utf-8"
    )
    write_manifest(folder, config.data, config.tokenizer, fingerprint)
    return tokenizers


# ----------------------------------------------------------------------------- cleaning, splitting


def _corpus_reports(corpora: list[Corpus], plan: "_Plan") -> list[CorpusReport]:
    in_train = np.split(plan.in_train, np.cumsum(plan.sizes)[:-1])
    return [
        {"name": c.name, "licence": c.licence, "read": size, "train": int(kept.sum())}
        for c, size, kept in zip(corpora, plan.sizes, in_train, strict=True)
    ]


def _read_given(data: DataConfig, corpora: list[Corpus]) -> Given:
    """Return the pairs of provided validation and test splits, with tags on the sources."""
    given: dict[Split, list[Pair]] = {}
    for corpus in corpora:
        for split in _PARTS:
            if corpus.held_out and split in corpus.files:
                pairs = _progress(corpus.pairs(split), f"reading {split}")
                prefix = tag_prefix(data, corpus.tag)
                given.setdefault(split, []).extend((prefix + s, t) for s, t in pairs)
    return given


@dataclass
class _Plan:
    """Which split each pair of the training corpora goes to; a few bytes per pair, no text.

    sizes: number of pairs per corpus; the arrays concatenate the corpora in this order
    several: which sources consist of more than one sentence
    """

    sizes: list[int]
    parts: NDArray[np.uint8]
    source_keys: NDArray[np.int64]
    target_keys: NDArray[np.int64]
    several: NDArray[np.bool_]
    dropped: Counter[str]

    @property
    def in_train(self) -> NDArray[np.bool_]:
        """Which pairs are used for training."""
        return np.equal(self.parts, Part.TRAIN)


def _plan_splits(
    data: DataConfig,
    corpora: list[Corpus],
    given: Given,
    held_out_before: list[Pair],
    texts: tuple[Path, Path],
    cased: Path | None,
) -> _Plan:
    """Read and clean the training corpora, write all pairs, and assign each to a split.

    held_out_before: the pairs that `tokenizer.run` or earlier runs held out, which may be held out
    again but not used for training
    """
    cleaned = _clean(data, corpora, texts, cased)
    kept, dropped = cleaned.kept, cleaned.dropped
    enabled = {*dropped}  # reported even if they drop nothing
    if data.disjoint_splits:
        enabled.add("in another split")
    if data.drop_duplicates:
        first = first_occurrences(cleaned.source_keys, cleaned.target_keys, kept)
        dropped["duplicate"] = int((kept & ~first).sum())
        kept = first
    if data.disjoint_splits:
        shared = _shares_with(chain.from_iterable(given.values()), cleaned, data)
        dropped["in another split"] = int((kept & shared).sum())
        kept = kept & ~shared
    if not kept.any():
        reasons = ", ".join(f"{reason} {count:,}" for reason, count in dropped.items() if count)
        raise UserError(
            f"no training pairs left after cleaning (dropped: {reasons}); check the corpus and "
            "the limits in the data section"
        )
    sizes: dict[Split, int] = {"test": data.test_size, "validation": data.validation_size}
    wanted = {_PARTS[split]: size for split, size in sizes.items() if split not in given}
    if data.disjoint_splits:
        keys = np.zeros_like(cleaned.source_keys)
        keys[kept] = linked_groups(cleaned.plain_source_keys[kept], cleaned.plain_target_keys[kept])
        reserved = _large_groups(keys[kept], min(sizes.values()))
    else:
        keys = cleaned.source_keys
        reserved = np.concatenate([_NO_KEYS, *(_source_keys(data, p) for p in given.values())])
    parts = _assign(keys, kept, wanted, reserved, _held_out_pairs(corpora, cleaned.sizes))
    _warn_if_few_are_left(parts)
    dropped["in another split"] += int((kept & (parts == Part.DROPPED)).sum())
    if held_out_before:
        shared = (
            _shares_with(held_out_before, cleaned, data)
            if data.disjoint_splits
            else np.isin(cleaned.source_keys, _source_keys(data, held_out_before))
        )
        spared = shared & (parts == Part.TRAIN)
        dropped["held out by tokenizer.run"] = int(spared.sum())
        parts[spared] = Part.DROPPED
    counted = Counter({why: count for why, count in dropped.items() if count or why in enabled})
    return _Plan(
        cleaned.sizes,
        parts,
        cleaned.source_keys,
        cleaned.target_keys,
        cleaned.several,
        counted,
    )


def _warn_if_few_are_left(parts: NDArray[np.uint8]) -> None:
    held_out, training = int((parts > Part.TRAIN).sum()), int((parts == Part.TRAIN).sum())
    if 2 * held_out > training:
        _LOG.warning(
            f"{held_out:,} of {held_out + training:,} pairs are held out; to train on more, lower "
            "data.validation_size and data.test_size"
        )


def _held_out_pairs(corpora: list[Corpus], sizes: list[int]) -> NDArray[np.bool_]:
    return np.repeat([corpus.held_out for corpus in corpora], sizes)


def _assign(
    keys: NDArray[np.int64],
    kept: NDArray[np.bool_],
    wanted: dict[Part, int],
    reserved: NDArray[np.int64],
    may_be_taken: NDArray[np.bool_],
) -> NDArray[np.uint8]:
    """Hold out validation and test pairs; drop pairs of other corpora with the same keys.

    may_be_taken: which pairs may be held out, shape (pairs,)
    """
    parts = assign_parts(keys, kept & may_be_taken, wanted, reserved)
    others = kept & ~may_be_taken
    taken = np.unique(keys[parts > Part.TRAIN])
    parts[others] = np.where(np.isin(keys[others], taken), Part.DROPPED, Part.TRAIN)
    return parts


@dataclass
class _Cleaned:
    """Facts about each training pair, after cleaning.

    sizes: number of pairs per corpus; the arrays concatenate the corpora in this order
    several: which sources to keep consist of more than one sentence
    plain_source_keys, plain_target_keys: hashes that ignore case and punctuation; empty unless
    `data.disjoint_splits` is set
    """

    sizes: list[int]
    kept: NDArray[np.bool_]
    source_keys: NDArray[np.int64]
    target_keys: NDArray[np.int64]
    plain_source_keys: NDArray[np.int64]
    plain_target_keys: NDArray[np.int64]
    several: NDArray[np.bool_]
    dropped: Counter[str]


def _clean(
    data: DataConfig, corpora: list[Corpus], texts: tuple[Path, Path], cased: Path | None
) -> _Cleaned:
    """Write the cleaned training pairs; to `cased`, the targets before lower-casing.

    Returns which pairs to keep, hashes of their sources and targets, and why others were dropped.
    """
    cleaner = Cleaner(data)
    kept: list[NDArray[np.bool_]] = []
    several: list[NDArray[np.bool_]] = []
    keys: tuple[list[NDArray[np.int64]], ...] = ([_NO_KEYS], [_NO_KEYS])
    plain_keys: tuple[list[NDArray[np.int64]], ...] = ([_NO_KEYS], [_NO_KEYS])
    dropped: Counter[str] = Counter()
    sizes = [0] * len(corpora)
    with ExitStack() as stack:
        files = [stack.enter_context(_text_writer(text)) for text in texts]
        cased_file = stack.enter_context(_text_writer(cased)) if cased else None
        for number, prefix, chunk in _read_chunks(data, corpora):
            if not sizes[number]:
                _warn_if_swapped(corpora[number].name, chunk, data)
            sizes[number] += len(chunk)
            tidied = [cleaner.tidy_lines(side) for side in zip(*chunk, strict=True)]
            if cased_file:
                cased_file.write(tidied[1] + "\n")
            # Capitals mark where sentences begin, and are part of the patterns of mojibake.
            cased_sources, cased_targets = (side.split("\n") for side in tidied)
            reasons = cleaner.reasons_to_drop(cased_sources, cased_targets)
            kept.append(reasons == "")
            several.append(_have_several(cased_sources, kept[-1], data.source_language))
            sources = cleaner.source_case(tidied[0]).split("\n")
            targets = cleaner.target_case(tidied[1]).split("\n")
            dropped.update(reasons[reasons != ""].tolist())
            for side, lines in enumerate((sources, targets)):
                before = prefix if side == 0 else ""
                files[side].write(before + f"\n{before}".join(lines) + "\n")
                keys[side].append(sentence_keys(lines, data.seed))
                if data.disjoint_splits:
                    plain_keys[side].append(sentence_keys(map(plain, lines), data.seed))
    dropped.update(dict.fromkeys(cleaner.filters, 0))
    return _Cleaned(
        sizes=sizes,
        kept=np.concatenate(kept),
        source_keys=np.concatenate(keys[0]),
        target_keys=np.concatenate(keys[1]),
        plain_source_keys=np.concatenate(plain_keys[0]),
        plain_target_keys=np.concatenate(plain_keys[1]),
        several=np.concatenate(several),
        dropped=dropped,
    )


def _have_several(lines: list[str], kept: NDArray[np.bool_], language: str) -> NDArray[np.bool_]:
    """Return which of the lines to keep consist of more than one sentence."""
    found = np.zeros_like(kept)
    for number in np.flatnonzero(kept):
        found[number] = len(cut(lines[number], language).sentences) > 1
    return found


def _warn_if_swapped(name: str, pairs: list[Pair], data: DataConfig) -> None:
    source, target = data.source_language, data.target_language
    sources, targets = zip(*pairs, strict=True)
    if seem_swapped(sources, targets, (source, target)):
        _LOG.warning(
            f"{name}: its sources seem to be in {target} and its targets in {source}; if so, "
            "swap its columns or files"
        )


def _read_chunks(data: DataConfig, corpora: list[Corpus]) -> Iterator[tuple[int, str, list[Pair]]]:
    """Yield chunks of pairs, each with the number of its corpus and its tag prefix."""
    for number, corpus in enumerate(corpora):
        pairs = iter(_progress(corpus.pairs("train"), f"reading {corpus.name}"))
        while chunk := list(islice(pairs, CHUNK)):
            yield number, tag_prefix(data, corpus.tag), chunk


def _shares_with(
    held_out: Iterable[Pair], cleaned: _Cleaned, data: DataConfig
) -> NDArray[np.bool_]:
    """Return which training pairs share a source or target with a held-out pair."""
    pairs, cleaner = list(held_out), Cleaner(data)
    sources, targets = (
        sentence_keys((plain(cleaner.tidy(pair[side])) for pair in pairs), data.seed)
        for side in (0, 1)
    )
    return np.isin(cleaned.plain_source_keys, sources) | np.isin(cleaned.plain_target_keys, targets)


def _large_groups(keys: NDArray[np.int64], size: int) -> NDArray[np.int64]:
    """Return the keys of groups so large that a few of them would fill a split of `size` pairs."""
    groups, counts = np.unique(keys, return_counts=True)
    return groups[counts > max(10, size // 20)]


def _source_keys(data: DataConfig, pairs: list[Pair]) -> NDArray[np.int64]:
    cleaner = Cleaner(data)
    return sentence_keys((cleaner.source(source) for source, _ in pairs), data.seed)


def _write_splits(
    data: DataConfig, given: Given, corpora: list[Corpus], plan: _Plan, folder: Path
) -> Counter[str]:
    """Write the raw validation and test pairs; return the size of each split."""
    cleaner = Cleaner(data)
    train_keys = np.unique(plan.source_keys[plan.in_train])
    counts = Counter(train=int(plan.in_train.sum()))
    held_out = _held_out(data, corpora, plan)
    for split, part in _PARTS.items():
        pairs = given.get(split, held_out[part])
        examples = [_example(pair, cleaner, train_keys) for pair in pairs]
        write_examples(folder / f"{split}.jsonl", examples)
        counts[split] = len(examples)
        counts[f"{split} in train"] = sum(example.source_in_train for example in examples)
        if not any(e.source.strip() and e.reference.strip() for e in examples):
            raise UserError(
                f"the {split} split, or one side of it, is empty; check data.{split}_path"
            )
    return counts


def _keep_lines(text: Path, kept: NDArray[np.bool_]) -> None:
    """Keep only the lines of a text file that `kept` selects."""
    rest = text.with_suffix(".kept")
    with text.open("rb") as lines, rest.open("wb") as file:
        file.writelines(compress(lines, kept.tolist()))
    rest.replace(text)


def _held_out(data: DataConfig, corpora: list[Corpus], plan: _Plan) -> dict[Part, list[Pair]]:
    """Read the corpora again and return the raw held-out pairs, with tags on the sources."""
    held_out: dict[Part, list[Pair]] = {part: [] for part in _PARTS.values()}
    all_parts = np.split(plan.parts, np.cumsum(plan.sizes)[:-1])
    for corpus, parts in zip(corpora, all_parts, strict=True):
        chosen = np.isin(parts, list(held_out))
        if chosen.any():
            prefix = tag_prefix(data, corpus.tag)
            pairs = _progress(corpus.pairs("train"), "reading again", len(chosen))
            found = zip(parts.tolist(), pairs, strict=True)
            for part, (source, target) in compress(found, chosen.tolist()):
                held_out[Part(part)].append((prefix + source, target))
    return held_out


def _example(pair: tuple[str, str], cleaner: Cleaner, train_keys: NDArray[np.int64]) -> Example:
    source, reference = (" ".join(text.split()) for text in pair)
    key = sentence_key(cleaner.source(source), cleaner.data.seed)
    return Example(source, cleaner.composed(reference), has_key(train_keys, key))


def _learn_casing(cased: Path, folder: Path) -> None:
    """Learn and write the capitalization of the training targets."""

    def lines() -> Iterator[str]:
        return chain.from_iterable(_progress(read_chunks(cased), "learning capitals"))

    Casing.learn(lines).save(folder / CASING)
    cased.unlink()


def _hide_names(data: DataConfig, texts: tuple[Path, Path], folder: Path) -> int:
    """Replace names in the training text with placeholders; write the list of known words.

    Returns the number of pairs with placeholders.
    """
    only_names = data.carry_over == "names"
    hider = NameHider(_progress(_read_pairs(texts), "finding names"), only_names, data.seed)
    known: set[str] = set()
    count = 0
    rewritten = (texts[0].with_suffix(".hidden"), texts[1].with_suffix(".hidden"))
    with _text_writer(rewritten[0]) as source_file, _text_writer(rewritten[1]) as target_file:
        for pair in _progress(_read_pairs(texts), "hiding names"):
            source, target = hider.hide(*pair)
            source_file.write(source + "\n")
            target_file.write(target + "\n")
            known |= words_of(source)
            count += (source, target) != pair
    for text, new in zip(texts, rewritten, strict=True):
        new.replace(text)
    KnownWords(known, only_names).save(folder / KNOWN_WORDS)
    return count


def _read_pairs(texts: tuple[Path, Path]) -> Iterator[tuple[str, str]]:
    for chunks in zip(read_chunks(texts[0]), read_chunks(texts[1]), strict=True):
        yield from zip(*chunks, strict=True)


def _text_writer(path: Path) -> Any:
    return path.open("w", encoding="utf-8", newline="\n")


# -------------------------------------------------------------------------------------- encoding


def _encode_train(config: Config, texts: tuple[Path, Path], folder: Path) -> Tokenizers:
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
        for chunk in _progress(read_chunks(text, _ENCODED), f"encoding {stem.suffix[1:]}"):
            writer.extend(*tokenizer.encode_flat(chunk))


def _put_target_first(size: int, folder: Path) -> None:
    """Renumber a joint vocabulary of `size` pieces, and the target ids written so far."""
    ids = np.memmap(folder / "train.target.ids", np.int32, "r+")
    blocks = [ids[start : start + _RENUMBERED] for start in range(0, len(ids), _RENUMBERED)]
    used = np.zeros(size, np.bool_)
    for block in _progress(blocks, "finding the target's pieces"):
        used[block] = True
    numbers = put_target_first(folder / "joint.model", folder / "target.model", used)
    for block in _progress(blocks, "renumbering"):
        block[:] = numbers[block]


def _encode_examples(
    data: DataConfig, tokenizers: Tokenizers, split: str, folder: Path
) -> dict[str, float]:
    """Return the share of known tokens of each side; write the ids of the validation split."""
    texts = _read_as_model(data, tokenizers, folder / f"{split}.jsonl")
    coverage: dict[str, float] = {}
    for side in SIDES:
        tokenizer: Tokenizer = getattr(tokenizers, side)
        ids, lengths = tokenizer.encode_flat(texts[side])
        coverage[side] = 1 - int(np.isin(ids, tokenizer.unknown_ids).sum()) / max(1, len(ids))
        if split == "validation":  # the test set is only used as text
            with SequenceWriter(folder / f"{split}.{side}") as writer:
                writer.extend(ids, lengths)
    return coverage


def _read_as_model(
    data: DataConfig, tokenizers: Tokenizers, examples: Path
) -> dict[str, list[str]]:
    """Return both sides of held-out pairs, as the model reads them."""
    cleaner = Cleaner(data)
    texts: dict[str, list[str]] = {side: [] for side in SIDES}
    for example in read_examples(examples):
        prefix, source = split_prefix(data, example.source)
        source, target = cleaner.tidy(source), cleaner.tidy(example.reference)
        if tokenizers.known:
            source, target = tokenizers.known.hide_pair(source, target)
        texts["source"].append(prefix + cleaner.source_case(source))
        texts["target"].append(cleaner.target_case(target))
    return texts


def _fit(
    config: Config, tokenizers: Tokenizers, inherited: Inherited, folder: Path
) -> InheritedReport:
    """Compare how well a run's vocabularies fit the new validation text and the run's own."""
    new, own = (
        {
            side: _pieces_per_word(getattr(tokenizers, side), lines)
            for side, lines in _read_as_model(config.data, tokenizers, path).items()
        }
        for path in (folder / "validation.jsonl", inherited.folder / "validation.jsonl")
    )
    cleaner, seen = Cleaner(config.data), inherited.seen
    known: dict[str, int] = {
        split: sum(
            seen.is_target(cleaner.target(example.reference))
            for example in read_examples(folder / f"{split}.jsonl")
        )
        for split in _PARTS
    }
    return {
        "run": str(config.tokenizer.run),
        "pieces_per_word": new,
        "pieces_per_word_before": own,
        "target_seen_before": known,
        "corpora_before": inherited.corpora(),
    }


def _pieces_per_word(tokenizer: Tokenizer, lines: list[str]) -> float:
    words = sum(len(line.split()) for line in lines)
    return round(len(tokenizer.encode_flat(lines)[0]) / max(1, words), 3)


def _check_coverage(config: Config, coverage: dict[Split, dict[str, float]]) -> None:
    floor = config.data.min_coverage
    low = [
        f"{split} {side} {share:.1%}"
        for split, shares in coverage.items()
        for side, share in shares.items()
        if share < floor
    ]
    if low:
        run = config.tokenizer.run
        remedy = (
            f"the vocabulary of {run} does not fit this text: train a new model without --from"
            if run
            else "check that the splits contain the same kind of text, raise "
            "tokenizer.vocabulary_size or use subwords"
        )
        raise UserError(
            f"the vocabulary covers too few tokens: {', '.join(low)}, below data.min_coverage "
            f"{floor:.0%}; {remedy}"
        )


def _progress(items: Any, description: str, total: int | None = None) -> Any:
    """Iterate over items with a progress bar, which appears after two seconds."""
    return tqdm(items, desc=shown(description), total=total, unit="", unit_scale=True, delay=2)
