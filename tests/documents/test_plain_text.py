"""Plain text: encodings, and lines that were broken to fit a width."""

import codecs

import pytest

from nmt.documents.errors import DocumentError
from nmt.documents.plain_text import decode, first_broken, paragraphs, wrap_evenly

GERMAN = "Die Bäckerei öffnet früh. Größere Brötchen gibt es für fünfzig Cent — „süß“ oder nicht."


@pytest.mark.parametrize(
    "encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "cp1252"]
)
def test_encodings_are_recognized(encoding: str) -> None:
    text, found = decode(GERMAN.encode(encoding))
    assert text == GERMAN
    assert codecs.lookup(found).name in (codecs.lookup(encoding).name, found)


@pytest.mark.parametrize(
    "text",
    [
        GERMAN.replace("—", "–"),
        "Hallo Jürgen,\n\nschöne Grüße aus Köln. Das Wetter ist schön.\n\nDein Günther\n",
        "The café is closed.\n",
        "1\n00:00:01,000 --> 00:00:02,500\nÜber die Straße läuft ein Hund.\n",
        "Übermorgen öffnet das Café in Zürich, ähnlich wie früher.\n",
    ],
)
@pytest.mark.parametrize("encoding", ["cp1252", "mac_roman", "cp850"])
def test_code_pages_of_windows_macs_and_dos_are_told_apart(text: str, encoding: str) -> None:
    content = text.encode(encoding, "ignore")  # DOS has fewer quotation marks
    assert decode(content) == (content.decode(encoding), encoding.replace("_", "-"))


@pytest.mark.parametrize(
    "text",
    [
        *("Bogotá is big.", "NVIDIA® makes chips.", "Intel™ makes chips.", "It costs £5, not 1¾."),
        *("Jennifer López sang.", "Microsoft® Windows®", "The capital of Perú.", "São Paulo"),
    ],
)
def test_signs_and_foreign_letters_do_not_hide_the_code_page_of_windows(text: str) -> None:
    assert decode(text.encode("cp1252")) == (text, "cp1252")


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        ("“It’s late,” she said—and left. We’ll see…\n", "mac_roman"),
        ("L’été dernier, il faisait très chaud à la plage. Ça va être génial !\n", "mac_roman"),
        ("L’été dernier, il faisait très chaud à la plage. Ça va être génial !\n", "cp1252"),
        ("Zażółć gęślą jaźń. Dziś jest piękny dzień, a książka leży na stole.\n", "cp1250"),
        ("Собака спит на кухне. Где мой красный зонт? Он ждёт уже целый час.\n", "cp1251"),
    ],
)
def test_other_text_in_code_pages_is_recognized(text: str, encoding: str) -> None:
    assert decode(text.encode(encoding)) == (text, encoding.replace("_", "-"))


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


PROSE = """\
We would be glad to welcome you and your family next
summer. The house has a large garden with a swing and
Emma's old tree house.
"""
WIDE = "The table of contents is wider than the text. " * 2


@pytest.mark.parametrize("other", ["", f"{WIDE}\n\n", f"{WIDE * 2}\n\n", f"\n{WIDE}\n\nAnna\n\n"])
@pytest.mark.parametrize("prefix", ["", "> ", "  "])
def test_a_sentence_that_continues_in_lower_case_shows_the_width_of_its_paragraph(
    other: str, prefix: str
) -> None:
    prose = "".join(prefix + line for line in PROSE.splitlines(keepends=True))
    found = paragraphs(other + prose)
    assert found[-1].text == " ".join(PROSE.splitlines())
    assert "".join(each.wrapped(each.text) for each in found) == other + prose
    assert first_broken((other + prose).split("\n")) == other.count("\n")


def test_lines_that_were_broken_raggedly_are_joined() -> None:
    text = (
        "The tower was built in the year of the great storm and was used\n"
        "by fishermen as a light until the harbour was closed after the\n"
        "storms. It has been a museum ever since, which is open\n"
        "on Sundays.\n"
    )
    assert [each.text for each in paragraphs(text)] == [" ".join(text.splitlines())]


KEPT = {
    "poem in capitals": """\
Shall I compare thee to a summer's day of golden light?
Thou art more lovely and more temperate, my dear:
Rough winds do shake the darling buds of May, at night,
And summer's lease hath all too short a date, I fear.
""",
    "poem in lower case": """\
so much depends upon the things we leave behind us here
a red wheelbarrow
glazed with rain that fell for all the evening. and then
the chickens
""",
    "list without bullets": """\
two pounds of potatoes, peeled and cut into small cubes
one large onion, finely chopped, with a bit of its green
some fresh parsley, washed, dried and chopped just as well
""",
    "list": """\
- two pounds of potatoes, peeled and cut into small cubes
- one large onion, finely chopped, with a bit of its green.
- some fresh parsley
""",
    "verse": """\
His gaze has grown so tired from the passing of the bars
that it can hold no more of what is out there in the light.
To him it seems as if there were a thousand of these bars
and then behind a thousand bars no world that is in sight.
""",
    "list below a sentence": """\
The following are needed for the excursion to the lake.
warm clothes, a rain jacket and a pair of boots
a packed lunch and something to drink for everyone
sun cream and a hat against the strong sunshine
""",
    "address": """\
Anna Smith, Department of Geography and Environmental Studies
University of Nowhere
12 Long Street
""",
    "headings": """\
How to translate a file that has many lines of plain text
=========================================================
usage of the command line. It is short.
""",
    "code": """\
from nmt.documents.plain_text import decode, paragraphs, wrap
from pathlib import Path. It is short
result = compute_something(first_argument, second_argument)
return result. Done
for each in the_documents_that_were_found_in_this_folder do
print each. Done
""",
    "table": """\
name          colour and a long description of the thing
apple         red, sometimes green, or even both of them.
pear          green
""",
    "fields": """\
subject: a letter about the garden and the house in the city
from: anna. And others
to: ben
""",
    "signature": """\
See you at the station on Monday morning, as we agreed.
--
Anna Smith, who is travelling for most of the coming week
phone: 1234. Mobile: 5678
""",
    "quotation and answer": """\
> When may we come? We are thinking of the first two weeks
of August. I do not know
""",
    "messages": """\
I would like to know where the station is, or how to get to
it. Thanks
can you tell me whether the bus stops here, please? I am late
""",
}


@pytest.mark.parametrize("after", ["", f"\n{'wide ' * 19}\n", f"\n{'wide ' * 40}\n"])
@pytest.mark.parametrize("text", KEPT.values(), ids=KEPT)
def test_lines_of_other_text_stay_apart(text: str, after: str) -> None:
    if after:  # otherwise, only the width counts
        assert not any(each.width for each in paragraphs(text + after))
    assert first_broken((text + after).split("\n")) is None
