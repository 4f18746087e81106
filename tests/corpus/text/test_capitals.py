"""Capitals: lower-case text is capitalized as in the training text."""

from pathlib import Path

import pytest

from nmt.corpus.text.capitals import Casing
from nmt.special_tokens import PLACEHOLDERS

GERMAN = [
    "Ein Paar sitzt in der U-Bahn.",
    "Dort sitzt ein Paar. Die Frau liest, der Mann im T-Shirt nicht.",
    "Da stehen ein paar Männer.",
    "Vor ihr stehen ein paar Leute.",
    "Oben stehen ein paar Kinder.",
    "Der Junge mag die junge Frau.",
    "Ein Junge und ein Junge.",
]


@pytest.fixture
def casing() -> Casing:
    return Casing.learn(lambda: GERMAN)


@pytest.mark.parametrize("text", GERMAN)
def test_casing_of_the_training_text_is_restored(casing: Casing, text: str) -> None:
    # "ein paar" is more frequent than "ein Paar", and the context does not decide.
    assert casing.restore(text.lower()) == text.replace(" Paar", " paar")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("der mann liest", "Der Mann liest"),
        ("liest der mann? die frau liest!", "Liest der Mann? Die Frau liest!"),
        ("„die frau“ (liest)", "„Die Frau“ (liest)"),
        ("die geschäftsfrau", "Die Geschäftsfrau"),  # cased like its last component
        ("da vorliest er", "Da vorliest er"),
        ("da ist xyz", "Da ist xyz"),
        ("– die frau liest", "– Die Frau liest"),
        ("der junge liest die junge frau", "Der Junge liest die junge Frau"),
        ("3 frauen, 1 mann", "3 frauen, 1 Mann"),
        (f"{PLACEHOLDERS[0]}s frau", f"{PLACEHOLDERS[0]}s Frau"),  # a hidden word's genitive
        ("", ""),
        ("...", "..."),
    ],
)
def test_words_are_cased_as_in_the_training_text(casing: Casing, text: str, expected: str) -> None:
    assert casing.restore(text) == expected


@pytest.mark.parametrize(
    ("training", "text", "expected"),
    [
        # The genitive of a hidden word stays in lower case.
        (
            ["Die S-Bahn fährt .", "Eine S-Bahn fährt ."],
            f"die {PLACEHOLDERS[0]}s s-bahn",
            f"Die {PLACEHOLDERS[0]}s S-Bahn",
        ),
        (["Das iPhone klingelt .", "Ein iPhone klingelt ."], "iphone", "iPhone"),
        ([line.lower() for line in GERMAN], *["der mann liest. die frau auch."] * 2),
        ([], "der mann", "der mann"),
    ],
    ids=["genitive", "capitals of its own", "training in lower case", "no training text"],
)
def test_capitals_follow_the_training_text(training: list[str], text: str, expected: str) -> None:
    assert Casing.learn(lambda: training).restore(text) == expected


def test_saved_data_is_loaded_unchanged(casing: Casing, tmp_path: Path) -> None:
    casing.save(tmp_path / "casing.json")
    loaded = Casing.load(tmp_path / "casing.json")
    text = "der junge mag die junge geschäftsfrau. ein mann auch."
    assert loaded.restore(text) == casing.restore(text) != text
