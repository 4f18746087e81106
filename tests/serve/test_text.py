"""Cutting text into sentences and putting it together again."""

import time

import pytest

from nmt.serve.text import cut


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n ", []),
        ("One sentence", ["One sentence"]),
        ("  Anna sings.  Ben reads?\n\nIda", ["Anna sings.", "Ben reads?", "Ida"]),
        ("Mr. Smith met Dr. J. Doe. They sang.", ["Mr. Smith met Dr. J. Doe.", "They sang."]),
        ('He said "No." She left.', ['He said "No."', "She left."]),
        ("a line\r\nanother\tword", ["a line", "another\tword"]),
        ("3.5 metres… and on", ["3.5 metres…", "and on"]),
    ],
)
def test_sentences_are_found_and_nothing_is_lost(text: str, sentences: list[str]) -> None:
    found = cut(text)
    assert found.sentences == sentences
    assert found.join(sentences) == text


def test_hostile_white_space_takes_no_time() -> None:
    start = time.process_time()
    for text in (" " * 200_000 + "x", "a " * 100_000, ". " * 100_000, "." * 200_000):
        assert cut(text).join(cut(text).sentences) == text
    assert time.process_time() - start < 10  # quadratic time would be minutes
