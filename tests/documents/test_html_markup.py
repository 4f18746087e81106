"""HTML: tags stay with their words, and everything except text is preserved."""

from collections.abc import Callable
from xml.etree import ElementTree

import numpy as np
import pytest

from nmt.decoding.translator import Translation
from nmt.documents.errors import DocumentError
from nmt.documents.formatting import (
    FormattedSentence,
    Links,
    cuts_between,
    format_by,
    merge,
    words,
)
from nmt.documents.html_markup import Markup
from nmt.reports.inspection import spell

Translate = Callable[[str, bytes], bytes]
LINK = '<a href="x">'


def upper(html: str) -> str:
    """Translate by converting to capitals, with each piece of text in its own tags."""
    markup = Markup(html)
    for stretch in markup.stretches:
        markup.replace(stretch, [(text.upper(), i) for i, text in enumerate(stretch.texts)])
    return str(markup)


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("plain & simple", "PLAIN &amp; SIMPLE"),
        ("<p>one</p>\n<p>two</p>", "<p>ONE</p>\n<p>TWO</p>"),
        ('<p>a <b class="x">bold <i>word</i></b> here</p>',
         '<p>A <b class="x">BOLD <i>WORD</i></b> HERE</p>'),
        ('one<br>two <img src="a.png" alt="alt"> three',
         'ONE<br>TWO <img src="a.png" alt="alt"> THREE'),
        ("<p>see <code>x = y</code> and <span translate=no>Name</span></p>",
         '<p>SEE <code>x = y</code> AND <span translate="no">Name</span></p>'),
        ("<script>var a = 'text';</script><style>b {}</style>x<!-- note -->",
         "<script>var a = 'text';</script><style>b {}</style>X<!-- note -->"),
        ("<ul><li>one<li>two</ul>", "<ul><li>ONE</li><li>TWO</li></ul>"),
        ("<b>un<p>closed", "<b>UN<p>CLOSED</p></b>"),
        (" <tr><td>one</td></tr>\n", " <tr><td>ONE</td></tr>\n"),
        ("<td>one<th>two", "<td>ONE</td><th>TWO</th>"),
        ("<tbody><tr><td>one", "<tbody><tr><td>ONE</td></tr></tbody>"),
        ("one <p>two", "ONE <p>TWO</p>"),
        ("super<wbr>market", "SUPERMARKET"),
        ("<p>see <code>a_<wbr>b</code></p>", "<p>SEE <code>a_<wbr>b</code></p>"),
        ("1 < 2 &amp;lt;b&gt;", "1 &lt; 2 &amp;LT;B&gt;"),
    ],
)  # fmt: skip
def test_only_text_is_replaced(html: str, expected: str) -> None:
    assert upper(html) == expected


def test_a_document_keeps_its_head() -> None:
    html = "<!DOCTYPE html><html><head><title>one</title></head><body><p>two</p></body></html>"
    assert upper(html) == html.replace("one", "ONE").replace("two", "TWO")


@pytest.mark.parametrize(
    "start", ["\ufeff", "\n", "<!-- a --> <!-- b > -->\n", '<?xml version="1.0"?>\n']
)
@pytest.mark.parametrize(
    "html",
    [
        '<!doctype html><html lang="en"><head></head><body class="x"><p>one</p></body></html>',
        '<html><head><title>one</title></head><body class="x">two</body></html>',
        '<head><title>one</title></head><body class="x">two</body>',
        '<BODY class="x"><p>one</p></BODY>',
    ],
)
def test_a_document_keeps_its_structure_after_what_precedes_it(start: str, html: str) -> None:
    found = upper(start + html)
    assert '<body class="x">' in found
    assert "ONE" in found
    assert ("<head><title>ONE</title></head>" in found) == ("title" in html)


@pytest.mark.parametrize(
    ("before", "after"), [("en", "de"), ("EN-gb", "de"), ("eng", "de"), ("fr", "fr")]
)
def test_a_document_in_the_source_language_names_the_target(before: str, after: str) -> None:
    html = '<!doctype html><html lang="{0}" xml:lang="{0}"><head></head><body>one</body></html>'
    markup = Markup(html.format(before))
    markup.change_language("en", "de")
    assert str(markup) == html.format(after)


