"""Fragments of XML: text is translated, tags stay, and elements may be left alone or divide."""

import time

import pytest

from nmt.documents.errors import DocumentError
from nmt.documents.xml_markup import XmlMarkup


def capitals(xml: str, **options: list[str]) -> str:
    markup = XmlMarkup(xml, **options)
    return markup.replace(
        [
            [
                (piece.upper() if piece.isascii() else piece, i)
                for i, piece in enumerate(each.pieces)
            ]
            for each in markup.texts
        ]
    )


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        ("Save &amp; <b>go</b>", "SAVE &amp; <b>GO</b>"),
        ("<p>One <i>two</i></p> <p>Three</p>", "<p>ONE <i>TWO</i></p> <p>THREE</p>"),
        ("one<x id='1'/> two<!-- no -->", "ONE<x id='1'/> TWO<!-- no -->"),
        ("one <?php no ?>two", "ONE <?php no ?>TWO"),
        ("12 <b>%</b>", "12 <b>%</b>"),
        ("", ""),
    ],
)
def test_text_is_translated_and_tags_stay(xml: str, expected: str) -> None:
    assert capitals(xml) == expected


@pytest.mark.parametrize(
    "prolog",
    [
        "<?xml version='1.0' encoding='iso-8859-1'?>",
        '\n<?xml version="1.0"?>\n<!-- no --><?no?>\n<!DOCTYPE a>\n',
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0//EN" "http://localhost/a>b.dtd">',
        "<!DOCTYPE a [<!ELEMENT a (#PCDATA)> ] >",
    ],
)
def test_what_stands_before_the_root_stays(prolog: str) -> None:
    assert capitals(f"{prolog}<a>über <b>one</b></a>") == f"{prolog}<a>über <b>ONE</b></a>"


def test_entities_of_html_are_text() -> None:
    [text] = XmlMarkup("a&nbsp;b &eacute;&#228;&amp; c").texts
    assert text.text == "a\xa0b éä& c"


@pytest.mark.parametrize(
    "xml",
    [
        '<!DOCTYPE a [<!ENTITY b "c">]><a>d &b;</a>',
        '<!DOCTYPE a [<!ENTITY nbsp "c">]><a>d &nbsp;</a>',
        '<!DOCTYPE a SYSTEM "file:///etc/hostname" [<!ENTITY % b SYSTEM "c">%b;]><a>d</a>',
        "<!DOCTYPE a><!DOCTYPE b><a/>",
        "<a/><?xml version='1.0'?>",
    ],
)
def test_own_entities_and_misplaced_prologs_are_refused(xml: str) -> None:
    with pytest.raises(DocumentError):
        XmlMarkup(xml)


def test_text_around_inline_tags_is_one_text() -> None:
    assert [each.text for each in XmlMarkup("a <b>c</b> d").texts] == ["a c d"]
    assert [each.text for each in XmlMarkup("<p>a</p><p>b</p>").texts] == ["a", "b"]


def test_elements_may_divide_the_text_or_stay_as_they_are() -> None:
    assert [x.text for x in XmlMarkup("a <p>c</p> d", dividing=["p"]).texts] == ["a ", "c", " d"]
    assert capitals("a <p>c</p> d", dividing=["p"]) == "A <p>C</p> D"
    assert capitals("a <p>c</p> d", ignored=["p"]) == "A <p>c</p> D"


@pytest.mark.parametrize("xml", ["<a>", "a < b", "</nmt><nmt>", "&unknown;", "<a>" * 200, "\ud800"])
def test_what_is_not_xml_is_refused(xml: str) -> None:
    with pytest.raises(DocumentError):
        XmlMarkup(xml)


def test_long_prologs_take_little_time() -> None:
    start = time.process_time()
    XmlMarkup("<!-- a -->" * 5000 + "<a/>")
    for xml in ("<!DOCTYPE a [" + "] " * 50_000, "<!DOCTYPE " + "'a' " * 50_000):
        with pytest.raises(DocumentError):
            XmlMarkup(xml)
    assert time.process_time() - start < 10  # exponential or quadratic time would be minutes


def test_large_fragments_take_little_time() -> None:
    xml = "a <x/> <b>c</b>, " * 5000
    assert capitals(xml) == xml.replace("a ", "A ").replace(">c<", ">C<")
