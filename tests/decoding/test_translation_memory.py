from pathlib import Path

import pytest

from nmt.decoding.translation_memory import Memory
from nmt.errors import UserError

LANGUAGES = ("en", "de")


@pytest.fixture
def memory(tmp_path: Path) -> Memory:
    path = tmp_path / "memory.tsv"
    units = [
        "Good  morning.\tGuten Morgen.",
        "Open file\tDatei öffnen",
        "Empty\t",
        "Yes\tJa",
        "Yes\tDoch",
        "...\t…",
    ]
    path.write_text("\n".join([*units, "Is it?\tIst es so?", "is it\tist es"]), encoding="utf-8")
    return Memory.read(path, LANGUAGES)


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("Good morning.", "Guten Morgen."),
        (" good MORNING. ", "Guten Morgen."),
        ("Good morning", "Guten Morgen"),
        ("Good morning!", "Guten Morgen!"),
        ("Open file...", "Datei öffnen..."),
        ("Yes", "Doch"),
        ("Is it?", "Ist es so?"),  # not the similar one that follows
        ("is it", "ist es"),
        ("Good", None),
        ("Empty", None),
        ("", None),
        ("?", None),
    ],
)
def test_lines_are_found_apart_from_case_and_final_punctuation(memory, line, expected):
    assert memory.find(line) == expected


def test_a_memory_may_be_tmx_and_has_both_directions(tmp_path):
    path = tmp_path / "memory.tmx"
    path.write_text(
        "<tmx><body><tu><tuv xml:lang='en'><seg>one</seg></tuv>"
        "<tuv xml:lang='de'><seg>eins</seg></tuv></tu></body></tmx>"
    )
    assert Memory.read(path, LANGUAGES).find("one") == "eins"
    assert Memory.read(path, ("de", "en")).find("Eins.") == "one."


def test_a_faulty_memory_is_refused(tmp_path):
    path = tmp_path / "memory.tmx"
    path.write_text("<tmx>")
    with pytest.raises(UserError, match=r"memory\.tmx"):
        Memory.read(path, LANGUAGES)


def test_a_memory_of_other_languages_is_refused(tmp_path):
    path = tmp_path / "fr.tmx"
    path.write_text(
        "<tmx><body><tu><tuv xml:lang='en'><seg>one</seg></tuv>"
        "<tuv xml:lang='fr'><seg>un</seg></tuv></tu></body></tmx>"
    )
    with pytest.raises(UserError, match="only in fr; choose another file or run"):
        Memory.read(path, LANGUAGES)
