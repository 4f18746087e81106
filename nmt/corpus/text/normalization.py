"""Rules for text before and after the model: the same in nmt and in the models it exports.

Needs only the standard library, because `nmt export` copies this file beside translate.py.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from nmt.special_tokens import PLACEHOLDERS, TAGS

UnicodeForm = Literal["none", "NFC", "NFKC"]
WORD = re.compile(r"[^\W\d_]+")
JOINER = "￭"
INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff"
    f"{PLACEHOLDERS}{TAGS}]"
)
"""Control and invisible formatting characters, which carry no meaning: cleaning removes them."""

# These may separate sentences. In the output, a tab starts a column, and some programs read the
# others as line ends.
SEPARATORS = str.maketrans(dict.fromkeys("\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029", " "))

_MOST_MARKS = 30
_HALFWIDTH = "\uff9e\uff9f"  # letters that NFKC turns into marks
# Every match of the next pattern contains a match of this one, which is faster to search for.
_MANY_ABOVE = re.compile(rf"[^\x00-\u02ff][^\x00-\u02ff]{{{_MOST_MARKS}}}")
_MARKS = re.compile(rf"(?:[^\w\s\x00-\u02ff]|[{_HALFWIDTH}]){{{_MOST_MARKS + 1},}}")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_SPACE = re.compile(r"\s")
MOST_AT_ONCE = 5_000  # characters; sentencex takes quadratic time for unclosed quotation marks
# Skips the endings of contractions and genitives ("Zora'll", "Zora's"), and what precedes "n't":
# "mightn" is not a word. Matches start only where words do, since trying each letter of a long one
# would take quadratic time.
_HIDEABLE = re.compile(
    r"(?<![^\W\d_])(?!(?<=\w['’])(?i:s|t|re|ve|ll|d|m)\b)[^\W\d_]+(?![^\W\d_])"
    r"(?!(?<=[nN])['’][tT]\b)"
)
_PLACEHOLDER = re.compile(f"[{PLACEHOLDERS}]")
_COPIED = re.compile(rf"(?<![^\W\d_])[{PLACEHOLDERS}](?=s?(?![^\W\d_]|[{PLACEHOLDERS}]))")
# Punctuation next to a word or other punctuation, but not within a word ("well-known", "3.5").
_TOUCHING_LEFT = re.compile(r"(?<=\S)(?!(?<=\w).\w)([^\w\s])")
_TOUCHING_RIGHT = re.compile(rf"(?<!\w)([^\w\s{JOINER}])(?=\w)")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufffd]")
# A sentence boundary: the start of the line, perhaps with a dash, or punctuation and a space. Group
# 1 is any opening punctuation that follows; the first word starts where it ends. A placeholder is a
# word itself.
_SENTENCE_START = re.compile(rf"(?:^(?:[–—-]\s)?|[.!?:]\s)(?=([^\w\s{PLACEHOLDERS}]*))")
_SHORTEST_ENDING = 3


# ------------------------------------------------------------------------------------ cleaning


def normalize(text: str, form: UnicodeForm) -> str:
    """Remove invisible characters, and convert the text to a Unicode form; keep all spaces."""
    text = INVISIBLE.sub("", text)
    if not text.isascii():
        if form != "none":
            text = unicodedata.normalize(form, limit_marks(text))
        # A lone surrogate cannot be encoded as UTF-8; only broken input has one.
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def tidy(text: str, form: UnicodeForm) -> str:
    """Return the text as one line of visible, normalized characters; keep its case."""
    return " ".join(normalize(text, form).split())


def limit_marks(text: str) -> str:
    """In a run without letters, digits or spaces, remove combining marks after 30 characters.

    Normalization sorts adjacent marks, which takes quadratic time. Unicode's stream-safe text
    format also allows only 30 in a row.
    """
    return _MARKS.sub(_without_last_marks, text) if _MANY_ABOVE.search(text) else text


def _without_last_marks(found: re.Match[str]) -> str:
    run = found.group()
    return run[:_MOST_MARKS] + "".join(
        c for c in run[_MOST_MARKS:] if not unicodedata.combining(c) and c not in _HALFWIDTH
    )


# ------------------------------------------------------------------------------------ sentences


def sentence_lengths(line: str, segment: Callable[[str], Sequence[str]]) -> list[int]:
    """Return the length of each sentence of a line in characters, including surrounding whitespace.

    segment: cuts a text into sentences that add up to it, such as sentencex
    """
    # sentencex fails on unusual whitespace and lone surrogates; replacing them one for one
    # preserves lengths.
    plain = _SURROGATE.sub("\ufffd", _SPACE.sub(" ", line))
    lengths: list[int] = []
    start = 0
    while start < len(plain):
        part = plain[start : start + MOST_AT_ONCE]
        found = list(map(len, segment(part)))
        if start + len(part) < len(plain):  # the last sentence may continue
            # Cut a longer sentence in the middle, so that its last words are not translated alone.
            half = len(part) // 2
            found = found[:-1] or [part.rfind(" ", 0, half) + 1 or half]
        lengths += found
        start += sum(found)
    return lengths


def halves(text: str) -> list[str]:
    """Split a sentence in the middle, so that no short remainder is translated on its own."""
    space, units = (" ", text.split(" ")) if " " in text else ("", list(text))
    middle = len(units) // 2
    return [space.join(units[:middle]), space.join(units[middle:])]


# ------------------------------------------------------------------------------------ copied words


def hide(text: str, known: frozenset[str], only_names: bool) -> tuple[str, list[str]]:
    """Replace unknown words with placeholders; return the text and the replaced words.

    `PLACEHOLDERS[i]` stands for word i; once all placeholders are used, words are kept.

    known: lower-cased words; only_names: replace only capitalized words
    """
    hidden: list[str] = []

    def replacement(match: re.Match[str]) -> str:
        word = match.group()
        if _is_known(word.lower(), known) or (only_names and not word[0].isupper()):
            return word
        if word not in hidden:
            if len(hidden) == len(PLACEHOLDERS):
                return word
            hidden.append(word)
        return PLACEHOLDERS[hidden.index(word)]

    return _HIDEABLE.sub(replacement, text), hidden


def _is_known(word: str, known: frozenset[str]) -> bool:
    # In lower case, the Turkish İ has a combining dot, at which training text is split.
    return word in known or known.issuperset(WORD.findall(word))


def count_lost(text: str, hidden: Sequence[str]) -> int:
    """Count the hidden words whose placeholders a translation lacks, or attaches to other words.

    The genitive's s may be attached ("Toms"). In training, nothing else is: only words that are the
    same on both sides are hidden.
    """
    kept = _COPIED.findall(text)
    return sum(mark not in kept for mark in PLACEHOLDERS[: len(hidden)])


def reveal(text: str, hidden: Sequence[str]) -> str:
    """Fill in the hidden words; a placeholder without a word is removed."""

    def replacement(match: re.Match[str]) -> str:
        number = PLACEHOLDERS.index(match.group())
        return hidden[number] if number < len(hidden) else ""

    return " ".join(_PLACEHOLDER.sub(replacement, text).split())


# ------------------------------------------------------------------------------------ subwords


def part_words(text: str) -> str:
    """Separate words and punctuation by spaces, and mark where there was no space.

    >>> part_words('He said: "Hi!"')
    'He said ￭: "￭ Hi ￭! ￭"'
    """
    text = _TOUCHING_LEFT.sub(rf" {JOINER}\1", text)
    return _TOUCHING_RIGHT.sub(rf"\1{JOINER} ", text)


def join_words(text: str) -> str:
    """Undo `part_words`; a joiner mark without a neighbour is removed."""
    return text.replace(f" {JOINER}", "").replace(f"{JOINER} ", "").replace(JOINER, "")


def printable(text: str) -> str:
    """Remove control characters, which byte pieces and hostile vocabularies can spell."""
    return _UNPRINTABLE.sub("", text)


# ------------------------------------------------------------------------------------ capitals


def restore_capitals(
    text: str, words: Mapping[str, str], after: Mapping[str, str], sentence_capital: bool
) -> str:
    """Return lower-cased text with its capitals restored; for the arguments, see `Casing`."""
    starts = sentence_starts(text) if sentence_capital else set()
    before = ""

    def replacement(match: re.Match[str]) -> str:
        nonlocal before
        word = match.group()
        if match.start() and text[match.start() - 1] in PLACEHOLDERS:
            return word  # an ending, such as the genitive's s
        form = after.get(f"{before} {word}") or words.get(word) or _by_ending(word, words)
        before = word
        if match.start() in starts and form.islower():  # not "iPhone"
            return form[0].upper() + form[1:]
        return form

    return WORD.sub(replacement, text)


def _by_ending(word: str, words: Mapping[str, str]) -> str:
    """Capitalize an unknown word like the longest known word it ends in (a compound's head)."""
    for start in range(1, len(word) - _SHORTEST_ENDING + 1):
        if form := words.get(word[start:]):
            return word[0].upper() + word[1:] if form[0].isupper() else word
    return word


def sentence_starts(text: str) -> set[int]:
    """Return the positions at which first words of sentences can start."""
    return {match.end(1) for match in _SENTENCE_START.finditer(text)}
