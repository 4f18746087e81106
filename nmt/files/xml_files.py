"""Reads XML from strangers, without DTDs and their entities: as a stream, or whole to change it.

Old tools write control characters, which XML forbids; they are left out. The entities of HTML, such
as &nbsp;, are known in all files.
"""

import codecs
import gzip
import re
import zlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from html.entities import html5
from pathlib import Path
from typing import Literal, NamedTuple, Protocol
from xml.parsers import expat

from nmt.errors import UserError, one_line

MOST_UNPACKED = 4 * 2**30  # bytes of a .gz file
_BLOCK = 2**18  # bytes
_LONGEST_TOKEN = 2**22  # bytes; expat holds a tag or comment in memory until it ends
_DEEPEST = 500
_MOST_WITHIN = 100  # nesting depth in an element that is held in memory
_ALLOWED = r"\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff"
_CONTROLS = re.compile(f"[^{_ALLOWED}]")
_CLEAN = re.compile(f"[{_ALLOWED}]*")
_CONTROL_REFERENCES = re.compile(
    r"&#0*(?:[0-8]|1[124-9]|2\d|3[01])(?!\d);|&#x0*(?:[0-8bcef]|1[0-9a-f]);", re.IGNORECASE
)
_LONGEST_REFERENCE = 20  # characters
_TAG = re.compile(rb"""<(?:[^<>"']|"[^"]*"|'[^']*')*>""")
_DECLARED = re.compile(rb"""^\s*<\?xml[^>]*?encoding\s*=\s*["']([\w.-]{1,40})["']""")
_BOMS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
    b"<\0": "utf-16-le",
    b"\0<": "utf-16-be",
}
_ENCODINGS = re.compile(r"utf-8|ascii|iso8859-\d+|cp125\d|koi8-[ru]|gb\w+|big5|shift_jis|euc_\w+")


class Event(NamedTuple):
    """The start or end of an element, or text within one, which may come in several parts.

    Only documents have events for comments and processing instructions.
    """

    kind: Literal["start", "end", "text", "comment"]
    value: str
    """The name of the element, with its prefix, or the text."""
    attributes: dict[str, str] = {}  # noqa: RUF012 never changed
    place: tuple[int, int] = (0, 0)
    """Place of the tag in an `XmlDocument`: its first byte and the one after its last."""


class XmlHandler(Protocol):
    """What is done with the elements and the text of a file, in their order."""

    def start(self, name: str, attributes: dict[str, str]) -> None:
        """Take the start of an element; name: with its prefix."""

    def end(self, name: str) -> None:
        """Take the end of an element."""

    def text(self, text: str) -> None:
        """Take text within an element, which may come in several parts."""


class Shortcut(NamedTuple):
    """A faster way than the parser's to read elements of the usual form."""

    element: str
    """The name of the elements."""
    read: Callable[[str, int], int]
    """Reads such elements from a place in a text on; returns the place after the last of them."""


def parse_xml(path: Path, handler: XmlHandler, shortcut: Shortcut | None = None) -> Iterator[None]:
    """Call a handler for all of an XML file, plain or .gz; yields after each block of the file.

    Much faster than the events of `read_xml`. Raises `UserError` for anything that is not
    well-formed, and for documents that declare entities or that would need much memory.

    shortcut: is tried wherever the handler has just taken the end of such an element
    """
    parser = _parser(path, handler)
    closing = f"</{shortcut.element}>" if shortcut else ""
    size = 0  # bytes that the parser was given
    last_end: int | None = None  # where the last end tag begins, in these bytes
    skipped = ""
    finish = parser.EndElementHandler
    assert finish

    def end(name: str) -> None:
        nonlocal last_end
        last_end = parser.CurrentByteIndex
        finish(name)

    if shortcut:
        parser.EndElementHandler = end
    try:
        for block in _blocks(path):
            place = 0
            while place < len(block):
                # The parser rescans an unfinished comment with each piece, so none is split.
                divided = shortcut and (not place or parser.CurrentByteIndex == size)
                found = block.find(closing, place) if divided else -1
                stop = found + len(closing) if found >= 0 else len(block)
                data = f"{skipped}{block[place:stop]}".encode()
                size += len(data)
                parser.Parse(data, False)
                place, skipped = stop, ""
                # False if this was not a tag, but text within a comment or CDATA.
                if shortcut and last_end == size - len(closing):
                    place = shortcut.read(block, stop)
                    skipped = _blank_as(block[stop:place])
            if size - parser.CurrentByteIndex > _LONGEST_TOKEN + len(block.encode()):
                raise _endless(path, parser)
            yield
        parser.Parse(skipped.encode(), True)
    except expat.ExpatError as error:
        raise _invalid(path, error) from None
    yield


