"""Fixtures for the corpus tests: made-up text in two languages, and configs that read it."""

from collections.abc import Callable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from nmt.config.config import Config
from nmt.config.yaml_files import parse_config
from nmt.corpus.prepared import PreparedData
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.text.normalization import words_only
from nmt.errors import UserError

Make = Callable[..., Config]
ENGLISH = ["I", "you", "we", "see", "hear", "know", "the", "green", "old", "house", "tree", "bird"]
GERMAN = [
    "ich", "du", "wir", "sehe", "höre", "weiß", "das", "grüne", "alte", "Haus", "Bäume", "Vogel",
]  # fmt: skip


def sentence_pairs() -> list[tuple[str, str]]:
    """Return 300 distinct pairs of sentences, every fourth with the name Tom on both sides."""
    pairs = []
    for number in range(300):
        words = [(number // 12**place + place) % 12 for place in range(3)] + [number % 7]
        name = ["Tom"] if number % 4 == 0 else []
        source = " ".join([*name, *(ENGLISH[word] for word in words)]) + "."
        target = " ".join([*name, *(GERMAN[word] for word in words)]) + "."
        pairs.append((source, target))
    return pairs


def write_tsv(path: Path, pairs: list[tuple[str, str]]) -> Path:
    """Write one pair per line."""
    path.write_text("".join(f"{s}\t{t}\n" for s, t in pairs), encoding="utf-8", newline="\n")
    return path


def contents(folder: Path) -> dict[str, bytes]:
    """Return the content of each file of a folder."""
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def train_pairs(prepared: PreparedData) -> list[tuple[str, str]]:
    """Return the training pairs, decoded from their ids."""
    source, target = prepared.sequences("train")
    decode_source = prepared.tokenizers.source.decode
    decode_target = prepared.tokenizers.target.decode
    return [
        (decode_source(source[i].tolist()), decode_target(target[i].tolist()))
        for i in range(len(source))
    ]


def held_out(prepared: PreparedData, split: str) -> list[tuple[str, str]]:
    """Return the raw validation or test pairs."""
    return [(example.source, example.reference) for example in prepared.examples(split)]


def assert_disjoint(splits: list[list[tuple[str, str]]]) -> None:
    """Check that no two splits share the words of a sentence, on either side."""
    for one, other in combinations(splits, 2):
        for side in (0, 1):
            words = [{words_only(pair[side]) for pair in split} for split in (one, other)]
            assert not words[0] & words[1]


def refusal(config: Config, folder: Path) -> str:
    """Return the error of `prepare`, after checking that it changed nothing."""
    before = contents(folder) if folder.is_dir() else None
    with pytest.raises(UserError) as caught:
        prepare(config, folder)
    assert "\n" not in str(caught.value)
    assert (contents(folder) if folder.is_dir() else None) == before
    assert not [path for path in folder.parent.iterdir() if "partial" in path.name]
    return str(caught.value)


def given(tmp_path: Path, make_config: Make, **fields: Any) -> Config:
    """Return a config with given splits; validation has duplicates, test shares 5 train pairs."""
    pairs = sentence_pairs()
    paths = {
        "train_path": write_tsv(tmp_path / "train.tsv", pairs[:250]),
        "validation_path": write_tsv(tmp_path / "validation.tsv", pairs[250:270] * 2),
        "test_path": write_tsv(tmp_path / "test.tsv", [*pairs[270:], *pairs[:5], ("sky", "")]),
    }
    data = {"path": None, **{name: str(path) for name, path in paths.items()}, **fields}
    return make_config(data=data)


@pytest.fixture
def tsv(tmp_path: Path) -> Path:
    """A tsv file of the 300 pairs."""
    return write_tsv(tmp_path / "corpus.tsv", sentence_pairs())


@pytest.fixture
def make_config(tsv: Path) -> Callable[..., Config]:
    """Return a function that creates a config that reads `tsv`; keywords add sections."""

    def make(**sections: dict[str, Any]) -> Config:
        tree: dict[str, dict[str, Any]] = {
            "data": {"source": "tsv", "path": str(tsv), "validation_size": 20, "test_size": 30},
            "tokenizer": {"vocabulary_size": 400},
            "model": {},
        }
        for section, fields in sections.items():
            tree[section].update(fields)
        return parse_config(tree, "test")

    return make


@pytest.fixture(scope="session")
def training_texts(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """The sentences of both sides, one per line, with umlauts and punctuation."""
    folder = tmp_path_factory.mktemp("texts")
    paths = (folder / "train.source.txt", folder / "train.target.txt")
    extra = [
        ("Don't shout, it's late!", "„Schrei nicht“, sagte sie – es ist spät!"),
        ("The well-known <pad> of 1,000 oaks.", "Größe: 1.000 Äpfel & Öl; zwölf U-Bahnen (neu)."),
        ("<unk> <0x41> <sos> <eos>", "<unk> <0xF0> <sos> <eos>"),
    ]
    for side, path in enumerate(paths):
        lines = [pair[side] for pair in [*sentence_pairs(), *extra * 3]]
        path.write_text("".join(line + "\n" for line in lines), encoding="utf-8", newline="\n")
    return paths
