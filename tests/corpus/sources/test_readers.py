"""Readers return every pair as written, and report errors in one line."""

import bz2
import gzip
import io
import lzma
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from nmt.corpus.sources.readers import (
    MAX_LINE_BYTES,
    count_lines,
    decode_lines,
    read_lines,
    read_parallel,
    read_pickle,
    read_tsv,
)
from nmt.errors import UserError

TSV = "Go.\tGeh.\tCC-BY\nI won!\tIch hab gewonnen!\n"
PAIRS = [("Go.", "Geh."), ("I won!", "Ich hab gewonnen!")]


def write(path: Path, text: str) -> Path:
    """Write `text` in the format of the extension of `path`."""
    compressions = {".gz": gzip, ".xz": lzma, ".bz2": bz2}
    if library := compressions.get(path.suffix.lower()):
        path.write_bytes(library.compress(text.encode()))
    elif path.suffix.lower() == ".zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("_about.txt", "from tatoeba.org\n")
            archive.writestr("README.txt", "no tabs here\n")
            archive.writestr("deu.txt", text)
    else:
        path.write_bytes(text.encode())
    return path


@pytest.mark.parametrize("content", [b"", b"a", b"a\n", b"a\nb\n\n", b"\n\nb"])
def test_lines_are_counted_as_they_are_read(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(content)
    assert count_lines(path) == len(list(read_lines(path)))
    assert count_lines(path.rename(tmp_path / "a.gz")) is None


def refusal(pairs: Iterator[object]) -> str:
    with pytest.raises(UserError) as caught:
        list(pairs)
    assert "\n" not in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["deu.txt", "deu.tsv", "deu.txt.gz", "deu-eng.zip", "DEU.ZIP"])
@pytest.mark.parametrize(
    "text",
    [
        TSV,
        TSV.replace("\n", "\r\n"),
        "\ufeff" + TSV,
        "1\t2\n" + TSV,
        "\ufeff0\t1\t2\r\n" + TSV,
        TSV.removesuffix("\n"),
        "\n" + TSV.replace("\n", "\n \n\r\n"),
    ],
    ids=["plain", "CRLF", "BOM", "header", "three columns", "no final newline", "blank lines"],
)
def test_all_variants_of_tsv_are_read(tmp_path: Path, name: str, text: str) -> None:
    assert list(read_tsv(write(tmp_path / name, text))) == PAIRS


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
    path = write(tmp_path / "a.txt", "1999\t1999\n1\t2\n")
    assert list(read_tsv(path)) == [("1999", "1999"), ("1", "2")]


def test_tatoeba_ids_are_skipped(tmp_path: Path) -> None:
    lines = [f"{i}\t{s}\t{i + 9}\t{t}\n" for i, (s, t) in enumerate(PAIRS, 1276)]
    assert list(read_tsv(write(tmp_path / "a.tsv", "\ufeff" + "".join(lines)))) == PAIRS
    path = write(tmp_path / "b.tsv", lines[0] + "Go.\tGeh.\n")
    assert "line 2 has 2 fields" in refusal(read_tsv(path))


def test_a_missing_tab_is_reported(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "Go.\tGeh.\n\nno tab\n")
    assert refusal(read_tsv(path)).startswith(f"{path}: line 3 has no tab; write both sides")


@pytest.mark.parametrize(
    ("content", "named"),
    [
        ("fine\nSchön\n".encode("latin1"), r"line 2 .* \(byte 4\).*iconv -f LATIN1 -t UTF-8"),
        ("Schön\tbeautiful\n".encode("utf-16"), "line 1 .*iconv -f UTF-16 -t UTF-8"),
        (b"\xef\xbb\xbfa\xff\nb\n", r"line 1 .*\(byte 2\)"),  # not counting the mark
        ("a\tb\nc\td\n".encode("utf-16-le"), "UTF-16LE"),
        ("a\tb\nc\td\n".encode("utf-16-be"), "UTF-16BE"),
        ("a\tä\nc\tß\n".encode("utf-16-le"), "UTF-16LE"),
        (b"a\tb\rc\td\r", "carriage returns"),
        (gzip.compress(b"Go.\tGeh.\n", mtime=0), "compressed"),
        (bz2.compress(b"Go.\tGeh.\n"), "compressed"),
        (lzma.compress(b"Go.\tGeh.\n"), "compressed"),
    ],
)
def test_what_is_no_text_is_named(tmp_path: Path, content: bytes, named: str) -> None:
    path = tmp_path / "pairs.tsv"
    path.write_bytes(content)
    assert re.fullmatch(rf"{path}: .*{named}.*", refusal(read_tsv(path)))


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
    assert message.startswith(f"{source} and {target} ")
    assert f" {first} and {second};" in message


