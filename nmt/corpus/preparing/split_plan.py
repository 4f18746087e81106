"""Cleans the training corpora, and decides which split each pair belongs to.

Memory holds a few bytes per pair; the text itself, raw and cleaned, is in files.
"""

import logging
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from itertools import chain, compress
from operator import eq
from pathlib import Path
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from nmt.config.data import DataConfig
from nmt.config.languages import LISTED, common_words, seem_swapped, seem_to_be_in, two_letters
from nmt.corpus.prepared import Example, write_examples
from nmt.corpus.preparing.leftovers import LeftoverCounts
from nmt.corpus.preparing.splitting import (
    Part,
    assign_parts,
    first_occurrences,
    has_key,
    linked_groups,
    sentence_key,
    sentence_keys,
)
from nmt.corpus.sources.corpus import Corpus
from nmt.corpus.sources.paths import given_paths
from nmt.corpus.sources.readers import Pair, Split
from nmt.corpus.text.cleaning import Cleaner, as_lines
from nmt.corpus.text.form_of_address import address
from nmt.corpus.text.normalization import words_only
from nmt.corpus.text.sentence_edges import lacks_final_mark
from nmt.corpus.text.sentences import has_several
from nmt.corpus.text.tags import tag_of
from nmt.errors import UserError
from nmt.files.text_files import CHUNK, read_chosen, text_writer
from nmt.progress import in_chunks, with_progress

_LOG = logging.getLogger(__name__)

# validation and test pairs that the user or the corpus provides
Given: TypeAlias = Mapping[Split, list[Pair]]
PARTS: dict[Split, Part] = {"validation": Part.VALIDATION, "test": Part.TEST}
_SAMPLE = 1000  # pairs of each chunk that are looked at; all of them would take long
_FEWEST_JUDGED = 100  # pairs
_MOST_SUSPICIOUS = 0.5
_MANY = 0.2  # of the common words of two languages
_ENOUGH = 0.1  # common words per pair, to judge by
_NO_KEYS = np.empty(0, np.int64)


def read_given(data: DataConfig, corpora: list[Corpus]) -> Given:
    """Return the pairs of provided validation and test splits, with tags on the sources."""
    given: dict[Split, list[Pair]] = {}
    for corpus in corpora:
        for split in PARTS:
            if corpus.held_out and split in corpus.files:
                pairs = list(with_progress(corpus.pairs(split), f"reading {split}"))
                inspection = _Inspection(data, corpus, split)
                inspection.look_at(pairs)
                inspection.finish()
                tag = tag_of(data, corpus.tag)
                given.setdefault(split, []).extend((tag + s, t) for s, t in pairs)
    return given


@dataclass
class SplitPlan:
    """Which split each pair of the training corpora goes to; a few bytes per pair, no text."""

    sizes: list[int]
    """Number of pairs per corpus; the arrays concatenate the corpora in this order."""
    parts: NDArray[np.uint8]
    source_keys: NDArray[np.int64]
    target_keys: NDArray[np.int64]
    several: float
    """The share of sources with more than one sentence, of a sample."""
    lacks_mark: float
    """The share of them that lack a final mark, see `lacks_final_mark`."""
    dropped: Counter[str]

    @property
    def in_train(self) -> NDArray[np.bool_]:
        """Which pairs are used for training."""
        return np.equal(self.parts, Part.TRAIN)


