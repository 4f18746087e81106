"""Copies of pairs with invented names: on both sides alike, never a word of the corpus."""

import re

import numpy as np
import pytest

from nmt.corpus.name_copies import NameCopier

Pairs = list[tuple[str, str]]
PAIRS: Pairs = [
    ("Tom saw Mary in Boston.", "Tom sah Mary in Boston."),
    ("tom is not here", "tom ist nicht hier"),
    ("Where is Mary's hand?", "Wo ist Marys Hand?"),
    ("I was in Boston.", "Ich war in Boston."),
    ("TOM! Come here.", "TOM! Komm her."),
    ("The war was long.", "Der Krieg war lang."),
    ("A warm hand.", "Eine warme Hand."),
    ("All war was war.", "Aller Krieg war Krieg."),
]


def copier(pairs: Pairs = PAIRS, share: float = 1.0, seed: int = 1) -> NameCopier:
    return NameCopier(pairs, share, seed)


def words(text: str) -> list[str]:
    return re.findall(r"[^\W\d_]+", text)


def all_copies(pairs: Pairs, share: float = 1.0, seed: int = 1) -> Pairs:
    made = copier(pairs, share, seed)
    return [copy for pair in pairs for copy in made.copies(*pair)]


def test_names_are_the_words_that_are_mostly_alike_on_both_sides() -> None:
    # "war" is on both sides by chance, "in" too short, "mary" twice in English, once in German.
    assert copier().names == {"tom", "boston", "hand"}


def test_copies_hold_the_same_invented_names_on_both_sides() -> None:
    for _ in range(20):
        [(source, target)] = copier().copies("Tom was in Boston.", "Tom war in Boston.")
        tom, was, in_, boston = words(source)
        assert words(target) == [tom, "war", "in", boston]
        assert (was, in_) == ("was", "in")
        assert "Tom" not in source
        assert "Boston" not in source


def test_no_word_of_the_corpus_is_invented() -> None:
    known = {word.lower() for pair in PAIRS for text in pair for word in words(text)}
    for source, _ in all_copies([("Tom is not here", "Tom ist nicht hier")] * 100 + PAIRS):
        new = {word.lower() for word in words(source)} - known
        assert new


def test_invented_names_are_words_of_at_least_three_letters() -> None:
    made = copier(PAIRS, 200)
    names = [words(source)[0] for source, _ in made.copies("tom is", "tom ist")]
    assert len(names) == 200
    assert len(set(names)) > 10
    assert all(re.fullmatch(r"[a-z]{3,12}", name) for name in names)


@pytest.mark.parametrize(
    ("written", "pattern"), [("tom", "[a-z]+"), ("Tom", "[A-Z][a-z]+"), ("TOM", "[A-Z]+")]
)
def test_the_case_is_kept(written: str, pattern: str) -> None:
    [(source, target)] = copier().copies(f"{written} is", f"{written} ist")
    assert re.fullmatch(pattern, words(source)[0])
    assert words(source)[0] == words(target)[0] != written


def test_each_side_keeps_its_own_case() -> None:
    # With `lowercase: source` only the target side has capitals.
    pairs = [("tom is here", "Tom ist hier")]
    [(source, target)] = copier(pairs).copies(*pairs[0])
    assert words(source)[0].capitalize() == words(target)[0] != "Tom"


def test_a_name_said_twice_is_replaced_twice() -> None:
    [(source, target)] = copier().copies("Tom, Tom!", "Tom, Tom, Tom!")
    name = words(source)[0]
    assert (source, target) == (f"{name}, {name}!", f"{name}, {name}, {name}!")


def test_a_part_of_a_word_is_no_name() -> None:
    [(source, target)] = copier().copies("Tom's tomato", "Toms Tomate. Tom")
    name = words(source)[0]
    assert source == f"{name}'s tomato"
    assert target == f"Toms Tomate. {name}"


@pytest.mark.parametrize(("share", "number"), [(0, 0), (1, 1), (3, 3)])
def test_a_whole_share_is_the_number_of_copies(share: float, number: int) -> None:
    assert len(list(copier(PAIRS, share).copies("Tom is", "Tom ist"))) == number


def test_a_broken_share_is_met_on_average() -> None:
    made = copier(PAIRS, 1.25)
    counts = [len(list(made.copies("Tom is", "Tom ist"))) for _ in range(400)]
    assert set(counts) == {1, 2}
    assert np.mean(counts) == pytest.approx(1.25, abs=0.07)


def test_copies_are_a_function_of_the_pairs_and_the_seed() -> None:
    assert all_copies(PAIRS) == all_copies(PAIRS)
    assert all_copies(PAIRS) == all_copies(list(PAIRS))
    assert all_copies(PAIRS, seed=2) != all_copies(PAIRS, seed=1)


@pytest.mark.parametrize(
    "pair", [("Where are you?", "Wo bist du?"), ("", ""), ("Tom is", "er ist"), ("1984", "1984")]
)
def test_a_pair_without_a_name_has_no_copies(pair: tuple[str, str]) -> None:
    assert list(copier(PAIRS, 5).copies(*pair)) == []


@pytest.mark.parametrize("pairs", [[], [("", "")], [("one two", "eins zwei")], [("3 %", "3 %")]])
def test_a_corpus_without_names(pairs: Pairs) -> None:
    assert copier(pairs).names == set()
    assert all_copies(pairs, 5) == []


@pytest.mark.parametrize("word", ["Tom", "aaa", "ÄÖÜ"])
def test_a_corpus_of_one_word_spells_others_with_its_letters(word: str) -> None:
    [(source, target)] = all_copies([(word, word)])
    assert source == target
    assert set(source.lower()) <= set(word.lower())
    assert source.lower() != word.lower()
    assert len(source) >= 3


def test_letters_whose_small_form_is_two_are_replaced_alike_or_not_at_all() -> None:
    for source, target in all_copies([("İstanbul is old, Tom", "İstanbul ist alt, Tom")], 10):
        assert source.split(" ")[0] == target.split(" ")[0]
    assert copier([("i̇stanbul", "İstanbul")]).names == set()
