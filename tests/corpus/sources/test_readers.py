"""Readers return every pair as written, and report errors in one line."""

import bz2
import gzip
import lzma
import os
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.corpus.sources.readers import (
    MAX_LINE_BYTES,
    decode_lines,
    read_lines,
    read_parallel,
    read_pickle,
    read_tsv,
)
from nmt.errors import UserError

TSV = "Go.\tGeh.\tCC-BY\nI won!\tIch hab gewonnen!\n"
PAIRS = [("Go.", "Geh."), ("I won!", "Ich hab gewonnen!")]


def write(path: Path, text: str, **members: str) -> Path:
    """Write `text` in the format of the extension of `path`."""
    if path.suffix.lower() == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    elif path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("_about.txt", "from tatoeba.org\n")
            archive.writestr("README.txt", "no tabs here\n")
            archive.writestr("deu.txt", text)
    else:
        path.write_bytes(text.encode())
    return path


def refusal(pairs: Iterator[object]) -> str:
    with pytest.raises(UserError) as caught:
        list(pairs)
    message = str(caught.value)
    assert "\n" not in message
    return message


@pytest.mark.parametrize("name", ["deu.txt", "deu.tsv", "deu.txt.gz", "deu-eng.zip", "DEU.ZIP"])
@pytest.mark.parametrize(
    "change",
    [
        lambda text: text,
        lambda text: text.replace("\n", "\r\n"),
        lambda text: "\ufeff" + text,
        lambda text: "1\t2\n" + text,
        lambda text: "\ufeff0\t1\t2\r\n" + text,
        lambda text: text.removesuffix("\n"),
        lambda text: "\n" + text.replace("\n", "\n \n\r\n"),
    ],
    ids=[
        "plain",
        "CRLF",
        "BOM",
        "header",
        "header with three fields",
        "no final newline",
        "blank lines",
    ],
)
def test_all_variants_of_tsv_are_read(
    tmp_path: Path, name: str, change: Callable[[str], str]
) -> None:
    assert list(read_tsv(write(tmp_path / name, change(TSV)))) == PAIRS


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        ("a\nb\n", ["a", "b"]),
        ("a\nb", ["a", "b"]),
        ("a\r\nb\r\n", ["a", "b"]),
        ("a\n\nb\n\n", ["a", "", "b", ""]),
        ("a\u2028b\x0bc\x85d\re\nf\n", ["a\u2028b\x0bc\x85d\re", "f"]),
        ("\ufeffa\nb\n", ["a", "b"]),
        ("a\n\ufeffb\n", ["a", "\ufeffb"]),
        ("", []),
        ("\n", [""]),
    ],
)
def test_a_file_is_split_into_lines(content: str, lines: list[str], tmp_path: Path) -> None:
    path = tmp_path / "text"
    path.write_bytes(content.encode())
    assert list(read_lines(path)) == lines


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    odd = "a\u2028b\x0bc\x0cd\x1ce\x85f\u2029g\rh"
    path = write(tmp_path / "a.txt", f"{odd}\t {odd}\r\n x \ty\n")
    assert list(read_tsv(path)) == [(odd, f" {odd}"), (" x ", "y")]


def test_a_pair_of_numbers_is_a_header_only_in_the_first_line(tmp_path: Path) -> None:
    assert list(read_tsv(write(tmp_path / "a.txt", "1999\t1999\n1\t2\n"))) == [
        ("1999", "1999"),
        ("1", "2"),
    ]


def test_tatoeba_ids_are_skipped(tmp_path: Path) -> None:
    lines = [f"{i}\t{s}\t{i + 9}\t{t}\n" for i, (s, t) in enumerate(PAIRS, 1276)]
    assert list(read_tsv(write(tmp_path / "a.tsv", "\ufeff" + "".join(lines)))) == PAIRS
    path = write(tmp_path / "b.tsv", lines[0] + "Go.\tGeh.\n")
    assert "line 2 has 2 fields; write four fields, as in line 1," in refusal(read_tsv(path))


def test_a_missing_tab_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "Go.\tGeh.\n\nno tab\n")
    assert refusal(read_tsv(path)).startswith(f"{path}: line 3 has no tab; write both sides")