def plan_splits(
    data: DataConfig,
    corpora: list[Corpus],
    given: Given,
    held_out_before: list[Pair],
    texts: tuple[Path, Path],
    raw: tuple[Path, Path],
    cased: Path | None,
) -> SplitPlan:
    """Read and clean the training corpora, write all pairs, and assign each to a split.

    The pairs are written to `raw` as well, as they were read, if some may be held out.

    held_out_before: the pairs that `tokenizer.run` or earlier runs held out, which may be held out
    again but not used for training
    """
    draws = any(split not in given for split in PARTS)
    cleaned = _clean(data, corpora, texts, raw if draws else (), cased)
    kept, dropped = cleaned.kept, cleaned.dropped
    held_out = np.repeat([corpus.held_out for corpus in corpora], cleaned.sizes)
    enabled = {*dropped}  # reported even if they drop nothing
    if data.disjoint_splits:
        enabled.add("in another split")
    if data.drop_duplicates:
        # Of equal pairs, keep one that may be held out, whatever the order of the corpora.
        order = np.argsort(~held_out & draws, kind="stable")
        first = np.empty_like(kept)
        first[order] = first_occurrences(
            cleaned.source_keys[order], cleaned.target_keys[order], kept[order]
        )
        dropped["duplicate"] = int((kept & ~first).sum())
        kept = first
    if data.disjoint_splits:
        shared = _shares_with(chain.from_iterable(given.values()), cleaned, data)
        dropped["in another split"] = int((kept & shared).sum())
        kept = kept & ~shared
    reasons = ", ".join(f"{reason} {count:,}" for reason, count in dropped.items() if count)
    if not kept.any():
        raise UserError(
            f"no training pairs left after cleaning (dropped: {reasons}); check the corpus and "
            "the limits in the data section"
        )
    sizes: dict[Split, int] = {"test": data.test_size, "validation": data.validation_size}
    wanted = {PARTS[split]: size for split, size in sizes.items() if split not in given}
    if data.disjoint_splits:
        keys = np.zeros_like(cleaned.source_keys)
        keys[kept] = linked_groups(cleaned.plain_source_keys[kept], cleaned.plain_target_keys[kept])
        reserved = _large_groups(keys[kept], min(sizes.values()))
    else:
        keys = cleaned.source_keys
        reserved = np.concatenate([_NO_KEYS, *(_source_keys(data, p) for p in given.values())])
    parts = _assign(keys, kept, wanted, reserved, held_out, reasons)
    if not (parts == Part.TRAIN).any():
        raise UserError(
            "all pairs are held out, so none are left for training; lower data.validation_size and "
            "data.test_size"
        )
    _warn_if_few_are_left(parts)
    dropped["in another split"] += int((kept & (parts == Part.DROPPED)).sum())
    if held_out_before:
        shared = (
            _shares_with(held_out_before, cleaned, data)
            if data.disjoint_splits
            else np.isin(cleaned.source_keys, _source_keys(data, held_out_before))
        )
        spared = shared & (parts == Part.TRAIN)
        dropped["held out by the original run"] = int(spared.sum())
        parts[spared] = Part.DROPPED
        if not (parts == Part.TRAIN).any():
            raise UserError(
                "no training pairs left: the original run held all of them out for validation or "
                "testing; use other pairs"
            )
    counted = Counter({why: count for why, count in dropped.items() if count or why in enabled})
    return SplitPlan(
        cleaned.sizes,
        parts,
        cleaned.source_keys,
        cleaned.target_keys,
        cleaned.several,
        cleaned.lacks_mark,
        counted,
    )


def _warn_if_few_are_left(parts: NDArray[np.uint8]) -> None:
    held_out, training = int((parts > Part.TRAIN).sum()), int((parts == Part.TRAIN).sum())
    if 2 * held_out > training:
        _LOG.warning(
            f"{held_out:,} of {held_out + training:,} pairs are held out; to train on more, lower "
            "data.validation_size and data.test_size"
        )


def _assign(
    keys: NDArray[np.int64],
    kept: NDArray[np.bool_],
    wanted: dict[Part, int],
    reserved: NDArray[np.int64],
    may_be_taken: NDArray[np.bool_],
    dropped: str,
) -> NDArray[np.uint8]:
    """Hold out validation and test pairs; drop pairs with their keys that may not be held out.

    may_be_taken: which pairs may be held out, shape (pairs,); dropped: as in `assign_parts`
    """
    parts = assign_parts(keys, kept & may_be_taken, wanted, reserved, dropped)
    others = kept & ~may_be_taken
    taken = np.unique(keys[parts > Part.TRAIN])
    parts[others] = np.where(np.isin(keys[others], taken), Part.DROPPED, Part.TRAIN)
    return parts


