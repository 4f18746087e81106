"""Quotations and brackets within a sentence, which are translated by themselves.

The model reads a placeholder between the marks, and the translation of what they enclose is put in
its place. So quoted words are read as the sentences of their own that they are in training, and
all marks of the translation are in pairs. Needs only the standard library, because `nmt export`
copies this file beside translate.py.
"""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, replace
from itertools import pairwise

from nmt.corpus.text.acronyms import ABBREVIATION, FUNCTION_WORDS
from nmt.corpus.text.placeholders import cover_codes, has_text
from nmt.corpus.text.punctuation import SENTENCE_ENDS
from nmt.special_tokens import PLACEHOLDERS, TAGS

SIGNS = TAGS[-len(PLACEHOLDERS) :]
"""They stand for quotations until placeholders do; text cannot contain them."""

_QUOTATION = re.compile(
    r"(?<![^\s(\[*_~-])\"(?P<quote>[^\s\"](?:[^\"]*[^\s\"])?)\"(?![\w-])"
    r"|(?<!\S)(?:\((?P<round>[^()\[\]]+)\)|\[(?P<square>[^()\[\]]+)\])(?![\w(-])"
)
_BEFORE_MODIFIER = "|".join(
    rf"(?<=\b{word} )"
    for word in (
        *("a", "an", "the", "this", "that", "these", "those", "my", "your", "his", "her", "its"),
        *("our", "their", "some", "any", "no", "every", "each", "another", "very", "called"),
        *("two", "three", "four", "five", "old", "new", "good", "like", "love", "of"),
    )
)
# One to three words right before the noun to which they belong: a "small" town, my (best) friend.
# Translated by themselves, they would lack the noun's endings.
MODIFIER = (
    rf"(?i:{_BEFORE_MODIFIER}|(?<='s )|(?<=\d )(?!\()|(?<=[a-z]\" ))"
    r"(?:\"(?=[A-Za-z ]+\")|\((?=[A-Za-z ]+\)))"
    r"(?P<modifier>[A-Za-z][a-z]+(?: [a-z]+){0,2})[\")]"
    rf"(?= (?!(?:{FUNCTION_WORDS})\b)(?:[\"(][a-z]{{2,}}[\")] )?[a-z]{{2}})"
)
_MODIFIER = re.compile(MODIFIER)
_LETTERS = re.compile(r"[^\W\d_]+")
# Yes(no), but neither book(s) nor print(x)
_ATTACHED_BEFORE = re.compile(
    r"(?<![\w.])(?!(?:abs|input|len|list|max|min|open|print|range|round|set|sorted|sum|type)\()"
    r"(?P<word>[^\W\d_]{2,})\((?!(?:s|e?n|er?|es|ren)\))(?P<inner>\d+|[A-Za-z]{2}[^()\n]*)\)"
)
_SPACE = re.compile(r"\s")
_NAME = r"(?:I|(?!The|My|His|Her|Our|An?\b)[A-ZÄÖÜ][\w.]+(?: [A-ZÄÖÜ]\w+)?)"
_SAID = (
    "(?:said|says|asked|asks|shouted|cried|replied|called|answered|whispered|thought|yelled|wrote|"
    "screamed|exclaimed|muttered|explained|begged|repeated|sagte|sagt|fragte|fragt|rief|ruft|"
    r"schrie|antwortete|erwiderte|flüsterte|dachte|meinte)\b"
)
REPORT_OF_NAME = f" {_NAME} {_SAID}"
"""What follows a quotation of a speaker in capitals: "Stop!" Tom shouted."""
_REPORT = re.compile(
    rf" (?:(?:{_NAME}|he|she|it|we|you|they|(?:an?|the|my|his|her|our|their)(?: [\w-]+){{1,2}}) )?"
    rf"{_SAID}"
)
_RELATIVE = re.compile(r"(?!that is,)(?:who|whose|whom|which|that|where)\s.*[^?]\Z")
_NOUN = re.compile(r"(?:[^\W\d_]+ )?[^\W\d_]+(?= $)")  # before a bracket, with its article
_I = re.compile(r"I\b")
_LONGEST_LABEL = 3  # of letters and abbreviations, which are copied, unless they are words: NO


