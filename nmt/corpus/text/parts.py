"""Text on its way to a model and back: sentences in, parts to translate, their translations out.

`nmt translate`, `evaluate`, `serve` and exported models share these rules. Needs only the standard
library, because `nmt export` copies this file beside translate.py.
"""

import re
from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from itertools import accumulate
from typing import Any

from nmt.corpus.text.abbreviations import with_signs
from nmt.corpus.text.acronyms import ABBREVIATION
from nmt.corpus.text.division import halves, items, run_on_sentences
from nmt.corpus.text.emphasis import Mark, put_marks, remove_marks
from nmt.corpus.text.names import WORD, with_german_genitives
from nmt.corpus.text.normalization import UnicodeForm, is_right_to_left, sentence_lengths, tidy
from nmt.corpus.text.placeholders import (
    PlaceholderRules,
    PlaceholderText,
    cover_codes,
    fill_placeholders,
    has_text,
    without_misplaced,
)
from nmt.corpus.text.punctuation import (
    double_outside,
    plain,
    quotes_of,
    strip_punctuation,
    to_known,
    typeset,
    with_primes,
    within_quotes,
)
from nmt.corpus.text.quotations import Quotation, row, set_aside, with_spaces
from nmt.corpus.text.sentence_edges import peel, with_final_mark, with_german_headers
from nmt.special_tokens import PLACEHOLDERS

_FEWEST_CAPITALS = 4  # of a text: USA and TV stay abbreviations
# Times the mean length; longer text without punctuation is divided, into parts of this length.
_LONG, _LONG_PART = 1.75, 1.3
_FEWEST_DIVIDED = 16  # tokens; any model translates shorter sentences better as a whole
_FEWEST_JUDGED = 12  # tokens; shorter translations vary more in length
_LIST = re.compile(r"[^\W\d_]+(?: [^\W\d_]+){0,2}(?:, [^\W\d_]+(?: [^\W\d_]+){0,2}){4,}\.?")
# Of a sentence rather than a list.
_NO_LIST = re.compile(
    r"\b(?:and|are|at|for|he|I|in|is|it|no|not|on|or|please|she|they|to|was|we|with|"
    r"yes|you)\b",
    re.IGNORECASE,
)
# At the start of a translation; not nouns, and not Sie and Ihr, which may be polite forms.
_SMALL = re.compile(
    r"\A(?:Aber|All(?:e[mnrs]?)|Als|Also|Am|An|Auch|Auf|Aus|Bei|Bevor|Bin|Bis|Bist|Da|Dabei|Dafür|Damit|"
    r"Dann|Das|Dass|Davon|Dein(?:e[mnrs]?)?|Dem|Den|Denn|Der|Des|Deshalb|Dich|Die|Dies(?:e[mnrs]?)?|Dir|"
    r"Doch|Dort|Du|Durch|Ein(?:e[mnrs]?)?|Er|Es|Euch|Eue?re?[mnrs]?|Für|Gegen|Hab(?:e|t)|Hast|Hat|Heute|"
    r"Hier|Ich|Ihm|Ihn|Im|In|Ist|Ja|Jede[mnrs]?|Jetzt|Kann(?:st)?|Kein(?:e[mnrs]?)?|Könn(?:en|t)|Man|"
    r"Mein(?:e[mnrs]?)?|Mich|Mir|Mit|Nach|Nachdem|Nein|Nicht|Noch|Nur|Ob|Obwohl|Oder|Ohne|Schon|Sehr|"
    r"Seid|Sein(?:e[mnrs]?)?|Seit|Sind|So|Sobald|Solange|Sondern|Sonst|Trotzdem|Um|Und|Uns|"
    r"Unser(?:e[mnrs]?)?|Vielleicht|Von|Vor|Während|Wann|War(?:en|um)?|Was|Weil|Welche[mnrs]?|Wenn|Wer|"
    r"Wie|Wir|Wird|Wo|Wollt|Zu|Zum|Zur|Über)\b"
)
# What these are depends on the source: you are – ihr seid; they are – sie sind; her dog – ihr Hund
_SMALL_IF = {
    re.compile(r"\AIhr\b(?!e)"): re.compile(
        r"(?:(?:and|because|but|or|so|then) )?you\b(?!r)|(?:her|their)\b", re.IGNORECASE
    ),
    re.compile(r"\AIhre[mnrs]?\b"): re.compile(r"(?:her|their)\b", re.IGNORECASE),
    re.compile(r"\ASie\b"): re.compile(r"(?:they|she|it|these|those)\b", re.IGNORECASE),
}
_FIRST_PERSON = re.compile(r"I\b(?!\.)")  # has a capital within a sentence, too
_NO_END = re.compile(r"[\w,]\s*\Z")  # of a sentence
# The line above the quoted message in a reply
_REPLY = re.compile(
    r"(?P<date>On [^<>\n]{6,60}\d), (?P<sender>[^,<>\n]{1,60}(?: <\S{3,100}>)?) wrote:"
)
_LOOP = 5  # tokens of a phrase
_TWO_STOPS = re.compile(r"(?<=\d)\.\.(?!\.)")
_ELLIPSIS = re.compile(r"(?<!\.)\.{2,4}(?!\.)")
# Quotation marks of the translation that are not next to a quotation
_STRAY_QUOTE = re.compile(rf"(?<![{PLACEHOLDERS}])(?<![{PLACEHOLDERS}][.,])\"(?![{PLACEHOLDERS}])")
_MARKS = (".", "!", "?")
_ENDS = (*_MARKS, "…")
_SHORTEST, _LONGEST = 0.5, 2.5  # of the usual length