@pytest.mark.parametrize(
    "html",
    [
        "<html><head></head><body>one</body></html>",
        '<p lang="en">one</p>',
        '<html lang="en"><head></head><body><pre>one</pre></body></html>',
    ],
)
def test_other_documents_keep_their_language(html: str) -> None:
    markup = Markup(html)
    markup.change_language("en", "de")
    assert str(markup) == html


def test_words_keep_their_tags_when_the_order_changes() -> None:
    markup = Markup("<p>a <b>x</b> and <i>y</i></p>")
    [stretch] = markup.stretches
    assert stretch.texts == ["a ", "x", " and ", "y"]
    markup.replace(stretch, [("Y", 3), (" und ", 2), ("X", 1)])
    assert str(markup) == "<p><i>Y</i> und <b>X</b></p>"


@pytest.mark.parametrize(
    ("html", "translation", "attention", "expected"),
    [
        (f"The <b>dog</b> is {LINK}sleeping</a>.", "Der Hund schläft.",
         "The; dog; is 0.6 sleeping 0.4; .", f"Der <b>Hund</b> {LINK}schläft</a>."),
        (f"The <b>swimming</b> {LINK}pool</a> is nice.", "Das Schwimmbad ist schön.",
         "The; swimming 0.6 pool 0.4; is 0.8 pool 0.2; nice; .",
         f"Das <b>{LINK}Schwimmbad</a></b> ist schön."),
        (f"The {LINK}old</a> <a>house</a> is nice.", "Der Altbau ist schön.",
         "The 0.9 old 0.1; house 0.7 old 0.3; is; nice; .",
         f"{LINK}Der</a> <a>Altbau</a> ist schön."),
        (f"See {LINK}old</a> <b><a>house</a></b>", "Altbau", "house 0.7 old 0.3",
         f"<b><a>Altbau</a></b> {LINK}old</a>"),
        (f"The {LINK}<b>big</b> old</a> house.", "Das Haus.", "The; house 0.8 big 0.2; .",
         f"Das {LINK}<b>Haus</b></a>."),
        (f"{LINK}The <b>big</b> pool</a> is nice.", "Das Großbad ist schön.",
         "The; pool 0.8 big 0.2; is; nice; .", f"{LINK}Das <b>Großbad</b></a> ist schön."),
        ("Go <i id=1>away</i> <b id=2>now</b> <u>please</u>", "Weg",
         "away 0.5 now 0.3 please 0.2",
         '<i id="1"><b id="2"><u>Weg</u></b></i>'),
        (f"See {LINK}»</a> now.", "Siehe jetzt.", "See 0.9 » 0.1; now 0.8 » 0.2; .",
         f"Siehe {LINK}jetzt</a>."),
        (f"Please <b>do</b> <i>not sing</i> {LINK}here</a>.", "Bitte hier nicht singen.",
         "Please; here; not 0.6 do 0.4; sing; .",
         f"Bitte {LINK}hier</a> <b>nicht</b> <i>singen</i>."),
        (f"{LINK}The roof</a> of <b>my house</b>", "Das Dach meines Hauses",
         "The; roof; my 0.6 of 0.4; house", f"{LINK}Das Dach</a> <b>meines Hauses</b>"),
        (f"{LINK}Hello</a> <b>you</b> {{name}}", "{name}", "{; name 0.9 you 0.1; }",
         f"{{name}} {LINK}Hello</a>"),
    ],
)  # fmt: skip
def test_no_link_and_no_inline_element_with_words_is_lost(
    html: str, translation: str, attention: str, expected: str
) -> None:
    """attention: for each word of the translation, words of the source and their weights."""
    markup = Markup(html)
    [stretch] = markup.stretches
    formatted = stretch.formatted
    sources = words(formatted.text, cuts_between(formatted.owners))
    columns = {formatted.text[start:end]: i for i, (start, end) in enumerate(sources)}
    targets = words(translation)
    weights = np.zeros((len(targets), len(sources)), np.float32)
    for row, linked in enumerate(attention.split("; ")):
        word, *rest = linked.split()
        for source, weight in zip([word, *rest[1::2]], [*rest[::2], 1], strict=False):
            weights[row, columns.get(source, -1)] = weight
    sentence = FormattedSentence(formatted.text, 0, len(formatted.owners), formatted.owners, [])
    links = Links(sources, targets, weights)
    parts = format_by(lambda *_: links, sentence, Translation(translation, 0.0), formatted)
    markup.replace(stretch, merge(parts))
    assert str(markup) == expected