@dataclass
class _Cleaned:
    """Facts about each training pair, after cleaning."""

    sizes: list[int]
    """Number of pairs per corpus; the arrays concatenate the corpora in this order."""
    kept: NDArray[np.bool_]
    source_keys: NDArray[np.int64]
    target_keys: NDArray[np.int64]
    plain_source_keys: NDArray[np.int64]
    plain_target_keys: NDArray[np.int64]
    """`plain_source_keys` and `plain_target_keys` are hashes that ignore case and punctuation;
    empty unless `data.disjoint_splits` is set.
    """
    several: float
    """The share of kept sources with more than one sentence, of a sample."""
    lacks_mark: float
    """The share of them that lack a final mark, see `lacks_final_mark`."""
    dropped: Counter[str]


def _clean(
    data: DataConfig,
    corpora: list[Corpus],
    texts: tuple[Path, Path],
    raw: tuple[Path, ...],
    cased: Path | None,
) -> _Cleaned:
    """Write the cleaned training pairs; to `raw`, those read; to `cased`, the cased targets.

    Returns which pairs to keep, hashes of their sources and targets, and why others were dropped.
    """
    cleaner = Cleaner(data)
    kept: list[NDArray[np.bool_]] = []
    several: list[bool] = []
    lacks_mark: list[bool] = []
    keys: tuple[list[NDArray[np.int64]], ...] = ([_NO_KEYS], [_NO_KEYS])
    plain_keys: tuple[list[NDArray[np.int64]], ...] = ([_NO_KEYS], [_NO_KEYS])
    dropped: Counter[str] = Counter()
    sizes = [0] * len(corpora)
    inspections = [_Inspection(data, corpus, "train") for corpus in corpora]
    with ExitStack() as stack:
        files = [stack.enter_context(text_writer(text)) for text in texts]
        raw_files = [stack.enter_context(text_writer(text)) for text in raw]
        cased_file = stack.enter_context(text_writer(cased)) if cased else None
        for number, tag, chunk in _read_chunks(data, corpora):
            inspections[number].look_at(chunk)
            sizes[number] += len(chunk)
            read = [as_lines(side) for side in zip(*chunk, strict=True)]
            for file, lines in zip(raw_files, read, strict=False):
                # Of a corpus that is only trained on, nothing is held out.
                file.write((lines if corpora[number].held_out else "\n" * (len(chunk) - 1)) + "\n")
            tidied = [cleaner.tidy_lines(lines) for lines in read]
            if cased_file:
                cased_file.write(tidied[1] + "\n")
            # Capitals mark where sentences begin, and are part of the patterns of mojibake.
            cased_sources, cased_targets = (side.split("\n") for side in tidied)
            reasons = cleaner.reasons_to_drop(cased_sources, cased_targets)
            kept.append(reasons == "")
            sources = cleaner.source_form(tidied[0]).split("\n")
            sample = [i for i in range(0, len(chunk), _step(chunk)) if kept[-1][i]]
            several += has_several([cased_sources[i] for i in sample], data.source_language)
            lacks_mark += [lacks_final_mark(sources[i]) for i in sample]
            targets = cleaner.target_form(tidied[1]).split("\n")
            dropped.update(reasons[reasons != ""].tolist())
            for side, cleaned in enumerate((sources, targets)):
                keys[side].append(sentence_keys(cleaned, data.seed))
                if data.disjoint_splits:
                    plain_keys[side].append(sentence_keys(map(words_only, cleaned), data.seed))
            if tag:
                sources = [tag + line for line in sources]
            elif data.address:
                tags = _addressed(data, cased_targets, keys[1][-1])
                sources = [each + line for each, line in zip(tags, sources, strict=True)]
            files[0].write("\n".join(sources) + "\n")
            files[1].write("\n".join(targets) + "\n")
    for inspection in inspections:
        inspection.finish()
    dropped.update(dict.fromkeys(cleaner.filters, 0))
    return _Cleaned(
        sizes=sizes,
        kept=np.concatenate(kept),
        source_keys=np.concatenate(keys[0]),
        target_keys=np.concatenate(keys[1]),
        plain_source_keys=np.concatenate(plain_keys[0]),
        plain_target_keys=np.concatenate(plain_keys[1]),
        several=float(np.mean(several)) if several else 0.0,
        lacks_mark=float(np.mean(lacks_mark)) if lacks_mark else 0.0,
        dropped=dropped,
    )


