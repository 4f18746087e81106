"""Splitting text into sentences and joining them again."""

import time
from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sentencex import segment

from nmt.corpus.text.normalization import missing_space
from nmt.corpus.text.sentences import split_sentences


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("", []),
        (" \n ", []),
        ("One sentence", ["One sentence"]),
        ("  Anna sings.  Ben reads?\n\nIda", ["Anna sings.", "Ben reads?", "Ida"]),
        ("Mr. Smith met Dr. J. Doe. They sang.", ["Mr. Smith met Dr. J. Doe.", "They sang."]),
        ('He said "No." She left.', ['He said "No."', "She left."]),
        ("a line\r\nanother\tword", ["a line", "another", "word"]),
        ("a\t\tab. Ben\t", ["a", "ab.", "Ben"]),
        ("No. I am here.", ["No.", "I am here."]),
        ("Tom: No. I am here.", ["Tom: No.", "I am here."]),
        ("no. that is all", ["no.", "that is all"]),
        ("Turn to page no. seven in it.", ["Turn to page no. seven in it."]),
        ("Yes. No. He said no. She left.", ["Yes.", "No.", "He said no.", "She left."]),
        ("iii. Ben", ["iii. Ben"]),
        (r"I am here.\nYou\tWe,\nthey\n", [r"I am here.\n", r"You\t", r"We,\n", r"they\n"]),
        (r"One\n\nTwo\r\n- it\n- her", [r"One\n\n", r"Two\r\n", r"- it\n", "- her"]),
        (r"In C:\my\new or \nabla", [r"In C:\my\new or \nabla"]),
        ("I am here.Where?", ["I am here.", "Where?"]),
        ("Is it 5?No,6.", ["Is it 5?", "No,6."]),
        ("I came at 5.He left.", ["I came at 5.", "He left."]),
        ("I said no. 5 came.", ["I said no.", "5 came."]),
        ("Room no. 5 is big.", ["Room no. 5 is big."]),
        ("So glad :) See you 😀 Ben", ["So glad :)", "See you 😀", "Ben"]),
        ("I <3 Ben :) and Ida", ["I <3 Ben :) and Ida"]),
        ("3.5 metres… and on. Ben?", ["3.5 metres… and on.", "Ben?"]),
        *(
            (f"Call {short} 5 now. Ben?", [f"Call {short} 5 now.", "Ben?"])
            for short in ("approx.", "Mon.", "Tel.", "max.", "vol.", "ch.", "ext.", "No.", "Jan.")
        ),
        ("Buy 10 lbs. of it. Ben?", ["Buy 10 lbs. of it.", "Ben?"]),
        ("See, e.g. Ben, i.e. him.", ["See, e.g. Ben, i.e. him."]),
        ('"Really?" Tom asked. "No."', ['"Really?" Tom asked.', '"No."']),
        ('"Stop!" I said.', ['"Stop!" I said.']),
        ('"Stop!" I left.', ['"Stop!"', "I left."]),
        ("Sit. (It is open.) Go.", ["Sit.", "(It is open.)", "Go."]),
        ("Sit (Ben is here.) or go.", ["Sit (Ben is here.) or go."]),
        ("In the sun. it was hot", ["In the sun.", "it was hot"]),
    ],
)
def test_sentences_are_found_and_no_text_is_lost(text: str, sentences: list[str]) -> None:
    found = split_sentences(text, "en")
    assert found.sentences == sentences
    spaced = (
        text.replace("here.W", "here. W")
        .replace("5?N", "5? N")
        .replace("5.H", "5. H")
        .replace("5.M", "5. M")
    )
    assert found.join(sentences) in (text, spaced)


@pytest.mark.parametrize(
    ("before", "after", "space"),
    [
        ("I am here.", "Where are you?", " "),
        ('He said "no."', "She left.", " "),
        ("I am here.", "where are you?", ""),
        ("It costs 5.", "Where?", " "),
        ("It costs $5.", "Where?", ""),
        ("I am here", "Where?", ""),
    ],
)
def test_a_space_is_missing_after_a_word_and_its_full_stop(
    before: str, after: str, space: str
) -> None:
    assert missing_space(before, after) == space


def test_codes_of_three_letters_are_understood() -> None:
    text = "Anna kam am 3. Mai. Ben blieb."
    assert split_sentences(text, "deu") == split_sentences(text, "de")
    assert split_sentences(text, "deu") != split_sentences(text, "xyz")


def test_splitting_takes_linear_time() -> None:
    start = time.process_time()
    for text in (" " * 200_000 + "x", "a " * 100_000, ". " * 100_000, "." * 200_000):
        assert split_sentences(text, "en").join(split_sentences(text, "en").sentences) == text
    assert time.process_time() - start < 10  # quadratic time would be minutes


def test_long_lines_are_read_in_parts_and_sentences_stay_whole() -> None:
    with patch("nmt.corpus.text.sentences.segment", wraps=segment) as reading:
        assert (
            split_sentences("Anna sings today. " * 1000, "en").sentences
            == ["Anna sings today."] * 1000
        )
        assert len(split_sentences("“" * 100_000, "en").sentences) == 39
    assert max(len(call.args[1]) for call in reading.call_args_list) <= 5000


@pytest.mark.parametrize("after", ["", " Ben reads." * 1000])
def test_a_sentence_that_is_too_long_is_cut_into_long_pieces_between_words(after: str) -> None:
    long = "word " * 1002 + "end."
    first, second, *rest = split_sentences(long + after, "en").sentences
    assert f"{first} {second}" == long
    assert min(len(first), len(second)) > 2000
    assert rest == ["Ben reads."] * (1000 if after else 0)


def test_text_may_be_split_only_at_line_breaks() -> None:
    found = split_sentences(" Anna sings. Ben reads.\r\nIda.", "en", between_sentences=False)
    assert found.sentences == ["Anna sings. Ben reads.", "Ida."]
    assert found.gaps == [" ", "\r\n", ""]


@settings(deadline=None)
@given(
    text=st.text(
        alphabet=st.one_of(st.sampled_from("aM r.…\u2028\u00a0\ud800\n"), st.characters())
    ),
    at_once=st.integers(2, 50),
)
def test_the_splitter_handles_any_text(text: str, at_once: int) -> None:
    with (
        patch("nmt.corpus.text.normalization.MOST_AT_ONCE", at_once),
        patch("nmt.corpus.text.sentences.missing_space", return_value=""),
    ):
        found = split_sentences(text, "en")
    assert found.join(found.sentences) == text
    assert all(sentence == sentence.strip() != "" for sentence in found.sentences)
