"""Emphasis, links and tags within plain text: *this*, [this](address), <b>this</b>.

The model reads the text without these marks; they are put around the words of the translation
that belong to the marked words. Needs only the standard library, because `nmt export` copies this
file beside translate.py.
"""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from nmt.corpus.text.punctuation import STOPS
from nmt.corpus.text.quotations import MODIFIER, SIGNS

_MOST_NESTED = 3  # as in **_[text](address)_**
_MARKED = re.compile(
    r"(?<![\w*~`\\])(?:"
    r"!?\[(?P<label>[^\[\]\n]{1,300})\](?P<address>\([^()\s]{1,2000}\))"
    # __NAME__ is a template field.
    rf"|(?!__[A-Z\d_]+__)(?P<sign>\*{{1,3}}|_{{1,3}}|~~)(?=[\"'“„‘(\[*_~]{{0,6}}(?:[^\W_]|[{SIGNS}]))"
    r"(?P<inner>.{1,300}?)(?<![\s\\])(?P=sign)(?![\w*~])"
    r"|<(?P<tag>[a-z]{1,9})(?:\s[^<>\n]{0,200})?>(?P<content>[^\s.,;:!?].{0,300}?)</(?P=tag)>"
    r")"
)
_MARKED_ENGLISH = re.compile(f"{_MARKED.pattern}|{MODIFIER}")
_OPENING = "\"'“„‘‚«»(["  # stands before a word and its marks
_AROUND_MODIFIER = '"„('
_ARTICLE = re.compile(r"(?i:d(?:as|e[mnrs]|ie)|ein(?:e[mnrs]?)?)")
_CLOSING = STOPS + "\"'”“’‘«»)]"  # stands after them


@dataclass(frozen=True)
class Mark:
    """Marks around words of a text."""

    opening: str
    closing: str
    start: int
    end: int
    """The words from `start` to before `end` are marked, counted at spaces."""
    with_stop: bool = False
    """Whether the punctuation after the last word is marked, too."""


def remove_marks(text: str, language: str = "") -> tuple[str, tuple[Mark, ...]]:
    """Return a text without emphasis and links, and their marks, inner ones first.

    language: code of the text's language; in English, quoted and bracketed words before a noun are
    emphasized, too

    >>> remove_marks("My *dog* is here.")
    ('My dog is here.', (Mark(opening='*', closing='*', start=1, end=2, with_stop=False),))
    """
    pattern = _MARKED_ENGLISH if language == "en" else _MARKED
    plain, spans = _without(text, _MOST_NESTED, pattern)
    words = [word.start() for word in re.finditer(r"\S+", plain)] if spans else []
    return plain, tuple(
        Mark(
            opening,
            closing,
            bisect_right(words, start) - 1,
            bisect_left(words, end),
            plain[end - 1] in STOPS,
        )
        for opening, closing, start, end in spans
    )


def _without(
    text: str, depth: int, pattern: re.Pattern[str]
) -> tuple[str, list[tuple[str, str, int, int]]]:
    """Return the text without marks; the marks with the place of the text between them."""
    pieces: list[str] = []
    length = place = 0
    found: list[tuple[str, str, int, int]] = []
    for match in pattern.finditer(text) if depth else ():
        groups = ("label", "inner", "content", "modifier")
        group = next(each for each in groups if match.groupdict().get(each))
        inner, within = _without(match[group], depth - 1, pattern)
        pieces += [text[place : match.start()], inner]
        first = length + match.start() - place
        length = first + len(inner)
        found += [(o, c, start + first, end + first) for o, c, start, end in within]
        opening = text[match.start() : match.start(group)]
        closing = text[match.end(group) : match.end()]
        found.append((opening, closing, first, length))
        place = match.end()
    return "".join([*pieces, text[place:]]), found


def put_marks(
    translation: str, marks: Iterable[Mark], pairs: Sequence[tuple[int, int]], source_words: int
) -> str:
    """Return a translation with the marks of its source.

    pairs: the numbers of aligned words, of source and translation; where there are none, the
    marks are placed by the order of words
    """
    words = translation.split(" ")
    for mark in marks:
        own = {target for source, target in pairs if mark.start <= source < mark.end}
        if own:  # between several words, one may have no counterpart
            first, last = _longest_run(own, step=min(mark.end - mark.start, 2))
        else:
            first, last = _in_proportion(mark, source_words, len(words))
        if mark.opening in _AROUND_MODIFIER and _ARTICLE.fullmatch(words[first]):
            first += first < len(words) - 1  # "small" in eine Kleinstadt
            last = max(first, last)
        if last < len(words):
            body = words[first].lstrip(_OPENING)
            words[first] = words[first][: len(words[first]) - len(body)] + mark.opening + body
            body = words[last] if mark.with_stop else words[last].rstrip(_CLOSING)
            words[last] = body + mark.closing + words[last][len(body) :]
    return " ".join(words)


def _longest_run(numbers: Iterable[int], step: int) -> tuple[int, int]:
    """Return the first and the last of the longest run of numbers at most `step` apart."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number - runs[-1][-1] <= step:
            runs[-1].append(number)
        else:
            runs.append([number])
    longest = max(runs, key=len)
    return longest[0], longest[-1]


def _in_proportion(mark: Mark, source_words: int, words: int) -> tuple[int, int]:
    scale = words / max(source_words, 1)
    first = min(int(mark.start * scale), words - 1)
    return first, min(max(first, round(mark.end * scale) - 1), words - 1)
