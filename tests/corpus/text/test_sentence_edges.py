"""What stands around a sentence, and the mark that it lacks."""

import pytest

from nmt.corpus.text.sentence_edges import lacks_final_mark, with_final_mark


@pytest.mark.parametrize(
    ("text", "mark"),
    [
        ("oscar likes to code", "."),
        ("who is that man over there", "?"),
        ("who's there now", "?"),
        ("Don't you like it", "?"),
        ("Don't forget your keys", "."),
        ("When does it start", "?"),
        ("When it starts we go", "."),
        ("Where to find us", "."),
        ("What a nice day", "."),
        ("How to install it", "."),
        ("How much is it", "?"),
        ("Have a nice day", "."),
        ("Have you seen it", "?"),
        ("Will Smith is here", "."),
        ("Will you be there", "?"),
        ("We leave at 9", "."),
    ],
)
def test_an_english_sentence_gets_the_mark_that_it_lacks(text: str, mark: str) -> None:
    assert with_final_mark(text, "en") == text + mark
    assert with_final_mark(text, "fr") == text + "."


@pytest.mark.parametrize(
    "text", ["", "Good morning", "We left (at 9)", "We left it...", "他 有 书。"]
)
def test_labels_and_what_ends_in_a_mark_stay(text: str) -> None:
    assert not lacks_final_mark(text)
    assert with_final_mark(text, "en") == text