@pytest.mark.parametrize(
    "between",
    ["<!-- -->", '<i class="icon"></i>', '<img src="a.png">', "<code>x</code>", "<svg></svg>"],
)
def test_what_has_no_words_does_not_end_a_stretch(between: str) -> None:
    html = f"<p>oscar <b>likes</b> {between}to code</p>"
    [stretch] = Markup(html).stretches
    assert stretch.formatted.text == "oscar likes to code"
    assert upper(html) == f"<p>OSCAR <b>LIKES</b> {between}TO CODE</p>"


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("<p>Ben <!-- -->reads<!-- --> often.</p>", "<p>Ben<!-- --> liest<!-- --> oft.</p>"),
        ("<p>Ben <code>x</code> reads often.</p>", "<p>Ben <code>x</code> liest oft.</p>"),
        ('<p><img src="a"> Ben reads often.</p>', '<p><img src="a"> Ben liest oft.</p>'),
    ],
)
def test_it_stays_after_its_word(translate: Translate, source: str, expected: str) -> None:
    assert translate("a.html", source.encode()).decode() == expected


@pytest.mark.parametrize(
    ("html", "count"),
    [
        ("<a href='/'>Home</a><a href='/about'>About</a>", 2),
        ("<div><span>all</span><span>3 items</span></div>", 2),
        ("<b><span>newMail</span><span>Sent</span></b>", 2),
        ("<span>Hel</span><span>lo</span>", 1),
        ("<b>Price</b>12.50 <b>today</b>", 2),
        ("<p>Play <b>MP</b>3 files</p>", 1),
        ("Where is<br>the station?", 1),
        ("Peter Miller<br>Main Street<br>It is open.<br>closed", 4),
        ("H<sub>2</sub>O", 1),
        ("<a href='/'>Home.</a><a href='/about'>About</a>", 2),
        ("<span>Price:</span><span>5 items</span>", 2),
        ("<span>$3.</span><span>99 each</span>", 1),
        ("<b><span>cup</span><span>$7.50 each</span></b>", 2),
        ("<span>www.</span><span>example.org</span>", 1),
        ("<a href='/'>Home</a> <a href='/about'>About us</a>", 2),
        ("<nav>\n<a href='/'>Home</a><!-- -->\n<a href='/about'>About us</a>\n</nav>", 2),
        ("<p>Read <a href='/'>this</a> and <a href='/about'>that</a>.</p>", 1),
        ("<p><a href='/'>Read</a> <b>this</b></p>", 1),
        ("<p><b>Read</b> <i>this</i></p>", 1),
    ],
)
def test_neighbouring_elements_are_apart_unless_they_are_of_one_sentence(
    html: str, count: int
) -> None:
    assert len(Markup(html).stretches) == count


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("The <del>old</del><ins>new</ins> car", "The old new car"),
        ("The <ins>new</ins><del>old</del> car", "The new old car"),
        ("The <del><b>old</b></del><ins>new</ins>.", "The old new."),
        ("The <del>old </del><ins>new</ins> car", "The old new car"),
        ("The <del>c</del><ins>C</ins>ar", "The cCar"),
        ("The <del>old</del><del>est</del> car", "The oldest car"),
    ],
)
def test_a_deleted_word_and_its_replacement_are_two_words(html: str, expected: str) -> None:
    [stretch] = Markup(html).stretches
    assert stretch.formatted.text == expected


@pytest.mark.parametrize("sign", ["+", " + ", "-", " → "])
def test_keys_that_a_sign_joins_stay_together(sign: str) -> None:
    keys = f"<kbd>Ctrl</kbd>{sign}<kbd>S</kbd>"
    markup = Markup(f"<p>Press {keys} to save.</p>")
    [stretch] = markup.stretches
    assert stretch.formatted.text.split() == ["Press", "to", "save."]
    key, other_key = ("\ufffc", 1), ("\ufffc", 3)
    markup.replace(stretch, [("Drücke", 0), key, (sign.strip(), 2), other_key, (", um es", 4)])
    assert str(markup) == f"<p>Drücke {keys}, um es</p>"
    assert "".join(Markup("<code>a</code>, <code>b</code> c").texts[0].text.split()) == ",c"