def _blank_as(text: str) -> str:
    """Return white space that ends in the same line and column as a text."""
    return "\n" * text.count("\n") + " " * (len(text) - text.rfind("\n") - 1)


def read_xml(path: Path) -> Iterator[Event]:
    """Yield the events of an XML file; raises like `parse_xml`."""
    collector = _EventCollector()
    for _ in parse_xml(path, collector):
        yield from collector.events
        collector.events.clear()


class _EventCollector:
    """Makes events of what it takes."""

    def __init__(self) -> None:
        self.events: list[Event] = []

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self.events.append(_make(Event, ("start", name, attributes, _NOWHERE)))

    def end(self, name: str) -> None:
        self.events.append(_make(Event, ("end", name, _NOTHING, _NOWHERE)))

    def text(self, text: str) -> None:
        self.events.append(_make(Event, ("text", text, _NOTHING, _NOWHERE)))


_make = tuple.__new__  # `Event(...)` would take twice as long
_NOWHERE, _NOTHING = (0, 0), Event._field_defaults["attributes"]


@dataclass
class Element:
    """An element of an `XmlDocument`.

    A comment or a processing instruction is an empty element without a name.
    """

    name: str
    attributes: Mapping[str, str]
    start: int
    inner: int
    after: int = 0
    end: int = 0
    """It is `data[start:end]`, and its content is `data[inner:after]`."""
    children: "list[Element | str]" = field(default_factory=list)

    @property
    def local(self) -> str:
        """Its name without prefix."""
        return self.name.rpartition(":")[2]

    def own(self, *names: str) -> "list[Element]":
        """Return the children of these names."""
        nodes = (child for child in self.children if isinstance(child, Element))
        return [child for child in nodes if child.local in names]

    def child(self, name: str) -> "Element | None":
        """Return the first child of a name."""
        return next(iter(self.own(name)), None)

    def within(self, name: str) -> "Iterator[Element]":
        """Yield the elements of a name in it, except those within one another."""
        for child in self.children:
            if isinstance(child, Element):
                if child.local == name:
                    yield child
                else:
                    yield from child.within(name)

    def within_all(self) -> "Iterator[Element]":
        """Yield all elements in it."""
        for child in self.children:
            if isinstance(child, Element):
                yield child
                yield from child.within_all()

    def attribute(self, name: str) -> str:
        """Return an attribute, whatever its prefix; "" if it is missing."""
        return next((v for k, v in self.attributes.items() if k.rpartition(":")[2] == name), "")

    @property
    def text(self) -> str:
        """All text in it."""
        return "".join(x if isinstance(x, str) else x.text for x in self.children)


