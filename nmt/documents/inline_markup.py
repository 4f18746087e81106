"""Inline markup of translation files: in a translation, each tag stands once and well nested."""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Literal, NamedTuple

from nmt.corpus.text.mnemonics import find_mnemonic, place_for_mnemonic
from nmt.corpus.text.placeholders import TEMPLATE_FIELD, replace_codes
from nmt.documents.formatting import Formatted, Part

_MOST_OPEN = 50  # pairs of tags within one another
_OBJECT = "\ufffc"  # in place of an object in the text to translate
_FIELD_OR_TAG = re.compile(
    r"(?P<tag><(?P<closes>/?)(?P<name>[A-Za-z][\w-]*)(?![\w-])[^<>]*?(?P<empty>/?)>)"
    rf"|%%|{TEMPLATE_FIELD}|(?<![\d%])%L?[1-9]\d?(?![\w%])|%[A-Za-z_]\w{{0,40}}%"
    r"|(?<![\w@!%])[@!%][a-z]\w*(?![.%\w])"
)
_VOID = frozenset({"br", "hr", "img", "input", "wbr"})


class Token(NamedTuple):
    """A piece of a segment: text, a single tag, or a tag that opens or closes a span of text."""

    kind: Literal["text", "object", "open", "close"]
    value: str
    """The text, or the markup as it stands in the file."""
    key: str = ""
    """What an opening and its closing tag have in common."""
    is_element: bool = False
    """Whether XML requires that what is opened be closed again."""
    shows: str = ""
    """The text that an object stands for, such as `{name}`."""
    breaks: bool = False
    """Whether the object breaks the line."""


def tokens_in(text: str, escape: Callable[[str], str]) -> Iterator[Token]:
    """Yield the pieces of a text that contains tags as characters, such as the source of a page.

    These are its tags, what programs fill in, such as %s, and the rest. escape: writes a text as
    the file does
    """
    place = 0
    for found in _FIELD_OR_TAG.finditer(text):
        yield Token("text", text[place : found.start()])
        place = found.end()
        name = (found["name"] or "").lower()
        written = escape(found[0])
        if not name or found["empty"] or name in _VOID:
            yield Token("object", written, shows="" if name else found[0], breaks=name == "br")
        else:
            yield Token("close" if found["closes"] else "open", written, name)
    yield Token("text", text[place:])


@dataclass
class _Span:
    """A pair of tags."""

    opening: str
    closing: str
    key: str


@dataclass
class _Leaf:
    """A text, or an object that stays as it is."""

    text: str
    markup: str = ""
    """The markup of an object, "" for text."""
    field: str = ""
    """What stands for the object in the text to translate, such as `{name}`; "" if it is left out
    there.
    """
    spans: tuple[int, ...] = ()
    """Indices of the spans around it, outermost first."""
    spaced: bool = False


class _Item(NamedTuple):
    """A piece of the translation: text or an object, with the spans around it."""

    text: str
    markup: str
    spans: tuple[int, ...]


