"""Subtitles, SubRip (.srt) and WebVTT (.vtt): what is spoken is translated, tags stay with words.

The lines of a cue are one text, unless one ends a sentence or another speaker follows. The
translation has as many lines, of similar lengths.
"""

import html
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import groupby

from nmt.documents.formatting import Formatted, Part, has_letters
from nmt.documents.inline_markup import InlineText, Token
from nmt.documents.plain_text import wrap_evenly

_PLACE = re.compile(r"\{\\(?:an?\d|pos|move)|<v[ .]")
_FORMAT = re.compile(r"(</?[a-zA-Z\d][^<>]*>|\{\\[^{}]*\})")  # such as <i>, {\an8} or <00:01.000>
# Of a part of a text; karaoke's times and the words above others cannot move.
_TAG = re.compile(r"<(/?)(?!(?:r[bpt]|rtc|ruby|v)\b)([a-z]+)|(\{\\[bius])([01])\}", re.IGNORECASE)
_WORD = re.compile(rf"(?:{_FORMAT.pattern}|[^ \t\n\r\f\v])+")  # with its tags
# Also \N of .ass, and the start of what is written above a word.
_BREAK = re.compile(r"(?:(?<![ \t])[ \t]+)?(?:<br[ \t]*/?>|<rt>|\\(?-i:N))[ \t]*", re.IGNORECASE)
_TIME = re.compile(r"-?\d[\d:., \t]*-->")  # programs accept and write many variants
_VTT_BLOCK = re.compile(r"(?:NOTE|STYLE|REGION)\b(?!.*-->)")
_SENTENCE_END = re.compile(r"[.!?…♪][\"'”“’»)\]]*$")
_NEW_SPEAKER = re.compile(r"[-–—‐]|<v[ .]|\S{1,30}:\s")


@dataclass(frozen=True)
class _Text:
    """Adjacent lines that are one text."""

    lines: list[int]
    """Numbers of the lines in the file."""
    content: InlineText
    """The text with the formatting within it."""
    around: list[tuple[str, str]]
    """The formatting before and after each line."""