@pytest.mark.parametrize("content", ["Schön\n".encode("latin1"), "Schön\n".encode("utf-16")])
def test_other_encodings_are_reported(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"fine\n" + content)
    message = refusal(read_lines(path))
    assert message.startswith(f"{path}: line 2 is not UTF-8")
    assert "iconv" in message


def test_parallel_files_are_read_in_pairs(tmp_path: Path) -> None:
    source = write(tmp_path / "a.en", "\ufeffGo.\r\n\r\nI\u2028won!")
    target = write(tmp_path / "a.de.gz", "Geh.\nleer\nIch hab gewonnen!\n")
    expected = [("Go.", "Geh."), ("", "leer"), ("I\u2028won!", "Ich hab gewonnen!")]
    assert list(read_parallel(source, target)) == expected


@pytest.mark.parametrize(("first", "second"), [(3, 5), (5, 3), (0, 2)])
def test_unequal_lengths_are_reported(tmp_path: Path, first: int, second: int) -> None:
    source = write(tmp_path / "a.en", "x\n" * first)
    target = write(tmp_path / "a.de", "y\n" * second)
    message = refusal(read_parallel(source, target))
    assert (
        f"{source} and {target} have different numbers of lines: {first} and {second};" in message
    )


def test_a_pickle_is_read_as_plain_strings(tmp_path: Path) -> None:
    np.array(PAIRS).dump(tmp_path / "a.pkl")
    assert list(read_pickle(tmp_path / "a.pkl")) == PAIRS
    assert {type(text) for pair in read_pickle(tmp_path / "a.pkl") for text in pair} == {str}


def truncated(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-9])


