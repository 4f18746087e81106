"""Plain text: encodings, and lines that were broken to fit a width."""

import codecs

import pytest

from nmt.documents.errors import DocumentError
from nmt.documents.plain_text import decode, paragraphs, wrap_evenly

GERMAN = "Die Bäckerei öffnet früh. Größere Brötchen gibt es für fünfzig Cent — „süß“ oder nicht."


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_encodings_are_recognized(encoding: str) -> None:
    text, found = decode(GERMAN.encode(encoding))
    assert text == GERMAN
    assert codecs.lookup(found).name in (codecs.lookup(encoding).name, found)


@pytest.mark.parametrize(
    "content", [b"\x00\x01\xff\xfe\x80" * 9, b"a dog\0a cat", codecs.BOM_UTF16_LE + b"abc"]
)
def test_what_is_no_text_is_refused(content: bytes) -> None:
    with pytest.raises(DocumentError):
        decode(content)


@pytest.mark.parametrize("lines", [1, 2, 3, 7])
def test_lines_are_of_similar_lengths_and_none_is_lost(lines: int) -> None:
    found = wrap_evenly(GERMAN, lines)
    assert " ".join(found) == GERMAN
    assert len(found) <= lines
    assert max(map(len, found)) <= len(GERMAN) / lines + 16


@pytest.mark.parametrize("end", ["\u2028", "\u2029", "\x85", "\v", "\f", "\r", "\n\f"])
def test_separators_of_lines_and_pages_are_kept(end: str) -> None:
    text = f"My dog is here{end}My cat is here and waits for its\nmilk and{end}fish."
    found = paragraphs(text)
    assert [each.text for each in found if each.text][:1] == ["My dog is here"]
    assert "".join(each.wrapped(each.text) for each in found) == text
    wide = f"{'My cat is here and waits for its milk' * 2}\nand for its{end}\nfish."
    assert "".join(each.wrapped(each.text) for each in paragraphs(wide)) == wide


MAIL = """\
Dear Anna,

thank you for your letter. We would be glad to welcome you
and your family next summer. The house has a large garden
with a swing.

> When may we come? We are thinking of the first two weeks
> of August.

- bring your bathing things, your towels and some warm
  clothes for the evening
- Ben

> 1. Is there a room for the children, or must we all sleep
>    in a tent?
"""


@pytest.mark.parametrize(
    ("first", "second", "expected"),
    [
        ("un-", "til", "until"),
        ("trans-", "lation", "translation"),
        ("un-", "known", "unknown"),
        ("hy\u00ad", "phen", "hyphen"),
        ("well-", "known", "well-known"),
        ("decision-", "making", "decision-making"),
        ("up-", "to-date", "up-to-date"),
        ("sea-", "bed", "sea-bed"),
        ("pre-", "and", "pre- and"),
        ("Anglo-", "American", "Anglo-American"),
    ],
)
def test_a_divided_word_is_joined(first: str, second: str, expected: str) -> None:
    text = f"This is the first line, which is wider than all others, {first}\n{second} the end."
    mention = "\n\nThe sea-bed." if second == "bed" else ""
    found = paragraphs(text + mention)[0].text
    assert found == f"This is the first line, which is wider than all others, {expected} the end."


def test_a_short_rest_of_a_divided_word_is_joined_even_if_it_would_have_fitted() -> None:
    text = "This is the first line of the text, un-\ntil another, which is wider than the first.\n"
    [paragraph] = paragraphs(text)
    assert paragraph.text.startswith("This is the first line of the text, until another,")


ADDRESS = "https://example.org/" + "x" * 100 + "\n"


def test_broken_lines_are_joined_and_broken_again() -> None:
    found = paragraphs(MAIL)
    assert [each.text for each in found if each.width] == [
        "thank you for your letter. We would be glad to welcome you and your family next summer. "
        "The house has a large garden with a swing.",
        "When may we come? We are thinking of the first two weeks of August.",
        "- bring your bathing things, your towels and some warm clothes for the evening",
        "1. Is there a room for the children, or must we all sleep in a tent?",
    ]
    assert "".join(each.wrapped(each.text) for each in found) == MAIL


@pytest.mark.parametrize("address", [ADDRESS, ADDRESS * 2, "See " + ADDRESS])
def test_a_long_address_does_not_keep_lines_from_being_joined(address: str) -> None:
    found = paragraphs(f"{MAIL}\n{address}Yours, Emma")
    assert [each.text for each in found if each.width] == [
        each.text for each in paragraphs(MAIL) if each.width
    ]
    assert "".join(each.wrapped(each.text) for each in found) == f"{MAIL}\n{address}Yours, Emma"


@pytest.mark.parametrize(
    "text",
    [
        "The station is closed until the end of next week.\nBuses leave from the hall.\n",
        "roses are red\nviolets are blue",
        "a line has more than a hundred characters: the others are not broken\n" * 2 + "word " * 24,
        "one\r\n\r\n  two\r\n\n\n",
        "The station is closed until the end of next week.\n\x0c\nBuses leave from the hall.\n",
        "- The station is closed until next week.\n  Buses leave from the hall beside it.\n" * 2,
        "",
    ],
)
def test_other_lines_stay_apart_and_nothing_changes(text: str) -> None:
    found = paragraphs(text)
    assert not any(each.width for each in found)
    assert "".join(each.wrapped(each.text) for each in found) == text
