"""German words before a noun get the endings that other nouns need."""

import pytest

from nmt.decoding.noun_phrases import before_nouns


@pytest.mark.parametrize(
    ("words", "others"),
    [
        ("Hier ist der", ["Hier ist die", "Hier ist das", "Hier ist dem"]),
        ("Der", ["Die", "Das"]),
        ("Ihr", ["Ihre", "Ihren"]),  # capitals remain
        ("mit meinem", ["mit meiner", "mit mein", "mit meinen"]),
        ("in eurem", ["in eurer", "in euer"]),
        ("am", ["an der", "ans"]),
        ("Zum", ["Zur", "Zu den"]),
        ("das neue", ["der neue", "den neuen", "dem neuen"]),
        ("eine gute", ["ein guter", "ein gutes", "einen guten"]),
    ],
)
def test_a_determiner_and_an_adjective_after_it_are_inflected(words, others):
    found = before_nouns(words.split())
    assert found[0] == words
    assert set(others) <= set(found)
    assert len(found) == len(set(found))


@pytest.mark.parametrize("words", ["", "ich habe", "mit", "habe neue", "sehr gute"])
def test_other_words_remain(words):
    assert before_nouns(words.split()) == [words]


def test_an_article_may_be_added():
    found = before_nouns(["ich", "habe"], may_add=True)
    assert {"ich habe", "ich habe die", "ich habe einen"} <= set(found)
