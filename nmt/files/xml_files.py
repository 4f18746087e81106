"""Reads XML from strangers as a stream: in constant memory, without DTDs and entities.

Old tools write control characters, which XML forbids; they are left out.
"""

import codecs
import gzip
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, NamedTuple
from xml.parsers import expat

from nmt.errors import UserError, one_line

MOST_UNPACKED = 4 * 2**30  # bytes of a .gz file
_BLOCK = 2**18  # bytes
_LONGEST_TOKEN = 2**22  # bytes; expat holds a tag or comment in memory until it ends
_DEEPEST = 500
_CONTROLS = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff\ud800-\udfff]")
_CONTROL_REFERENCES = re.compile(
    r"&#0*(?:[0-8]|1[124-9]|2\d|3[01])(?!\d);|&#x0*(?:[0-8bcef]|1[0-9a-f]);", re.IGNORECASE
)
_LONGEST_REFERENCE = 20  # characters
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

    value: the name of the element, with its prefix, or the text
    """

    kind: Literal["start", "end", "text"]
    value: str
    attributes: dict[str, str] = {}  # noqa: RUF012 never changed


def read_xml(path: Path) -> Iterator[Event]:
    """Yield the events of an XML file, plain or .gz.

    Raises `UserError` for anything that is not well-formed, and for documents that declare entities
    or that would need much memory.
    """
    events: list[Event] = []
    parser = _parser(path, events)
    size = 0
    for block in _blocks(path):
        data = block.encode()
        size += len(data)
        try:
            parser.Parse(data, False)
        except expat.ExpatError as error:
            raise _invalid(path, error) from None
        if size - parser.CurrentByteIndex > _LONGEST_TOKEN + len(data):
            raise UserError(
                f"{path}: line {parser.CurrentLineNumber} has an endless tag; repair it"
            )
        yield from events
        events.clear()
    try:
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise _invalid(path, error) from None
    yield from events


def _invalid(path: Path, error: expat.ExpatError) -> UserError:
    return UserError(f"{path}: is not valid XML: {one_line(error)}; repair it, or export it again")


def _parser(path: Path, events: list[Event]) -> expat.XMLParserType:
    parser = expat.ParserCreate("utf-8")  # whatever the file declares: `_blocks` decodes it
    parser.buffer_text = True
    depth = 0

    def start(name: str, attributes: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        if depth > _DEEPEST:
            raise UserError(f"{path}: elements are nested deeper than {_DEEPEST}; repair it")
        events.append(Event("start", name, attributes))

    def end(name: str) -> None:
        nonlocal depth
        depth -= 1
        events.append(Event("end", name))

    def refuse_entity(name: str, *_: object) -> None:
        raise UserError(f"{path}: declares the entity {name}, which may be harmful; remove it")

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = lambda text: events.append(Event("text", text))
    parser.EntityDeclHandler = refuse_entity
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
        raise UserError(
            f"{path}: is not valid {error.encoding}, as it claims to be; convert it to UTF-8"
        ) from None
    except (OSError, EOFError, zlib.error) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        raise UserError(f"{path}: cannot be read ({reason}); check or replace the file") from None


def _clean(text: str) -> str:
    text = text.removeprefix("\ufeff")
    return _CONTROL_REFERENCES.sub("", _CONTROLS.sub("", text))


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
