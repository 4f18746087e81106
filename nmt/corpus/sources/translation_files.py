"""Files of translation tools as corpora: translation memories (TMX), XLIFF, and gettext's PO.

Every reader yields one pair for each unit. A unit that lacks a finished translation yields a pair
with an empty side, so that cleaning counts it; on demand, drafts count as finished.
"""

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from html import unescape
from itertools import islice
from pathlib import Path
from typing import Literal

from nmt.config.data import SOURCES
from nmt.config.languages import base_language
from nmt.corpus.sources.readers import MAX_LINE_BYTES, Pair
from nmt.errors import UserError, one_line
from nmt.files.xml_files import Shortcut, parse_xml

GETTEXT_HEADER = "x-gettext-domain-header"  # the kind of a unit of XLIFF that is a PO file's header
_LARGEST_PO = 256 * 2**20  # bytes; polib holds all of it in memory
# Elements of TMX and XLIFF that hold the original's markup instead of text; <sub>, which may stand
# within them, is text of another place, such as a tooltip.
_MARKUP = frozenset({"bpt", "ept", "ph", "it", "ut", "x", "bx", "ex", "cp", "sc", "ec"})
# Elements of XLIFF with suggestions from memories, or texts that are not translated.
_ALTERNATIVES = frozenset({"alt-trans", "matches", "note", "notes", "originalData", "ignorable"})
_LINE_BREAK = re.compile(r"\s*(?:<br\b|\\n|\{br)", re.IGNORECASE)
# States of XLIFF 1.2 and 2, of SDL Trados and of memoQ; a unit without a state is taken as it is.
_UNFINISHED = re.compile(
    r"new|initial|needs-.*|draft|unspecified|rejected.*|notstarted|empty|pretranslated|"
    r"partiallyedited|machinetranslated",
    re.IGNORECASE,
)


def translation_files(path: Path, format_: str) -> tuple[Path, ...]:
    """Return the file itself, or all files of this format in a folder and the folders within."""
    if not path.is_dir():
        return (path,)
    found = sorted(
        file
        for file in path.rglob("*")
        if file.name.lower().endswith(SOURCES[format_].extensions) and file.is_file()
    )
    if not found:
        raise UserError(f"{path}: no file here ends in {' or '.join(SOURCES[format_].extensions)}")
    return tuple(found)


def read_translation_files(
    *paths: Path,
    format_: str,
    languages: tuple[str, str],
    drafts: bool = False,
    remedy: str = "set source_language and target_language",
) -> Iterator[Pair]:
    """Yield the (source, target) text of all units of these files.

    languages: codes of source and target; regions in the files are ignored; drafts: whether
    unfinished translations, such as those by machine, are read, too. Raises `UserError` if the
    files have units, but none in both languages.
    """
    readers: dict[str, Callable[[Path, _Languages], Iterator[Pair]]] = {
        "tmx": partial(_read_units, _TmxReader),
        "xliff": partial(_read_units, partial(_XliffReader, drafts=drafts)),
        "po": partial(_read_po, drafts=drafts),
    }
    wanted = _Languages(*languages)
    both = empty = False
    for path in paths:
        for pair in readers[format_](path, wanted):
            both = both or all(pair)
            empty = True
            yield pair
    if empty and not both and wanted.others:
        raise UserError(
            f"{paths[0]}: has nothing in both {' and '.join(languages)}, only in "
            f"{', '.join(islice(sorted(wanted.others), 10))}; {remedy}"
        )


@dataclass
class _Languages:
    """The languages that are wanted, and all those that were found.

    >>> _Languages("en", "de").side("DE_at")
    1
    """

    source: str
    target: str
    others: set[str] = field(default_factory=set)
    _sides: dict[str, Literal[0, 1] | None] = field(default_factory=dict)

    def side(self, code: str) -> Literal[0, 1] | None:
        """Return 0 for the source language, 1 for the target, None for others."""
        if code not in self._sides:
            self._sides[code] = self._side(code)
        return self._sides[code]

    def _side(self, code: str) -> Literal[0, 1] | None:
        base = base_language(code)
        if base == base_language(self.source):
            return 0
        if base == base_language(self.target):
            return 1
        self.others.add(code.strip()[:20])
        return None


