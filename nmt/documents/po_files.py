"""PO files of gettext: empty translations are filled and marked as fuzzy, all else stays."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import polib

from nmt.config.languages import base_language
from nmt.documents.inline_markup import InlineText, Slot, tokens_in
from nmt.errors import UserError, one_line

_LINE = re.compile(r"[^\n]*\n|[^\n]+")
_CHARSET = re.compile(rb"charset=([\w.-]{1,40})")
_DECLARED = re.compile(r"charset=[\w.-]{1,40}")
_LANGUAGE = re.compile(r"^Language:[ \t]*([A-Za-z]+)", re.MULTILINE)
_BEGINNING = re.compile(r"#|domain\b|msgctxt|msgid(?!_)")  # of an entry
_STRING = re.compile(r"\s*(?P<keyword>[a-z_]+(?:\[\d+\])?)?\s*\"(?P<text>(?:[^\"\\]|\\.)*)\"\s*")
_FUZZY = re.compile(r",\s*fuzzy\s*(?:,|$)")


@dataclass
class _Entry:
    """An entry: its strings by keyword, and indices of lines."""

    flags: int | None = None
    """Index of the line with flags."""
    first: int | None = None
    """Index of the line with the first keyword or previous source."""
    texts: dict[str, str] = field(default_factory=dict)
    places: dict[str, tuple[int, int]] = field(default_factory=dict)
    """For each string, the indices of its first line and of the one after its last."""


class PoFile:
    """A PO file; slots: its texts to translate; kept: number of other entries."""

    def __init__(self, path: Path, content: bytes, languages: tuple[str, str] | None):
        """Read a file; languages: of source and target. Raises `UserError` if it is faulty."""
        declared = _CHARSET.search(content[:10_000])
        charset = declared[1].decode("ascii") if declared else "utf-8"
        self._encoding = "utf-8" if charset == "CHARSET" else charset  # in templates
        try:
            text = content.decode(self._encoding)
        except (UnicodeError, LookupError) as error:
            raise UserError(
                f"{path}: cannot be read as {charset} ({one_line(error)}); convert it to UTF-8"
            ) from None
        self._path = path
        self._mark = "\ufeff" if text.startswith("\ufeff") else ""
        self._lines = _LINE.findall(text.removeprefix(self._mark))
        self.slots: list[Slot] = []
        self.kept = 0
        self._fills: list[tuple[_Entry, dict[str, Slot]]] = []
        for entry in self._entries():
            self._take(entry, languages)

    def _entries(self) -> Iterator[_Entry]:
        entry, keyword = _Entry(), ""
        for number, line in enumerate(self._lines):
            stripped = line.strip()
            begins = not stripped or _BEGINNING.match(stripped)
            if begins and any(name.startswith("msgstr") for name in entry.texts):
                yield entry
                entry, keyword = _Entry(), ""
            if not stripped or stripped.startswith("domain"):
                continue
            if stripped.startswith("#") and stripped[1:2] not in (",", "|"):
                continue
            if stripped.startswith("#,"):
                entry.flags = number
                continue
            if entry.first is None:
                entry.first = number
            if stripped.startswith("#|"):
                continue
            found = _STRING.fullmatch(stripped)
            keyword = (found and found["keyword"]) or keyword
            if not found or not keyword:
                raise UserError(
                    f"{self._path}: line {number + 1} is not of a PO file; check it with msgfmt"
                )
            start, _ = entry.places.get(keyword, (number, number))
            entry.places[keyword] = start, number + 1
            entry.texts[keyword] = entry.texts.get(keyword, "") + polib.unescape(found["text"])
        if entry.texts:
            yield entry

    def _take(self, entry: _Entry, languages: tuple[str, str] | None) -> None:
        source = entry.texts.get("msgid", "")
        if not source:
            language = _LANGUAGE.search(entry.texts.get("msgstr", ""))
            code = base_language(language[1]) if language else ""
            if languages and code and code != base_language(languages[1]):
                raise UserError(
                    f"{self._path}: is a translation into {code}, but this run translates into "
                    f"{languages[1]}; choose another run"
                )
            return
        targets = [name for name in entry.texts if name.startswith("msgstr")]
        if not targets or any(entry.texts[name] for name in targets):
            self.kept += 1
            return
        slots = {}
        for name in targets:
            # The first form is the singular, unless the language has one form for all numbers.
            one = name == "msgstr" or (name == "msgstr[0]" and len(targets) > 1)
            text = source if one else entry.texts.get("msgid_plural", source)
            slots[name] = Slot(
                InlineText(tokens_in(text, str), str, mnemonics=True, has_lines=True), text
            )
        self.slots += slots.values()
        self._fills.append((entry, slots))

    def written(self) -> bytes:
        """Return the file with the translations of the slots."""
        lines = list(self._lines)
        for entry, slots in self._fills:
            for name, slot in slots.items():
                start, end = entry.places[name]
                newline = _newline(lines[start])
                string = _string(name, slot.translation, newline)
                # The last line of a file may lack its end.
                lines[start:end] = [string + lines[end - 1][len(lines[end - 1].rstrip()) :]]
                lines[start + 1 : start + 1] = [""] * (end - start - 1)  # places stay
            assert entry.first is not None
            if entry.flags is not None:
                if _FUZZY.search(lines[entry.flags]):
                    continue
                lines[entry.flags] = re.sub(r"#,\s*", "#, fuzzy, ", lines[entry.flags], count=1)
            else:
                first = lines[entry.first]
                lines[entry.first] = f"#, fuzzy{_newline(first)}{first}"
        text = self._mark + "".join(lines)
        try:
            return text.encode(self._encoding)
        except UnicodeError:  # the translations have characters that the encoding lacks
            return _DECLARED.sub("charset=UTF-8", text, count=1).encode(errors="replace")


def _newline(line: str) -> str:
    return "\r\n" if line.endswith("\r\n") else "\n"


def _string(keyword: str, text: str, newline: str) -> str:
    """Return a string as gettext writes it, with a line for each of its lines."""
    pieces: Sequence[str] = _LINE.findall(text) or [""]
    quoted = [f'"{polib.escape(piece)}"' for piece in pieces]
    return f"{keyword} " + newline.join([*(['""'] if len(quoted) > 1 else []), *quoted])
