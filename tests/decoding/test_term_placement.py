"""A missing term is written in place of the words aligned with it."""

import pytest

from nmt.decoding.term_placement import AlignedTranslation, Alignment, Place

SOURCE = 'I gave "the release" to my old boss yesterday.'
TARGET = 'Ich habe meinem alten Chef gestern die "Version" gegeben.'
PAIRS = [(0, 0), (1, 1), (5, 2), (6, 3), (7, 4), (8, 5), (2, 6), (3, 7), (1, 8)]


def translation(pairs: list[tuple[int, int]] = PAIRS, nearest: int = 0) -> AlignedTranslation:
    return AlignedTranslation(SOURCE, TARGET, Alignment(pairs, [nearest] * 10))


@pytest.mark.parametrize(
    ("term", "forms", "usual", "place"),
    [
        ("release", ["Freigabe"], ["Version"], Place(7, True)),
        ("boss", ["Leiter"], ["Chef"], Place(4, True)),
        ("old boss", ["Leiter"], ["Chef"], Place(4, True)),  # the noun, not the adjective
        ("gave", ["überreichen"], ["gegeben"], Place(8, True)),  # not the auxiliary
        ("boss", ["Chefin"], [], Place(4, True)),  # "Chef" may be its beginning
        ("friend", ["Freund"], [], None),
    ],
)
def test_the_aligned_words_are_replaced(term, forms, usual, place):
    found = translation()
    assert found.usual_words({term}, forms) == usual
    assert found.place({term}, forms) == place


def test_a_term_without_aligned_words_goes_before_what_follows_it():
    assert translation([(8, 5), (3, 7)]).place({"boss"}, ["Leiter"]) == Place(5, False)


def test_if_no_word_after_it_is_aligned_a_term_goes_next_to_what_attends_to_it():
    assert translation([(3, 7)], 7).place({"yesterday"}, ["Morgen"]) == Place(8, False)  # a noun
    assert translation([(3, 7)], 6).place({"yesterday"}, ["Morgen"]) == Place(6, False)
    behind = translation().beginnings(Place(9, False), {"Morgen": []})
    assert behind == [f"{TARGET.rstrip('.')} Morgen"]


@pytest.mark.parametrize(
    ("target", "place"),
    [
        ("Ein Hund mag Hunde", 1),
        ("Ein Köter mag Hunde", 3),
        ("Ein Hund mag Köter", 1),
    ],
)
def test_a_term_that_occurs_twice_is_missing_where_no_form_of_it_is(target, place):
    pairs = [(0, 0), (1, 1), (2, 2), (3, 3)]
    found = AlignedTranslation("A dog likes dogs", target, Alignment(pairs, [0, 1, 2, 3]))
    assert found.place({"dog", "dogs"}, ["Köter"]) == Place(place, True)


def test_a_term_of_several_words_is_there_as_a_whole():
    pairs = [(0, 0), (1, 1), (1, 2), (2, 3), (3, 4), (4, 5)]
    target = "Die offene Rechnung oder der Schein"
    found = AlignedTranslation("The bill or the bill", target, Alignment(pairs, [0] * 5))
    assert found.place({"bill", "Bill"}, ["offene Rechnung"]) == Place(5, True)


def test_of_equal_terms_without_aligned_words_the_last_is_missing():
    found = AlignedTranslation("a dog likes a dog", "Köter mag Hund", Alignment([(4, 2)], [0] * 5))
    assert found.place({"dog"}, ["Köter"]) == Place(2, True)


def test_an_empty_translation_has_no_place():
    assert AlignedTranslation("a b", "", Alignment([], [])).place({"a"}, ["Buch"]) is None


def test_a_verb_without_aligned_words_replaces_what_attends_to_it():
    assert translation([(1, 1), (2, 2)], 8).place({"gave"}, ["überreichen"]) == Place(8, True)
    assert translation([(1, 1), (2, 2)], 7).place({"gave"}, ["überreichen"]) == Place(1, True)


def test_the_translation_up_to_the_word_continues_with_each_form():
    found = translation().beginnings(Place(7, True), {"Freigabe": [], "Freigaben": []})
    before = "Ich habe meinem alten Chef gestern die"
    assert found == [f'{before} "Freigabe', f'{before} "Freigaben']


def test_german_words_before_a_noun_agree_with_it():
    found = translation().beginnings(Place(4, False), {"Leiterin": ["fd"]})
    assert found[0] == "Ich habe meiner alten Leiterin"


def test_a_noun_has_the_case_of_the_one_that_it_replaces():
    forms = {"Leiter": ["mn", "ma", "md"], "Leiters": ["mg"]}
    found = translation().beginnings(Place(4, True), forms)
    assert found == ["Ich habe meinem alten Leiter"]
    only = translation().beginnings(Place(4, True), {"Leiters": ["mg"]})
    assert only == ["Ich habe meines alten Leiters"]  # rather than none


def test_a_noun_that_replaces_no_word_may_have_an_article():
    found = translation().beginnings(Place(5, False), {"Vertrag": ["ma"]})
    before = "Ich habe meinem alten Chef"
    assert found == [f"{before}{x} Vertrag" for x in ("", " den", " einen")]


def test_a_verb_has_the_form_that_its_auxiliary_demands():
    found = translation()
    forms, separated = ["abgeben", "abgibt", "abgegeben"], ["gibt"]
    before = TARGET.rpartition(" ")[0]
    assert found.verb_beginnings(Place(8, True), "abgeben", forms, separated) == [
        f"{before} abgegeben"
    ]
    first = found.verb_beginnings(Place(0, True), "abgeben", forms, separated)
    assert first == ["Abgeben", "Abgibt", "Gibt"]  # a sentence begins with a capital


@pytest.mark.parametrize(
    ("source", "spelling", "place"),
    [
        ("Login, login, LOGIN", "Login", 0),
        ("Login, login, LOGIN", "login", 1),
        ("Login, login, LOGIN", "LOGIN", 2),
        ("a login", "Login", 1),  # the model reads small letters only
    ],
)
def test_each_spelling_of_a_term_has_its_own_place(source, spelling, place):
    alignment = Alignment([(0, 0), (1, 1), (2, 2)], [0, 1, 2])
    found = AlignedTranslation(source, "Konto, Konto, Konto", alignment)
    assert found.place({spelling}, [spelling]) == Place(place, True)
