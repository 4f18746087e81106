"""Reads sentence pairs from files: tab-separated, parallel, or pickled.

Every reader yields `(first, second)` as raw text without line endings, and raises `UserError` at
the first error. All text is UTF-8; only `\\n` or `\\r\\n` ends a line. Files are read and decoded
in blocks of lines, which is much faster than line by line.
"""

import bz2
import codecs
import gzip
import logging
import lzma
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from io import BufferedIOBase
from itertools import chain, islice, zip_longest
from pathlib import Path, PurePosixPath
from textwrap import shorten
from typing import IO, Literal, TypeAlias, cast

from nmt.config.languages import column_names
from nmt.corpus.sources.columns import SIDE_NAMES, Columns, find_columns, has_header, names_in
from nmt.errors import UserError, one_line

_LOG = logging.getLogger(__name__)
MAX_LINE_BYTES = 2**20
MAX_UNPACKED_BYTES = 4 * 2**30
_LINES_SEEN = 1000  # to choose columns
_MOST_STRAYS = 0.05
_LINE_FEED = b"\n"
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ", b"PK\x03\x04", b"\x28\xb5\x2f\xfd")
COMPRESSED = (".gz", ".xz", ".bz2")
"""Extensions of files that hold one other file."""
_PACKED_EXTENSIONS = (*COMPRESSED, ".zip")
_UTF_16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)

Pair: TypeAlias = tuple[str, str]
Split = Literal["train", "validation", "test"]
Stream: TypeAlias = IO[bytes] | gzip.GzipFile


def read_pickle(path: Path) -> Iterator[Pair]:
    """Yield the rows of a pickled numpy array of strings with two columns."""
    from nmt.corpus.sources.safe_pickle import load_string_array

    for row in load_string_array(path):
        yield str(row[0]), str(row[1])


def read_tsv(
    path: Path, languages: tuple[str, str] | None = None, target_first: bool = False
) -> Iterator[Pair]:
    """Yield the two sides of each line; blank lines and a header are skipped.

    They are the first two fields, unless the names in line 1 or the content of the first lines show
    that they are others, which is reported. A header consists of numbers, or of names such as
    "English" and "German" that no other line has; only one of names is reported. If the first line
    has the format of Tatoeba's own files, number TAB source TAB number TAB target, the numbers are
    dropped. A few lines with more fields than usual have a tab within a sentence, and are left out.

    languages: of the two fields, None if they are the first two in any case; target_first: whether
    the first one is the target. A header that names them in the opposite order is an error.
    """
    lines = read_lines(path)
    head = list(islice(lines, _LINES_SEEN))
    rows = [line.split("\t") for line in head if line.strip()]
    numbered = bool(rows) and _is_tatoeba(rows[0])
    columns: Columns | None = Columns(width=0)
    if languages and not numbered:
        columns = find_columns(rows, languages, SIDE_NAMES[::-1] if target_first else SIDE_NAMES)
        if columns is None:
            seen = ", ".join(shorten(field, 30, placeholder="…") or "(empty)" for field in rows[0])
            raise UserError(
                f"{path}: line 1 has {len(rows[0])} fields ({seen}), and it is unclear which are "
                f"{languages[0]} and {languages[1]}; write only these two, or set source: table "
                "and data.columns"
            )
        if not columns.are_first:
            warn_once(f"{path}: reading fields {columns.first + 1} and {columns.second + 1}")
    assert columns
    strays = count = 0
    for number, line in enumerate(chain(head, lines), start=1):
        fields = line.split("\t")
        if not line.strip() or (number == 1 and _numbers_columns(fields)):
            continue
        if number == 1 and columns.named:
            if columns.are_first:
                warn_once(f"{path}: skipping line 1, a header")
            continue
        if number == 1 and has_header(rows):
            if languages and _are_swapped(fields, languages, target_first):
                raise UserError(
                    f"{path}: line 1 names the columns {fields[0]}, {fields[1]}, but the first "
                    f"must be in {languages[0]} and the second in {languages[1]}; swap the columns"
                )
            warn_once(f"{path}: skipping line 1, a header")
            continue
        if numbered and len(fields) >= 4:
            yield fields[1], fields[3]
        elif not numbered and len(fields) > max(columns.first, columns.second):
            count += 1
            if 0 < columns.width < len(fields):
                strays += 1
            else:
                yield fields[columns.first], fields[columns.second]
        else:
            form = (
                "four fields, as in line 1," if numbered else "both sides, with a tab between them,"
            )
            raise UserError(f"{path}: line {number} has {_tabs(fields)}; write {form} on each line")
    if strays:
        where = f"{path}: {strays:,} of {count:,} lines have a tab within a sentence"
        if strays > _MOST_STRAYS * count:
            raise UserError(f"{where}; remove these tabs, or set source: table and data.columns")
        warn_once(f"{where}, and are left out")