class _Text:
    """Collects the text of a segment, without markup."""

    def __init__(self, path: Path):
        self._path = path
        self._parts: list[str] = []
        self._size = 0
        self._markup = 0  # depth of elements within markup

    def start(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the start of an element within the segment."""
        if self._markup or _local(name) in _MARKUP:
            self._markup += 1
            if attributes.get("type") in ("lb", "fmt:lb") or attributes.get("ctype") == "lb":
                self._parts.append(" ")

    def end(self) -> None:
        """Take the end of an element within the segment."""
        self._markup -= bool(self._markup)

    def add(self, text: str) -> None:
        """Take text."""
        if not self._markup:
            self._size += len(text)
            if self._size > MAX_LINE_BYTES:
                raise UserError(
                    f"{self._path}: a segment is longer than {MAX_LINE_BYTES} characters; is it "
                    "text?"
                )
            self._parts.append(text)
        elif _LINE_BREAK.match(text):
            self._parts.append(" ")

    def __str__(self) -> str:
        return " ".join("".join(self._parts).split())


def _local(name: str) -> str:
    """Return the name of an element without its prefix."""
    return name.rpartition(":")[2]


def _read_units(
    kind: "Callable[[Path, _Languages], _TmxReader | _XliffReader]",
    path: Path,
    languages: _Languages,
) -> Iterator[Pair]:
    reader = kind(path, languages)
    shortcut = Shortcut("tu", reader.read_plain) if isinstance(reader, _TmxReader) else None
    for _ in parse_xml(path, reader, shortcut):
        yield from reader.pairs
        reader.pairs.clear()


# ------------------------------------------------------------------------------------------- TMX


_SPACE = r"[ \t\r\n]"
_LANGUAGE = r"(?:xml:)?lang="
_ATTRIBUTES = rf'(?:{_SPACE}+(?!{_LANGUAGE})[A-Za-z][\w:-]*="[^<&"]*")*'
_PROPERTIES = "".join(
    rf"(?:<{name}{_ATTRIBUTES}>[^<>&]*</{name}>{_SPACE}*)*" for name in ("note", "prop")
)
_VARIANT = (
    rf'<tuv{_ATTRIBUTES}{_SPACE}+{_LANGUAGE}"([^<&"]+)"{_ATTRIBUTES}>{_SPACE}*{_PROPERTIES}'
    rf"<seg>([^<>&]*(?:&(?:amp|lt|gt|quot|apos);[^<>&]*)*)</seg>{_SPACE}*</tuv>{_SPACE}*"
)
# A unit as most are: two variants without markup.
_PLAIN_UNIT = re.compile(
    rf"{_SPACE}*<tu{_ATTRIBUTES}>{_SPACE}*{_PROPERTIES}{_VARIANT}{_VARIANT}</tu>", re.ASCII
)


class _TmxReader:
    """Reads TMX, version 1.1 to 1.4b; of several variants in a language, the first.

    pairs: those read; whoever takes them removes them
    """

    def __init__(self, path: Path, languages: _Languages):
        self.pairs: list[Pair] = []
        self._path, self._languages = path, languages
        self._sides: list[str | None] = [None, None]
        self._side: int | None = None
        self._text: _Text | None = None  # of the open segment
        self._root = True

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._root:
            _require_root(self._path, name, "tmx")
            self._root = False
        elif self._text:
            self._text.start(name, attributes)
        elif name == "seg":
            self._text = _Text(self._path)
        elif name == "tuv":
            self._side = self._languages.side(_language(attributes))
        elif name == "tu":
            self._sides = [None, None]

    def end(self, name: str) -> None:
        if name == "seg":
            if self._text and self._side is not None and self._sides[self._side] is None:
                self._sides[self._side] = str(self._text)
            self._text = None
        elif self._text:
            self._text.end()
        elif name == "tu":
            self.pairs.append((self._sides[0] or "", self._sides[1] or ""))

    def text(self, text: str) -> None:
        if self._text:
            self._text.add(text)

    def read_plain(self, text: str, place: int) -> int:
        """Read plain units from a place on; return the place after the last of them."""
        while unit := _PLAIN_UNIT.match(text, place):
            first, one, second, other = unit.groups()
            # Of two variants in a language, the first counts.
            sides = {self._languages.side(second): other, self._languages.side(first): one}
            self.pairs.append((_plain(sides.get(0, "")), _plain(sides.get(1, ""))))
            place = unit.end()
        return place


def _plain(segment: str) -> str:
    return " ".join(unescape(segment).split())


def _language(attributes: Mapping[str, str]) -> str:
    return attributes.get("xml:lang") or attributes.get("lang") or ""


def _require_root(path: Path, name: str, wanted: str) -> None:
    if _local(name) != wanted:
        raise UserError(f"{path}: is not {wanted.upper()}, but begins with <{name[:50]}>")


# ----------------------------------------------------------------------------------------- XLIFF


@dataclass
class _Unit:
    """A unit of an XLIFF file.

    Long ones are divided into segments, by the same ids on both sides.
    """

    sources: dict[str, str] = field(default_factory=dict)
    targets: dict[str, str] = field(default_factory=dict)
    states: dict[str, str] = field(default_factory=dict)
    """States by segment id; that of the whole unit has the key ""."""
    is_translatable: bool = True

    def pairs(self, drafts: bool) -> Iterator[Pair]:
        # The key "" stands for the whole text, in XLIFF 1.2 also if segments are marked in it.
        numbers = [number for number in self.sources if number]
        if "" in self.sources and (not numbers or self.targets.keys() == {""}):
            numbers = [""]
        for number in numbers:
            state = self.states.get(number) or self.states.get("", "")
            finished = self.is_translatable and (drafts or not _UNFINISHED.fullmatch(state))
            yield self.sources[number], self.targets.get(number, "") if finished else ""


class _XliffReader:
    """Reads XLIFF, version 1.2 or 2, also of SDL Trados and memoQ.

    pairs: those read; whoever takes them removes them; drafts: whether unfinished ones are read
    """

    def __init__(self, path: Path, languages: _Languages, drafts: bool = False):
        self.pairs: list[Pair] = []
        self._drafts = drafts
        self._path, self._languages = path, languages
        self._root = True
        self._is_wanted = True
        self._is_swapped = False
        self._unit = _Unit()
        self._segment = 0  # number of the segment in a unit of XLIFF 2
        self._side: Literal["source", "target"] | None = None
        self._texts: list[tuple[str, _Text]] = []  # open segments with their ids; the first is all
        self._marks: list[bool] = []  # whether each open <mrk> is a segment
        self._alternatives = 0  # depth of suggestions from memories and other unread elements

    def start(self, name: str, attributes: dict[str, str]) -> None:
        if self._root:
            _require_root(self._path, name, "xliff")
            self._root = False
        local = _local(name)
        self._alternatives += local in _ALTERNATIVES
        if self._alternatives:
            return
        if local == "file" or (local == "xliff" and "srcLang" in attributes):
            self._take_languages(attributes)
        elif local in ("trans-unit", "unit"):
            is_header = attributes.get("restype") == GETTEXT_HEADER
            self._unit = _Unit(
                is_translatable=attributes.get("translate") != "no" and not is_header
            )
            self._segment = 0
            state = next((v for k, v in attributes.items() if _local(k) == "status"), "")
            self._unit.states[""] = state
        elif local == "segment":
            self._segment += 1
            self._unit.states[self._number] = attributes.get("state", "")
        elif local == "seg" and name != "seg":  # <sdl:seg id conf>
            number = attributes.get("id", "")
            self._unit.states[number] = attributes.get("conf", "unspecified")
        elif local in ("source", "seg-source", "target") and self._side is None:
            self._side = "target" if local == "target" else "source"
            self._texts = [(self._number, _Text(self._path))]
            if local == "target" and "state" in attributes:
                self._unit.states[""] = attributes["state"]
        elif self._side:
            if local == "mrk":
                is_segment = attributes.get("mtype") == "seg"
                self._marks.append(is_segment)
                if is_segment:
                    self._texts.append((attributes.get("mid", ""), _Text(self._path)))
            for _, text in self._texts:
                text.start(name, attributes)

    def end(self, name: str) -> None:
        local = _local(name)
        self._alternatives -= local in _ALTERNATIVES
        if self._alternatives:
            return
        if self._side:
            self._end_within(local)
        if local in ("trans-unit", "unit") and self._is_wanted:
            for first, second in self._unit.pairs(self._drafts):
                self.pairs.append((second, first) if self._is_swapped else (first, second))

    def _end_within(self, name: str) -> None:
        """Take the end of a source or target, or of an element in it."""
        if name in ("source", "seg-source", "target"):
            self._store(*self._texts[0])
            self._side, self._texts, self._marks = None, [], []
            return
        for _, text in self._texts:
            text.end()
        if name == "mrk" and self._marks.pop() and len(self._texts) > 1:
            self._store(*self._texts.pop())

    def text(self, text: str) -> None:
        if not self._alternatives:
            for _, each in self._texts:
                each.add(text)

    def _store(self, number: str, text: _Text) -> None:
        sides = self._unit.targets if self._side == "target" else self._unit.sources
        sides[number] = str(text)

    @property
    def _number(self) -> str:
        return f"segment {self._segment}" if self._segment else ""

    def _take_languages(self, attributes: Mapping[str, str]) -> None:
        source = attributes.get("source-language") or attributes.get("srcLang") or ""
        target = attributes.get("target-language") or attributes.get("trgLang") or ""
        if not (source or target):
            return
        found = [self._languages.side(code) if code else None for code in (source, target)]
        self._is_swapped = found[0] == 1
        self._is_wanted = found in ([0, 1], [1, 0]) or (not target and found[0] is not None)


# -------------------------------------------------------------------------------------------- PO


def _read_po(path: Path, languages: _Languages, drafts: bool) -> Iterator[Pair]:
    """Yield the pairs of a PO file, whose originals are in the language that is not its own."""
    import polib

    try:
        if path.stat().st_size > _LARGEST_PO:
            raise UserError(f"{path}: is larger than {_LARGEST_PO:,} bytes; divide it")
        file = polib.pofile(str(path))
    except (OSError, ValueError, LookupError) as error:
        reason = getattr(error, "strerror", None) or one_line(error)
        raise UserError(f"{path}: cannot be read as PO ({reason}); check the file") from None
    language = file.metadata.get("Language", "").strip()
    side = languages.side(language) if language else 1
    for entry in file:
        if side is None or entry.obsolete:
            continue
        originals, finished = [entry.msgid], drafts or (entry.translated() and not entry.fuzzy)
        translations = [entry.msgstr]
        if entry.msgid_plural:
            originals.append(entry.msgid_plural)
            forms = [entry.msgstr_plural[number] for number in sorted(entry.msgstr_plural)]
            translations = [forms[0], forms[-1]] if forms else ["", ""]
        for original, translation in zip(originals, translations, strict=True):
            pair = (_one_line(original), _one_line(translation) if finished else "")
            yield pair if side == 1 else pair[::-1]


def _one_line(text: str) -> str:
    return " ".join(text.split())