def test_a_line_break_within_a_sentence_stays_after_its_word(translate: Translate) -> None:
    found = translate("a.html", b"<p>Ben<br/>reads often.<br>Anna sings<br>\ntoday.</p>").decode()
    assert found == "<p>Ben<br>liest oft.<br>Anna singt<br>heute.</p>"


def test_the_text_for_browsers_without_scripts_is_translated() -> None:
    assert upper("<noscript><p>one</p></noscript>") == "<noscript><p>ONE</p></noscript>"


def test_attributes_that_people_read_are_translated(
    translate: Translate,
) -> None:
    html = (
        '<html><head><meta name="Description" content="{0}"></head><body>'
        '<meta property="og:site_name" content="{0}"><meta name="twitter:title" content="{0}">'
        '<meta name="robots" content="all"><p title="{0}">{0}</p>'
        '<img src="a.png" alt="{0}">'
        '<input placeholder="{0}" value="Ben reads often."><input type="submit" value="{0}">'
        '<textarea aria-label="{0}" aria-description="{0}" aria-placeholder="{0}">'
        "Ben reads often.</textarea>"
        '<select label="Ben reads often."><optgroup label="{0}"><option label="{0}"></option>'
        '</optgroup></select><video><track label="{0}"></video>'
        '<i translate="no" title="Ben reads often."></i></body></html>'
    )
    answer = translate("a.html", html.format("Anna sings today.").encode()).decode()
    assert answer == html.format("Anna singt heute.")


@pytest.mark.parametrize(
    "start",
    ['<?xml version="1.0"?>\n', "<!DOCTYPE html>\n", "<!-- > -->\n", "<!-- -->\n<!DOCTYPE html>\n"],
)
def test_xhtml_stays_well_formed(start: str) -> None:
    html = start + (
        '<html lang="en" xmlns="http://www.w3.org/1999/xhtml"><head><meta name="a"/>'
        '</head><body><p>one<br/>two&#160;three<img src="a.png"/></p><hr/></body></html>'
    )
    assert ElementTree.fromstring(upper(html)) is not None
    assert "<br/>" in upper(html)


@pytest.mark.parametrize(
    "element",
    ['<script src="a.js"/>', '<a id="p1"/>', '<div title="a > b" />', "<!-- <div/> -->"],
)
def test_an_element_without_content_ends_at_once_in_xhtml(element: str) -> None:
    html = '<html xmlns="http://www.w3.org/1999/xhtml"><head></head><body>{}<p>{}</p></body></html>'
    found = upper(html.format(element, "one"))
    assert found.endswith("<p>ONE</p></body></html>")
    assert ElementTree.canonicalize(found) == ElementTree.canonicalize(html.format(element, "ONE"))


def test_scripts_of_xhtml_stay_as_they_are() -> None:
    script = '<script>write("<div/>");</script><style>/* <a/> */</style>'
    html = f'<html xmlns="http://www.w3.org/1999/xhtml"><head>{script}</head><body></body></html>'
    assert upper(html) == html
    assert upper("<p>a<div/>b</p>") == "<p>A</p><div>B<p></p></div>"  # no XHTML


def test_hostile_markup_is_refused_or_preserved() -> None:
    with pytest.raises(DocumentError):
        Markup("<div>" * 30_000)
    with pytest.raises(DocumentError):
        Markup("<b>" * 15_000 + "</b>" * 15_000)
    assert str(Markup("<div>" * 2000 + "x"))
    assert str(Markup("a<br>" * 6000))  # these are never open
    assert upper("<p a='\"<>'>x</p>") == '<p a="&quot;&lt;&gt;">X</p>'


@pytest.mark.parametrize(
    "opening",
    [
        "<b i={}>",
        "<B\ni={}/>",
        "<b i={}><table/></b>",
        "<b i={}><svg><title></svg></b>",
        "<b i={}></<p>x</p>b>",
        "<b i={}><!-- -<p>x</p>-> </b> -->",
        "<b i={}><textarea></b></textarea>",
        """<b x="<p>" y='</p>"></b>' i={}>""",
        """<b "x='" i={}></b>'>""",
        "<b x==' i={}></b>'>",
    ],
)
def test_markup_that_the_parser_would_multiply_is_refused(opening: str) -> None:
    html = "<p>" + "".join(opening.format(number) for number in range(60)) + "</p>"
    with pytest.raises(DocumentError, match="more than 50 elements such as <b> open"):
        Markup(html + "<p>x</p>" * 10)