@cache  # once per file, however often it is read
def warn_once(message: str) -> None:
    """Warn about a file."""
    _LOG.warning(message)


def _tabs(fields: list[str]) -> str:
    return "no tab" if len(fields) == 1 else f"{len(fields)} fields"


def _is_tatoeba(fields: list[str]) -> bool:
    """Return whether the fields are a numbered sentence and a numbered translation."""
    return (
        len(fields) == 4 and not _numbers_columns(fields) and all(map(str.isdecimal, fields[::2]))
    )


def _numbers_columns(fields: list[str]) -> bool:
    """Return whether the fields are column numbers, from 0 or 1."""
    numbers = [str(number) for number in range(len(fields) + 1)]
    return len(fields) > 1 and fields in (numbers[:-1], numbers[1:])


def _are_swapped(fields: list[str], languages: tuple[str, str], target_first: bool) -> bool:
    """Return whether the first field is named like the second column, and vice versa."""
    first, second = names_in(fields[:2])
    sides = SIDE_NAMES[::-1] if target_first else SIDE_NAMES
    own, other = (column_names(each) | side for each, side in zip(languages, sides, strict=True))
    return first in other and second in own


def read_parallel(source: Path, target: Path) -> Iterator[Pair]:
    """Yield line n of one file together with line n of the other."""
    return align(read_lines(source), read_lines(target), (str(source), str(target)))


