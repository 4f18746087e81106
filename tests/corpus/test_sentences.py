"""Splitting text into sentences and joining them again."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nmt.corpus.sentences import cut


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
        ("3.5 metres… and on. Ben?", ["3.5 metres… and on.", "Ben?"]),
    ],
)
def test_sentences_are_found_and_no_text_is_lost(text: str, sentences: list[str]) -> None:
    found = cut(text, "en")
    assert found.sentences == sentences
    assert found.join(sentences) == text


def test_splitting_takes_linear_time() -> None:
    start = time.process_time()
    for text in (" " * 200_000 + "x", "a " * 100_000, ". " * 100_000, "." * 200_000):
        assert cut(text, "en").join(cut(text, "en").sentences) == text
    assert time.process_time() - start < 10  # quadratic time would be minutes


def test_text_may_be_split_only_at_line_breaks() -> None:
    found = cut(" Anna sings. Ben reads.\r\nIda.", "en", between_sentences=False)
    assert found.sentences == ["Anna sings. Ben reads.", "Ida."]
    assert found.gaps == [" ", "\r\n", ""]


@given(
    text=st.text(alphabet=st.one_of(st.sampled_from("aM r.…\u2028\u00a0\ud800\n"), st.characters()))
)
def test_the_splitter_handles_any_text(text: str) -> None:
    found = cut(text, "en")
    assert found.join(found.sentences) == text
    assert all(sentence == sentence.strip() != "" for sentence in found.sentences)
