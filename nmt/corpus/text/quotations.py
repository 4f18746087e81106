"""Quotations and brackets within a sentence, which are translated by themselves.

The model reads a placeholder between the marks, and the translation of what they enclose is put in
its place. So quoted words are read as the sentences of their own that they are in training, and
all marks of the translation are in pairs. Needs only the standard library, because `nmt export`
copies this file beside translate.py.
"""

import re
from collections.abc import Collection
from dataclasses import dataclass

from nmt.corpus.text.acronyms import FUNCTION_WORDS
from nmt.corpus.text.placeholders import cover_codes, has_text
from nmt.corpus.text.punctuation import SENTENCE_ENDS
from nmt.special_tokens import TAGS

SIGNS = TAGS[-4:]
"""They stand for quotations until placeholders do; text cannot contain them. A model confuses more
of them in a sentence."""

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
_BEFORE_REPORT = re.compile(r" [a-zäöü]")  # "Stop!" he shouted.
_RELATIVE = re.compile(r"(?!that is,)(?:who|whose|whom|which|that|where)\s.*[^?]\Z")
_NOUN = re.compile(r"(?:[^\W\d_]+ )?[^\W\d_]+(?= $)")  # before a bracket, with its article
_I = re.compile(r"I\b")
_LONGEST_LABEL = 3  # of letters and abbreviations, which are copied: OK, TV


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

    @property
    def source(self) -> str:
        """The text to translate by itself, "" if it is copied."""
        if len(self.text) <= _LONGEST_LABEL and (len(self.text) == 1 or self.text.isupper()):
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
        return self.text[0].islower() or (self.opening != '"' and bool(_I.match(self.text)))

    @property
    def typed(self) -> str:
        """The text in its marks, without the comma or full stop that the model reads after them."""
        return f"{self.opening}{self.text}{self.closing}"

    def read(self, placeholder: str) -> str:
        """Return what the model reads."""
        return f'"{placeholder}"' if self.opening == '"' else f"({placeholder})"

    def put_marks(self, text: str, placeholder: str) -> str:
        """Return a translation with the marks around the placeholder, whatever the model wrote."""
        text = re.sub(
            rf"[\"(\[]?{placeholder}(?:([.,]?)[\")\]])?",
            lambda found: f"{self.opening}{placeholder}{found[1] or ''}{self.closing}",
            text,
        )
        # The full stop of the sentence, which the model read after the marks
        at_end = re.compile(rf"{placeholder}\.?{re.escape(self.closing)}\.?$")
        if self.opening == '"' and (self.stop or self.text[-1] in SENTENCE_ENDS):
            text = at_end.sub(f"{placeholder}{self.stop}{self.closing}", text)
        return text


def set_aside(
    text: str, language: str, sources: Collection[str] | None = None
) -> tuple[str, dict[str, Quotation]]:
    """Return plain text with a sign in place of each quotation and bracket, and what they are.

    At most as many as there are signs; others stay in the text.

    language: code of the text's language; sources: those that have a translation, so that
    quotations with others stay, too; None: all

    >>> [each.text for each in set_aside('He said "yes".', "en")[1].values()]
    ['yes']
    """
    if not any(mark in text for mark in '"(['):
        return text, {}
    found: dict[str, Quotation] = {}
    pieces, place = [], 0
    for match in _QUOTATION.finditer(cover_codes(text)):
        if len(found) == len(SIGNS):
            break
        group = match.lastgroup or ""
        inner = text[match.start(group) : match.end(group)]
        if not has_text(inner):
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
        if sources is not None and quotation.source and quotation.source not in sources:
            continue
        sign = SIGNS[len(found)]
        found[sign] = quotation
        pieces += [text[place : match.start()], sign + stop]
        place = match.end()
    plain = "".join([*pieces, text[place:]])
    return (plain, found) if found and has_text(plain) else (text, {})


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
    return Quotation('"', '"', inner), "" if before or not _BEFORE_REPORT.match(after) else ","
