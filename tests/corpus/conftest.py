"""Fixtures for the corpus tests: made-up text in two languages, and configs that read it."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nmt.config import Config
from nmt.config_files import parse_config

ENGLISH = ["I", "you", "we", "see", "hear", "know", "the", "green", "old", "house", "tree", "bird"]
GERMAN = [
    "ich",
    "du",
    "wir",
    "sehe",
    "höre",
    "weiß",
    "das",
    "grüne",
    "alte",
    "Haus",
    "Bäume",
    "Vogel",
]


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