@dataclass(frozen=True)
class TextRules:
    """What determines how text is read and written; the first fields are those of `DataConfig`."""

    source_language: str
    target_language: str
    unicode: UnicodeForm
    lowercase: str
    plain_punctuation: bool
    longest: int
    """Length of a part in tokens above which it is divided."""
    room: int
    """Most tokens that the model has positions for."""
    growth: float = 0.0
    """How many target tokens training had per source token, 0 if that is unknown."""
    usual: int = 0
    """Mean length in tokens, 0 if unknown; much longer texts may be several sentences."""
    strip_punctuation: bool = False
    """Whether punctuation is removed from the source, as from the training text."""
    end_in_marks: bool = False
    """Whether sentences typed without a final mark are read with one, as in training."""

    def in_proportion(self, source: int, target: int) -> bool:
        """Return whether lengths in tokens, of a part and its translation, fit each other."""
        usual = self.growth * source
        if not self.growth or source < _FEWEST_JUDGED:
            return True
        return _SHORTEST * usual <= target <= _LONGEST * usual

    def repeats(self, source: Sequence[object], target: Sequence[object]) -> bool:
        """Return whether a translation repeats a phrase that its source, given in tokens, does not.

        False where `growth` is unknown, as models that have learned little repeat themselves.
        """
        if not self.growth or len(source) < _FEWEST_JUDGED:
            return False
        return _has_loop(target, _LOOP) and not _has_loop(source, 2)


@dataclass(frozen=True)
class Part:
    """A text to translate as a whole."""

    raw: str
    """As typed, without the marks of emphasis and links, and with signs in place of quotations."""
    cased: str
    """With placeholders."""
    text: str
    """The same in the case that the model reads."""
    tokens: list[Any]
    """Of `text`, at most as many as the model has positions for."""
    words: Mapping[str, str] = field(default_factory=dict)
    """The source text behind each placeholder."""
    written: Mapping[str, str] = field(default_factory=dict)
    """The same as the translation writes it."""
    before: str = ""
    after: str = ""
    """`before` and `after` stand around it in the translation."""
    marks: tuple[Mark, ...] = ()
    """Around words of `text`."""
    quotations: Mapping[str, Quotation] = field(default_factory=dict)
    """The quotations and brackets behind placeholders; their sources are translated by themselves,
    see `Splitter.with_quotations`."""
    marked: str = ""
    """As typed, with marks and quotations, if it has any; otherwise "", since it is `raw`."""
    capitals: bool = False
    """Whether it was typed in capitals throughout."""
    capital: bool = False
    """Whether its translation begins with a capital, which the model does not see in the source."""
    continues: bool = False
    """Whether it continues a sentence, in a small letter."""

    @property
    def names(self) -> dict[str, str]:
        """`words` without quotations."""
        return {mark: word for mark, word in self.words.items() if mark not in self.quotations}