class XmlDocument:
    """An XML file that is changed in places; all its other bytes stay as they are.

    data: the whole file in UTF-8, without a byte order mark
    """

    def __init__(self, path: Path, content: bytes):
        """Decode a file; path: for error messages, which are `UserError`."""
        self._path = path
        self._encoding = _encoding(path, content)
        try:
            text = content.decode(self._encoding)
        except UnicodeDecodeError as error:
            raise _not_decoded(path, error) from None
        self._mark = text[: text.startswith("\ufeff")]
        self.data = text.removeprefix(self._mark).encode()

    def events(self) -> Iterator[Event]:
        """Yield the events of the file, with their places; raises like `read_xml`."""
        # Of the same length, so that places stay.
        text = _CONTROLS.sub(_blank, self.data.decode())
        data = _CONTROL_REFERENCES.sub(_blank, text).encode()
        collector = _PlacedEventCollector(self._path, data)
        parser, events = collector.parser, collector.events
        try:
            for start in range(0, len(data), _BLOCK):
                parser.Parse(data[start : start + _BLOCK], False)
                if start - parser.CurrentByteIndex > _LONGEST_TOKEN:
                    raise _endless(self._path, parser)
                yield from events
                events.clear()
            parser.Parse(b"", True)
        except expat.ExpatError as error:
            raise _invalid(self._path, error) from None
        yield from events

    def elements(
        self, names: Collection[str], begin: "Callable[[Element, bool], None] | None" = None
    ) -> "Iterator[tuple[Element, list[Element]]]":
        """Yield each element of these names, without prefix, and those around it, outermost first.

        Not those within one another. begin: called for each element around them as it begins, with
        whether it is the root
        """
        around: list[Element] = []
        open_: list[Element] = []
        for event in self.events():
            if event.kind == "text":
                if open_:
                    open_[-1].children.append(event.value)
            elif event.kind == "comment":
                if open_:
                    start, end = event.place
                    open_[-1].children.append(Element("", {}, start, end, end, end))
            elif event.kind == "start":
                element = Element(event.value, event.attributes, *event.place)
                if open_:
                    open_[-1].children.append(element)
                    if len(open_) > _MOST_WITHIN:
                        raise UserError(
                            f"{self._path}: elements are nested too deeply in <{open_[0].name}>"
                        )
                if open_ or element.local in names:
                    open_.append(element)
                    continue
                if begin:
                    begin(element, not around)
                around.append(element)
            elif open_:
                element = open_.pop()
                element.after, element.end = event.place
                if not open_:
                    yield element, list(around)
            else:
                around.pop()

    def raw(self, start: int, end: int) -> str:
        """Return a part of the file as it is written there."""
        return self.data[start:end].decode()

    def changed(self, edits: Iterable[tuple[int, int, str]]) -> bytes:
        """Return the file, in its encoding, with data[start:end] replaced for each edit."""
        pieces, end = [], 0
        for start, stop, new in sorted(edits, key=lambda edit: edit[:2]):
            pieces += [self.raw(end, start), new]
            end = stop
        text = self._mark + "".join([*pieces, self.raw(end, len(self.data))])
        return text.encode(self._encoding, "xmlcharrefreplace")


def _blank(match: re.Match[str]) -> str:
    return " " * len(match.group().encode())


def _not_decoded(path: Path, error: UnicodeDecodeError) -> UserError:
    return UserError(
        f"{path}: is not valid {error.encoding}, as it claims to be; convert it to UTF-8"
    )


def _endless(path: Path, parser: expat.XMLParserType) -> UserError:
    return UserError(f"{path}: line {parser.CurrentLineNumber} has an endless tag; repair it")


def _invalid(path: Path, error: expat.ExpatError) -> UserError:
    return UserError(f"{path}: is not valid XML: {one_line(error)}; repair it, or export it again")


class _PlacedEventCollector(_EventCollector):
    """Makes events with their places in the data; `parser` is to parse these data."""

    def __init__(self, path: Path, data: bytes):
        super().__init__()
        self.parser = _parser(path, self)
        self.parser.CommentHandler = lambda _: self._comment(b"<!--", b"-->")
        self.parser.ProcessingInstructionHandler = lambda *_: self._comment(b"<?", b"?>")
        self._data = data
        self._empty: list[bool] = []  # whether each open element consists of one tag

    def start(self, name: str, attributes: dict[str, str]) -> None:
        place = self._tag()
        self._empty.append(self._data[place[1] - 2 : place[1]] == b"/>")
        self.events.append(Event("start", name, attributes, place))

    def end(self, name: str) -> None:
        start = self.parser.CurrentByteIndex
        place = (start, start) if self._empty.pop() else self._tag()  # after an empty one's tag
        self.events.append(Event("end", name, place=place))

    def _tag(self) -> tuple[int, int]:
        start = self.parser.CurrentByteIndex
        tag = _TAG.match(self._data, start)
        return start, tag.end() if tag else start

    def _comment(self, opening: bytes, end: bytes) -> None:
        start = self.parser.CurrentByteIndex
        stop = self._data.find(end, start + len(opening)) + len(end)
        self.events.append(Event("comment", "", place=(start, stop)))


