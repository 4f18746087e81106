"""Sentences become parts for the model; translations get back what stood around them."""

import pytest

from nmt.corpus.text.carried import Carrier
from nmt.corpus.text.parts import Splitter, TextRules, surround


def splitter(lowercase: str = "none", longest: int = 100, plain: bool = True) -> Splitter:
    """Return a splitter for a model of whole words that can spell everything."""
    rules = TextRules("en", "de", "NFC", lowercase, plain, longest, 200)
    known = frozenset(["where", "is", "the", "station", "delicious", "we", "went", "usa"])
    carrier = Carrier(known, True, ("en", "de"), lambda text: True)
    return Splitter(rules, str.split, lambda text: True, lambda text: [text], carrier)


def echoed(text: str, **options: object) -> str:
    """Return what a model that copies its input would make of a text."""
    rules = splitter(**options)  # type: ignore[arg-type]
    parts = rules.parts(text)
    return " ".join(surround(part, rules.write(part, part.text)) for part in parts)


@pytest.mark.parametrize(
    ("typed", "written"),
    [
        ("it isn’t far", "it isn't far"),
        ("it isn`t far", "it isn't far"),
        ("it isn´t far", "it isn't far"),
        ("- we left", "- we left"),
        ("• we left", "• we left"),
        ("(we left)", "(we left)"),
        ("[we left]", "[we left]"),
        ("“we left”", "„we left“"),
        ('"we left"', "„we left“"),
        ("we\u00a0left", "we left"),
        ("we left\u200e", "we left"),
        ("\u202awe left\u202c", "we left"),
        ("\u2066we left\u2069", "we left"),
        ("we\u061c left", "we left"),
        ("it costs €12.50 today", "it costs 12,50 € today"),
        ("it costs $5 today", "it costs 5 $ today"),
        ("it costs £1,500 today", "it costs 1.500 £ today"),
        ("about 1,000 people", "about 1.000 people"),
        ("about 3.5 litres", "about 3,5 litres"),
        ("about 50% of them", "about 50 % of them"),
        ("at 10:45 we left", "at 10:45 we left"),
        ("call 030 123456 please", "call 030 123456 please"),
        ("call +49 30 1234567 please", "call +49 30 1234567 please"),
        ("write to john.doe@example.com please", "write to john.doe@example.com please"),
        ("see https://example.org/a?b=1 please", "see https://example.org/a?b=1 please"),
        ("see www.example.org please", "see www.example.org please"),
        ("hello {name} there", "hello {name} there"),
        ("hello {{ user }} there", "hello {{ user }} there"),
        ("hello %1$s there", "hello %1$s there"),
        ("hello %s there", "hello %s there"),
        ("open report.pdf now", "open report.pdf now"),
        ("run `make test` now", "run `make test` now"),
        ("thanks 😀 there", "thanks 😀 there"),
        ("ask @anna there", "ask @anna there"),
        ("room A4-12 please", "room A4-12 please"),
    ],
)
def test_what_surrounds_or_is_no_language_is_carried_around_the_model(
    typed: str, written: str
) -> None:
    assert echoed(typed) == written


@pytest.mark.parametrize(
    "text", ["5", "3.14", "50%", "😀", "…", "- -", "https://example.org", "{x}"]
)
def test_text_without_words_is_not_translated(text: str) -> None:
    assert splitter().parts(text) == []


@pytest.mark.parametrize(
    ("word", "hidden"), [("€12.50", 1), ("john.doe@example.com", 1), ("{name}", 1), ("10:45", 1)]
)
def test_each_thing_is_one_placeholder(word: str, hidden: int) -> None:
    [part] = splitter().parts(f"take {word} home")
    assert len(part.words) == hidden
    assert word not in part.text


def test_capitals_come_back() -> None:
    [part] = splitter("source").parts("WHERE IS THE STATION?")
    assert part.text == "where is the station?"
    assert splitter("source").write(part, "Wo ist der Bahnhof?") == "WO IST DER BAHNHOF?"
    [part] = splitter("source").parts("USA")  # an abbreviation
    assert splitter("source").write(part, "die USA") == "Die USA"


@pytest.mark.parametrize(
    ("source", "written"), [("Delicious!", "Köstlich!"), ("delicious", "köstlich")]
)
def test_a_translation_begins_with_a_capital_if_its_source_does(source: str, written: str) -> None:
    [part] = splitter("source").parts(source)
    translation = "köstlich" + source[len("delicious") :]
    assert splitter("source").write(part, translation) == written


def test_long_sentences_are_divided_at_the_best_place() -> None:
    words = (
        "we went home early because it rained all day; "
        "the others stayed there and played cards with us all night long"
    )
    first, second = splitter(longest=12).parts(words)
    assert first.text.endswith("day;")
    assert second.text.startswith("the others")


def test_only_the_first_half_begins_with_a_capital() -> None:
    rules = splitter("source")
    [part] = rules.parts("We went home, and Tom stayed there")
    halves = rules.divide(part)
    assert [half.capital for half in halves] == [True, False]
