"""Text files with one sentence per line, read and written in chunks."""

from collections.abc import Iterable, Iterator
from itertools import compress, islice
from pathlib import Path
from typing import TextIO

CHUNK = 10_000  # lines
_ERRORS = "surrogatepass"  # broken input may have lone surrogates


def read_chunks(path: Path, size: int = CHUNK) -> Iterator[list[str]]:
    """Yield lists of at most `size` lines of a text file, without line endings."""
    with path.open(encoding="utf-8", errors=_ERRORS, newline="\n") as file:
        while lines := "".join(islice(file, size)):
            yield lines.removesuffix("\n").split("\n")


def read_line_pairs(paths: tuple[Path, Path]) -> Iterator[tuple[str, str]]:
    """Yield the lines of one text file, each with that of another."""
    for chunks in zip(*map(read_chunks, paths), strict=True):
        yield from zip(*chunks, strict=True)


def read_chosen(path: Path, chosen: Iterable[bool]) -> list[str]:
    """Return the lines of a text file that `chosen` selects."""
    with path.open("rb") as lines:
        text = b"".join(compress(lines, chosen)).decode("utf-8", _ERRORS)
    return text.split("\n")[:-1]


def text_writer(path: Path) -> TextIO:
    """Open a text file that `read_chunks` can read."""
    return path.open("w", encoding="utf-8", errors=_ERRORS, newline="\n")