def _parser(path: Path, handler: XmlHandler) -> expat.XMLParserType:
    """Return a parser that calls the handler."""
    parser = expat.ParserCreate("utf-8")  # whatever the file declares: `_blocks` decodes it
    parser.buffer_text = True
    begin, finish = handler.start, handler.end
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise UserError(f"{path}: elements are nested deeper than {_DEEPEST}; repair it")
        begin(name, attributes)

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        finish(name)

    def refuse_entity(name: str, *_: object) -> None:
        raise UserError(f"{path}: declares the entity {name}, which may be harmful; remove it")

    def undeclared(name: str, *_: object) -> None:
        if f"{name};" not in html5:
            raise UserError(
                f"{path}: line {parser.CurrentLineNumber} uses the entity {name}, which is not one "
                "of HTML; replace it by what it stands for"
            )
        handler.text(html5[f"{name};"])

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = handler.text
    parser.EntityDeclHandler = refuse_entity
    parser.UseForeignDTD(True)  # which is not loaded, but then undeclared entities are no errors
    parser.SkippedEntityHandler = undeclared
    return parser


def _blocks(path: Path) -> Iterator[str]:
    """Yield the decoded text in blocks, without control characters and references to them."""
    rest = ""
    size = 0
    packed = path.suffix.lower() == ".gz"
    try:
        with gzip.open(path) if packed else path.open("rb") as file:
            decoder = None
            while block := file.read(_BLOCK):
                size += len(block)
                if packed and size > MOST_UNPACKED:
                    raise UserError(
                        f"{path}: unpacks to more than {MOST_UNPACKED:,} bytes; unpack it first"
                    )
                if decoder is None:
                    if b"<" not in block:
                        raise UserError(f"{path}: is not XML; check or replace the file")
                    decoder = codecs.getincrementaldecoder(_encoding(path, block))()
                text = rest + decoder.decode(block)
                # A reference may continue in the next block.
                cut = text.rfind("&", max(0, len(text) - _LONGEST_REFERENCE))
                cut = cut if cut >= 0 else len(text)
                rest = text[cut:]
                yield _clean(text[:cut])
            if decoder:
                rest += decoder.decode(b"", True)
            yield _clean(rest)
    except UnicodeDecodeError as error:
        raise _not_decoded(path, error) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        raise UserError(f"{path}: cannot be read ({reason}); check or replace the file") from None


def _clean(text: str) -> str:
    text = text.removeprefix("\ufeff")
    if not _CLEAN.fullmatch(text):  # twice as fast as looking for control characters
        text = _CONTROLS.sub("", text)
    return _CONTROL_REFERENCES.sub("", text)


def _encoding(path: Path, start: bytes) -> str:
    """Return the encoding of a file: by its first bytes, else as declared, else UTF-8."""
    for mark, encoding in _BOMS.items():
        if start.startswith(mark):
            return encoding
    declared = _DECLARED.match(start)
    if not declared:
        return "utf-8"
    name = declared[1].decode("ascii")
    if name.lower().replace("_", "-") in ("utf-16", "utf16"):
        return "utf-8"  # converted, with the old declaration
    try:
        found = codecs.lookup(name).name
    except LookupError:
        found = ""
    if not _ENCODINGS.fullmatch(found):
        raise UserError(f"{path}: declares the encoding {name}, which is unknown; convert it")
    return found
