"""HTML: its text is translated, and tags stay with the words that they enclose.

A stretch of text and inline tags, such as the content of a paragraph, is translated as one text.
Code, pictures, icons and comments within it stay after their words.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby

from selectolax.lexbor import LexborHTMLParser, LexborNode

from nmt.config.languages import base_language
from nmt.documents.errors import DocumentError
from nmt.documents.formatting import Formatted, Part, has_letters, with_superscripts
from nmt.documents.texts import FoundText

_INLINE = frozenset(
    (
        *("a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "data", "del", "dfn", "em"),
        *("font", "i", "ins", "label", "mark", "q", "s", "small", "span", "strike", "strong"),
        *("sub", "sup", "time", "tt", "u"),
    )
)
_NO_TEXT = frozenset(
    (
        *("code", "iframe", "kbd", "math", "noembed", "noframes", "plaintext", "pre", "samp"),
        *("script", "style", "svg", "template", "textarea", "var", "xmp"),
    )
)
_WITHIN_TEXT = frozenset(("code", "img", "kbd", "math", "samp", "svg", "var"))  # stay as they are
_OBJECT = "\ufffc"  # in place of one of them
_JOINS = re.compile(r"[.:@_/\\-]|\s*[+→>|–]\s*")  # two of them, as in <kbd>Ctrl</kbd>+<kbd>S</kbd>
_ATTRIBUTES_WITH_TEXT = (
    *("alt", "title", "placeholder", "aria-label", "aria-description", "aria-placeholder"),
    *("aria-roledescription", "aria-valuetext"),
)
_LABELLED = frozenset(("optgroup", "option", "track"))  # by the attribute label
_DESCRIPTIONS = frozenset(
    (
        *("description", "og:description", "og:site_name", "og:title"),
        *("twitter:description", "twitter:title"),
    )
)
_ENDS = ".!?:;…"
_CURRENCIES = frozenset("$€£¥")
_WORD_AT_END = re.compile(r"[^\W\d_]{2}\Z")
_BUTTONS = frozenset(("button", "submit", "reset"))
_NEVER_OPEN = re.compile(r"<(?:br|hr|img)(?=[\s/>])", re.IGNORECASE)  # not even within <svg>
_VOID = re.compile(
    r"<((?:area|base|br|col|embed|hr|img|input|link|meta|source|track|wbr)\b"
    r"(?:\s[^\s=<>\"]+(?:=\"[^\"]*\")?)*)>"
)
# The parser's time grows with the square of the depth.
_MOST_TAGS = 20_000
_MOST_OPEN = 5_000
_MOST_INLINE = 50  # nesting depth of inline elements
# The parser opens these elements again in every later paragraph if they are still open when their
# paragraph closes. <a> is not among them, because the next <a> closes it.
_REPEATED = frozenset(
    (
        *("b", "big", "code", "em", "font", "i", "nobr", "s", "small", "strike", "strong", "tt"),
        "u",
    )
)
_MOST_REPEATED = 50
_EMPTY = frozenset(
    (
        *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source"),
        *("track", "wbr"),
    )
)
# Spaces, comments and an XML declaration.
_BEFORE = r"[ \t\n\r\f]*(?:(?:<!--[^-]*(?:-(?!->)[^-]*)*-->|<\?[^>]*>)[ \t\n\r\f]*)*"
_WHOLE = re.compile(_BEFORE + r"<(?:!doctype|html|head|body)[\s/>]", re.IGNORECASE | re.DOTALL)
_PROLOGUE = re.compile(rf"{_BEFORE}(?:<!doctype[^>]*>{_BEFORE})?", re.IGNORECASE | re.DOTALL)
_XHTML = re.compile(
    rf"\s*<\?xml|{_BEFORE}<!doctype[^>]*XHTML|{_PROLOGUE.pattern}<html\s(?:[^>]*\s)?xmlns=",
    re.IGNORECASE,
)
# An element without content, such as <div/>; what may contain tags as text comes first.
_SELF_CLOSED = re.compile(
    r"<!--.*?(?:-->|$)|<!\[CDATA\[.*?(?:\]\]>|$)|<(script|style)(?=[\s>])[^<>]*(?<!/)>.*?(?:</\1|$)|"
    r"<(?P<name>[a-z][^\s<>/]*)(?P<attributes>(?:[^<>\"'/]|\"[^<\"]*\"|'[^<']*'|/(?!>))*)/>",
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile(r"/?[a-z][^ \t\n\r\f/]*", re.I)
# An unquoted value ends only where it must (the last lookahead), or the time would be exponential.
_ATTRIBUTES = re.compile(
    r"""(?:[^"'=]|=[ \t\n\r\f]*(?:"[^"]*"|'[^']*'|"""
    r"""[^ \t\n\r\f"'=][^ \t\n\r\f"']*(?![^ \t\n\r\f"'])))*"""
)


@dataclass
class Stretch:
    """Adjacent pieces of text that are translated together."""

    leaves: list[LexborNode]
    """The text nodes, and what stays as it is between them."""
    chains: list[list[LexborNode]]
    """The inline elements around each leaf, outermost first."""

    @property
    def texts(self) -> list[str]:
        """The text of each leaf; a line break within a sentence is a space.

        There is also one between a deleted word and the one inserted in its place.
        """
        texts = list(map(_text_of, self.leaves))
        replaced = {i for i in range(1, len(texts)) if self._is_replaced(i, texts)}
        for number, leaf in enumerate(self.leaves):
            if number in replaced or (leaf.tag == "br" and not texts[number - 1][-1:].isspace()):
                texts[number - 1] += " "
        return texts

    def joins(self, number: int) -> bool:
        """Return whether a leaf is a sign that joins two elements that stay as they are."""
        if not 0 < number < len(self.leaves) - 1 or not self.leaves[number].is_text_node:
            return False
        beside = self.leaves[number - 1].tag, self.leaves[number + 1].tag
        return _WITHIN_TEXT.issuperset(beside) and bool(
            _JOINS.fullmatch(_text_of(self.leaves[number]))
        )

    def _is_replaced(self, number: int, texts: Sequence[str]) -> bool:
        """Return whether a leaf, which is no part of a word, replaces the one before it."""
        before, own = ({each.tag for each in self.chains[i]} for i in (number - 1, number))
        if not (("del" in before and "ins" in own) or ("ins" in before and "del" in own)):
            return False
        around = "".join(texts[max(0, number - 2) : number - 1])[-1:]
        around += "".join(texts[number + 1 : number + 2])[:1]
        beside = texts[number - 1][-1:], texts[number][:1]
        return all(map(str.isalnum, beside)) and not any(map(str.isalnum, around))

    @cached_property
    def formatted(self) -> Formatted:
        """The texts, with superscripts recognized as marks or endings of ordinals."""
        raised = [i for i, c in enumerate(self.chains) if any(each.tag == "sup" for each in c)]
        objects = [
            i for i, leaf in enumerate(self.leaves) if not leaf.is_text_node or self.joins(i)
        ]
        links = {each for chain in self.chains for each in chain if each.tag == "a"}
        return with_superscripts(self.texts, raised, objects, list(map(tuple, self.chains)), links)


@dataclass
class Attribute:
    """An attribute whose value is text."""

    node: LexborNode
    name: str
    text: str

    def replace(self, translation: str) -> None:
        """Replace the value by its translation."""
        self.node.attrs[self.name] = translation


class Markup:
    """An HTML document, or a fragment of one; raises `DocumentError` if it is nested too deeply.

    source: its language, so that elements in others are kept, "" for unknown; stretches: its text;
    attributes: those with text, to be replaced before the stretches; texts: those to translate, of
    attributes and then of stretches
    """

    def __init__(self, html: str, source: str = ""):
        html = html.removeprefix("\ufeff")
        self._is_xml = bool(_XHTML.match(html))
        if self._is_xml:  # the parser would take <div/> for a start tag
            html = _SELF_CLOSED.sub(_with_end_tag, html)
        closed = 2 * html.count("</") + len(_NEVER_OPEN.findall(html))
        if html.count("<") > _MOST_TAGS or html.count("<") - closed > _MOST_OPEN:
            raise DocumentError(
                f"HTML with more than {_MOST_TAGS:,} tags, or more than "
                f"{_MOST_OPEN:,} that are not closed",
                too_large=True,
            )
        if _count_repeated(html) > _MOST_REPEATED:
            raise DocumentError(
                f"HTML with more than {_MOST_REPEATED} elements such as <b> open "
                "at once; close each inside the element around it",
                too_large=True,
            )
        whole = bool(_WHOLE.match(html))
        self._prologue = _prologue(html) if whole else None
        # In "template", a fragment may also begin within a table.
        self._tree = LexborHTMLParser(html, is_fragment=not whole, fragment_tag="template")
        foreign = list(_foreign_elements(self._tree, source)) if source else []
        for node in foreign:
            node.attrs["translate"] = "no"  # until all texts have been found
        judged: dict[int, bool] = {}
        for node in self._tree.css("wbr"):  # a place for a line break within a word
            if _is_within_translated(node, judged):
                node.decompose()
        self.stretches = list(_find_stretches(self._tree.root))
        self.attributes = list(_find_attributes(self._tree, judged))
        for node in foreign:
            del node.attrs["translate"]
        labels = [Formatted([each.text]) for each in self.attributes]
        self.texts = [*labels, *(each.formatted for each in self.stretches)]

    def __str__(self) -> str:
        html = str(self._tree.html or "")
        if self._is_xml:
            html = _VOID.sub(r"<\1/>", html).replace("&nbsp;", "&#160;")
        if self._prologue is None:
            return html
        # The parser would shorten the document type, and turn an XML declaration into a comment.
        return self._prologue + html[len(_prologue(html)) :]

    @property
    def text(self) -> str:
        """The text to translate, one line per stretch."""
        return "\n".join("".join(stretch.texts).replace(_OBJECT, "") for stretch in self.stretches)

    def translated(self, found: Sequence[FoundText], source: str, target: str) -> str:
        """Return the document with translations of `texts` between two languages."""
        rest = iter(found)
        for attribute in self.attributes:
            attribute.replace(next(rest).text)
        for stretch in self.stretches:
            self.replace(stretch, next(rest).parts)
        self.change_language(source, target)
        return str(self)

    def change_language(self, source: str, target: str) -> None:
        """If the document's `lang` is the source language, set it to the target language.

        Unless there was nothing to translate.
        """
        root = self._tree.css_first("html")
        if root is None or not self.stretches:
            return
        for name in ("lang", "xml:lang"):
            if base_language(root.attributes.get(name) or "") == base_language(source):
                root.attrs[name] = base_language(target)

    def replace(self, stretch: Stretch, parts: list[Part]) -> None:
        """Replace a stretch by its translation; parts: as `format_words` returns them."""
        if len(stretch.leaves) == 1:
            stretch.leaves[0].replace_with("".join(text for text, _ in parts))
            return
        place = _outermost(stretch, 0)
        found = stretch.formatted.with_formats(list(_spaced(stretch, parts)))
        pieces = [
            (text if stretch.leaves[number].is_text_node else stretch.leaves[number], chain)
            for text, number, chain in found
        ]
        breaks = [not isinstance(piece, str) and piece.tag == "br" for piece, _ in pieces]
        for i, (piece, chain) in enumerate(pieces):  # no spaces beside a line break
            if isinstance(piece, str):
                piece = piece.rstrip() if breaks[i + 1 : i + 2] == [True] else piece
                piece = piece.lstrip() if i and breaks[i - 1] else piece
                pieces[i] = piece, chain
        for node in self._wrap(pieces):
            place.insert_before(node)
        old = [_outermost(stretch, number) for number in range(len(stretch.leaves))]
        for node in {node.mem_id: node for node in old}.values():
            node.remove()

    def _wrap(
        self, parts: "list[tuple[str | LexborNode, tuple[LexborNode, ...]]]"
    ) -> Iterator[str | LexborNode]:
        """Yield nodes for texts within their elements; adjacent texts share an element.

        An element is filled before it is inserted, because insertion copies it.
        """
        for _, group in groupby(parts, lambda part: part[1][0].mem_id if part[1] else None):
            alike = list(group)
            if not alike[0][1]:
                yield from (piece for piece, _ in alike)
                continue
            element = alike[0][1][0]
            copy = self._tree.create_node(element.tag or "span")
            for name, value in element.attributes.items():
                copy.attrs[name] = value
            for node in self._wrap([(piece, chain[1:]) for piece, chain in alike]):
                copy.insert_child(node)
            yield copy


def _text_of(leaf: LexborNode) -> str:
    return (leaf.text_content or "") if leaf.is_text_node else _OBJECT


def _spaced(stretch: Stretch, parts: list[Part]) -> Iterator[Part]:
    """Yield the parts, with a space in front of what had one there in the source."""
    before, texts = "", stretch.texts
    space = next((i for i, leaf in enumerate(stretch.leaves) if leaf.is_text_node), 0)
    for text, number in parts:
        seen = stretch.leaves[number].is_element_node  # a comment is not
        had = seen and number and texts[number - 1][-1:].isspace()
        had = had or (stretch.joins(number) and texts[number][:1].isspace())
        if had and before and not before[-1].isspace():
            yield " ", space
        yield text, number
        before = text or before


def _prologue(html: str) -> str:
    """Return what precedes <html>: the document type, comments and an XML declaration."""
    found = _PROLOGUE.match(html)
    return found[0] if found else ""


def _with_end_tag(found: re.Match[str]) -> str:
    name = found["name"]
    if not name or name.lower() in _EMPTY:
        return found[0]
    return f"<{name}{found['attributes']}></{name}>"


def _count_repeated(html: str) -> int:
    """Return an upper bound on the elements open at once that the parser may repeat.

    An element counts as closed only if everything inside it is closed: otherwise, and inside
    comments and quotes, the parser may ignore its closing tag.
    """
    waiting: list[str] = []
    most = number = 0
    for piece in html.split("<")[1:]:
        tag, closed, _ = piece.partition(">")
        found = _NAME.match(tag)
        name = found[0].lower() if found else ""
        number += name in _REPEATED
        most = max(most, number)
        if not found:
            comment = closed and tag.startswith("!--") and tag.endswith("--")
            if tag[:1] in ("!", "?", "/") and not comment:
                waiting.append("")  # may end elsewhere; counts as never closed
        elif not closed or not _ATTRIBUTES.fullmatch(tag, found.end()):
            waiting.append("")
        elif name.startswith("/"):
            if waiting and waiting[-1] == name[1:]:
                number -= waiting.pop() in _REPEATED
        elif name not in _EMPTY:
            waiting.append(name)
    return most


def _outermost(stretch: Stretch, number: int) -> LexborNode:
    return (stretch.chains[number] or [stretch.leaves[number]])[0]


def _find_stretches(first: LexborNode | None) -> Iterator[Stretch]:
    """Yield the stretches among a node, its siblings, and all their descendants."""
    waiting = [first]
    while waiting:
        node = waiting.pop()
        stretch = Stretch([], [])
        apart = _are_links(node)
        while node is not None:
            leaves = None if apart else _inline_leaves(node)
            if stretch.leaves and _is_within_sentence(stretch.leaves[-1], node):
                leaves = [(node, [])]
            if leaves and any(map(_are_apart, leaves, leaves[1:])):
                leaves = None
            if leaves and stretch.leaves:
                last = stretch.leaves[-1], stretch.chains[-1]
                if _are_apart(last, leaves[0]):
                    yield from _with_text(stretch)
                    stretch = Stretch([], [])
            if leaves is None:
                yield from _with_text(stretch)
                stretch = Stretch([], [])
                if _is_translated(node) and node.first_child is not None:
                    waiting.append(node.first_child)
            else:
                for leaf, chain in leaves:
                    stretch.leaves.append(leaf)
                    stretch.chains.append(chain)
            node = node.next
        yield from _with_text(stretch)


def _is_within_sentence(before: LexborNode, node: LexborNode) -> bool:
    """Return whether a node is a line break that a word in small letters follows."""
    if node.tag != "br" or node.next is None or not before.is_text_node:
        return False
    text, after = _text_of(before).rstrip(), (node.next.text_content or "").lstrip()
    return (text[-1:].isalnum() or text.endswith(",")) and after[:1].islower()


def _with_text(stretch: Stretch) -> Iterator[Stretch]:
    if has_letters("".join(stretch.texts)):
        yield stretch


def _are_links(node: LexborNode | None) -> bool:
    """Return whether a node and its siblings are several links, as in a menu, and nothing else."""
    links = 0
    while node is not None:
        links += node.tag == "a"
        if node.tag != "a" and not node.is_comment_node and _text_of(node).strip():
            return False
        node = node.next
    return links > 1


def _are_apart(
    first: tuple[LexborNode, list[LexborNode]], second: tuple[LexborNode, list[LexborNode]]
) -> bool:
    """Return whether neighbouring texts, such as two links, are not parts of one sentence."""
    text, after = _text_of(first[0]), _text_of(second[0])[:1]
    before = text.rstrip(_ENDS)[-1:]
    if not (before.isalnum() and (after.isalnum() or after in _CURRENCIES)):
        return False
    pairs = zip(first[1], second[1], strict=False)
    level = sum(one.mem_id == other.mem_id for one, other in pairs)
    tags = {chain[level].tag for chain in (first[1], second[1]) if len(chain) > level}
    inside = len(first[1]) > level and len(second[1]) > level
    if tags & {"sub", "sup"} or tags == {"del", "ins"}:
        return False
    if not inside:  # a code such as MP3, unless it is a word in small letters
        return bool(_WORD_AT_END.search(text)) and before.islower() and after.isdigit()
    different = (
        after in _CURRENCIES
        or before.isdigit() != after.isdigit()
        or (before.islower() and after.isupper())
    )
    return different or bool(tags & {"a", "label"})


def _find_attributes(tree: LexborHTMLParser, judged: dict[int, bool]) -> Iterator[Attribute]:
    """Yield the attributes that people read: labels, descriptions, the text of buttons."""
    chosen = ",".join(f"[{name}]" for name in _ATTRIBUTES_WITH_TEXT)
    for node in tree.css(f"{chosen},[label],input[value],meta[content]"):
        given = node.attributes
        names = [name for name in _ATTRIBUTES_WITH_TEXT if name in given]
        if node.tag == "input" and (given.get("type") or "").lower() in _BUTTONS:
            names.append("value")
        if node.tag in _LABELLED and "label" in given:
            names.append("label")
        if node.tag == "meta":
            described = given.get("name") or given.get("property") or ""
            if described.lower() in _DESCRIPTIONS:
                names.append("content")
        if not names or _is_kept(node) or not _is_within_translated(node, judged):
            continue
        for name in names:
            if has_letters(text := given[name] or ""):
                yield Attribute(node, name, text)


def _foreign_elements(tree: LexborHTMLParser, source: str) -> Iterator[LexborNode]:
    """Yield the elements within the text that name another language than it has."""
    root = tree.css_first("html")
    given = [source, (root.attributes.get("lang") if root else "") or "", "", "und"]
    languages = set(map(base_language, given))
    for node in tree.css("[lang]"):
        other = base_language(node.attributes.get("lang") or "") not in languages
        if other and node.tag not in ("html", "body") and "translate" not in node.attributes:
            yield node


def _is_kept(node: LexborNode) -> bool:
    attributes = node.attributes
    kept = (attributes.get("translate") or "").lower() == "no"
    return kept or "notranslate" in (attributes.get("class") or "").split()


def _is_translated(node: LexborNode) -> bool:
    if not node.is_element_node:
        return False
    return node.tag not in _NO_TEXT and not _is_kept(node)


def _is_within_translated(node: LexborNode, judged: dict[int, bool]) -> bool:
    """Return whether all elements around a node are translated; `judged` keeps the results."""
    around = []
    parent = node.parent
    while parent is not None and parent.is_element_node and parent.mem_id not in judged:
        around.append(parent)
        parent = parent.parent
    result = parent is None or judged.get(parent.mem_id, True)
    for each in reversed(around):
        result = judged[each.mem_id] = result and _is_translated(each)
    return result


def _inline_leaves(node: LexborNode) -> list[tuple[LexborNode, list[LexborNode]]] | None:
    """Return the texts in a node with the inline elements around each, and what may stay between.

    None if it contains something that cannot move with the words: a block or a line break.
    """
    found: list[tuple[LexborNode, list[LexborNode]]] = []
    waiting: list[tuple[LexborNode, list[LexborNode]]] = [(node, [])]
    while waiting:
        each, chain = waiting.pop()
        is_inline = each.is_element_node and each.tag in _INLINE
        plain = is_inline and _is_translated(each) and each.first_child is not None
        stays = is_inline or each.is_comment_node or each.tag in _WITHIN_TEXT
        if each.is_text_node or (stays and not plain):
            found.append((each, chain))
            continue
        if not plain or len(chain) == _MOST_INLINE:
            return None
        children = [(child, [*chain, each]) for child in _children(each)]
        waiting += reversed(children)
    return found


def _children(node: LexborNode) -> Iterator[LexborNode]:
    """Yield all children; `LexborNode.iter` omits comments, and mistakes a fragment's first node
    for the fragment.
    """
    child = node.first_child
    while child is not None:
        yield child
        child = child.next