@dataclass(frozen=True)
class Quotation:
    """What quotation marks or brackets enclose."""

    opening: str
    closing: str
    text: str
    """As typed, without a comma or full stop that the model reads after the marks."""
    noun: str = ""
    """What a relative clause refers to."""
    stop: str = ""
    """The full stop that was typed within the marks."""
    translation: str = ""
    """Of `source`."""
    copied: bool = False

    @property
    def source(self) -> str:
        """The text to translate by itself, "" if it is copied."""
        if self.copied:
            return ""
        return f"{self.noun}, {self.text}." if self.noun else self.text + self.stop

    @property
    def written(self) -> str:
        """What stands between the marks of the translation, or `text` as long as there is none."""
        if not self.translation:
            return self.text
        found = self.translation
        if self.noun and (clauses := found.split(", ")[1:]):  # without the noun
            found = ", ".join(clauses[: 1 + self.text.count(", ")])
        return found if self.text.endswith(".") else found.removesuffix(".")

    @property
    def continues(self) -> bool:
        """Whether it begins as a part of the sentence: in a small letter, or in brackets with I,
        whose capital does not show whether a sentence begins.
        """
        if self.text[0].islower():
            return True
        begins = self.opening != '"' and _I.match(self.text)
        return bool(begins) and self.text[-1] not in SENTENCE_ENDS

    @property
    def typed(self) -> str:
        """The text in its marks, without the comma or full stop that the model reads after them."""
        return f"{self.opening}{self.text}{self.closing}"

    def read(self, placeholder: str) -> str:
        """Return what the model reads."""
        return f'"{placeholder}"' if self.opening == '"' else f"({placeholder})"

    def put_marks(self, text: str, placeholder: str) -> str:
        """Return a translation with the marks around the placeholder, whatever the model wrote."""
        double = "" if text.count("(") == text.count(")") else r"\)*"  # not (see "A" (b))
        text = re.sub(
            rf"(?:\"+|[(\[])?{placeholder}(?:([.,]?)(?:\"+{double}|[)\]]{double}))?",
            lambda found: f"{self.opening}{placeholder}{found[1] or ''}{self.closing}",
            text,
        )
        # The full stop of the sentence, which the model read after the marks
        at_end = re.compile(rf"{placeholder}\.?{re.escape(self.closing)}\.?$")
        if self.opening == '"' and (self.stop or self.text[-1] in SENTENCE_ENDS):
            text = at_end.sub(f"{placeholder}{self.stop}{self.closing}", text)
        return text


def set_aside(
    text: str,
    language: str,
    is_known: Callable[[str], bool] = lambda word: False,
    sources: Collection[str] | None = None,
) -> tuple[str, dict[str, Quotation]]:
    """Return plain text with a sign in place of each quotation and bracket, and what they are.

    At most as many as there are signs; others stay in the text.

    language: code of the text's language; is_known: whether training has a word, in lower case;
    sources: those that have a translation, so that quotations with others stay, too; None: all

    >>> [each.text for each in set_aside('He said "yes".', "en")[1].values()]
    ['yes']
    """
    if not any(mark in text for mark in '"(['):
        return text, {}
    found: dict[str, Quotation] = {}
    pieces, place = [], 0
    covered = cover_codes(text)
    for match in _QUOTATION.finditer(covered):
        if len(found) == len(SIGNS):
            break
        group = match.lastgroup or ""
        inner = text[match.start(group) : match.end(group)]
        is_copied = not has_text(inner)
        if is_copied and not (group == "quote" and any(map(str.isalnum, inner))):
            continue
        if language == "en" and _MODIFIER.match(text, match.start()):
            continue
        before, after = text[: match.start()], text[match.end() :]
        if group == "quote":
            quotation, stop = _quotation(inner, before, after)
        else:
            noun = _NOUN.search(before) if language == "en" and _RELATIVE.match(inner) else None
            opening, closing = text[match.start()], text[match.end() - 1]
            quotation, stop = Quotation(opening, closing, inner, noun[0] if noun else ""), ""
        is_code = not covered[match.start(group) : match.end(group)].strip("x")
        if is_copied or is_code or _is_copied(inner, is_known):
            quotation = replace(quotation, copied=True)
        if sources is not None and quotation.source and quotation.source not in sources:
            continue
        sign = SIGNS[len(found)]
        found[sign] = quotation
        pieces += [text[place : match.start()], sign + stop]
        place = match.end()
    plain = "".join([*pieces, text[place:]])
    return (plain, found) if found and has_text(plain) else (text, {})