class Subtitles:
    """A file of subtitles; seen: called with the number of each text, may refuse to go on."""

    def __init__(self, content: str, vtt: bool = False, seen: Callable[[int], None] | None = None):
        self._lines = content.splitlines(keepends=True)
        self._escaped = vtt
        self._found: list[_Text] = []
        for numbers in self._cues(vtt):
            for group in self._joined(numbers):
                text = self._read(group)
                if has_letters(text.content.formatted.text):
                    self._found.append(text)
                    if seen:
                        seen(len(self._found))

    @property
    def texts(self) -> list[Formatted]:
        """What is spoken, in order."""
        return [each.content.formatted for each in self._found]

    def replace(self, translations: Sequence[Sequence[Part]]) -> str:
        """Return the file with each text replaced by its translation."""
        lines: list[str | None] = [*self._lines]
        for text, translation in zip(self._found, translations, strict=True):
            rows = _rows(text.content.written(translation), len(text.lines))
            ends = [_end_of(self._lines[number]) for number in text.lines]
            for number in text.lines:
                lines[number] = None
            for i, row in enumerate(rows):
                # Fewer words than lines leave out the last lines, but keep the end of the cue.
                end = ends[-1] if i == len(rows) - 1 else ends[i]
                first, last = text.around[i]
                if i == len(rows) - 1:
                    last = text.around[-1][1]
                lines[text.lines[i]] = first + row + last + end
        return "".join(line for line in lines if line is not None)

    def _cues(self, vtt: bool) -> Iterator[list[int]]:
        """Yield the numbers of adjacent lines after the first time that are neither time nor name.

        A cue may have a number or, in WebVTT, a name, in front of its time.
        """
        lines = [line.strip() for line in self._lines]
        kinds: list[bool] = []
        begun = skipped = False
        for number, line in enumerate(lines):
            is_time = bool(_TIME.match(line))
            begun = begun or is_time
            first = number == 0 or not lines[number - 1]
            skipped = bool(line) and (skipped or (vtt and first and bool(_VTT_BLOCK.match(line))))
            timed_next = number + 1 < len(lines) and bool(_TIME.match(lines[number + 1]))
            named = timed_next and (line.isdecimal() or (vtt and first))
            kinds.append(begun and bool(line) and not (is_time or skipped or named))
        for spoken, group in groupby(range(len(lines)), key=kinds.__getitem__):
            if spoken:
                yield list(group)

    def _joined(self, numbers: list[int]) -> Iterator[list[int]]:
        """Yield the lines of a cue in groups that are one text each."""
        group: list[int] = []
        before = ""
        for number in numbers:
            line = self._lines[number].strip()
            bare = _FORMAT.sub("", line).strip()
            new = _NEW_SPEAKER.match(bare) or _NEW_SPEAKER.match(line)
            if group and (new or _SENTENCE_END.search(before)):
                yield group
                group = []
            group.append(number)
            before = bare
        yield group

    def _read(self, numbers: list[int]) -> _Text:
        lines = [
            _BREAK.sub(" ", self._lines[number].rstrip("\r\n\v\f\x1c\x1d\x1e\x85\u2028\u2029"))
            for number in numbers
        ]
        split = list(map(_divided, lines))
        same = len({(before.strip(), after.strip()) for before, _, after in split}) == 1
        if len(lines) > 1 and not same:
            before, text, after = _divided("\n".join(lines))
            around = [(before, ""), *[("", "")] * (len(lines) - 2), ("", after)]
        else:
            text = " ".join(text.strip() if len(split) > 1 else text for _, text, _ in split)
            around = [(before, after) for before, _, after in split]
        escape = partial(html.escape, quote=False) if self._escaped else str
        content = InlineText(self._tokens(text.replace("\n", " ")), escape, has_lines=True)
        return _Text(numbers, content, around)

    def _tokens(self, text: str) -> Iterator[Token]:
        for number, part in enumerate(_FORMAT.split(text)):
            if number % 2 == 0:
                yield Token("text", html.unescape(part) if self._escaped else part)
            elif tag := _TAG.match(part):
                closes = tag[1] or tag[4] == "0"
                yield Token("close" if closes else "open", part, (tag[2] or tag[3]).lower())


def _end_of(line: str) -> str:
    return line[len(line.splitlines()[0]) :] if line.splitlines() else ""


def _divided(text: str) -> tuple[str, str, str]:
    """Return the formatting before a text, the text, and what follows it.

    If there is formatting within the text, only tags that name its place or speaker are apart.
    """
    parts = _FORMAT.split(text)  # text and formatting, alternately
    texts = [i for i in range(0, len(parts), 2) if parts[i].strip()] or [0]
    first, last = texts[0], texts[-1] + 1
    if len(texts) > 1:
        last = len(parts)
        while parts[last - 1] == "</v>" or not parts[last - 1].strip():
            last -= 1
        first = 0
        while (first % 2 and _PLACE.match(parts[first])) or not parts[first].strip():
            first += 1
    return "".join(parts[:first]), "".join(parts[first:last]), "".join(parts[last:])


def _rows(text: str, lines: int) -> list[str]:
    """Break a text into at most this many lines, of similar lengths without their tags."""
    if lines < 2:
        return [text]
    marked = [found[0] for found in _WORD.finditer(text)]
    bare = [_FORMAT.sub("", each) for each in marked]
    rows, place = [], 0
    for row in wrap_evenly(" ".join(filter(None, bare)), lines):
        start, count = place, row.count(" ") + 1
        while place < len(marked) and (count or not bare[place]):
            count -= bool(bare[place])
            place += 1
        rows.append(" ".join(marked[start:place]))
    return rows
