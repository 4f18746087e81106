"""Prepared data on disk: flat arrays of ids with offsets, memory-mapped, in one folder.

train.source.ids      int32, the ids of all sentences one after another
train.source.offsets  int64, start of each sentence, and the total length
train.target.*, validation.*
validation.jsonl, test.jsonl   raw text: {"source", "reference", "source_in_train"}
kept_out.jsonl        the pairs that earlier runs held out, if tokenizer.run is set
joint.model and target.model, or source.vocabulary.json, …   the tokenizers
known_words.json      the words of the training sources, if data.placeholders is set
rare_names.json       rare names, which are always replaced, if data.placeholders is set
casing.json           the capitalization of the training targets, if data.restore_case is set
frequent_words.json   words of each side that occur at least 5 times in training
train.target.keys     int64, sorted hashes of the training targets
report.json           what was read, dropped and covered
prepared.json         the manifest (nmt/corpus/preparing/manifest.py)
"""

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from types import TracebackType
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter, ValidationError

from nmt.config.data import DataConfig
from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.preparing.manifest import read_manifest
from nmt.corpus.preparing.report import PreparationReport
from nmt.corpus.tokenizers.registry import Tokenizers, load_tokenizers
from nmt.errors import UserError
from nmt.files.json_files import first_problem, read_json_lines, unreadable
from nmt.files.small_files import read_small
from nmt.special_tokens import PAD, TAGS

SIDES: tuple[Literal["source"], Literal["target"]] = ("source", "target")
_ID = np.dtype("<i4")
_OFFSET = np.dtype("<i8")
_BLOCK = 2**18  # ids


