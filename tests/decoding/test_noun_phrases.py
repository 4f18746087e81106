"""German words before a noun get the endings that other nouns need."""

import pytest

from nmt.decoding.noun_phrases import FEATURES, before_nouns


@pytest.mark.parametrize(
    ("words", "features", "expected"),
    [
        ("Hier ist der", "fn fa", ["Hier ist die"]),
        ("Der", "nn", ["Das"]),
        ("Ihr", "fn pa", ["Ihre"]),  # capitals remain
        ("mit meinem", "fd", ["mit meiner"]),
        ("in eurem", "fd na nd", ["in eurer", "in euer", "in eurem"]),
        ("am", "fd na", ["an der", "ans"]),
        ("Zum", "fd pd", ["Zur", "Zu den"]),
        ("zur", "fn", ["zur"]),  # there is no nominative
        ("das neue", "mn ma md", ["der neue", "den neuen", "dem neuen"]),
        ("eine gute", "mn na fd", ["ein guter", "ein gutes", "einer guten"]),
        ("im alten", "fd pa", ["in der alten", "in die alten"]),
        ("ein", "pn", ["ein"]),  # has no plural
    ],
)
def test_a_determiner_and_an_adjective_after_it_are_inflected(words, features, expected):
    assert before_nouns(words.split(), features.split()) == expected


@pytest.mark.parametrize("words", ["", "ich habe", "mit", "habe neue", "sehr gute"])
def test_other_words_remain(words):
    assert before_nouns(words.split()) == [words]


def test_every_form_is_possible_if_nothing_is_known_of_the_noun():
    found = before_nouns(["die"], FEATURES)
    assert sorted(found) == ["das", "dem", "den", "der", "des", "die"]


def test_what_may_be_a_relative_pronoun_may_remain():
    assert before_nouns(["ein", "Kind,", "das"], ["pa"]) == ["ein Kind, die", "ein Kind, das"]


def test_an_article_may_be_added():
    found = before_nouns(["ich", "habe"], ["fa"], may_add=True)
    assert found == ["ich habe", "ich habe die", "ich habe eine"]