def garbled(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2 - 20 : len(content) // 2] = b"\xff" * 20
    path.write_bytes(content)


def plain(path: Path) -> None:
    path.write_text(TSV)


def empty(path: Path) -> None:
    path.write_bytes(b"")


@pytest.mark.parametrize("name", ["a.gz", "a.zip"])
@pytest.mark.parametrize("damage", [truncated, garbled, plain])
def test_damaged_archives_are_refused(
    tmp_path: Path, name: str, damage: Callable[[Path], None]
) -> None:
    numbers = np.random.default_rng(1).integers(10**9, size=500)
    path = write(tmp_path / name, "".join(f"{number}\tx\n" for number in numbers))
    damage(path)
    message = refusal(read_tsv(path))
    assert message.startswith(f"{path}: ")


def test_an_empty_file_and_an_empty_zip_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    empty(path)
    assert "cannot be read" in refusal(read_tsv(path))
    zipfile.ZipFile(path, "w").close()
    assert "no .txt or .tsv" in refusal(read_tsv(path))


def test_unusual_and_encrypted_zips_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("deu.txt", TSV)
    assert "unsupported compression method" in refusal(read_tsv(path))
    write(path, TSV)
    content = path.read_bytes()
    # Bit 0 of the flags, in the headers before the member and in the directory, means encrypted.
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        parts = content.split(signature)
        place = offset - 4
        parts[1:] = [part[:place] + b"\x01" + part[place + 1 :] for part in parts[1:]]
        content = signature.join(parts)
    path.write_bytes(content)
    assert "encrypted" in refusal(read_tsv(path))


def test_a_zip_with_several_texts_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name in ("test.tsv", "train.tsv", "README.txt", "_about.txt"):
            archive.writestr(name, "Go.\tGeh.\n")
    assert "contains several text files (test.tsv, train.tsv); unpack it" in refusal(read_tsv(path))


@pytest.mark.parametrize("compress", [gzip.compress, bz2.compress, lzma.compress])
def test_compressed_files_with_other_names_are_recognized(
    tmp_path: Path, compress: Callable[[bytes], bytes]
) -> None:
    (tmp_path / "a.tsv").write_bytes(compress(b"Go.\tGeh.\n"))
    assert "a.tsv: is compressed; unpack it first" in refusal(read_tsv(tmp_path / "a.tsv"))


@pytest.mark.parametrize("name", ["a.gz", "a.zip"])
def test_zip_bombs_are_refused(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt.corpus.sources.readers.MAX_UNPACKED_BYTES", 10_000)
    path = write(tmp_path / name, "\n" * 20_000)
    assert "unpacks to more than 10,000 bytes" in refusal(read_tsv(path))


def test_overlong_lines_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "a.gz", "x\n" + "\0" * 2**21)
    assert "line 2 is longer than" in refusal(read_lines(path))


def test_lines_may_be_as_long_as_the_limit(tmp_path: Path) -> None:
    lines = ["x", "y" * MAX_LINE_BYTES, "", "z" * MAX_LINE_BYTES]
    assert list(read_lines(write(tmp_path / "a.txt", "\n".join(lines)))) == lines
    path = write(tmp_path / "b.txt", "\n".join([*lines[:3], lines[3] + "z", "x"]))
    assert "line 4 is longer than" in refusal(read_lines(path))


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_error_positions_count_from_the_start_of_a_long_file(tmp_path: Path, end: str) -> None:
    lines = ["\ufeff", *(f"{number} ü" * 20 for number in range(30_000))]
    path = write(tmp_path / "a.txt", end.join([*lines, "ab"]))
    assert list(read_lines(path)) == ["", *lines[1:], "ab"]
    with path.open("ab") as file:
        file.write(b"\xff")
    assert "line 30002 is not UTF-8 (byte 3)" in refusal(read_lines(path))


@pytest.mark.parametrize("encoding", ["UTF-16", "LATIN1"])
def test_the_suggested_command_converts_the_file(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes("Schön\tbeautiful\n".encode(encoding))
    assert refusal(read_lines(path)).endswith(f"with iconv -f {encoding} -t UTF-8")


def test_byte_positions_ignore_the_byte_order_mark(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"\xef\xbb\xbfa\xff\nb\n")
    assert "line 1 is not UTF-8 (byte 2)" in refusal(read_lines(path))


def test_lines_are_yielded_as_soon_as_they_arrive() -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as stream, open(writing, "wb", buffering=0) as file:  # noqa: PTH123
        lines = decode_lines(stream, "a pipe")
        for sent in (b"one\n", b"two\nthr"):
            file.write(sent)
            assert next(lines) == sent.decode()[:3]
        file.write(b"ee")
        file.close()
        assert list(lines) == ["three"]


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("a\tb\nc\td\n".encode("utf-16-le"), "UTF-16LE"),
        ("a\tb\nc\td\n".encode("utf-16-be"), "UTF-16BE"),
        (b"a\tb\rc\td\r", "carriage returns"),
    ],
)
def test_what_is_no_text_with_line_feeds_is_named(
    tmp_path: Path, content: bytes, named: str
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(content)
    assert named in refusal(read_tsv(path))


@pytest.mark.parametrize(("ending", "library"), [(".xz", lzma), (".bz2", bz2)])
def test_other_compressed_files_are_read(tmp_path: Path, ending: str, library: Any) -> None:
    path = tmp_path / f"pairs.tsv{ending}"
    path.write_bytes(library.compress("a\tä\n".encode()))
    assert list(read_tsv(path)) == [("a", "ä")]
    path.write_bytes(path.read_bytes()[:-9])
    assert "cannot be read" in refusal(read_tsv(path))


@pytest.mark.parametrize("name", ["none.txt", "none.gz", "none.zip", "", "nul\0"])
def test_missing_files_are_refused(tmp_path: Path, name: str) -> None:
    assert "cannot be read" in refusal(read_tsv(tmp_path / name))


def test_a_first_line_with_column_names_is_skipped_and_reported(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_text("English\tGerman\nHello.\tHallo.\n", encoding="utf-8")
    assert list(read_tsv(path)) == [("Hello.", "Hallo.")]
    assert list(read_tsv(path)) == [("Hello.", "Hallo.")]
    assert caplog.text.count("skipping line 1, a header") == 1
    path.write_text("The German\tDer Deutsche\nEnglish\tEnglisch.\n", encoding="utf-8")
    assert len(list(read_tsv(path))) == 2
