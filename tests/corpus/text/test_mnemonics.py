import pytest

from nmt.corpus.text.mnemonics import find_mnemonic, place_for_mnemonic


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("&File", "File"),
        ("Save &As…", "Save As…"),
        ("_Open File", "Open File"),
        ("E_xit", "Exit"),
        ("E&xit", "Exit"),
        ("Cu&t", "Cut"),
        ("Save _as…", "Save as…"),
        ("Show the _Table of Contents", "Show the Table of Contents"),
        ("~Options", "Options"),
        ("Find (&F)", "Find (F)"),
        ("Save && &quit", "Save && quit"),
    ],
)
def test_the_sign_before_the_marked_letter_is_found(text: str, expected: str) -> None:
    place = find_mnemonic(text)
    assert place is not None
    assert text[:place] + text[place + 1 :] == expected


@pytest.mark.parametrize(
    "text",
    [
        *("R&D", "AT&T", "black & white", "rock&roll", "&copy; 2026", "a?b=c&d=e", "x &y=1"),
        *("file_name", "_emphasis_", "_a _b", "~5 minutes", "__init__", "&", "_", "", "a~b"),
        *("Q&a", "A short Q&a", "It takes ~ten minutes", "Set _timeout to 5"),
        "&" + "a " * 200,
    ],
)
def test_other_signs_mark_nothing(text: str) -> None:
    assert find_mnemonic(text) is None


@pytest.mark.parametrize(
    ("translation", "letter", "place"),
    [
        ("Datei", "f", 0),
        ("Als Datei speichern", "D", 4),
        ("„Öffnen“", "o", 1),
        ("&Datei", "f", None),
        ("…", "f", None),
    ],
)
def test_a_letter_of_the_translation_is_marked(
    translation: str, letter: str, place: int | None
) -> None:
    assert place_for_mnemonic(translation, letter) == place
