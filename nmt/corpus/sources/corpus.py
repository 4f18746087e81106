"""A corpus: the files of its splits, and how to read them; and how it is listed by name."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from html import unescape
from pathlib import Path

from nmt.corpus.sources.readers import Pair, Split
from nmt.errors import UserError


@dataclass(frozen=True)
class Corpus:
    """Sentence pairs in splits; a corpus with only "train" is split later by `prepare`."""

    files: Mapping[Split, tuple[Path, ...]]
    """The files behind each split, for the fingerprint."""
    read: Callable[..., Iterator[Pair]]
    """Reads the files of one split."""
    swapped: bool = False
    """Whether the target comes first in the files."""
    licence: str = ""
    """The licence; empty for the user's own files."""
    name: str = ""
    tag: str | None = None
    held_out: bool = True
    has_gaps: bool = False
    """Whether pairs with an empty side are units without a translation; see `pairs`."""
    decodes_entities: bool = False
    """Whether entities of HTML are decoded; see `data.decode_entities`."""

    def pairs(self, split: Split) -> Iterator[Pair]:
        """Yield the raw (source, target) text of each pair, without line endings.

        Validation and test splits leave out units without a translation; in training, cleaning
        counts them. Raises `UserError` if the files are invalid, possibly only after yielding other
        pairs.
        """
        empty = True
        for first, second in self.read(*self.files[split]):
            empty = False
            if self.has_gaps and split != "train" and not (first and second):
                continue
            if self.decodes_entities:
                first, second = unescape(first), unescape(second)
            yield (second, first) if self.swapped else (first, second)
        if empty:
            names = " and ".join(map(str, self.files[split]))
            raise UserError(
                f"{names}: contains no sentence pairs; download or create the file again"
            )


@dataclass(frozen=True)
class Listing:
    """A corpus that is available by name, for `nmt corpora`."""

    fields: str
    """The config fields that select it."""
    pairs: str
    """Their number, or "?"."""
    licence: str
    address: str
    """A URL, or where to look."""
    files: tuple[Path, ...] = ()
    """Their paths after the download; empty if unknown."""

    @property
    def size(self) -> int | None:
        """The size of the files in bytes; None if they are not downloaded."""
        here = self.files and all(file.is_file() for file in self.files)
        return sum(file.stat().st_size for file in self.files) if here else None