class InlineText:
    """The text of a segment with its inline markup.

    tokens: its pieces; escape: writes a text as the file does; mnemonics: whether a letter may be
    marked, as in "&Save"; its sign is not translated; has_lines: as for `Formatted`; formatted: the
    text to translate
    """

    def __init__(
        self,
        tokens: Iterable[Token],
        escape: Callable[[str], str],
        mnemonics: bool = False,
        has_lines: bool = False,
    ):
        self._escape = escape
        given = list(tokens)
        self._mnemonic = _take_mnemonic(given) if mnemonics else ""
        self._spans: list[_Span] = []
        self._within: dict[int | None, list[int]] = {}  # spans directly within a span, or in none
        self._leaves: list[_Leaf] = []
        for token, spans in self._nested(_paired(given)):
            self._add(token, spans)
        marks = {i for i, leaf in enumerate(self._leaves) if leaf.markup and not leaf.field}
        self.formatted = Formatted(
            [leaf.text for leaf in self._leaves],
            marks,
            has_lines=has_lines,
            formats=[leaf.spans for leaf in self._leaves],
            links={i for i, span in enumerate(self._spans) if span.key == "a"},
        )

    @property
    def plain(self) -> str:
        """The text without markup."""
        return "".join(leaf.text for leaf in self._leaves if not leaf.markup)

    def written(self, parts: Sequence[Part]) -> str:
        """Return the markup of a translation; parts: as for `format_words`.

        An opening and a closing tag enclose the longest run of words that belong between them.
        """
        items = self._with_mnemonic(self._items(parts))
        emitted: set[int] = set()
        return self._render(items, 0, None, emitted)

    def _nested(self, tokens: list[Token]) -> Iterable[tuple[Token, tuple[int, ...]]]:
        """Yield text and objects, with the spans around each."""
        around: tuple[int, ...] = ()
        for token in tokens:
            if token.kind == "open":
                self._within.setdefault(around[-1] if around else None, []).append(len(self._spans))
                self._spans.append(_Span(token.value, "", token.key))
                around = (*around, len(self._spans) - 1)
            elif token.kind == "close":
                self._spans[around[-1]].closing = token.value
                around = around[:-1]
            else:
                yield token, around

    def _add(self, token: Token, spans: tuple[int, ...]) -> None:
        if token.kind == "text":
            self._leaves.append(_Leaf(token.value, spans=spans))
            return
        shown = token.shows.strip()
        code = replace_codes(shown)
        is_code = code.text in code.words and shown[:1] != "<"  # the model carries it as a whole
        field = shown if is_code else ""
        text = field or ("\n" if token.breaks else "") + _OBJECT
        before = self._leaves[-1].text if self._leaves else ""
        spaced = not field and before[-1:].isspace()
        self._leaves.append(_Leaf(text, token.value, field, spans, spaced))

    def _items(self, parts: Sequence[Part]) -> list[_Item]:
        """Divide a translation into texts and objects, each object once."""
        given = list(self.formatted.with_formats(parts))
        text = "".join(piece for piece, _, _ in given)
        owners = [owner for piece, owner, _ in given for _ in piece]
        around = [spans for piece, _, spans in given for _ in piece]
        places = {  # of the objects that are left out of the text
            owner: (place, place + 1)
            for place, (character, owner) in enumerate(zip(text, owners, strict=True))
            if character == _OBJECT
        }
        found: dict[int, tuple[int, int]] = {}  # the place of each object
        taken: set[int] = set()
        ends: dict[str, int] = {}  # of the last place of each field
        for i, leaf in enumerate(self._leaves):
            if leaf.markup and not leaf.field and i in places:
                found[i] = places[i]
            elif leaf.field:
                start = text.find(leaf.field, ends.get(leaf.field, 0))
                end = start + len(leaf.field)
                ends[leaf.field] = end if start >= 0 else len(text)
                if start >= 0 and taken.isdisjoint(range(start, end)):
                    found[i] = start, end
                    taken.update(range(start, end))
        objects = {start: i for i, (start, _) in found.items()}
        items: list[_Item] = []
        spans: tuple[int, ...] = ()
        place = 0
        while place < len(text):
            number = objects.get(place)
            if number is not None:
                leaf = self._leaves[number]
                place = found[number][1]
                if leaf.spaced and items and items[-1].text.strip():
                    items.append(_Item(" ", "", leaf.spans))
                    # It stands before the next word, as in "see <x/>this".
                    place += self._precedes_word(number) and text[place : place + 1] == " "
                items.append(_Item("", leaf.markup, leaf.spans))
                continue
            leaf = self._leaves[owners[place]]
            spans = spans if leaf.markup else around[place]
            stray = leaf.markup and (text[place] == _OBJECT or leaf.text[:1] == text[place] == "\n")
            if not stray:
                items.append(_Item(text[place], "", spans))
            place += 1
        lost = [x for i, x in enumerate(self._leaves) if x.markup and i not in found]
        return [*items, *(_Item("", leaf.markup, leaf.spans) for leaf in lost)]

    def _with_mnemonic(self, items: list[_Item]) -> list[_Item]:
        """Mark a letter, as in the source."""
        if not self._mnemonic:
            return items
        places = [i for i, item in enumerate(items) for _ in item.text]
        text = "".join(item.text for item in items)
        place = place_for_mnemonic(text, self._mnemonic[1])
        if place is None:
            return items
        start = places[place]
        sign = _Item(self._mnemonic[0], "", items[start].spans)
        return [*items[:start], sign, *items[start:]]

    def _precedes_word(self, number: int) -> bool:
        return any(leaf.text[:1].isalnum() for leaf in self._leaves[number + 1 : number + 2])

    def _render(
        self, items: Sequence[_Item], depth: int, parent: int | None, emitted: set[int]
    ) -> str:
        """Return the markup of items that have the same spans around them up to a depth."""
        runs = _runs(items, depth)
        letters = [_letters(run) for _, run in runs]
        longest: dict[int, int] = {}  # the number of the run that gets the tags of each span
        for number, (span, _) in enumerate(runs):
            if span is not None and letters[number] > letters[longest.setdefault(span, number)]:
                longest[span] = number
        pieces = []
        for number, (span, run) in enumerate(runs):
            if span is not None and longest[span] == number:
                emitted.add(span)
                inside = self._render(run, depth + 1, span, emitted)
                pieces.append(self._spans[span].opening + inside + self._spans[span].closing)
            else:
                pieces += [item.markup or self._escape(item.text) for item in run]
        return "".join(pieces) + self._rest(parent, emitted)

    def _rest(self, parent: int | None, emitted: set[int]) -> str:
        """Return the tags of the spans directly within a span that got no words."""
        pieces = []
        for number in self._within.get(parent, ()):
            if number not in emitted:
                emitted.add(number)
                span = self._spans[number]
                pieces.append(span.opening + self._rest(number, emitted) + span.closing)
        return "".join(pieces)