def test_a_pickle_is_read_as_plain_strings(tmp_path: Path) -> None:
    np.array(PAIRS).dump(tmp_path / "a.pkl")
    assert list(read_pickle(tmp_path / "a.pkl")) == PAIRS
    assert {type(text) for pair in read_pickle(tmp_path / "a.pkl") for text in pair} == {str}


NUMBERS = "".join(f"{n}\tx\n" for n in np.random.default_rng(1).integers(10**9, size=500))


def truncated(content: bytes) -> bytes:
    return content[:-9]


def garbled(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[: middle - 20] + b"\xff" * 20 + content[middle:]


def unpacked(content: bytes) -> bytes:
    return TSV.encode()


@pytest.mark.parametrize("name", ["a.gz", "a.zip", "a.tsv.xz", "a.tsv.bz2"])
@pytest.mark.parametrize("damage", [truncated, garbled, unpacked])
def test_damaged_archives_are_refused(
    tmp_path: Path, name: str, damage: Callable[[bytes], bytes]
) -> None:
    path = write(tmp_path / name, NUMBERS)
    assert len(list(read_tsv(path))) == 500
    path.write_bytes(damage(path.read_bytes()))
    assert refusal(read_tsv(path)).startswith(f"{path}: ")


@pytest.mark.parametrize("name", ["none.txt", "none.gz", "none.zip", "", "nul\0"])
def test_missing_files_are_refused(tmp_path: Path, name: str) -> None:
    assert "cannot be read" in refusal(read_tsv(tmp_path / name))


def zip_of(method: int = zipfile.ZIP_STORED, **members: str) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, text in members.items():
            archive.writestr(f"{name}.tsv", text)
    return file.getvalue()


def encrypted(content: bytes) -> bytes:
    # Bit 0 of the flags, in the headers before the member and in the directory, means encrypted.
    for signature, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        place = content.index(signature) + offset
        content = content[:place] + b"\x01" + content[place + 1 :]
    return content


@pytest.mark.parametrize(
    ("content", "named"),
    [
        (b"", "cannot be read"),
        (zip_of(), "no .txt or .tsv"),
        (zip_of(zipfile.ZIP_LZMA, deu=TSV), "unsupported compression method"),
        (encrypted(zip_of(deu=TSV)), "encrypted"),
        (zip_of(test=TSV, train=TSV, README=TSV, _about=TSV), "(test.tsv, train.tsv)"),
    ],
)
def test_unusable_zips_are_refused(tmp_path: Path, content: bytes, named: str) -> None:
    path = tmp_path / "a.zip"
    path.write_bytes(content)
    assert named in refusal(read_tsv(path))


@pytest.mark.parametrize("name", ["a.gz", "a.zip"])
def test_zip_bombs_are_refused(tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt.corpus.sources.readers.MAX_UNPACKED_BYTES", 10_000)
    monkeypatch.setattr("nmt.corpus.sources.readers.MAX_LINE_BYTES", 3_000)  # of a block too
    path = write(tmp_path / name, "\n" * 20_000)
    assert "unpacks to more than 10,000 bytes" in refusal(read_tsv(path))


def test_lines_may_be_as_long_as_the_limit(tmp_path: Path) -> None:
    assert "line 2 is longer" in refusal(read_lines(write(tmp_path / "a.gz", "x\n" + "\0" * 2**21)))
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