def _addressed(data: DataConfig, targets: list[str], keys: NDArray[np.int64]) -> list[str]:
    """Return the tag of each pair: in half of those whose target shows it, the form of address.

    keys: hashes of the targets, which choose the half
    """
    chosen = (keys % 2 == 0).tolist()
    return [
        tag_of(data, address(target) if each else None)
        for target, each in zip(targets, chosen, strict=True)
    ]


def _step(chunk: Sequence[object]) -> int:
    """Return the distance between the pairs of a chunk that are a sample, spread evenly."""
    return max(1, len(chunk) // _SAMPLE)


class _Inspection:
    """Warns, once each, of what is suspicious about the pairs of a split."""

    def __init__(self, data: DataConfig, corpus: Corpus, split: Split):
        self._data = data
        paths = given_paths(data)
        path = paths.get(split) or paths.get("train") or corpus.name
        self._name = " and ".join(map(str, path)) if isinstance(path, tuple) else str(path)
        if split in PARTS and split not in paths:
            self._name += f" ({split})"
        self._told: set[str] = set()
        self._leftovers = LeftoverCounts(data)

    def look_at(self, pairs: list[Pair]) -> None:
        """Look at some of the pairs; of many, at a sample that is spread evenly."""
        sample = pairs[:: _step(pairs)]
        for problem in _suspicions(sample, self._data):
            if problem not in self._told:
                self._told.add(problem)
                _LOG.warning(f"{self._name}: {problem}")
        self._leftovers.add(sample, len(pairs))

    def finish(self) -> None:
        """Warn of what is judged by all pairs."""
        for warning in self._leftovers.warnings():
            _LOG.warning(f"{self._name}: {warning}")


def _suspicions(pairs: list[Pair], data: DataConfig) -> Iterator[str]:
    """Yield what suggests that pairs are not translations from the one language to the other."""
    source, target = data.languages
    sources, targets = zip(*pairs, strict=True)
    words = common_words(sources), common_words(targets)
    swapped = seem_swapped(*words, data.languages)
    if swapped:
        yield (
            f"its sources seem to be in {target} and its targets in {source}; if so, swap its "
            "columns or files"
        )
    if len(pairs) < _FEWEST_JUDGED:
        return
    others = [
        _other_language(of_side, two_letters(own), len(pairs))
        for of_side, own in zip(words, data.languages, strict=True)
    ]
    if others == [two_letters(target), two_letters(source)] and not swapped:
        yield (
            f"many of its pairs seem to have {target} first and {source} second; swap the sides of "
            "these"
        )
    elif not swapped:
        for side, other in zip(("sources", "targets"), others, strict=True):
            if other:
                yield f"many of its {side} seem to be in {other}; check its columns or files"
    overlaps = {
        "have the same text on both sides; see data.drop_copies": sum(map(eq, sources, targets)),
        "have no letters; check its columns": sum(
            not (any(map(str.isalpha, x)) and any(map(str.isalpha, y))) for x, y in pairs
        ),
    }
    for problem, count in overlaps.items():
        if count > _MOST_SUSPICIOUS * len(pairs):
            yield f"most of its pairs {problem}"


def _other_language(words: Counter[str], own: str, pairs: int) -> str | None:
    """Return another language, of many of the common words of one side of the pairs, or None."""
    enough = (x for x in LISTED if x != own and words[x] >= _ENOUGH * pairs)
    return next((x for x in enough if seem_to_be_in(x, words, own, _MANY)), None)


def _read_chunks(data: DataConfig, corpora: list[Corpus]) -> Iterator[tuple[int, str, list[Pair]]]:
    """Yield chunks of pairs, each with the number of its corpus and its tag."""
    for number, corpus in enumerate(corpora):
        for chunk in in_chunks(corpus.pairs("train"), CHUNK, f"reading {corpus.name}"):
            yield number, tag_of(data, corpus.tag), chunk


def _shares_with(
    held_out: Iterable[Pair], cleaned: _Cleaned, data: DataConfig
) -> NDArray[np.bool_]:
    """Return which training pairs share a source or target with a held-out pair."""
    pairs, cleaner = list(held_out), Cleaner(data)
    sources, targets = (
        sentence_keys((words_only(cleaner.tidy(pair[side])) for pair in pairs), data.seed)
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


def write_splits(
    data: DataConfig,
    given: Given,
    corpora: list[Corpus],
    plan: SplitPlan,
    raw: tuple[Path, Path],
    folder: Path,
) -> Counter[str]:
    """Write the raw validation and test pairs; return the size of each split.

    raw: what `plan_splits` wrote there
    """
    cleaner = Cleaner(data)
    train_keys = np.unique(plan.source_keys[plan.in_train])
    counts = Counter(train=int(plan.in_train.sum()))
    held_out = _held_out(data, corpora, plan, raw)
    for split, part in PARTS.items():
        pairs = given.get(split, held_out[part])
        examples = [_example(pair, cleaner, train_keys) for pair in pairs]
        write_examples(folder / f"{split}.jsonl", examples)
        counts[split] = len(examples)
        counts[f"{split} in train"] = sum(example.source_in_train for example in examples)
        if not any(e.source.strip() and e.reference.strip() for e in examples):
            field = f"{split}_path"
            remedy = f"check data.{field}" if getattr(data, field, None) else "use another corpus"
            raise UserError(f"the {split} split, or one side of it, is empty; {remedy}")
    return counts


def keep_lines(text: Path, kept: NDArray[np.bool_]) -> None:
    """Keep only the lines of a text file that `kept` selects."""
    rest = text.with_suffix(".kept")
    with text.open("rb") as lines, rest.open("wb") as file:
        file.writelines(compress(lines, kept.tolist()))
    rest.replace(text)


def _held_out(
    data: DataConfig, corpora: list[Corpus], plan: SplitPlan, raw: tuple[Path, Path]
) -> dict[Part, list[Pair]]:
    """Return the raw held-out pairs, with tags on the sources."""
    held_out: dict[Part, list[Pair]] = {part: [] for part in PARTS.values()}
    chosen = np.isin(plan.parts, list(held_out))
    if chosen.any():
        tags = [tag_of(data, corpus.tag) for corpus in corpora]
        numbers = np.repeat(np.arange(len(corpora)), plan.sizes)[chosen]
        sources, targets = (read_chosen(text, chosen.tolist()) for text in raw)
        found = zip(plan.parts[chosen].tolist(), numbers.tolist(), sources, targets, strict=True)
        for part, number, source, target in found:
            held_out[Part(part)].append((tags[number] + source, target))
    return held_out


def _example(pair: tuple[str, str], cleaner: Cleaner, train_keys: NDArray[np.int64]) -> Example:
    source, reference = (" ".join(text.split()) for text in pair)
    key = sentence_key(cleaner.source(source), cleaner.data.seed)
    return Example(source, cleaner.composed(reference), has_key(train_keys, key))
