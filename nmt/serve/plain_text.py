"""Plain text: its encoding, and paragraphs whose lines were broken to fit a width."""

import codecs
import re
import textwrap
from dataclasses import dataclass
from itertools import groupby, pairwise

from nmt.serve.errors import ApiError

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark is a part of this
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_LEGACY = ["cp1252", "cp1250", "cp1251", "utf_16_le", "utf_16_be"]
_NARROWEST, _WIDEST = 40, 100  # characters of lines that were broken
_PREFIX = re.compile(r"[ \t>]*")
_LIST_SIGN = re.compile(r"(?:[-–—*•+#|]|\(?\w{1,3}[.)])\s")
_SENTENCE_END = re.compile(r"[.!?…:;][\"'”“’»)\]]*$")


def decode(content: bytes) -> tuple[str, str]:
    """Return the text of a file, without a byte order mark, and the name of its encoding.

    Recognizes Unicode by its mark, and otherwise UTF-8; then UTF-16 and code pages by their
    content. Raises `ApiError` for anything else.
    """
    for mark, name in _MARKS.items():
        if content.startswith(mark):
            try:
                return content[len(mark) :].decode(name), name
            except UnicodeDecodeError:
                raise ApiError(400, f"Invalid request: the file is not {name} text") from None
    nulls = content.count(b"\0")
    if not nulls:
        try:
            return content.decode(), "utf-8"
        except UnicodeDecodeError:
            pass
    from charset_normalizer import from_bytes

    best = from_bytes(content, cp_isolation=_LEGACY[3:] if nulls else _LEGACY[:3]).best()
    text = str(best) if best else "\0"
    if "\0" in text or best is None:
        raise ApiError(400, "Invalid request: the file is not text in UTF-8, UTF-16 or a code page")
    # Code pages have most letters in common.
    same = content.decode("cp1252", "replace") == text
    return text, "cp1252" if same else best.encoding.replace("_", "-")


def wrap_evenly(text: str, lines: int) -> list[str]:
    """Break a text into at most this many lines, of similar lengths.

    >>> wrap_evenly("one two three four", 2)
    ['one two', 'three four']
    """
    if lines < 2:
        return [text]
    longest = max(map(len, text.split()), default=1)
    width = max(len(text) // lines, longest)
    while len(found := _wrap(text, width)) > lines:
        width += 1
    return found or [text]


def _wrap(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, break_long_words=False, break_on_hyphens=False)


@dataclass(frozen=True)
class Paragraph:
    """Lines of a file that are one text, or a line that stays as it is.

    text: joined; prefix: before each line, as in quoted mail; end: of its lines; width: at which it
    was broken, 0 if it was not; last: the end of the last line
    """

    text: str
    prefix: str = ""
    end: str = "\n"
    width: int = 0
    last: str = ""

    def wrapped(self, translation: str) -> str:
        """Return a translation, broken like the source."""
        if not self.width:
            return self.prefix + translation + self.last
        rows = _wrap(translation, max(self.width - len(self.prefix), _NARROWEST // 2))
        return self.end.join(self.prefix + row for row in rows) + self.last


def paragraphs(text: str) -> list[Paragraph]:
    """Return the paragraphs of a text, which add up to it; lines that end early stay apart."""
    lines = re.findall(r"[^\n]*\n|[^\n]+$", text)
    bodies = [line.rstrip("\r\n") for line in lines]
    width = max(map(len, bodies), default=0)
    broken = _NARROWEST <= width <= _WIDEST
    found: list[Paragraph] = []
    keys = [(_prefix(each), bool(each.strip(" \t>"))) for each in bodies]
    for (prefix, has_text), group in groupby(range(len(lines)), key=keys.__getitem__):
        numbers = list(group)
        while numbers:
            count = _joined([bodies[i] for i in numbers], width) if broken and has_text else 1
            own, numbers = numbers[:count], numbers[count:]
            joined = " ".join(bodies[i][len(prefix) :].strip() for i in own)
            last = lines[own[-1]][len(bodies[own[-1]]) :]
            if count == 1:
                joined = bodies[own[0]][len(prefix) :]
            end = lines[own[0]][len(bodies[own[0]]) :]
            found.append(Paragraph(joined, prefix, end, width if count > 1 else 0, last))
    return found


def _prefix(line: str) -> str:
    match = _PREFIX.match(line)
    return match[0] if match else ""


def _joined(lines: list[str], width: int) -> int:
    """Return how many of the first lines are one paragraph.

    A line continues in the next one if its first word would not have fitted. Lines that all end
    sentences were not broken.
    """
    count = 1
    for line, after in pairwise(lines):
        after = after.strip(" \t>")
        fits = len(line.rstrip()) + 1 + len(after.split(maxsplit=1)[0]) <= width
        if fits or _LIST_SIGN.match(after):
            break
        count += 1
    inner = [line.rstrip() for line in lines[: count - 1]]
    return count if not all(map(_SENTENCE_END.search, inner)) else 1
