"""Words of a translation that training and source lack are counted."""

import pytest

from nmt.corpus.text.target_words import TargetWords

WORDS = TargetWords(["der", "arbeit", "platz", "kaffee", "tasse", "ist", "an"])


@pytest.mark.parametrize(
    ("translation", "source", "new"),
    [
        ("Der Kaffee ist 12:30.", "", 0),
        ("Der Kuern ist Platz.", "", 1),
        ("Kuern Kuern", "", 2),
        ("Zora ist der Platz", "Zora", 0),  # copied
        ("Zoras Platz", "Zora's", 0),
        ("Kaffeetasse, Arbeitsplatz", "", 0),  # compounds
        ("Kaffeekuern, Ankaffee", "", 2),  # "an" is too short for a component
        ("", "", 0),
    ],
)
def test_words_of_neither_training_nor_source_are_counted(
    translation: str, source: str, new: int
) -> None:
    assert WORDS.count_new(translation, source) == new
