"""Long sentences are divided where a clause or another sentence begins."""

import time

import pytest

from nmt.corpus.text.division import halves, items, run_on_sentences


@pytest.mark.parametrize(
    ("language", "text", "second"),
    [
        ("en", "we missed the train where is the next bus stop", "where is the next bus stop"),
        ("en", "the king was old he gave his kingdom away", "he gave his kingdom away"),
        ("en", "I lost my keys yesterday I’ve looked everywhere", "I’ve looked everywhere"),
        ("en", "they sell warm bread could you buy two of them", "could you buy two of them"),
        ("de", "der Zug ist leider weg warum hast du nichts gesagt", "warum hast du nichts gesagt"),
    ],
)
def test_sentences_without_punctuation_are_found(language: str, text: str, second: str) -> None:
    assert run_on_sentences(text, language, 36)[1:] == [second]


@pytest.mark.parametrize(
    "text",
    [
        "We missed the train, where is the next bus stop",
        "We missed the train where the bus stops.",
        "the old man with the long red beard",
        "I know that he has seen it at home",
    ],
)
def test_a_text_with_punctuation_or_without_a_beginning_inside_stays_whole(text: str) -> None:
    assert run_on_sentences(text, "en", 20) == [text]


def test_the_sentences_of_a_text_without_punctuation_may_be_of_the_given_length() -> None:
    sentences = ["we missed the train", "where is the bus stop", "I want to go home"]
    assert run_on_sentences(" ".join(sentences), "en", 25) == sentences
    assert run_on_sentences(" ".join(sentences), "en", 60) == [" ".join(sentences)]


def test_a_sentence_is_divided_at_a_semicolon_rather_than_at_a_comma() -> None:
    for first, second in (
        ("Tom came home late, and he was tired;", "the others slept"),
        ("Tom came;", "the others, who were tired, had slept"),
        ("Tom came home late,", "and the others slept"),
    ):
        assert halves(f"{first} {second}", "en")[1] == second


def test_text_in_other_languages_is_divided_only_if_it_must_be() -> None:
    text = "un deux trois quatre cinq six"
    assert run_on_sentences(text, "fr", 20) == [text]
    assert halves(text, "fr") == ["un deux trois", "quatre cinq six"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("soup / fish / cake", ["soup", "/", "fish", "/", "cake"]),
        ("I sing / I swim", ["I sing", "/", "I swim"]),
        ("it rains / I swim / she sings", ["it rains", "/", "I swim", "/", "she sings"]),
        ("tea / coffee", ["tea / coffee"]),
        ("Sizes: S / M / L", ["Sizes: S / M / L"]),
        ("WARNING: It is hot.", ["WARNING:", "It is hot."]),
        ("[Draft] The meeting is today.", ["[Draft]", "The meeting is today."]),
        ("[my own note] See below.", ["[my own note]", "See below."]),
        ("[Tom] likes it.", ["[Tom] likes it."]),
        ("[1] The meeting is today.", ["[1] The meeting is today."]),
    ],
)
def test_the_items_of_a_row_are_found(text: str, expected: list[str]) -> None:
    assert items(text, "en") == expected


@pytest.mark.parametrize("text", ["ab ", "ab / ", "ab ... "])
def test_items_are_found_in_linear_time(text: str) -> None:
    def seconds(times: int) -> float:
        start = time.process_time()
        items("[" + text * times, "en")
        return time.process_time() - start

    shorter = min(seconds(1_000) for _ in range(3))
    # Quadratic: 16 times; a second and third try, since other programs may disturb the first
    assert any(seconds(4_000) < 8 * shorter for _ in range(3))
