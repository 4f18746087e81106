"""Tags of a segment stand once each and well nested in its translation."""

from html import escape

from nmt.documents.inline_markup import InlineText, Token


def opened(name: str, is_element: bool = True) -> Token:
    return Token("open", f"<{name}>", name, is_element)


def closed(name: str, is_element: bool = True) -> Token:
    return Token("close", f"</{name}>", name, is_element)


def text(value: str) -> Token:
    return Token("text", value)


def inline(*tokens: Token) -> InlineText:
    return InlineText(tokens, escape)


def test_words_keep_the_tags_around_their_source() -> None:
    content = inline(text("the "), opened("g"), text("red"), closed("g"), text(" car"))
    assert content.formatted.text == "the red car"
    assert content.written([("das ", 0), ("rote", 1), (" Auto", 2)]) == "das <g>rote</g> Auto"


def test_a_pair_of_tags_encloses_the_longest_run_of_its_words() -> None:
    content = inline(text("I "), opened("g"), text("switch off"), closed("g"), text(" it & go"))
    parts = [("Ich ", 0), ("schalte", 1), (" es ", 2), ("aus", 1), (" & gehe", 2)]
    assert content.written(parts) == "Ich <g>schalte</g> es aus &amp; gehe"


def test_punctuation_does_not_interrupt_what_tags_enclose() -> None:
    content = inline(opened("g"), text("one two"), closed("g"), text(", three"))
    assert content.written([("eins", 0), (", ", 1), ("zwei", 0), (" drei", 1)]) == (
        "<g>eins, zwei</g> drei"
    )


def test_nested_tags_stay_nested_and_those_without_words_are_not_lost() -> None:
    content = inline(opened("a"), text("x"), opened("b"), text("y"), closed("b"), closed("a"))
    assert content.written([("Y", 1), ("X", 0)]) == "<a><b>Y</b>X</a>"
    assert content.written([("X", 0)]) == "<a>X<b></b></a>"


def test_an_object_stays_after_its_word_with_the_space_before_it() -> None:
    tokens = [text("see "), Token("object", "<x/>"), text(", please")]
    content = inline(*tokens)
    assert content.formatted.text == "see , please"
    assert content.written([("siehe", 0), ("\ufffc", 1), (", bitte", 2)]) == "siehe <x/>, bitte"
    assert content.written([("siehe bitte", 0)]) == "siehe bitte<x/>"
    before_word = inline(text("see "), Token("object", "<x/>"), text("this"))
    assert before_word.written([("siehe", 0), ("\ufffc", 1), (" dies", 2)]) == "siehe <x/>dies"


def test_a_field_is_part_of_the_text_and_each_is_written_once() -> None:
    field = Token("object", '<x id="1"/>', shows="{name}")
    content = inline(text("Hello "), field, text("!"))
    assert content.formatted.text == "Hello {name}!"
    assert content.written([("Hallo, {name}!", 0)]) == 'Hallo, <x id="1"/>!'
    assert content.written([("Hallo!", 0)]) == 'Hallo!<x id="1"/>'
    assert content.written([("{name} {name}", 0)]) == '<x id="1"/> {name}'


def test_tags_that_cross_an_element_are_objects() -> None:
    content = inline(
        *(opened("g"), text("one "), opened("b", False), text("two"), closed("g")),
        *(text(" three"), closed("b", False)),
    )
    written = content.written([("eins ", 0), ("\ufffc", 1), ("zwei", 2), (" drei", 3)])
    assert written == "<g>eins <b>zwei</g> drei</b>"


def test_a_line_break_divides_the_text() -> None:
    content = inline(text("One."), Token("object", "<br/>", breaks=True), text("Two."))
    assert content.formatted.text == "One.\nTwo."
    assert content.written([("Eins.", 0), ("\n\ufffc", 1), ("Zwei.", 2)]) == "Eins.<br/>Zwei."
