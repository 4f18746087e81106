"""Rules for text before and after the model: marks, and words behind placeholders."""

import re

from nmt.corpus.text.normalization import limit_marks, normalize, words_only
from nmt.corpus.text.placeholders import fill_placeholders
from nmt.special_tokens import NUMBERS, PLACEHOLDERS, RESERVED, TAGS

A, B, C = PLACEHOLDERS[:3]


def test_many_combining_marks_are_cut_off_in_linear_time() -> None:
    """Normalizing a million of them would take hours."""
    text = "a" + "\u0301\u0323" * 500_000
    assert len(limit_marks(text)) == 31
    assert words_only(text) == words_only("a" + "\u0301\u0323" * 15)
    assert len(limit_marks("a" + "\u0323\uff9e" * 500_000)) == 31
    assert limit_marks("ü" + "！" * 50) == "ü" + "！" * 50


def test_words_are_restored_literally_at_every_placeholder_and_others_removed() -> None:
    several = fill_placeholders(f"{B}, {A} und {B}s Hut", {A: "Zora", B: "Oscar"})
    assert several == "Oscar, Zora und Oscars Hut"
    assert fill_placeholders(f"{A} mag {C} Hunde", {A: "Zora"}) == "Zora mag Hunde"
    assert fill_placeholders(f"{A} {B}", {A: r"\1", B: r"\g<0>"}) == r"\1 \g<0>"


def test_cleaning_removes_every_character_that_nmt_gives_a_meaning() -> None:
    reserved = [chr(i) for i in range(0x110000) if re.match(f"[{RESERVED}]", chr(i))]
    assert reserved == [*PLACEHOLDERS, *NUMBERS, *TAGS]
    assert normalize(f"a{''.join(reserved)}b", "NFC") == "ab"
