"""Language codes, and swapped sides."""

from collections import Counter

import pytest

from nmt.config.languages import (
    _FREQUENT,
    base_language,
    column_names,
    common_words,
    is_code,
    seem_swapped,
    seem_to_be_in,
    three_letters,
    two_letters,
    writes_no_spaces,
)
from tests.conftest import toy_pairs

ENGLISH = common_words(["Is this the dog?", "He is old."])
GERMAN = common_words(["Ist das der Hund?", "Er ist nicht jung."])


def test_codes_are_converted_and_recognized() -> None:
    assert [*map(three_letters, ("de", "deu", "gsw"))] == ["deu", "deu", "gsw"]
    assert [*map(two_letters, ("deu", "de", "gsw", "cmn"))] == ["de", "de", "gsw", "zh"]
    assert column_names("de") == column_names("deu") == {"de", "deu", "german", "deutsch"}
    assert all(map(is_code, ("de", "deu", "ger", "EN-US", "zh_Hans")))
    assert not any(map(is_code, ("", "German", "xy", "Entwurf")))


@pytest.mark.parametrize(
    ("code", "names"),
    [
        ("en", "en EN en-US EN_us eng English english ENGLISH englisch"),
        ("de", "de De de-AT deu ger GER German deutsch"),
        ("fr", "fra fre French français"),
        ("zh", "zh-Hans zho chi cmn"),
        ("auto", "auto"),
        ("xy", "xy XY-zz"),
    ],
)
def test_all_names_of_a_language_are_understood(code: str, names: str) -> None:
    assert {base_language(name) for name in names.split()} == {code}
    assert base_language(f" {names.split()[0]} ") == code


def test_swapped_sides_are_recognized_and_no_others() -> None:
    assert seem_swapped(GERMAN, ENGLISH, ("en", "de"))
    assert not seem_swapped(ENGLISH, GERMAN, ("en", "de"))
    assert seem_swapped(ENGLISH, GERMAN, ("de", "en"))
    assert seem_swapped(ENGLISH, GERMAN, ("deu", "eng"))
    for sides in ((GERMAN, GERMAN), (ENGLISH, ENGLISH), (Counter(), Counter())):
        assert not seem_swapped(*sides, ("en", "de"))
    assert not seem_swapped(GERMAN, ENGLISH, ("en", "cs"))  # unknown language, so no verdict


def test_the_more_likely_of_two_languages_is_recognized() -> None:
    assert seem_to_be_in("de", GERMAN, "en")
    assert not seem_to_be_in("en", GERMAN, "de")
    assert not seem_to_be_in("de", GERMAN, "cs")


def test_some_languages_write_no_spaces() -> None:
    assert all(map(writes_no_spaces, ("zh", "jpn", "zh-Hans", "TH")))
    assert not any(map(writes_no_spaces, ("de", "ko")))


def test_no_frequent_word_is_in_two_languages() -> None:
    words = [word for listed in _FREQUENT.values() for word in listed]
    assert len(words) == len(set(words))
    sources, targets = map(common_words, zip(*toy_pairs(), strict=True))
    assert not seem_swapped(sources, targets, ("en", "de"))