class Sequences:
    """Sentences as ids in one flat array.

    ids: of all sentences; offsets: start of each sentence, and the total length
    """

    def __init__(self, ids: NDArray[np.int32], offsets: NDArray[np.int64]):
        self.ids, self.offsets = ids, offsets

    @classmethod
    def open(cls, stem: Path, vocabulary: int | None = None) -> "Sequences":
        """Memory-map what `SequenceWriter` wrote; refuse ids outside a vocabulary of this size."""
        try:
            offsets = np.memmap(f"{stem}.offsets", _OFFSET, "r")
            # An empty file cannot be mapped, and all sentences may be empty.
            empty = Path(f"{stem}.ids").stat().st_size == 0
            ids = np.empty(0, _ID) if empty else np.memmap(f"{stem}.ids", _ID, "r")
        except (OSError, ValueError) as error:
            raise unreadable(stem, str(error)) from None
        if offsets[-1] != len(ids):
            raise unreadable(stem, "truncated")
        if offsets[0] != 0 or (offsets[1:] < offsets[:-1]).any():
            raise unreadable(stem, "damaged")
        # Block by block, so that each is read from the disk only once; 200 million ids take 0.13 s.
        for start in range(0, len(ids) if vocabulary else 0, _BLOCK):
            block = ids[start : start + _BLOCK]
            if block.min() <= PAD or block.max() >= vocabulary:
                raise unreadable(stem, "damaged")
        return cls(ids, offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, index: int) -> NDArray[np.int32]:
        return self.ids[self.offsets[index] : self.offsets[index + 1]]

    def rows(self, numbers: NDArray[np.int64]) -> list[list[int]]:
        """Return the ids of several sentences."""
        ids = self.ids.view(np.ndarray)  # slicing a memory map is slow
        starts, ends = self.offsets[numbers].tolist(), self.offsets[numbers + 1].tolist()
        return [ids[start:end].tolist() for start, end in zip(starts, ends, strict=True)]

    def joined(self, order: NDArray[np.int64], starts: NDArray[np.int64]) -> "Sequences":
        """Join sentences, taken in `order`; starts: places in `order` at which new ones begin."""
        lengths = self.lengths[order]
        offsets = np.concatenate([[0], lengths.cumsum()])
        shift = np.repeat(self.offsets[order] - offsets[:-1], lengths)
        ids = self.ids.view(np.ndarray)[shift + np.arange(offsets[-1])]
        return Sequences(ids, offsets[np.append(starts, len(order))])

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of ids of each sentence."""
        return np.diff(self.offsets)


class SequenceWriter:
    """Appends sentences to the two files that `Sequences` reads."""

    def __init__(self, stem: Path):
        self._ids = Path(f"{stem}.ids").open("wb")  # noqa: SIM115 closed by __exit__
        self._offsets = Path(f"{stem}.offsets").open("wb")  # noqa: SIM115
        self._end = 0
        self._offsets.write(np.zeros(1, _OFFSET).data)

    def extend(self, ids: NDArray[np.int32], lengths: NDArray[np.int64]) -> None:
        """Append sentences, given their concatenated ids and the length of each."""
        # `tofile` does not report all disk-full errors.
        self._offsets.write((self._end + np.cumsum(lengths)).astype(_OFFSET).data)
        self._end += len(ids)
        self._ids.write(ids.astype(_ID).data)

    def __enter__(self) -> "SequenceWriter":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ids.close()
        self._offsets.close()


@dataclass(frozen=True)
class Example:
    """A raw sentence pair to translate and score."""

    source: str
    reference: str
    source_in_train: bool


def write_examples(path: Path, examples: Iterable[Example]) -> None:
    """Write examples as JSON lines."""
    with path.open("w", encoding="utf-8", newline="\n") as file:
        for example in examples:
            file.write(json.dumps(asdict(example), ensure_ascii=False) + "\n")


def read_examples(path: Path) -> list[Example]:
    """Read what `write_examples` wrote."""
    try:
        return read_json_lines(path, Example)
    except OSError as error:
        raise unreadable(path, error.strerror or "damaged") from None
    except ValueError as error:
        raise unreadable(path, str(error)) from None


@dataclass(frozen=True)
class PreparedData:
    """An opened folder of prepared data."""

    folder: Path
    data: DataConfig
    tokenizer: TokenizerConfig
    tokenizers: Tokenizers
    fingerprint: str
    report: PreparationReport

    def sequences(self, split: str) -> tuple[Sequences, Sequences]:
        """Return source and target ids of `train` or `validation`."""
        return (
            Sequences.open(self.folder / f"{split}.source", self.tokenizers.source.size),
            Sequences.open(self.folder / f"{split}.target", self.tokenizers.target.size),
        )

    @property
    def mixing_weights(self) -> list[tuple[int, float]] | None:
        """Number of training pairs of each corpus, and its share of an epoch.

        None if each pair occurs once per epoch.
        """
        sizes = [corpus["train"] for corpus in self.report.get("corpora", [])]
        weights = [part.weight for part in self.data.corpora if part.weight]
        if not weights:
            if self.data.mixing_temperature == 1:
                return None
            weights = [size ** (1 / self.data.mixing_temperature) for size in sizes]
        weighted = [w if size else 0.0 for size, w in zip(sizes, weights, strict=True)]
        return [(n, w / sum(weighted)) for n, w in zip(sizes, weighted, strict=True)]

    @property
    def tagged(self) -> NDArray[np.bool_]:
        """Which training pairs have a tag."""
        if not self.data.tags:
            return np.zeros(self.report["pairs"]["train"], np.bool_)
        sources = self.sequences("train")[0]
        tags = TAGS[: len(self.data.tags)]
        encode, tokens = self.tokenizers.source.encode, self.tokenizers.source.tokens
        numbers = [i for tag in tags for i in encode(tag) if tokens([i]) == [tag]]
        first, last = sources.offsets[:-1], np.maximum(sources.offsets[1:] - 1, 0)
        # SentencePiece may write a mark of a space before a tag.
        second = np.minimum(first + 1, last)
        return np.isin(sources.ids[first], numbers) | np.isin(sources.ids[second], numbers)

    def examples(self, split: str) -> list[Example]:
        """Return the raw pairs of `validation` or `test`."""
        return read_examples(self.folder / f"{split}.jsonl")


def read_report(folder: Path) -> PreparationReport:
    """Read the report of `prepare`."""
    path = folder / "report.json"
    try:
        return TypeAdapter(PreparationReport).validate_json(read_small(path), strict=True)
    except OSError as error:
        raise unreadable(path, error.strerror or "damaged") from None
    except ValidationError as error:
        raise unreadable(path, first_problem(error)) from None


def open_prepared(
    folder: Path,
    data: DataConfig,
    tokenizer: TokenizerConfig,
    tokenizers: Tokenizers | None = None,
) -> PreparedData:
    """Open a folder that `prepare` wrote from these sections; `tokenizers` if already loaded."""
    manifest = read_manifest(folder)
    if manifest is None:
        raise UserError(f"{folder}: no prepared data here; run `nmt prepare`")
    report = read_report(folder)
    tokenizers = tokenizers or load_tokenizers(data, tokenizer, folder)
    return PreparedData(folder, data, tokenizer, tokenizers, manifest.fingerprint, report)
