"""JSON documents: only strings that are text are translated."""

import json
import time

import pytest

from nmt.documents.errors import DocumentError
from nmt.documents.json_strings import (
    JsonStrings,
    keeps_placeholders,
    with_placeholders,
    with_spaces_outside,
)


@pytest.mark.parametrize(
    "text",
    [
        *("Save", "Hello {name}!", "Are you sure?", "Yes/No", "Name:", "50% off", "e-mail", "OK"),
        *("Add a mm", "May", "5 mm", "A. Add"),
        *("Home > Shop", "*Required", "Item(s)", "item(s) found?", "&Save", "@:common.ok and go"),
        *("Loading...", "%s files", "100% sure", "You have {{count}} messages", "<0>Log in</0>"),
    ],
)
def test_text_is_found(text: str) -> None:
    assert JsonStrings(json.dumps({"a": [text]})).texts == [text]


@pytest.mark.parametrize(
    "text",
    [
        *(
            "https://a.b/c",
            "#ff0000",
            "user.name.first",
            "fooBar",
            "2024-01-01T10:00:00Z",
            "a@b.de",
        ),
        *("^[a-z]+$", "[A-Z]{2}", "rgb(1,2,3)", "*.js", ".nav > li", "SELECT * FROM users"),
        *(
            "primary_button",
            "/path/to",
            "./x",
            "Europe/Berlin",
            "12:30",
            "{name}",
            *("MMM D, YYYY", "dd.MM.yyyy", "HH:mm", "%B %d, %Y"),
            "%1$s",
            "",
            "$t(common.save)",
        ),
        "{count, plural, one {# item} other {# items}}",
        "a \ud800 b",
    ],
)
def test_what_is_no_text_stays(text: str) -> None:
    source = json.dumps([text])
    found = JsonStrings(source)
    assert found.texts == []
    assert found.replace([]) == source


def test_names_of_a_program_under_certain_keys_stay() -> None:
    tree = {"lang": "en", "icon": ["chevron-left"], "type": "Type", "title": "en", "id": "the id"}
    assert JsonStrings(json.dumps(tree)).texts == ["Type", "en", "the id"]
    tree = {"currencyCode": "USD", "time_zone": "Europe/Berlin", "mime": "text/html", "no": "NO"}
    assert JsonStrings(json.dumps(tree | {"@@locale": "en", "unit": "km/h"})).texts == ["NO"]
    tree = {"css": "btn btn-primary", "cls": "mt-4 md:flex", "sel": "div > p", "align": "left"}
    assert JsonStrings(json.dumps(tree | {"rt": "user/login", "class": "a class"})).texts == [
        "a class"
    ]


def test_a_key_concerns_its_own_value_only() -> None:
    tree = [{"type": "button"}, "hello", {"icon": ["chevron-left", {"id": "a"}, "close"]}, "bye"]
    assert JsonStrings(json.dumps(tree)).texts == ["hello", "bye"]


def test_keys_numbers_and_spaces_stay() -> None:
    source = '{\n\t"Good day" :"Good \\"day\\"\\n",\r\n  "n": [1.50e3, true, null, "One"]\n}\n'
    found = JsonStrings(source)
    assert found.texts == ['Good "day"\n', "One"]
    expected = source.replace('Good \\"day\\"', 'Guten „\\"Tag').replace('"One"', '"Eins"')
    assert found.replace(['Guten „"Tag\n', "Eins"]) == expected


def test_a_file_with_escapes_gets_escapes() -> None:
    assert JsonStrings('["caf\\u00e9 bar"]').replace(["Tür zu"]) == '["T\\u00fcr zu"]'
    assert JsonStrings('["the door"]').replace(["die Tür"]) == '["die Tür"]'


@pytest.mark.parametrize("source", ["", "{", "{'a': 1}", '{"a": "b",}', "[" * 501 + "]" * 501])
def test_what_is_not_json_is_refused(source: str) -> None:
    with pytest.raises(DocumentError):
        JsonStrings(source)


def test_long_fields_take_little_time() -> None:
    start = time.process_time()
    assert JsonStrings(json.dumps(["a %" + "0" * 50_000])).texts
    assert time.process_time() - start < 10  # quadratic time would be minutes


def test_placeholders_are_compared() -> None:
    assert keeps_placeholders("Hi {name}, %d of %d", "%d von %d, {name}")
    assert not keeps_placeholders("Hi {name}", "Hallo {Name}")
    assert not keeps_placeholders("Hi {{name}}", "Hallo {{name}} {{name}}")
    found = with_placeholders("Hi {name}, you have %1$s.")
    assert "".join(found.text.split()) == "Hi,youhave."


@pytest.mark.parametrize(
    ("source", "translation", "expected"),
    [
        ("our <0>terms</0>", "unsere<0> Bedingungen</0>", "unsere <0>Bedingungen</0>"),
        ("our <0>terms</0> now", "jetzt unsere <0>Terme </0>an", "jetzt unsere <0>Terme</0> an"),
        ("our <0>terms</0>.", "unsere <0> Terme</0>.", "unsere <0>Terme</0>."),
        ("our <0>terms</0>.", "unsere <0>Terme </0>.", "unsere <0>Terme</0>."),
        ("our<0> terms</0>", "unsere<0> Terme</0>", "unsere<0> Terme</0>"),
    ],
)
def test_spaces_are_outside_of_tags(source: str, translation: str, expected: str) -> None:
    assert with_spaces_outside(source, translation) == expected
