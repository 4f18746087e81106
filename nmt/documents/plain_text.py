"""Plain text: its encoding, and paragraphs whose lines were broken to fit a width."""

import codecs
import re
import textwrap
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import groupby, pairwise, repeat

from nmt.documents.errors import DocumentError

_MARKS = {
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32-le",  # before UTF-16, whose mark is a part of this
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
_LEGACY = ["cp1252", "cp1250", "cp1251", "utf_16_le", "utf_16_be"]
# Of Windows, of old Macs and of DOS: tried first, since `charset_normalizer` takes one for another.
_WESTERN = {"cp1252": "cp1252", "mac_roman": "mac-roman", "cp850": "cp850"}
_LETTERS = "äöüßéèêëàâçîïôùûœæáíóúñãõåøìòðýþ"
# What German, English and French text rarely has: other characters, capitals and low quotation
# marks after a letter, and quotation marks within words.
_ODD = re.compile(
    rf"(?=[^\x00-\x7f])[^{_LETTERS}{_LETTERS.upper()}’‘“”„‚–—…€«»‹›§°·•®™©£²³½¼¾±×µ¿¡\xa0]"
    rf"|(?<=[a-z{_LETTERS}])[{_LETTERS.upper()}„‚]|[“”](?=[a-z{_LETTERS}])(?<=[^\W_]“|[^\W_]”)"
)
_MOST_ODD = 0.05  # of the characters beyond ASCII
_MOST_OTHERS = 0.3  # of all characters; Cyrillic letters are nearly all
_NARROWEST, _WIDEST = 40, 100  # characters of lines that were broken
_LONG_WORD = re.compile(rf"\S{{{_NARROWEST},}}")
_PREFIX = re.compile(r"[ \t>]*")
_LIST_SIGN = re.compile(r"(?:[-–—*•+#|]|\(?\w{1,3}[.)])\s")
_SENTENCE_END = re.compile(r"[.!?…:;][\"'”“’»)\]]*$")
_SENTENCE_WITHIN = re.compile(r"[^\W\d_]{2}[.!?…][\"'”“’»)\]]*\s+\S")
_NO_PROSE = re.compile(r"[_=<>{}|\\`\t]|\w[.(:]\w|//|[^.!?:\s] {2,}\S|^\S+:\s")  # code or a table
_RULE = re.compile(r"[\W_]+")  # as under a heading
_RAGGED = 10  # characters by which broken lines may be shorter than the width
_WORD = re.compile(r"[^\W\d_]+(?:-[^\W\d_]+)*")
_DIVIDED = re.compile(r"([^\W\d_]+(?:-[^\W\d_]+)*)[-‐\u00ad]$")  # un-, at the end of a line
_REST = re.compile(r"(?!(?:and|or|und|oder)\b)[^\W\d_]+(?:-[^\W\d_]+)*")  # pre- and post-war
# Parts of words that are written with a hyphen, such as well-known and decision-making.
_BEFORE_HYPHEN = frozenset(
    (
        *("all", "ex", "fifty", "first", "five", "forty", "four", "full", "half", "high", "long"),
        *("low", "middle", "ninety", "non", "one", "part", "second", "self", "short", "sixty"),
        *("ten", "thirty", "three", "twenty", "two", "well"),
    )
)
_BEHIND_HYPHEN = frozenset(
    (
        *("based", "called", "friendly", "known", "law", "looking", "made", "making", "minded"),
        *("old", "related", "sized", "speaking", "term", "wide", "year"),
    )
)


def decode(content: bytes) -> tuple[str, str]:
    """Return the text of a file, without a byte order mark, and the name of its encoding.

    Recognizes Unicode by its mark, and otherwise UTF-8; then UTF-16 and code pages by their
    content. Raises `DocumentError` for anything else.
    """
    for mark, name in _MARKS.items():
        if content.startswith(mark):
            try:
                return content[len(mark) :].decode(name), name
            except UnicodeDecodeError:
                raise DocumentError(f"the file is not {name} text") from None
    # In UTF-16, most characters have a zero at the same place, the first byte or the second.
    rare, nulls = sorted(content[place::2].count(0) for place in (0, 1))
    if nulls and nulls <= max(10 * rare, len(content) // 10):
        raise DocumentError("the file contains zero bytes and is not UTF-16: it is not text")
    if not nulls:
        try:
            return content.decode(), "utf-8"
        except UnicodeDecodeError:
            pass
    if not nulls and (found := _western(content)):
        return found
    from charset_normalizer import from_bytes

    best = from_bytes(content, cp_isolation=_LEGACY[3:] if nulls else _LEGACY[:3]).best()
    text = str(best) if best else "\0"
    if "\0" in text or best is None:
        raise DocumentError("the file is not text in UTF-8, UTF-16 or a code page")
    # Code pages have most letters in common.
    same = content.decode("cp1252", "replace") == text
    return text, "cp1252" if same else best.encoding.replace("_", "-")


def _western(content: bytes) -> tuple[str, str] | None:
    """Return German, English or French text and its code page; None for other text."""
    found = []
    for page, name in _WESTERN.items():
        with suppress(UnicodeDecodeError):
            text = content.decode(page)
            found.append((sum(1 for _ in _ODD.finditer(text)), text, name))
    odd, text, name = min(found, key=lambda each: each[0])
    others = sum(not character.isascii() for character in text)
    is_latin = others <= _MOST_OTHERS * len(text)
    return (text, name) if is_latin and odd <= _MOST_ODD * others else None


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


def _wrap(text: str, width: int, prefix: str = "", indent: str = "") -> list[str]:
    return textwrap.wrap(
        text,
        width,
        initial_indent=prefix,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
    )


@dataclass(frozen=True)
class Paragraph:
    """Lines of a file that are one text, or a line that stays as it is."""

    text: str
    """The lines, joined."""
    prefix: str = ""
    """What precedes the first line, as in quoted mail."""
    end: str = "\n"
    """Line ending."""
    width: int = 0
    """Width at which the lines were broken, 0 if they were not."""
    last: str = ""
    """Line ending of the last line."""
    indent: str = ""
    """What precedes the other lines."""

    def wrapped(self, translation: str) -> str:
        """Return a translation, broken like the source."""
        if not self.width:
            return self.prefix + translation + self.last
        width = max(self.width, len(self.indent) + _NARROWEST // 2)
        return self.end.join(_wrap(translation, width, self.prefix, self.indent)) + self.last


def paragraphs(text: str) -> list[Paragraph]:
    """Return the paragraphs of a text, which add up to it; lines that end early stay apart."""
    lines = text.splitlines(keepends=True)
    bodies = text.splitlines()
    widths, broken = _widths(bodies)
    known = {word[0].lower() for word in _WORD.finditer(text)} if any(widths) else set()
    found: list[Paragraph] = []
    first = 0
    while first < len(lines):
        width = widths[first]
        after = _end_of_paragraph(bodies, first, width, broken) if width else first + 1
        # A page, or a line that was ended on purpose.
        apart = (i for i in range(first, after) if lines[i][len(bodies[i]) :].strip("\r\n"))
        after = next(apart, after - 1) + 1
        own = bodies[first:after]
        ends = [line[len(body) :] for line, body in zip(lines[first:after], own, strict=True)]
        prefixes = list(map(_prefix, own))
        texts = [body[len(prefix) :] for body, prefix in zip(own, prefixes, strict=True)]
        if all(_SENTENCE_END.search(each.rstrip()) for each in own[:-1]):  # they were not broken
            found += map(Paragraph, texts, prefixes, ends, repeat(0), ends)
        else:
            joined = _joined(list(map(str.strip, texts)), known)
            found.append(
                Paragraph(joined, prefixes[0], ends[0], width, ends[-1], indent=prefixes[-1])
            )
        first = after
    return found


def first_broken(lines: Sequence[str]) -> int | None:
    """Return the index of the first line that clearly continues on the next line, or None.

    Such a line does not end a sentence, and the next one begins with a lower-case letter.
    """
    return next((number for block in _blocks(lines) for number in _broken(lines, block)), None)


def _widths(bodies: Sequence[str]) -> tuple[list[int], set[int]]:
    """Return the width at which each line may have been broken, and those that surely were.

    The width is that of the whole text, or of the block, if a line of it was surely broken; 0 if
    lines are not broken.
    """
    widths, broken = [_width(bodies)] * len(bodies), set[int]()
    for block in _blocks(bodies):
        if found := _broken(bodies, block):
            own = _width([bodies[number] for number in block])
            widths[block.start : block.stop] = [own] * len(block)
            broken.update(found)
    return widths, broken


def _width(bodies: Sequence[str]) -> int:
    # Lines with an address may be wider than the others, as it cannot be broken.
    width = max((len(each) for each in bodies if not _LONG_WORD.search(each)), default=0)
    return width if _NARROWEST <= width <= _WIDEST else 0


def _blocks(bodies: Sequence[str]) -> Iterator[range]:
    """Yield the lines between blank ones, with the same quoting depth (`> `)."""

    def kind(number: int) -> tuple[bool, int]:
        prefix = _prefix(bodies[number])
        return bool(bodies[number][len(prefix) :].strip()), prefix.count(">")

    for (has_text, _), numbers in groupby(range(len(bodies)), kind):
        first, *others = numbers
        if has_text:
            yield range(first, first + len(others) + 1)


def _broken(bodies: Sequence[str], block: range) -> list[int]:
    """Return which lines of a block were surely broken; none if others end early, as in a poem."""
    found = [number for number in block[:-1] if _continues(bodies[number], bodies[number + 1])]
    if bodies[block.start].endswith(",") and len(bodies[block.start]) < _NARROWEST:  # Dear Anna,
        found = found[block.start in found :]
    width = _width([bodies[number] for number in block])
    full = all(width - _RAGGED < len(_with_next_word(*bodies[i : i + 2])) for i in found)
    # Lists and verse seldom have the end of a sentence within a line, or only at their own end.
    *ends, last_ends = (bool(_SENTENCE_END.search(bodies[number].rstrip())) for number in block)
    is_one_sentence = last_ends and not any(ends)
    is_prose = is_one_sentence or any(_SENTENCE_WITHIN.search(bodies[number]) for number in block)
    return found if width and full and is_prose else []


def _continues(line: str, after: str) -> bool:
    """Return whether a line does not end a sentence, and the next one is surely its rest."""
    prefix, indent = _prefix(line), _prefix(after)
    text, rest = line[len(prefix) :].rstrip(), after[len(indent) :].rstrip()
    is_item = _LIST_SIGN.match(text) and indent.startswith(prefix)
    return (
        (indent == prefix or bool(is_item))
        and not _LONG_WORD.search(line)
        and rest[:1].islower()
        and not _LIST_SIGN.match(rest)
        and not _SENTENCE_END.search(text)
        and not _NO_PROSE.search(text)
        and not _NO_PROSE.search(rest)
    )


def _with_next_word(line: str, after: str) -> str:
    return f"{line.rstrip()} {after[len(_prefix(after)) :].split(maxsplit=1)[0]}"


def _joined(lines: Sequence[str], known: Collection[str]) -> str:
    """Return lines as one; words that were divided are whole; known: words of the file."""
    found = lines[0]
    for before, line in pairwise(lines):
        divided = _DIVIDED.search(before)
        rest = _REST.match(line)
        if not divided or not rest:
            found += " " + line
        elif line[0].isupper() or _has_hyphen(divided[1].lower(), rest[0].lower(), known):
            found += line
        else:
            found = found[:-1] + line
    return found


def _has_hyphen(first: str, second: str, known: Collection[str]) -> bool:
    """Return whether the two parts of a word at a line break have a hyphen elsewhere, too."""
    for form, result in ((first + second, False), (f"{first}-{second}", True)):
        if form in known:
            return result
    is_usual = first in _BEFORE_HYPHEN or (len(first) > 3 and second in _BEHIND_HYPHEN)
    return is_usual or "-" in first + second  # as in up-to-date


def _prefix(line: str) -> str:
    match = _PREFIX.match(line)
    return match[0] if match else ""


def _end_of_paragraph(bodies: list[str], first: int, width: int, broken: Collection[int]) -> int:
    """Return the index after the last line of the paragraph that begins with line `first`.

    A line continues in the next one if its first word would not have fitted, or if it is divided,
    and if it has the same prefix; in a list item, all lines after the first may be indented.

    broken: lines that surely continue
    """
    prefix = indent = _prefix(bodies[first])
    is_item = _LIST_SIGN.match(bodies[first], len(prefix))
    for number in range(first + 1, len(bodies)):
        line, after = bodies[number - 1], bodies[number]
        if number == first + 1 and is_item and after.startswith(prefix):
            rest = after[len(prefix) :]
            indent += rest[: len(rest) - len(rest.lstrip(" \t"))]
        words = after[len(indent) :].split(maxsplit=1)
        if _prefix(after) != indent or not words or not line[len(prefix) :].strip():
            return number
        if _RULE.fullmatch(line) or _RULE.fullmatch(after):
            return number
        if len(line) > width or _LIST_SIGN.match(after, len(indent)):
            return number
        divided = words[0][0].islower() and _DIVIDED.search(line.rstrip())
        continues = divided or number - 1 in broken
        if not continues and len(_with_next_word(line, after)) <= width:
            return number
    return len(bodies)
