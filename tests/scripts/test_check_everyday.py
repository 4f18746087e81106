"""The everyday corpus has no faults; `check_everyday.py` finds those put in on purpose."""

import importlib.util
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "check_everyday.py"
spec = importlib.util.spec_from_file_location("check_everyday", SCRIPT)
assert spec
assert spec.loader
check_everyday = importlib.util.module_from_spec(spec)
spec.loader.exec_module(check_everyday)


@pytest.mark.slow
def test_the_corpus_has_no_faults() -> None:
    assert check_everyday.check(coverage=False) == []


@pytest.fixture
def corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of a small corpus without faults, checked instead of the real one."""
    for name, line in {
        "train/home": "The door is open.\tDie Tür ist offen.",
        "words/house": "the door\tdie Tür",
        "validation": "Is it raining?\tRegnet es?",
        "test": "It costs €12.50.\tEs kostet 12,50 €.",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.tsv").write_text(line + "\n", encoding="utf-8")
    (tmp_path / "sentences.txt").write_text("Good evening!\n", encoding="utf-8")
    monkeypatch.setattr(check_everyday, "FOLDER", tmp_path)
    monkeypatch.setattr(check_everyday, "ACCEPTED", tmp_path / "accepted.txt")
    monkeypatch.setattr("shutil.which", lambda name: None)  # Hunspell's dictionaries differ
    return tmp_path


def test_a_sound_corpus_passes(corpus: Path) -> None:
    assert check_everyday.check(coverage=False) == []


@pytest.mark.parametrize(
    ("file", "line", "fault"),
    [
        ("train/home", "The door is open!\tDie Türe ist offen!", "same sentence"),
        ("train/home", "Is it raining?\tRegnet es gerade?", "english sentence is also in"),
        ("train/home", "Is there rain?\tRegnet es?", "german sentence is also in"),
        ("train/home", "Good evening!\tGuten Abend!", "sentences.txt"),
        ("train/home", "Come here.\tKomm her!", "ends in"),
        ("train/home", "I have 3 cats.\tIch habe 4 Katzen.", "figures"),
        ("train/home", "Yes.\tJa, das habe ich gestern auch schon gesagt.", "words"),
        ("test", 'She said "no".\tSie sagte "nein".', "quotation mark"),
        ("test", "The u\u0308ber-cat.\tDie U\u0308berkatze.", "NFC"),
        ("test", "Two  spaces.\tZwei Leerzeichen.", "spaces"),
    ],
)
def test_each_kind_of_fault_is_found(corpus: Path, file: str, line: str, fault: str) -> None:
    with (corpus / f"{file}.tsv").open("a", encoding="utf-8") as text:
        text.write(line + "\n")
    found = check_everyday.check(coverage=False)
    assert [each for each in found if fault in each]


def test_a_line_without_two_columns_is_refused(corpus: Path) -> None:
    (corpus / "train" / "home.tsv").write_text("no tab\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"home.tsv:1"):
        check_everyday.check(coverage=False)
