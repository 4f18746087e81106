"""Words of a translation get the formats of source words, and no format with words is lost."""

import time

import numpy as np
import pytest

from nmt.decoding.translator import Translation
from nmt.documents.formatting import (
    Formatted,
    FormattedSentence,
    Links,
    Part,
    cuts_between,
    format_by,
    format_words,
    is_mark,
    link_by_position,
    merge,
    with_superscripts,
    words,
)


def translate(formatted: Formatted, translation: str, attention: dict[str, str]) -> list[Part]:
    """Format a translation whose words attend to these source words, and to no others."""
    sources = words(formatted.text, cuts_between(formatted.owners))
    targets = words(translation)
    weights = np.zeros((len(targets), len(sources)), np.float32)
    for row, (start, end) in enumerate(targets):
        for column, (first, last) in enumerate(sources):
            wanted = attention.get(translation[start:end])
            weights[row, column] = formatted.text[first:last] == wanted
    marks = formatted.marks_within(0, len(formatted.text))
    links = Links(sources, targets, weights)
    return merge(format_words(translation, links, formatted.owners, formatted, marks))


def test_words_get_the_format_of_the_word_they_attend_to() -> None:
    formatted = Formatted(["see ", "Anna", " ", "today"])
    attention = {"heute": "today", "Anna": "Anna", "sehen": "see"}
    found = translate(formatted, "heute Anna sehen", attention)
    assert found == [("heute", 3), (" ", 2), ("Anna", 1), (" sehen", 0)]


def test_the_space_between_links_belongs_to_neither() -> None:
    formatted = Formatted(["Home", " | ", "About"])
    found = translate(formatted, "Start Info", {"Start": "Home", "Info": "About"})
    assert found == [("Start", 0), (" ", 1), ("Info", 2)]


def test_subscripts_stay_within_their_formula() -> None:
    formatted = Formatted(["Drink H", "2", "O, not CO", "2", " ever"])
    owners = formatted.owners
    sentence = FormattedSentence(formatted.text, 0, len(owners), owners, [])
    translation = Translation("Nie CO2, nur H2O trinken", 0.0)
    parts = format_by(lambda *_: None, sentence, translation, formatted)
    text = "".join(f"<{part}>" if owner in (1, 3) else part for part, owner in merge(parts))
    assert text.replace("CO<2>", "").replace("H<2>O", "") == "Nie , nur  trinken"


def test_a_template_field_stays_in_its_format() -> None:
    fields = "{% if n %}", "{% endif %}"
    formatted = Formatted(["Invite ", f"{fields[0]}many{fields[1]}", " friends to {% endif %}"])
    owners = formatted.owners
    sentence = FormattedSentence(formatted.text, 0, len(owners), owners, [])
    translation = Translation("{% if n %}viele{% endif %} Freunde einladen zu {% endif %}", 0.0)
    parts = merge(format_by(lambda *_: None, sentence, translation, formatted))
    formats = [owner for text, owner in parts for _ in text]
    assert {*formats[: len(fields[0])]} == {1}
    first = translation.text.index(fields[1])
    assert {*formats[first : first + len(fields[1])]} == {1}
    assert {*formats[-len(fields[1]) :]} == {2}


def test_long_words_take_linear_time() -> None:
    formatted = Formatted(["see " + "a" * 50_000, " H2O"])
    owners = formatted.owners
    sentence = FormattedSentence(formatted.text, 0, len(owners), owners, [])
    start = time.process_time()
    parts = format_by(lambda *_: None, sentence, Translation("siehe H2O", 0.0), formatted)
    assert "".join(text for text, _ in parts) == "siehe H2O"
    assert time.process_time() - start < 10  # quadratic time would be minutes


def test_much_punctuation_takes_linear_time() -> None:
    formatted = Formatted(["see " * 20_000, "this"])
    links = link_by_position("see", "siehe, " * 5_000, ())
    start = time.process_time()
    assert format_words("siehe, " * 5_000, links, [0, 0, 1], formatted)
    assert time.process_time() - start < 5  # quadratic time would be longer


def translate_with(
    formatted: Formatted, translation: str, weights: list[list[float]]
) -> list[Part]:
    """Format a translation with these weights of its words (rows) and the source's (columns)."""
    links = Links(words(formatted.text), words(translation), np.array(weights, np.float32))
    return merge(format_words(translation, links, formatted.owners, formatted))


def test_a_format_to_which_no_word_attends_gets_the_word_with_the_strongest_link() -> None:
    formatted = Formatted(["please ", "do", " not sing"])
    weights = [[0.9, 0.1, 0, 0], [0, 0.2, 0.8, 0], [0, 0.1, 0, 0.9]]
    found = translate_with(formatted, "bitte nicht singen", weights)
    assert found == [("bitte ", 0), ("nicht", 1), (" singen", 2)]


