"""A missing term is written in place of the words aligned with it."""

import pytest

from nmt.decoding.term_placement import AlignedTranslation, Place

SOURCE = 'I gave "the release" to my old boss yesterday.'
TARGET = 'Ich habe meinem alten Chef gestern die "Version" gegeben.'
PAIRS = [(0, 0), (1, 1), (5, 2), (6, 3), (7, 4), (8, 5), (2, 6), (3, 7), (1, 8)]


def translation(pairs: list[tuple[int, int]] = PAIRS) -> AlignedTranslation:
    return AlignedTranslation(SOURCE, TARGET, pairs)


@pytest.mark.parametrize(
    ("term", "forms", "usual", "place"),
    [
        ("release", ["Freigabe"], ["Version"], Place(7, True)),
        ("boss", ["Leiter"], ["Chef"], Place(4, True)),
        ("old boss", ["Leiter"], ["Chef"], Place(4, True)),  # the noun, not the adjective
        ("gave", ["überreichen"], ["habe", "gegeben"], Place(1, True)),
        ("boss", ["Chefin"], [], Place(4, True)),  # "Chef" may be its beginning
        ("friend", ["Freund"], [], None),
    ],
)
def test_the_aligned_words_are_replaced(term, forms, usual, place):
    found = translation()
    assert found.usual_words(term, forms) == usual
    assert found.place(term, forms) == place


def test_a_term_without_aligned_words_goes_before_what_follows_it():
    assert translation([(8, 5), (3, 7)]).place("boss", ["Leiter"]) == Place(5, False)
    assert translation([(3, 7)]).place("boss", ["Leiter"]) is None


def test_the_translation_up_to_the_word_continues_with_each_form():
    found = translation().beginnings(Place(7, True), ["Freigabe", "Freigaben"], is_german=False)
    before = "Ich habe meinem alten Chef gestern die"
    assert found == [f'{before} "Freigabe', f'{before} "Freigaben']


def test_german_words_before_a_noun_may_change():
    found = translation().beginnings(Place(4, True), ["Leiterin"], is_german=True)
    assert "Ich habe meinem alten Leiterin" in found
    assert "Ich habe meiner alten Leiterin" in found


def test_a_noun_that_replaces_no_word_may_have_an_article():
    found = translation().beginnings(Place(5, False), ["Vertrag"], is_german=True)
    assert {"Ich habe meinem alten Chef Vertrag", "Ich habe meinem alten Chef den Vertrag"} <= set(
        found
    )