@pytest.mark.parametrize(
    "html",
    [
        "<b>x</b>",
        '<i class="x y" title=\'"\'>x</i>',
        "<ul><li><em>1 < 2</em><li><em><!-- note --><br>x</em></ul>",
        '<a name="x">x',
        '<p>x<p><a href="/x?y=z&amp;a=b"><strong>x</strong></a>',
    ],
)
def test_common_markup_is_accepted_any_number_of_times(html: str) -> None:
    assert Markup(html * 500).stretches


def test_tags_follow_the_attention(translate: Translate) -> None:
    html = '<p>Ben <b>reads</b> often. <a href="/x">Ida cooks</a> at night.</p>'
    answer = translate("a.html", html.encode()).decode()
    text = Markup(answer).stretches[0].texts
    assert "".join(text) == "Ben liest oft. Ida kocht nachts."
    assert answer.startswith("<p>")
    assert '<a href="/x">' in answer


def test_elements_around_line_break_places_are_judged_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judged: list[object] = []
    monkeypatch.setattr(
        "nmt.documents.html_markup._is_translated", lambda node: not judged.append(node)
    )
    Markup("<x>" * 50 + "<wbr>" * 50 + "</x>" * 50)
    assert len(judged) < 1000


def test_the_time_for_unquoted_attributes_is_not_exponential() -> None:
    assert Markup("<b " + "=a" * 500 + '">x').stretches


@pytest.mark.parametrize("attributes", ['translate="NO"', 'class="x notranslate"'])
def test_text_that_is_not_to_be_translated_is_kept(attributes: str) -> None:
    assert upper(f"<p {attributes}>x</p>") == f"<p {attributes}>x</p>"
    assert upper('<p class="notranslated">x</p>') == '<p class="notranslated">X</p>'


def test_elements_in_other_languages_are_kept() -> None:
    html = (
        '<p lang="fr" title="un">un</p><p lang="en-GB">one</p><p lang="">two</p>'
        '<p lang="fr" translate="yes">three</p><p>four <i lang="fr">quatre</i></p>'
    )
    markup = Markup(html, "en")
    assert {text.text for text in markup.texts} == {"one", "two", "three", "four "}
    assert str(markup) == html
    assert len(Markup(html).stretches) == 5
    assert Markup('<html lang="fr"><body lang="fr"><p lang="fr">one', "en").stretches


@pytest.mark.parametrize(
    "prologue",
    [
        '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "xhtml1-strict.dtd">\n',
        '<?xml version="1.0"?>\n<!-- <html> --><!doctype html>',
    ],
)
def test_a_document_keeps_what_precedes_it(prologue: str) -> None:
    html = "<html><head></head><body><p>{}</p></body></html>"
    assert upper(prologue + html.format("one")) == prologue + html.format("ONE")


def test_no_link_or_footnote_is_lost(translate: Translate) -> None:
    html = '<p>Ben<sup><a href="#1">1</a></sup> reads <a href="/x">often</a>.<sup>2</sup></p>'
    answer = translate("a.html", html.encode()).decode()
    assert "".join(Markup(answer).stretches[0].texts) == "Ben1 liest oft.2"
    assert 'Ben<sup><a href="#1">1</a></sup> ' in answer
    assert '<a href="/x">' in answer
    assert answer.endswith(".<sup>2</sup></p>")


@pytest.mark.parametrize(
    ("tokens", "text", "spelled"),
    [
        (["▁An", "na", "▁singt", ".", "<eos>"], "Anna singt.", ["An", "na", "singt", ".", ""]),
        (["▁anna", "</w>"], "ANNA", ["ANNA", ""]),
        (["▁", "x"], "x", ["", "x"]),
        (["▁other"], "x", None),
        (["▁x"], "x y", None),
    ],
)
def test_tokens_are_mapped_to_spans_of_the_text(
    tokens: list[str], text: str, spelled: list[str] | None
) -> None:
    spans = spell(tokens, text)
    assert (spans and [text[start:end] for start, end in spans]) == spelled