class Splitter:
    """Splits sentences into parts before a search, and writes their translations after it.

    encode: text to tokens; knows: whether the vocabulary can spell a text without unknown tokens;
    segment: cuts a text into sentences that add up to it; placeholders: what they replace;
    restore_case: capitals of lower-cased translations
    """

    def __init__(
        self,
        rules: TextRules,
        encode: Callable[[str], list[Any]],
        knows: Callable[[str], bool],
        segment: Callable[[str], Sequence[str]],
        placeholders: PlaceholderRules | None = None,
        restore_case: Callable[[str], str] | None = None,
    ):
        self.rules = rules
        self._encode, self._knows, self._segment = encode, lru_cache(10_000)(knows), segment
        self._placeholders = placeholders
        self._restore_case = restore_case
        self._writes_capitals = rules.lowercase != "both" or restore_case is not None
        self._keep_bidi = any(map(is_right_to_left, (rules.source_language, rules.target_language)))

    # ------------------------------------------------------------------------------ before a search

    def tidy(self, sentence: str) -> str:
        """Return a sentence as one line of visible characters."""
        return tidy(sentence, self.rules.unicode, self._keep_bidi)

    def parts(self, sentence: str, tag: str = "") -> list[Part]:
        """Return the parts of a sentence; none if it has no text to translate.

        tag: put in front of the text of each part
        """
        parts = self._framed(self.tidy(sentence), tag)
        if parts and self.rules.lowercase == "source" and _first_letter(parts[0].raw).isupper():
            parts[0] = replace(parts[0], capital=True)
        elif parts and parts[0].before.rstrip(", ")[-1:].isalpha():  # haha you are
            parts[0] = replace(parts[0], continues=True)
        return parts

    def divide(self, part: Part, tag: str = "") -> list[Part]:
        """Return a part in two halves, or as it is if it cannot be divided."""
        known = {each.source: each.translation for each in part.quotations.values()}
        parts = self._all(
            halves(part.marked or part.raw, self.rules.source_language), tag, quoted=known
        )
        if len(parts) < 2:
            return [part]
        before = part.before + parts[0].before
        parts[0] = replace(parts[0], before=before, capital=part.capital, continues=part.continues)
        parts[-1] = replace(parts[-1], after=parts[-1].after + part.after)
        return [self.with_quotations(half, known) for half in parts]

    def with_quotations(self, part: Part, translations: Mapping[str, str]) -> Part:
        """Return a part with the translations of its quotations, by their sources."""
        quotations = {
            mark: replace(each, translation=translations.get(each.source, ""))
            for mark, each in part.quotations.items()
        }
        written = {mark: self._written(each) for mark, each in quotations.items()}
        return replace(part, quotations=quotations, written={**part.written, **written})

    def _written(self, quotation: Quotation) -> str:
        text = quotation.written
        if quotation.continues and self.rules.target_language == "de":
            text = _in_small_letters(text, quotation.source)
        around = quotes_of(self.rules.target_language, quotation.opening, quotation.closing)
        return within_quotes(text, *around)

    def _framed(self, text: str, tag: str, quoted: Collection[str] | None = None) -> list[Part]:
        """Return the parts of a text with what stands around it.

        quoted: the sources of quotations that are translated; None: all
        """
        languages = self.rules.source_language, self.rules.target_language
        if languages == ("en", "de") and (reply := _REPLY.fullmatch(text)):
            parts = self._framed(reply["date"], tag, quoted)
            end = f" schrieb {reply['sender']}:"
            return [*parts[:-1], *(replace(x, after=x.after + end) for x in parts[-1:])]
        before, core, after = peel(text, languages)
        if not has_text(core):
            return []
        if self.rules.plain_punctuation:
            core = double_outside(plain(core), cover_codes)
        else:
            core = to_known(core, self._knows)
        parts = self._split(core, tag, quoted)
        if parts:
            before, after = quotes_of(self.rules.target_language, before, after)
            if languages == ("en", "de"):
                before = with_german_headers(before)
            parts[0] = replace(parts[0], before=before + parts[0].before)
            parts[-1] = replace(parts[-1], after=parts[-1].after + after)
        return parts

    def _all(
        self,
        texts: Sequence[str],
        tag: str,
        separator: str = "",
        quoted: Collection[str] | None = None,
    ) -> list[Part]:
        """Return the parts of several texts; those without words stay around their neighbours.

        separator: what follows each of them but the last; quoted: see `_framed`
        """
        parts: list[Part] = []
        waiting = ""
        for number, text in enumerate(texts, 1):
            end = separator if number < len(texts) else ""
            if found := self._framed(text.strip(), tag, quoted):
                small = _first_letter(found[0].raw).islower()
                is_i = _FIRST_PERSON.match(found[0].raw) and _NO_END.search(texts[number - 2])
                continues = bool((parts or waiting) and (small or is_i))
                before = waiting + found[0].before
                found[0] = replace(found[0], before=before, continues=continues)
                found[-1] = replace(found[-1], after=found[-1].after + end)
                waiting = ""
                parts += found
            elif parts:
                parts[-1] = replace(parts[-1], after=f"{parts[-1].after} {text.strip()}{end}")
            else:
                waiting += f"{text.strip()}{end} "
        return parts

    def _split(self, text: str, tag: str, quoted: Collection[str] | None) -> list[Part]:
        longest = self.rules.longest
        if self.rules.source_language == "en" and self._placeholders:
            text = with_spaces(text, self._placeholders.known.__contains__)
        if len(texts := items(text, self.rules.source_language)) > 1:
            return self._all(texts, tag, quoted=quoted)
        if len(texts := row(text)) > 1:
            return self._all(texts, tag, quoted=quoted)
        # A model would drop and repeat items.
        if _LIST.fullmatch(text) and not _NO_LIST.search(text):
            return self._all(text.split(", "), tag, ",", quoted)
        raw, quotations = self._without_quotations(text, quoted)
        raw, marks = remove_marks(raw, self.rules.source_language)
        replaced = (
            self._placeholders.insert(with_primes(raw))
            if self._placeholders
            else PlaceholderText(raw)
        )
        marks = _in_words_of(replaced, marks)
        quotations = _with_placeholders(replaced, quotations)
        fewest = 1 if self._placeholders else _FEWEST_CAPITALS  # abbreviations are placeholders
        capitals = self._writes_capitals and _in_capitals(replaced.text, fewest)
        cased = self._sentence_case(replaced.text) if capitals else replaced.text
        if self.rules.strip_punctuation:
            cased = strip_punctuation(cased)
        elif self.rules.end_in_marks:
            cased = with_final_mark(cased, self.rules.source_language)
        shown = cased.lower() if self.rules.lowercase in ("source", "both") else cased
        tokens = self._encode(tag + shown)
        if not tokens:  # only marks that SentencePiece uses for spaces
            return []
        full = replaced.words.keys() >= set(PLACEHOLDERS)  # the rest would be left to the model
        if (len(tokens) > longest or full) and len(text) > 1:
            texts = self.sentences(text)
            most = min(max(longest, _FEWEST_DIVIDED), self.rules.room)
            if len(texts) == 1 and (len(tokens) > most or full):
                texts = halves(text, self.rules.source_language)
            if len(texts) > 1:
                return self._all(texts, tag, quoted=quoted)
        if 0 < _LONG * self.rules.usual < len(tokens):
            most = int(len(text) * _LONG_PART * self.rules.usual / len(tokens))
            texts = run_on_sentences(text, self.rules.source_language, most)
            if len(texts) > 1:
                return self._all(texts, tag, quoted=quoted)
        # One character, as bytes, may exceed the positions of a very small model.
        return [
            Part(
                raw,
                tag + cased,
                tag + shown,
                tokens[: self.rules.room],
                replaced.words,
                replaced.written,
                marks=marks,
                quotations=quotations,
                marked=text if marks or quotations else "",
                capitals=capitals,
            )
        ]

    def _without_quotations(
        self, text: str, quoted: Collection[str] | None
    ) -> tuple[str, dict[str, Quotation]]:
        if not self._placeholders or self.rules.strip_punctuation or not self._knows('"()'):
            return text, {}
        is_known = self._placeholders.known.__contains__
        return set_aside(text, self.rules.source_language, is_known, quoted)

    def sentences(self, text: str) -> list[str]:
        """Cut text into sentences, without the whitespace around them."""
        sentences, start = [], 0
        for length in sentence_lengths(text, self._segment):
            sentences.append(text[start : start + length].strip())
            start += length
        return [sentence for sentence in sentences if sentence]

    def _sentence_case(self, text: str) -> str:
        text = text.lower()
        if self.rules.source_language == "en":
            text = re.sub(r"\bi\b", "I", text)
        return re.sub(r"[^\W\d_]", lambda first: first[0].upper(), text, count=1)

    # ------------------------------------------------------------------------------- after a search

    def write(self, part: Part, translation: str, pairs: Sequence[tuple[int, int]] = ()) -> str:
        """Return the translation of a part in its case, with placeholders filled in.

        pairs: the numbers of aligned words of `part.text` and of the translation, by which marks
        are placed
        """
        text = self._restore_case(translation) if self._restore_case else translation
        for mark, quotation in part.quotations.items():
            text = quotation.put_marks(text, mark)
        if part.quotations and '"' not in part.raw:
            text = _STRAY_QUOTE.sub("", text)
        if self.rules.plain_punctuation:
            text = typeset(text, self.rules.target_language)
            text = within_quotes(text, part.before, part.after)
        if _ELLIPSIS.search(part.raw):
            text = _ELLIPSIS.sub("...", text)
        if part.cased.endswith(_MARKS) and not part.raw.endswith(_ENDS):
            # 5pm, read as 5 p.m., or a sentence typed without a final mark
            text = text[:-1] if text.endswith(_MARKS) else text
        if text.endswith(".") and part.after.lstrip().startswith(_ENDS):
            # What follows are the rest of "!!!", or dots.
            text = text[:-1] + (part.raw[-1:] if part.raw.endswith(_ENDS) else "")
        if (self.rules.source_language, self.rules.target_language) == ("en", "de"):
            text = with_signs(text, part.raw)
        if self.rules.target_language == "de":
            text = with_german_genitives(text)
            text = without_misplaced(text, part.written, part.text)
        if part.capitals:
            text = text.upper()
        elif part.capital:
            text = text[:1].upper() + text[1:]
        elif part.continues and self.rules.target_language == "de":
            text = _in_small_letters(text, part.raw)
        if part.marks:
            marks = [_typeset(mark, self.rules.target_language) for mark in part.marks]
            text = put_marks(text, marks, pairs, len(part.text.split()))
        # A German ordinal has the full stop that also ends the sentence.
        return _TWO_STOPS.sub(".", fill_placeholders(text, part.written))