def cover_quotations(text: str) -> str:
    """Return plain text with letters in place of quotations and brackets, of the same length."""
    return _QUOTATION.sub(lambda match: "x" * len(match[0]), text)


def with_spaces(text: str, is_known: Callable[[str], bool]) -> str:
    """Return English text with the spaces that are missing around brackets.

    is_known: whether training has a word, in lower case

    >>> with_spaces("Yes(no)", {"yes", "no"}.__contains__)
    'Yes (no)'
    """
    if not _ATTACHED_BEFORE.search(text):
        return text
    covered = cover_codes(text)
    pieces, place = [], 0
    for match in _ATTACHED_BEFORE.finditer(covered):
        glued = bool(_LETTERS.match(covered, match.end()))
        sure = glued if match["inner"].isdigit() else is_known(match["word"].lower())
        words = _LETTERS.findall(match["inner"].lower())
        if sure and all(map(is_known, words)):
            opening = match.end("word")
            pieces += [text[place:opening], " ", text[opening : match.end()], " " * glued]
            place = match.end()
    return "".join([*pieces, text[place:]])


def row(text: str) -> list[str]:
    """Return the parts of a text with nothing to translate but quotations and brackets.

    Of another text, return the text itself.

    >>> row('"Name" (first)')
    ['"Name"', '(first)']
    """
    covered = cover_codes(text) if '"' in text or "(" in text or "[" in text else ""
    matches = list(_QUOTATION.finditer(covered))
    ends = [0, *(match.end() for match in matches)]
    starts = [*(match.start() for match in matches), len(text)]
    if not matches or has_text(
        " ".join(text[end:start] for end, start in zip(ends, starts, strict=True))
    ):
        return [text]
    cuts = {match.start() for match in matches}
    cuts |= {space.start() for end in ends[1:] if (space := _SPACE.search(text, end))}
    places = [0, *sorted(cuts - {0}), len(text)]
    pieces = (text[start:end].strip() for start, end in pairwise(places))
    return [piece for piece in pieces if piece]


def _is_copied(text: str, is_known: Callable[[str], bool]) -> bool:
    """Return whether a quotation is not a word: a letter, or an abbreviation in capitals."""
    if len(text) > _LONGEST_LABEL or not (len(text) == 1 or text.isupper()):
        return False
    return bool(ABBREVIATION.fullmatch(text)) or not is_known(text.lower())


def _quotation(inner: str, before: str, after: str) -> tuple[Quotation, str]:
    """Return a quotation, and the comma or full stop that the model reads after it."""
    if inner.endswith(",") and after:  # "I'm here," he said.
        return Quotation('"', '"', inner[:-1]), ","
    if inner[-1] not in SENTENCE_ENDS:
        return Quotation('"', '"', inner), ""
    if not after:
        stop = "." if inner.endswith(".") and not inner.endswith("..") else ""
        read = "" if before.endswith((", ", ": ")) else "."
        return Quotation('"', '"', inner.removesuffix(stop), stop=stop), read
    return Quotation('"', '"', inner), "" if before or not _REPORT.match(after) else ","