def test_a_format_is_added_to_the_only_word_of_another() -> None:
    formatted = Formatted(["new", "house"])
    found = translate(formatted, "Neubau", {"Neubau": "house"})
    assert found == [("", 0), ("Neubau", 1)]
    assert list(formatted.with_formats(found)) == [("Neubau", 1, (1, 0))]
    assert merge([*found, (" da", 1)]) == [*found, (" da", 1)]


def test_without_nesting_a_format_gets_another_word_instead() -> None:
    formatted = Formatted(
        ["Hello", " ", "dear", " friend of mine"], formats=["b", (), "i", ()], nests=False
    )
    weights = [[0.9, 0.1, 0, 0, 0], [0, 0.2, 0.8, 0, 0], [0, 0, 0, 0.9, 0.1], [0, 0, 0, 0.1, 0.9]]
    found = translate_with(formatted, "Hallo Freund von mir", weights)
    assert {formatted.formats[owner] for text, owner in found if text.strip()} >= {"b", "i"}
    assert all(text for text, _ in found)


def test_a_text_without_formats_takes_no_word() -> None:
    formatted = Formatted(["old house", " of ", "Anna"], formats=[("a",), (), ("b",)])
    weights = [[0.9, 0, 0, 0], [0, 0.6, 0.4, 0], [0, 0, 0.2, 0.8]]
    found = translate_with(formatted, "altes Haus Annas", weights)
    assert [owner for text, owner in found if text.strip()] == [0, 2]


def test_a_link_that_gets_no_word_keeps_its_own() -> None:
    formatted = Formatted(["old ", "house"], formats=[("x",), ("y",)], links="xy")
    found = translate(formatted, "Altbau", {"Altbau": "house"})
    assert found == [("Altbau", 1)]
    parts = [(text, formats) for text, _, formats in formatted.with_formats(found)]
    assert parts == [("Altbau", ("y",)), (" ", ()), ("old ", ("x",))]


def test_formats_may_change_within_a_word() -> None:
    formatted = Formatted(["T", "he station"])
    found = translate(formatted, "Der Bahnhof", {"Der": "T", "Bahnhof": "station"})
    assert found == [("Der ", 0), ("Bahnhof", 1)]


@pytest.mark.parametrize(
    ("pieces", "attention", "translation", "expected"),
    [
        (["Only ", "$15.99", " today!"], {"!": "$"}, "Heute nur 15,99 $!", "!2"),
        (["Please ", "log in", "."], {".": "in"}, "Bitte einloggen.", ".2"),
        (["Please ", "log in."], {".": "Please"}, "Bitte einloggen.", ".1"),
        (["If you ", "agree", ", go"], {",": "agree"}, "Wenn Sie zustimmen, gehe", ",2"),
        (["If you ", "agree", " go"], {",": "agree"}, "Wenn Sie zustimmen, gehe", ",2"),
        (["Say ", "no, never", " now"], {",": ","}, "Sag nein, nie jetzt", ",1"),
    ],
)
def test_punctuation_stays_outside_of_a_format_that_has_none(
    pieces: list[str], attention: dict[str, str], translation: str, expected: str
) -> None:
    order = {
        **{"Heute": "today", "nur": "Only", "15": "15", "99": "99", "$": "$", "Bitte": "Please"},
        **{"einloggen": "log", "Wenn": "If", "Sie": "you", "zustimmen": "agree", "gehe": "go"},
        **{"Sag": "Say", "nein": "no", "nie": "never", "jetzt": "now"},
    }
    found = translate(Formatted(pieces), translation, order | attention)
    owners = [owner for text, owner in found for _ in text]
    assert owners[translation.rindex(expected[0])] == int(expected[1])


def test_marks_stay_behind_their_word() -> None:
    formatted = Formatted(["Ben", "1", " sings today.", "2", "¹"], marks={1, 3, 4})
    assert formatted.text == "Ben sings today."
    attention = {"heute": "today", "singt": "sings", "Ben": "Ben", ".": "."}
    found = translate(formatted, "heute singt Ben.", attention)
    assert found == [("heute singt ", 2), ("Ben", 0), ("1", 1), (".", 2), ("2", 3), ("¹", 4)]


def test_spaces_around_a_mark_are_part_of_the_text() -> None:
    formatted = Formatted(["I like", "1 ", "my house"], marks={1})
    assert formatted.text == "I like my house"
    attention = {"Ich": "I", "mag": "like", "mein": "my", "Haus": "house"}
    found = translate(formatted, "Ich mag mein Haus", attention)
    assert found == [("Ich mag", 0), ("1 ", 1), ("mein Haus", 2)]


