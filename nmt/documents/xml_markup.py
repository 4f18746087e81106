"""Fragments of XML, as DeepL's API takes them: their text is translated, and their tags stay."""

import re
from collections.abc import Collection, Iterator, Sequence
from html import escape
from pathlib import Path

from nmt.documents.errors import DocumentError
from nmt.documents.formatting import Part, has_letters
from nmt.documents.inline_markup import InlineText, Token
from nmt.errors import UserError
from nmt.files.xml_files import Element, XmlDocument

_ROOT = "nmt"  # around a fragment, which may consist of several elements
_DECLARATION = re.compile(r"\s*(?:<\?xml\s[^>]*>)?")
_COMMENT = re.compile(r"\s*<(?:!--.*?--|\?.*?\?)>", re.DOTALL)
_DOCTYPE = re.compile(r"""\s*<!DOCTYPE(?:[^\["'>]|"[^"]*"|'[^']*')*(?:\[.*?\]\s*)?>""", re.DOTALL)


class XmlMarkup:
    """A fragment of XML; raises `DocumentError` if it is not well-formed.

    Tags within text are inline markup: text and tags are translated as one text. An element that
    holds only elements divides the text instead. ignored: names of elements that stay as they are;
    dividing: names of elements that divide the text in any case; texts: those to translate
    """

    def __init__(self, xml: str, ignored: Collection[str] = (), dividing: Collection[str] = ()):
        self._ignored, self._dividing = frozenset(ignored), frozenset(dividing)
        declaration, before, inside = _divided(xml)
        self._declaration, self._root_at = declaration, len(before)
        try:
            content = f"{before}<{_ROOT}>{inside}</{_ROOT}>".encode()
            self._document = XmlDocument(Path("text"), content)
            [(root, _)] = self._document.elements([_ROOT])
        except (UserError, UnicodeEncodeError) as error:
            raise DocumentError(str(error)) from None
        # What is replaced, and by what.
        self._texts = [
            (start, end, InlineText(tokens, _escaped))
            for start, end, tokens in self._stretches(root)
            if any(token.kind == "text" and has_letters(token.value) for token in tokens)
        ]
        self.texts = [text.formatted for _, _, text in self._texts]

    def replace(self, translations: Sequence[list[Part]]) -> str:
        """Return the fragment with translations of `texts`."""
        edits = [
            (start, end, text.written(parts))
            for (start, end, text), parts in zip(self._texts, translations, strict=True)
        ]
        xml = self._document.changed(edits).decode()
        inner = xml[self._root_at + len(_ROOT) + 2 : -len(_ROOT) - 3]
        return self._declaration + xml[: self._root_at] + inner

    def _stretches(self, element: Element) -> Iterator[tuple[int, int, list[Token]]]:
        """Yield the texts in an element: their place, and what is in it."""
        start = element.inner
        tokens: list[Token] = []
        divides = not any(isinstance(x, str) and x.strip() for x in element.children)
        for child in element.children:
            if isinstance(child, str):
                tokens.append(Token("text", child))
                continue
            own = self._dividing and any(map(self._divides, (child, *child.within_all())))
            if child.name in self._ignored or not (divides or own):
                tokens += self._tokens(child)
                continue
            yield start, child.start, tokens
            yield from self._stretches(child)
            start, tokens = child.end, []
        yield start, element.after, tokens

    def _divides(self, element: Element) -> bool:
        return element.name in self._dividing

    def _tokens(self, element: Element) -> list[Token]:
        raw = self._document.raw
        if element.name in self._ignored or not has_letters(element.text):
            return [Token("object", raw(element.start, element.end), shows=element.text)]
        found = [Token("open", raw(element.start, element.inner), str(element.start), True)]
        for child in element.children:
            found += [Token("text", child)] if isinstance(child, str) else self._tokens(child)
        closing = raw(element.after, element.end)
        return [*found, Token("close", closing, str(element.start), True)]


def _divided(xml: str) -> tuple[str, str, str]:
    """Return the XML declaration, the document type with comments before it, and the rest."""
    declared = _DECLARATION.match(xml)
    start = place = declared.end() if declared else 0
    while comment := _COMMENT.match(xml, place):
        place = comment.end()
    doctype = _DOCTYPE.match(xml, place)
    end = doctype.end() if doctype else start
    return xml[:start], xml[start:end], xml[end:]


def _escaped(text: str) -> str:
    return escape(text, quote=False)