def _has_loop(tokens: Sequence[object], length: int) -> bool:
    """Return whether as many adjacent tokens occur three times."""
    counts = Counter(zip(*(tokens[i:] for i in range(length)), strict=False))
    return max(counts.values(), default=0) > 2


def surround(part: Part, translation: str) -> str:
    """Return the translation of a part with what stands around it."""
    return part.before + translation + part.after if translation else ""


def _in_small_letters(text: str, source: str) -> str:
    """Return a German translation that continues a sentence, with a small letter unless a noun."""
    text = _SMALL.sub(lambda word: word[0].lower(), text)
    if any(word.match(text) and read.match(source) for word, read in _SMALL_IF.items()):
        text = text[:1].lower() + text[1:]
    return text


def _in_words_of(replaced: PlaceholderText, marks: Sequence[Mark]) -> tuple[Mark, ...]:
    """Return marks around the words of a text as those around the words with placeholders."""
    if not marks:
        return ()
    counts = (
        max(1, len(fill_placeholders(word, replaced.words).split()))
        for word in replaced.text.split()
    )
    ends = [*accumulate(counts)]
    return tuple(
        replace(mark, start=bisect_right(ends, mark.start), end=bisect_left(ends, mark.end) + 1)
        for mark in marks
    )


def _with_placeholders(
    replaced: PlaceholderText, quotations: Mapping[str, Quotation]
) -> dict[str, Quotation]:
    """Replace the signs of quotations with placeholders of their own."""
    found: dict[str, Quotation] = {}
    for sign, quotation in quotations.items():
        if sign not in replaced.text:  # but in a code, which is kept as typed: "Hello"(^_^)
            for texts in (replaced.words, replaced.written):
                texts |= {mark: own.replace(sign, quotation.typed) for mark, own in texts.items()}
            continue
        mark = next((each for each in PLACEHOLDERS if each not in replaced.words), None)
        read = quotation.read(mark) if mark else quotation.typed
        replaced.text = replaced.text.replace(sign, read)
        if mark:
            replaced.words[mark] = replaced.written[mark] = quotation.text
            found[mark] = quotation
    return found


def _typeset(mark: Mark, language: str) -> Mark:
    """Return a mark with the quotation marks of a language."""
    if mark.opening != '"':
        return mark
    opening, closing = quotes_of(language, mark.opening, mark.closing)
    return replace(mark, opening=opening, closing=closing)


def _first_letter(text: str) -> str:
    return next(filter(str.isalpha, text), "")


def _in_capitals(text: str, fewest: int) -> bool:
    """Return whether all words of a text are in capitals, and not only abbreviations and I.

    fewest: letters of all words together
    """
    words = [*WORD.finditer(text)] if text.isupper() else []
    enough = sum(len(word[0]) for word in words) >= fewest
    return enough and not all(ABBREVIATION.fullmatch(text, *word.span()) for word in words)
