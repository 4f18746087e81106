"""Prepared data on disk: memory-mapped and read unchanged; damage is reported."""

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from nmt.config.config import Config
from nmt.config.data import DataConfig
from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.prepared import (
    Example,
    Sequences,
    SequenceWriter,
    open_prepared,
    read_examples,
    write_examples,
)
from nmt.corpus.preparing.manifest import read_manifest
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.sources.readers import MAX_LINE_BYTES
from nmt.errors import UserError

SENTENCES = [[5, 6, 7], [], [8], [], [2**31 - 1, 0]]


def write(stem: Path, *chunks: list[list[int]]) -> Sequences:
    with SequenceWriter(stem) as writer:
        for chunk in chunks:
            ids = np.array([i for sentence in chunk for i in sentence], np.int32)
            writer.extend(ids, np.array([len(sentence) for sentence in chunk], np.int64))
    return Sequences.open(stem)


@pytest.mark.parametrize(
    "chunks",
    [
        [SENTENCES],
        [SENTENCES[:2], [], SENTENCES[2:]],
        [[sentence] for sentence in SENTENCES],
        [[[]]],
        [[[], []], [[]]],
        [],
        [[]],
    ],
)
def test_sentences_are_written_and_read_unchanged(
    tmp_path: Path, chunks: list[list[list[int]]]
) -> None:
    expected = [sentence for chunk in chunks for sentence in chunk]
    sequences = write(tmp_path / "train.source", *chunks)
    assert [sequences[i].tolist() for i in range(len(sequences))] == expected
    assert sequences.lengths.tolist() == [len(sentence) for sentence in expected]


def test_several_sentences_are_read_in_the_requested_order(tmp_path: Path) -> None:
    sequences = write(tmp_path / "train.source", SENTENCES)
    assert sequences.rows(np.array([4, 1, 0, 4])) == [[2**31 - 1, 0], [], [5, 6, 7], [2**31 - 1, 0]]
    assert sequences.rows(np.array([], np.int64)) == []


def test_sentences_are_memory_mapped_and_read_only(tmp_path: Path) -> None:
    sequences = write(tmp_path / "train.source", SENTENCES)
    for array in (sequences.ids, sequences.offsets, sequences[0]):
        assert isinstance(array, np.memmap)
        assert not array.flags.writeable
    assert np.shares_memory(sequences[0], sequences.ids)


def test_files_are_little_endian_on_every_machine(tmp_path: Path) -> None:
    write(tmp_path / "a", [[1, 2], [3]])
    assert (tmp_path / "a.ids").read_bytes().hex() == "010000000200000003000000"
    assert (tmp_path / "a.offsets").read_bytes() == bytes([0] * 8 + [2] + [0] * 7 + [3] + [0] * 7)


@pytest.mark.parametrize(
    ("ending", "damage"),
    [
        *((ending, damage) for ending in ("ids", "offsets") for damage in (-8, -3, 0, None)),
        ("offsets", "other start"),
    ],
)
def test_damaged_sequences_are_refused(
    tmp_path: Path, ending: str, damage: int | str | None
) -> None:
    """Without the last number, cut within one, empty, missing, or not from the first id on."""
    write(tmp_path / "train.source", SENTENCES)
    path = tmp_path / f"train.source.{ending}"
    content = path.read_bytes()
    path.write_bytes(content[:damage] if isinstance(damage, int) else b"\1" + content[1:])
    if damage is None:
        path.unlink()
    with pytest.raises(UserError, match=r"train\.source: cannot be read"):
        Sequences.open(tmp_path / "train.source")


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("train.source.ids", 2**30),
        ("train.target.ids", -1),
        ("validation.source.ids", 0),  # as after a power failure
        ("validation.target.ids", "size"),
        ("train.source.offsets", 2**40),
        ("train.target.offsets", -(2**40)),
    ],
)
def test_changed_ids_and_offsets_are_refused(
    make_config: Callable[..., Config], tmp_path: Path, name: str, number: int | str
) -> None:
    prepared = prepare(make_config(), tmp_path / "prepared")
    if number == "size":
        number = prepared.tokenizers.target.size
    split, _, ending = name.split(".")
    array = np.memmap(prepared.folder / name, np.int32 if ending == "ids" else np.int64, "r+")
    array[len(array) // 2] = number
    array.flush()
    stem = name.removesuffix(f".{ending}")
    with pytest.raises(UserError, match=rf"{stem}: cannot be read: damaged; delete the folder"):
        prepared.sequences(split)


EXAMPLES = [
    Example("Go.", "Geh.", False),
    Example('"quoted" \\ back', "„Anführung“ – ß", True),
    Example("a\u2028b\x85c\rd\u00a0e", "😀", False),
    Example("", "", True),
]


def test_examples_are_written_and_read_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    write_examples(path, EXAMPLES)
    assert read_examples(path) == EXAMPLES
    assert path.read_bytes().count(b"\n") == len(EXAMPLES)


def test_a_pair_of_the_longest_lines_of_a_corpus_is_read(tmp_path: Path) -> None:
    longest = [Example('"' * MAX_LINE_BYTES, "\\" * MAX_LINE_BYTES, False)]
    write_examples(tmp_path / "test.jsonl", longest)
    assert read_examples(tmp_path / "test.jsonl") == longest


def test_examples_are_human_readable_json(tmp_path: Path) -> None:
    write_examples(tmp_path / "test.jsonl", EXAMPLES[1:2])
    line = (tmp_path / "test.jsonl").read_text(encoding="utf-8")
    assert "„Anführung“ – ß" in line
    assert json.loads(line) == {
        "source": '"quoted" \\ back',
        "reference": "„Anführung“ – ß",
        "source_in_train": True,
    }


def test_the_damaged_line_of_examples_is_named(tmp_path: Path) -> None:
    path = tmp_path / "test.jsonl"
    write_examples(path, EXAMPLES)
    path.write_bytes(path.read_bytes() + b'{"source": 1}\n')
    with pytest.raises(UserError, match=rf"test\.jsonl: .*line {len(EXAMPLES) + 1}.*source"):
        read_examples(path)


def test_a_folder_without_prepared_data_is_refused(tmp_path: Path) -> None:
    large = '{"fingerprint": "1", "files": {}, "rest": "' + "x" * 500_000 + '"}'
    for content in (None, "", "[]", "{}", "[" * 10, large):
        if content is not None:
            (tmp_path / "prepared.json").write_text(content)
        assert read_manifest(tmp_path) is None
        with pytest.raises(UserError, match="no prepared data here; run `nmt prepare`"):
            open_prepared(tmp_path, DataConfig(), TokenizerConfig())


def test_opening_restores_the_prepared_data(
    make_config: Callable[..., Config], tmp_path: Path
) -> None:
    config = make_config()
    prepared = prepare(config, tmp_path / "prepared")
    opened = open_prepared(tmp_path / "prepared", config.data, config.tokenizer)
    assert opened.report == prepared.report
    manifest = read_manifest(tmp_path / "prepared")
    assert manifest is not None
    assert manifest.is_complete()
    assert opened.fingerprint == prepared.fingerprint == manifest.fingerprint
    assert opened.examples("test") == prepared.examples("test")
    source, target = opened.sequences("validation")
    example = opened.examples("validation")[0]
    assert opened.tokenizers.source.decode(source[0].tolist()) == example.source
    assert opened.tokenizers.target.decode(target[0].tolist()) == example.reference
