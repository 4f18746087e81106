"""Rules for text before and after the model: the same in nmt and in the models it exports.

Needs only the standard library, because `nmt export` copies this file beside translate.py.
"""

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import Literal

from nmt.corpus.text.abbreviations import AFTER_SAYING, cover_abbreviations
from nmt.corpus.text.names import WORD
from nmt.corpus.text.placeholders import EMOTICON, cover_codes
from nmt.corpus.text.quotations import REPORT_OF_NAME
from nmt.corpus.text.sentence_edges import ESCAPES, LIST_SIGN
from nmt.special_tokens import NUMBERS, PLACEHOLDERS, RESERVED

UnicodeForm = Literal["none", "NFC", "NFKC"]
JOINER = "￭"
_BIDIRECTIONAL = r"\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
_NEVER_SHOWN = (
    r"\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\u00ad\u034f\u180e\u200b\u2060-\u2064"
    rf"\u206a-\u206f\ufeff\ufff9-\ufffb\ufffe\uffff{RESERVED}"
)
INVISIBLE = re.compile(f"[{_NEVER_SHOWN}{_BIDIRECTIONAL}]")
"""Control and invisible formatting characters, which carry no meaning: cleaning removes them."""
_NOTHING_TO_SEE = re.compile(rf"[{_NEVER_SHOWN}{_BIDIRECTIONAL}\s]+")
_INVISIBLE_IN_BOTH_DIRECTIONS = re.compile(f"[{_NEVER_SHOWN}]")
# Not an abbreviation of number, as in "page no. seven"
_ANSWER = re.compile(rf"(?<!\w\s)\b[Nn]o\.(?=\s+[^\W\d])|{AFTER_SAYING}no\.(?=\s+\d)")
# came at 5.He left
_FIGURE_ENDS = re.compile(
    r"(?<=\S\s)\d+\.(?=(?:But|He|How|I|It|Is|She|That|The|Then|They|This|We|What|Where|You)\b)"
)
_EMPHASIS_ENDS = re.compile(r"(?<=[.!?])(?:\*{1,3}|_{1,3}|~~)(?=\s)")  # *Stop!* Now
_FACE_ENDS = re.compile(rf"(?!<)(?:{EMOTICON}|[\U0001f600-\U0001f64f]+)(?=\s[A-ZÄÖÜ])")
_NO_SPACE = re.compile(r"(?:[^\W\d_]|\s\d{1,4}|[)\"”“])[.!?][\"'”“’)]*\Z")
_REPORTED = re.compile(rf"[!?…](?=[\"”“’']{REPORT_OF_NAME})")  # "Stop!" Tom said.
# (The door is open.) of a sentence by itself
_BRACKETED = re.compile(r"(\A|[.!?…][\"”“’]?\s)\((?=[\"“A-ZÄÖÜ])([^()\n]+[.!?…])\)(?=\s|\Z)")
# Also behind \n and \t as program text has them, but not within C:\my\new
_CELL = re.compile(
    r"(?<=\t)(?=[^\t])|(?:(?<=[^\s\\]\\[nt])(?![a-z])|(?<=[.,;!?)\"]\\[nt]))(?=[^\\\t])"
)
_RIGHT_TO_LEFT = {"ar", "dv", "fa", "he", "ku", "ps", "sd", "ug", "ur", "yi", "arc", "ckb", "syr"}

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
_WORD = re.compile(r"\w+")
MOST_AT_ONCE = 5_000  # characters; sentencex takes quadratic time for unclosed quotation marks
# Punctuation next to a word or other punctuation, but not within a word ("well-known", "3.5").
_TOUCHING_LEFT = re.compile(r"(?<=\S)(?!(?<=\w).\w)([^\w\s])")
_TOUCHING_RIGHT = re.compile(rf"(?<!\w)([^\w\s{JOINER}])(?=\w)")
_UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufffd]")
# A sentence boundary: the start of the line, perhaps with a dash, or punctuation and a space. Group
# 1 is any opening punctuation that follows; the first word starts where it ends. A placeholder is a
# word itself.
_SENTENCE_START = re.compile(rf"(?:^(?:[–—-]\s)?|[.!?:]\s)(?=([^\w\s{PLACEHOLDERS}{NUMBERS}]*))")
_SHORTEST_ENDING = 3