def _take_mnemonic(tokens: list[Token]) -> str:
    """Remove the sign that marks a letter; return both, "" if there are none, or several."""
    found = [
        (number, place)
        for number, token in enumerate(tokens)
        if token.kind == "text" and (place := find_mnemonic(token.value)) is not None
    ]
    if len(found) != 1:
        return ""
    [(number, place)] = found
    text = tokens[number].value
    tokens[number] = tokens[number]._replace(value=text[:place] + text[place + 1 :])
    return text[place : place + 2]


def _paired(tokens: list[Token]) -> list[Token]:
    """Return tokens in which all tags that open or close a span are pairs, and well nested.

    Others become objects. Elements of XML, which are well nested, have precedence.
    """
    result = list(tokens)
    waiting: list[int] = []
    for i, token in enumerate(tokens):
        if token.kind == "open":
            if token.is_element or len(waiting) < _MOST_OPEN:
                waiting.append(i)
            else:
                result[i] = token._replace(kind="object")
        elif token.kind == "close":
            partner = None
            for j in reversed(waiting):
                same = tokens[j].key == token.key
                if same and tokens[j].is_element == token.is_element:
                    partner = j
                    break
                if tokens[j].is_element and not token.is_element:
                    break  # it would cross this element
            if partner is None:
                result[i] = token._replace(kind="object")
                continue
            while (j := waiting.pop()) != partner:
                result[j] = tokens[j]._replace(kind="object")
    for j in waiting:
        result[j] = tokens[j]._replace(kind="object")
    return result


def _runs(items: Sequence[_Item], depth: int) -> list[tuple[int | None, list[_Item]]]:
    """Return adjacent items by their span at a depth; mere punctuation separates no two runs."""

    def span_of(item: _Item) -> int | None:
        return item.spans[depth] if len(item.spans) > depth else None

    runs: list[tuple[int | None, list[_Item]]] = []
    for span, group in groupby(items, span_of):
        alike = list(group)
        if span is not None and len(runs) > 1 and runs[-1][0] is None and runs[-2][0] == span:
            between = runs[-1][1]
            if not _letters(between) and not any(item.markup for item in between):
                runs.pop()
                runs[-1][1].extend([*between, *alike])
                continue
        runs.append((span, alike))
    return runs


def _letters(items: Sequence[_Item]) -> int:
    return sum(character.isalnum() for item in items for character in item.text)


@dataclass
class Slot:
    """A text to translate."""

    text: InlineText
    translation: str
    """The translation as the file writes it; at first, the source itself."""
    is_remembered: bool = False
    """Whether the translation is from a translation memory."""