def test_the_ending_of_an_ordinal_gets_the_format_of_its_number() -> None:
    formatted = with_superscripts(["the 20", "th", " century", "1"], {1, 3})
    assert formatted.text == "the 20th century"
    attention = {"das": "the", "20": "20th", ".": "20th", "Jahrhundert": "century"}
    found = translate(formatted, "das 20. Jahrhundert", attention)
    assert [owner for _, owner in found if owner == 1] == []
    assert found[-1] == ("1", 3)
    assert with_superscripts(["a ", "th", "b"], {1}).owners == [0, 0, 1, 1, 2]


def test_an_ordinal_that_is_raised_as_a_whole_is_text() -> None:
    assert with_superscripts(["2", "nd", " floor"], {0, 1}).text == "2nd floor"
    assert with_superscripts(["the ", "2", "nd", " floor"], {1, 2}).text == "the 2nd floor"


@pytest.mark.parametrize(
    ("pieces", "expected"),
    [
        (["word", "1", " word"], True),
        (["word", "1"], True),
        (["word", "*)", "", "."], True),
        (["word", "th", "."], False),
        (["take ", "1", "/", "2"], False),
        (["the ", "14", "C method"], False),
        (["word", "14", "C"], True),
        (["", "1", "A note"], True),
        (["a ", "1", "Excludes taxes"], True),
        (["word", "[", "1", "]", " next"], True),
        (["word", "1", "2", "."], True),
        (["word", " ", "word"], False),
        (["100 m", "2", "."], False),
        (["5km", "2"], False),
        (["the term", "2", "."], True),
        (["I'm", "4"], True),
    ],
)
def test_superscripts_are_marks_unless_they_are_text(pieces: list[str], expected: bool) -> None:
    assert is_mark(pieces, 1) == expected


def test_spaces_stay_on_their_side_of_a_format() -> None:
    formatted = Formatted(["I like ", "my ", "house"])
    attention = {"Ich": "I", "mag": "like", "mein": "my", "Haus": "house"}
    found = translate(formatted, "Ich mag mein Haus", attention)
    assert found == [("Ich mag ", 0), ("mein ", 1), ("Haus", 2)]


def test_a_lost_format_does_not_move_to_punctuation() -> None:
    formatted = Formatted(["we see ", "John", "."])
    weights = [[0.9, 0, 0.1, 0], [0, 0.8, 0.2, 0], [0, 0.5, 0.4, 0.1]]
    found = translate_with(formatted, "Wir sehen.", weights)
    assert found == [("Wir ", 0), ("sehen", 1), (".", 2)]


def test_very_many_marks_take_linear_time() -> None:
    """Of quadratic time, each of these would take minutes."""
    count = 100_000
    assert not with_superscripts([*[""] * count, "a"], range(count)).marks_at_start(0)
    text = Formatted([" ", *["¹"] * count, " " * count, "a"], marks=range(1, count + 1))
    copied = text.copy(0, count + 1)
    assert len(copied) == 2 * count + 1
    assert merge([("a", 0)] * 10 * count) == [("a" * 10 * count, 0)]


def test_text_is_copied_with_its_marks() -> None:
    formatted = Formatted(["1", "a", "2", "b ", "3", "c"], marks={0, 2, 4})
    assert formatted.marks_at_start(0) == [("1", 0)]
    copied = formatted.copy(0, 2), formatted.copy(2, 4)
    assert "".join(text for part in copied for text, _ in part) == "a2b 3c"


def test_without_attention_words_are_linked_by_position() -> None:
    formatted = Formatted(["one two ", "three", " four"])
    links = link_by_position(formatted.text, "eins zwei drei vier", cuts_between(formatted.owners))
    found = format_words("eins zwei drei vier", links, formatted.owners, formatted)
    assert merge(found) == [("eins zwei ", 0), ("drei", 1), (" vier", 2)]


@pytest.mark.parametrize("source", ["", "…", "x " * 2000])
@pytest.mark.parametrize("translation", ["", "!", "y " * 2000])
def test_no_text_is_lost(source: str, translation: str) -> None:
    formatted = Formatted([source, "z", "7"], marks={2})
    links = link_by_position(formatted.text, translation, cuts_between(formatted.owners))
    marks = formatted.marks_within(0, len(formatted.text))
    found = format_words(translation, links, formatted.owners, formatted, marks)
    assert "".join(text for text, _ in found if text != "7") == translation
    assert [text for text, _ in found].count("7") == 1