# ------------------------------------------------------------------------------------ cleaning


def normalize(text: str, form: UnicodeForm, keep_bidi: bool = False) -> str:
    """Remove invisible characters, and convert the text to a Unicode form; keep all spaces.

    keep_bidi: keep the controls of writing direction
    """
    text = (_INVISIBLE_IN_BOTH_DIRECTIONS if keep_bidi else INVISIBLE).sub("", text)
    if not text.isascii():
        if form != "none":
            text = unicodedata.normalize(form, limit_marks(text))
        # A lone surrogate cannot be encoded as UTF-8; only broken input has one.
        text = text.encode("utf-8", "replace").decode("utf-8")
    return text


def tidy(text: str, form: UnicodeForm, keep_bidi: bool = False) -> str:
    """Return the text as one line of visible, normalized characters; keep its case."""
    return " ".join(normalize(text, form, keep_bidi).split())


def is_right_to_left(language: str) -> bool:
    """Return whether a language is written from right to left."""
    return language in _RIGHT_TO_LEFT


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


def words_only(text: str) -> str:
    """Return only the words, in lower case, so that equivalent sentences become equal.

    >>> words_only("„Wirklich?“, fragte Tom.")
    'wirklich fragte tom'
    """
    return " ".join(_WORD.findall(unicodedata.normalize("NFKC", limit_marks(text)).casefold()))


def sentence_lengths(line: str, segment: Callable[[str], Sequence[str]]) -> list[int]:
    """Return the length of each sentence of a line in characters, including surrounding whitespace.

    Tabs are ends of sentences, too. Invisible characters between two sentences belong to the first.
    segment: cuts a text into sentences that add up to it, such as sentencex
    """
    if len(cells := _CELL.split(line)) > 1:
        return [length for cell in cells for length in sentence_lengths(cell, segment)]
    # sentencex fails on unusual whitespace and lone surrogates; replacing them one for one
    # preserves lengths. Addresses, codes, abbreviations and list signs are not cut.
    plain = cover_abbreviations(_SURROGATE.sub("\ufffd", _SPACE.sub(" ", line)))
    plain = ESCAPES.sub(lambda escapes: "x" * len(escapes[0]), plain)
    plain = cover_codes(_FACE_ENDS.sub(lambda face: "!" * len(face[0]), plain))
    plain = _ANSWER.sub("xx.", plain)
    plain = _FIGURE_ENDS.sub(lambda figures: "!" * len(figures[0]), plain)
    plain = _EMPHASIS_ENDS.sub(lambda mark: "”" * len(mark[0]), plain)
    plain = _REPORTED.sub(",", plain)
    plain = _BRACKETED.sub(r"\1X\2”", plain)
    if sign := LIST_SIGN.match(line):
        plain = sign[0].replace(".", "x") + plain[sign.end() :]
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
    return lengths if line.isascii() else _beginning_visibly(line, lengths)


def missing_space(before: str, after: str) -> str:
    """Return a space if it is missing between two sentences, as in "I am here.Where are you?".

    >>> missing_space("I am here.", "Where are you?")
    ' '
    """
    return " " if after[:1].isupper() and _NO_SPACE.search(before[-9:]) else ""


def _beginning_visibly(line: str, lengths: Sequence[int]) -> list[int]:
    """Return the lengths of sentences that begin later, with a visible character."""
    moved: list[int] = []
    start = 0
    for length in lengths:
        begin, end = start, start + length
        if moved and (found := _NOTHING_TO_SEE.match(line, begin, end)):
            begin = found.end()
            moved[-1] += begin - start
        if begin < end:
            moved.append(end - begin)
        start = end
    return moved


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
    """Remove control characters, which byte tokens and hostile vocabularies can spell."""
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
        if match.start() and text[match.start() - 1] in PLACEHOLDERS + NUMBERS:
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
