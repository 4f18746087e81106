"""Language codes, and swapped sides."""

import pytest

from nmt.corpus.languages import _FREQUENT, seem_swapped, three_letters
from tests.conftest import toy_pairs

ENGLISH, GERMAN = ["Is this the dog?", "He is old."], ["Ist das der Hund?", "Er ist nicht jung."]


def test_codes_are_converted_to_three_letters() -> None:
    assert three_letters("de") == "deu"
    assert three_letters("gsw") == "gsw"


def test_swapped_sides_are_recognized() -> None:
    assert seem_swapped(GERMAN, ENGLISH, ("en", "de"))
    assert not seem_swapped(ENGLISH, GERMAN, ("en", "de"))
    assert seem_swapped(ENGLISH, GERMAN, ("de", "en"))


@pytest.mark.parametrize("sides", [(GERMAN, GERMAN), (ENGLISH, ENGLISH), (["xy"], ["z"])])
def test_other_sides_are_not_taken_for_swapped(sides: tuple[list[str], list[str]]) -> None:
    assert not seem_swapped(*sides, ("en", "de"))
    assert not seem_swapped(GERMAN, ENGLISH, ("en", "cs"))  # unknown language, so no verdict


def test_no_frequent_word_is_in_two_languages() -> None:
    words = [word for listed in _FREQUENT.values() for word in listed]
    assert len(words) == len(set(words))
    sources, targets = zip(*toy_pairs(), strict=True)
    assert not seem_swapped(sources, targets, ("en", "de"))