def align(sources: Iterator[str], targets: Iterator[str], names: tuple[str, str]) -> Iterator[Pair]:
    """Yield lines in pairs; raise an error at the end if the numbers of lines differ."""
    source_count = target_count = 0
    for first, second in zip_longest(sources, targets):
        source_count += first is not None
        target_count += second is not None
        if first is not None and second is not None:
            yield first, second
    if source_count != target_count:
        raise UserError(
            f"{names[0]} and {names[1]} have different numbers of lines: {source_count:,} and "
            f"{target_count:,}; line n of one must be the translation of line n of the other"
        )


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file, plain, .gz or .zip, without line endings."""
    packed = path.suffix.lower() in _PACKED_EXTENSIONS
    with damage_explained(path), _open(path) as stream:
        yield from decode_lines(stream, str(path), MAX_UNPACKED_BYTES if packed else None)


def count_lines(path: Path) -> int | None:
    """Count the lines of a text file; None if it is packed, or may be read only once."""
    if path.suffix.lower() in _PACKED_EXTENSIONS or not path.is_file():
        return None
    count, last = 0, _LINE_FEED
    with damage_explained(path), path.open("rb") as file:
        while block := file.read(MAX_LINE_BYTES):
            count, last = count + block.count(_LINE_FEED), block
    return count + (not last.endswith(_LINE_FEED))


def decode_lines(stream: Stream, name: str, max_bytes: int | None = None) -> Iterator[str]:
    """Yield the lines of an open stream, without line endings; `name` is for messages."""
    return chain.from_iterable(_decode_blocks(stream, name, max_bytes))


def _decode_blocks(stream: Stream, name: str, max_bytes: int | None) -> Iterator[list[str]]:
    number = 1
    size = 0
    for block in _read_blocks(stream):
        size += len(block)
        if max_bytes and size > max_bytes:
            raise UserError(f"{name}: unpacks to more than {max_bytes:,} bytes; unpack it first")
        lines = _decode(block, name, number)
        number += len(lines)
        yield lines


def _read_blocks(stream: Stream) -> Iterator[bytes]:
    """Yield blocks of whole lines, each line with its line feed.

    Stops within an overlong line, which `_decode` refuses, so that it does not exhaust memory.
    """
    buffered = cast(BufferedIOBase, stream)  # all are buffered, whatever their type annotations say
    rest = b""
    while len(rest) <= MAX_LINE_BYTES and (block := buffered.read1(MAX_LINE_BYTES)):
        lines, end, rest = (rest + block).rpartition(_LINE_FEED)
        if end:
            yield lines + end
    if rest:
        yield rest + _LINE_FEED


def _decode(block: bytes, name: str, number: int) -> list[str]:
    """Return the lines of a block; `number` is that of the first line."""
    if len(block) > MAX_LINE_BYTES:
        for i, line in enumerate(block.split(_LINE_FEED), number):
            if len(line) > MAX_LINE_BYTES:
                raise UserError(
                    f"{name}: line {i} is longer than {MAX_LINE_BYTES} bytes; is it text?"
                )
    if number == 1:
        _require_no_nulls(block, name)
    try:
        text = block.decode("utf-8-sig" if number == 1 else "utf-8")
    except UnicodeDecodeError as error:
        if number == 1 and block.startswith(_PACKED):
            raise UserError(f"{name}: is compressed; unpack it first") from None
        before = error.object[: error.start]
        encoding = "UTF-16" if number == 1 and block.startswith(_UTF_16) else "LATIN1"
        raise UserError(
            f"{name}: line {number + before.count(_LINE_FEED)} is not UTF-8 "
            f"(byte {len(before) - before.rfind(_LINE_FEED)}); convert the file, "
            f"for instance with iconv -f {encoding} -t UTF-8"
        ) from None
    if number == 1 and text.count("\n") <= 1 < text.count("\r"):
        raise UserError(
            f"{name}: ends its lines with carriage returns only; convert the file: tr '\\r' '\\n'"
        )
    return text.replace("\r\n", "\n").removesuffix("\n").split("\n")


def _require_no_nulls(block: bytes, name: str) -> None:
    """Raise `UserError` for UTF-16 without a mark."""
    if block.startswith((*_UTF_16, *_PACKED)):
        return
    if block.count(b"\0") > len(block) // 4:
        encoding = "UTF-16LE" if block[1::2].count(b"\0") > block[::2].count(b"\0") else "UTF-16BE"
        raise UserError(
            f"{name}: is UTF-16, not UTF-8; convert the file: iconv -f {encoding} -t UTF-8"
        )


@contextmanager
def _open(path: Path) -> Iterator[Stream]:
    match path.suffix.lower():
        case ".gz":
            with gzip.open(path) as unpacked:
                yield unpacked
        case ".xz" | ".bz2" as ending:
            with lzma.open(path) if ending == ".xz" else bz2.open(path) as unpacked_too:
                yield cast(IO[bytes], unpacked_too)
        case ".zip":
            with open_zip(path) as archive, archive.open(_text_member(archive)) as member:
                yield member
        case _:
            with path.open("rb") as file:
                yield file


@contextmanager
def open_zip(file: Path | IO[bytes]) -> Iterator[zipfile.ZipFile]:
    """Open a zip that is stored or deflated; raise `NotImplementedError` for other methods.

    For these, `zipfile` does not limit memory, and raises exceptions specific to the method.
    """
    with zipfile.ZipFile(file) as archive:
        methods = {member.compress_type for member in archive.infolist()}
        if not methods <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:
            raise NotImplementedError("unsupported compression method")
        yield archive


def _text_member(archive: zipfile.ZipFile) -> zipfile.ZipInfo:
    """Return the only text file of the archive."""
    found = text_members(archive)
    if len(found) > 1:
        names = ", ".join(member.filename for member in found[:3])
        raise UserError(
            f"{archive.filename}: contains several text files ({names}); unpack it, and name one"
        )
    if not found:
        raise zipfile.BadZipFile("no .txt or .tsv file in it")
    return found[0]


def text_members(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Return the text files of an archive, except files about the archive itself."""
    found = []
    for member in archive.infolist():
        name = PurePosixPath(member.filename).name.lower()
        about = name.startswith(("_", ".", "readme", "license"))
        if name.endswith((".txt", ".tsv")) and not about:
            found.append(member)
    return found


@contextmanager
def damage_explained(path: Path) -> Iterator[None]:
    """Turn exceptions due to a missing, damaged or encrypted file into a `UserError`."""
    try:
        yield
    except (
        *(OSError, EOFError, RuntimeError, ValueError),
        *(zlib.error, zipfile.BadZipFile, lzma.LZMAError),
    ) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        raise UserError(
            f"{path}: cannot be read ({reason or type(error).__name__}); check or replace the file"
        ) from None
