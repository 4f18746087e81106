"""Splits lines into segments that a model can translate, and joins their translations.

Models generalize badly to unfamiliar input. So a line is split into sentences if training had one
per line, or if the line is longer than nearly all in training; then long sentences are divided,
too. What stands around a sentence stays around its translation, and what the model does not
translate is replaced with placeholders and filled in afterwards (`nmt.corpus.text.parts`).
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial

from sentencex import segment

from nmt.config.data import DataConfig
from nmt.config.decoding import DecodingConfig
from nmt.config.languages import two_letters
from nmt.corpus.preparing.report import PreparationReport
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.text.names import WORD
from nmt.corpus.text.parts import Part, Splitter, TextRules
from nmt.corpus.text.placeholders import count_missing_placeholders
from nmt.corpus.text.punctuation import SENTENCE_ENDS
from nmt.corpus.text.sentences import SplitText, split_sentences
from nmt.corpus.text.tags import split_tag
from nmt.corpus.text.target_words import TargetWords
from nmt.corpus.tokenizers.registry import Tokenizers
from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.decoding.engines.interface import Constraints
from nmt.decoding.glossary import Glossary, Match, Term
from nmt.decoding.inflection import noun_features
from nmt.decoding.noun_phrases import FEATURES
from nmt.decoding.term_placement import AlignedTranslation, Alignment, Place
from nmt.errors import UserError
from nmt.special_tokens import EOS, NUMBERS, PLACEHOLDERS, SPECIALS, UNK

# If a larger share of the training lines than this had several sentences, lines are not split into
# sentences.
_MOST_WITH_SEVERAL = 0.05
_MOST_WITHOUT_MARK = 0.1
_OF_P95 = 2
_ENDS = re.compile(rf"[{SENTENCE_ENDS}]\s")  # a sentence within a text
_NAME = re.compile(r"[^\W\d_]+(?:[ '’-][^\W\d_]+)+")  # of several words
_BYTE = re.compile("<0x([0-9A-F]{2})>")
_SPACE = "▁"  # as SentencePiece writes it
_CLOSING = re.compile(rf"\W?[{SENTENCE_ENDS}]+")  # a token; \W: SentencePiece's mark of a space
_WORDS = re.compile(r"[\w-]+")
_CLAUSE_ENDS = r"\W*$|[^\w\s]| (?:als|oder|und|wie|zu)\b"
_AFTER_MARK = r"(?<=[\"'„“”‚‘’»«›‹(\[])"
_MOST_VOCABULARIES = 8  # whose facts are kept


@dataclass(frozen=True)
class TrainingLines:
    """Facts about the source lines of training."""

    longest: int
    """Length in tokens that nearly none exceeded."""
    one_sentence_per_line: bool
    """Whether nearly all lines were single sentences, so that these are translated one by one."""
    growth: float = 0.0
    """Target tokens per source token, 0 if translations may have any length."""
    usual: int = 0
    """Mean length in tokens, 0 if unknown."""
    end_in_marks: bool = False
    """Whether nearly all ended in a punctuation mark."""

    @classmethod
    def of(cls, report: PreparationReport, decoding: DecodingConfig) -> "TrainingLines":
        """Read them from the report of `prepare`; older reports do not count sentences."""
        several = report.get("several_sentences", 0.0)
        single = decoding.split_sentences and several <= _MOST_WITH_SEVERAL
        source, target = report["lengths"]["source"], report["lengths"]["target"]
        # A few outliers do not teach a model to translate long sentences.
        longest = min(source["longest"], _OF_P95 * source["p95"])
        growth = target["mean"] / source["mean"] if source["mean"] else 0.0
        end_in_marks = report.get("lacks_mark", 1.0) <= _MOST_WITHOUT_MARK
        return cls(longest, single, growth, round(source["mean"]), end_in_marks)


@dataclass(frozen=True)
class Segment:
    """A part of a sentence with the ids that the model reads."""

    part: Part
    ids: list[int]
    """The ids of its tokens, with <eos>."""
    tag: str = ""
    """The tag of its line."""
    terms: tuple["TermConstraint", ...] = ()
    """What the translation must contain."""
    beginning: str = ""
    """What it must begin with, as the model writes it."""
    forbidden: tuple[str, ...] = ()
    """Words that it must not contain; longer ones that begin with them are allowed."""


@dataclass(frozen=True)
class TermConstraint:
    """A term of the glossary: one of its forms, as the model writes them, must be written."""

    term: Term
    forms: tuple[str, ...]
    fitting: tuple[str, ...]
    """Those forms that agree with the source in number."""
    preferred: tuple[str, ...]
    """Those of them that the training text has, or else all, which a further search requires."""
    is_plural: bool | None
    """Whether the source has it in the plural; None if unknown, as of "hair", which may become a
    plural.
    """
    attached: bool
    """Whether no space precedes it in the source, as after a quotation mark."""
    forbidden: tuple[str, ...] = ()
    """Forms of other words, which must not be written."""
    written: tuple[str, ...] = ()
    """The term as the source writes it, once per occurrence."""
    separated: tuple[tuple[str, str], ...] = ()
    """Forms of a verb with a particle that may stand further back, which count as forms, too."""


class Segmenter:
    """Splits lines and inserts placeholders before a search; fills them in after it.

    seen: facts about training lines; room: maximum length that the model has positions for, without
    <eos>; glossary: the terms whose translations are prescribed; tag: of lines without one;
    target_words: of the training text
    """

    def __init__(
        self,
        tokenizers: Tokenizers,
        data: DataConfig,
        seen: TrainingLines,
        room: int,
        glossary: Glossary | None = None,
        tag: str = "",
        target_words: TargetWords | None = None,
    ):
        self._tokenizers, self._target_words = tokenizers, target_words
        self._known_words = target_words.words if target_words else frozenset[str]()
        self._tag = tag
        self._glossary = glossary
        self._cleaner = Cleaner(data)
        self._data = data
        self._one_sentence_per_line = seen.one_sentence_per_line
        self.rules = text_rules(data, seen, room)
        self._splitter = Splitter(
            self.rules,
            tokenizers.source.encode,
            tokenizers.source.knows,
            partial(segment, data.source_language),
            tokenizers.placeholder_rules(data, target_words),
            tokenizers.casing.restore if tokenizers.casing else None,
        )

    # ------------------------------------------------------------------------------ before a search

    def split(self, line: str) -> SplitText:
        """Split a line into parts to translate separately, each with the line's tag."""
        tag, text = split_tag(self._data, line)
        found = split_sentences(text, self._data.source_language, self._one_sentence_per_line)
        return SplitText([tag + sentence for sentence in found.sentences], found.gaps)

    def segment(self, line: str) -> list[Segment]:
        """Return the segments of a sentence, each with its tag; none if it has no text."""
        own, text = split_tag(self._data, line)
        tag = own or self._tag
        return self._segments(self._splitter.parts(text, tag), tag)

    def quoted(self, segment: Segment) -> list[str]:
        """Return what a segment encloses in marks, to be translated by itself, with its tag."""
        sources = (quotation.source for quotation in segment.part.quotations.values())
        return [segment.tag + source for source in sources if source]

    def with_quotations(self, segment: Segment, translations: Mapping[str, str]) -> Segment:
        """Return a segment with the translations of what `quoted` returned."""
        found = {source.removeprefix(segment.tag): text for source, text in translations.items()}
        return replace(segment, part=self._splitter.with_quotations(segment.part, found))

    def begin(self, segments: Sequence[Segment], text: str) -> list[Segment]:
        """Return the segments of a line, of whose translation `text` is the beginning.

        Each sentence of the text begins another segment. Raises `UserError` for characters that the
        model cannot write.
        """
        given = split_sentences(text, self._data.target_language, self._one_sentence_per_line)
        sentences = [sentence for sentence in given.sentences if sentence.strip()]
        if len(sentences) > len(segments):
            rest = " ".join(sentences[len(segments) - 1 :])
            sentences = [*sentences[: len(segments) - 1], rest]
        begun = list(segments)
        for number, sentence in enumerate(sentences):
            # A space at the end: the word before it is complete.
            ends = number == len(sentences) - 1 and text[-1].isspace()
            beginning = self._beginning(segments[number].part, sentence) + " " * ends
            begun[number] = replace(segments[number], beginning=beginning)
        return begun

    def _beginning(self, part: Part, text: str) -> str:
        text = self._cleaner.target(text.removeprefix(part.before.strip()))
        words, last = text.split(" ")[:-1], text.rpartition(" ")[2]
        for mark, word in part.written.items():
            is_name = mark not in part.quotations
            before, after = (r"(?<!\w)", "s?") if is_name else (_AFTER_MARK, "")  # Tom, Toms
            whole = re.compile(rf"{before}{re.escape(word)}(?={after}(?!\w))")
            if word and whole.search(text):
                text = whole.sub(mark, text, count=1)
            elif last and is_name and word.startswith(last):  # the name has been begun
                text = " ".join([*words, mark])
        target = self._tokenizers.target
        if UNK in target.encode(text) or not _spellings(target):
            raise UserError(f"prefix {text}: the model cannot write it; shorten or omit it")
        return text

    def divide(self, segment: Segment) -> list[Segment]:
        """Return a segment in two halves, or as it is if it cannot be divided."""
        return self._segments(self._splitter.divide(segment.part, segment.tag), segment.tag)

    def are_long(self, segments: Sequence[Segment]) -> bool:
        """Return whether these segments are, together, longer than nearly all lines of training."""
        return sum(len(segment.part.tokens) for segment in segments) > self.rules.longest

    def _find_terms(self, part: Part) -> tuple[tuple[TermConstraint, ...], Part]:
        """Return the constraints of terms, and the part, in which placeholders may become terms."""
        if not self._glossary:
            return (), part
        terms: dict[tuple[Term, str], TermConstraint] = {}
        written: dict[str, str] = {}
        copied = [
            each.span()
            for word in filter(None, part.words.values())
            for each in re.finditer(re.escape(word), part.raw)
        ]
        matches = self._glossary.find(part.raw)
        spellings = Counter(term for term, _ in {*map(self._spelling, matches)})
        for match in matches:
            part = self._with_one_placeholder(part, match)
            own = re.compile(rf"(?<!\w){re.escape(match.text)}(?!\w)")
            marks = [
                mark
                for mark, word in part.names.items()
                if word == match.text or (_NAME.fullmatch(word) and own.search(word))
            ]
            if marks and match.term.targets:  # its placeholder becomes the translation
                number = match.number if match.number == "plural" else None
                form = self._glossary.forms(match, number, self._known_words)[0]
                written |= {
                    mark: form.join(own.split(written.get(mark, part.words[mark])))
                    for mark in marks
                }
            elif not any(i <= match.start and match.end <= j for i, j in copied):
                spelling = self._spelling(match)
                forms, fitting = (
                    self._cleaned(self._glossary.forms(match, number, self._known_words))
                    for number in (None, match.number)
                )
                if spellings[match.term] > 1:
                    forms = fitting = (spelling[1],)
                attached = match.start > 0 and not part.raw[match.start - 1].isspace()
                forbidden = self._cleaned(self._glossary.forbidden(match, self._known_words))
                is_plural = match.number == "plural" if match.number else None
                texts: tuple[str, ...] = (match.text,)
                if other := terms.get(spelling):
                    texts = (*other.written, match.text)
                    fitting = tuple(dict.fromkeys(other.fitting + fitting))
                    is_plural = is_plural if is_plural == other.is_plural else None
                    attached = attached or other.attached
                preferred = tuple(filter(self._is_known, fitting)) or fitting
                terms[spelling] = TermConstraint(
                    match.term,
                    forms,
                    fitting,
                    preferred,
                    is_plural,
                    attached,
                    forbidden,
                    texts,
                    tuple(self._glossary.separated(match, self._known_words)),
                )
        return tuple(terms.values()), replace(part, written={**part.written, **written})

    def _with_one_placeholder(self, part: Part, match: Match) -> Part:
        """Return the part with a single placeholder for a term of several words, some unknown.

        Otherwise the translation would have to contain these words as well as the term's own.
        """
        marks = {word: mark for mark, word in part.names.items()}
        read = WORD.sub(lambda word: marks.get(word[0], word[0]), match.text)
        inner = [mark for mark in marks.values() if mark in read]
        times = part.cased.count(read)
        elsewhere = any(part.cased.count(mark) != times * read.count(mark) for mark in inner)
        if not inner or len(read) == 1 or not match.term.targets or elsewhere:
            return part
        first, *others = inner
        text = part.text.replace(read if read in part.text else read.lower(), first)
        words, written = (
            {mark: word for mark, word in each.items() if mark not in others} | {first: match.text}
            for each in (part.words, part.written)
        )
        cased = part.cased.replace(read, first)
        tokens = self._tokenizers.source.encode(text)[: self.rules.room]
        return replace(part, cased=cased, text=text, tokens=tokens, words=words, written=written)

    def _spelling(self, match: Match) -> tuple[Term, str]:
        """Return a term with what stands for it if it is kept as the source writes it, else ""."""
        return match.term, self._cleaner.target(match.text) if match.term.keep else ""

    def _cleaned(self, forms: list[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(self._cleaner.target, forms)))

    def _is_known(self, form: str) -> bool:
        return not (self._target_words and self._target_words.count_new(form, ""))

    def _segments(self, parts: list[Part], tag: str) -> list[Segment]:
        found = map(self._find_terms, parts)
        return [Segment(part, [*part.tokens, EOS], tag, terms) for terms, part in found]

    def untranslated(self, sentence: str) -> str:
        """Return a sentence without text as it appears in the translation."""
        return self._splitter.tidy(split_tag(self._data, sentence)[1])

    def unknown(self, segment: Segment) -> list[str]:
        """Return what the model reads as unknown or as bytes: characters, or words if it has no
        subwords.
        """
        source = self._tokenizers.source
        if source.knows(segment.part.text):
            return []
        if source.whole_words:  # it knows words only
            words = segment.part.text.split()
            return [word for word in dict.fromkeys(words) if not source.knows(word)]
        characters = dict.fromkeys(segment.part.text)
        return [each for each in characters if not each.isspace() and not source.knows(each)]

    # ------------------------------------------------------------------------------- after a search

    def restore(self, segment: Segment, text: str, pairs: Sequence[tuple[int, int]] = ()) -> str:
        """Restore capitals and fill in placeholders in the translation of a segment.

        pairs: the numbers of aligned words, of source and translation, to place emphasis
        """
        return self._with_capital(segment, self._splitter.write(segment.part, text, pairs))

    def _with_capital(self, segment: Segment, text: str) -> str:
        """Return a translation with a capital if it begins with a term, and the source with one."""
        part = segment.part
        has_capitals = self._data.lowercase != "both" or self._tokenizers.casing
        is_german = self._splitter.rules.source_language == "de"  # nouns have capitals anywhere
        if is_german or not has_capitals or not part.raw[_start(part.raw) :][:1].isupper():
            return text
        terms = [term for term in segment.terms if not term.term.keep]
        forms = {
            *(form for term in terms for form in term.forms),
            *(verb for term in terms for verb, _ in term.separated),
            *(part.written[x] for x, word in part.names.items() if part.written[x] != word),
        }
        start = _start(text)
        rest = text[start:]
        if any(each.islower() and re.match(rf"{re.escape(each)}(?!\w)", rest) for each in forms):
            return text[:start] + rest[0].upper() + rest[1:]
        return text

    def count_missing(self, segment: Segment, ids: Sequence[int]) -> int:
        """Count the placeholders and terms that a translation lacks, or has within other words."""
        text = self._tokenizers.target.decode(ids)
        missing = count_missing_placeholders(text, segment.part.words, segment.part.text)
        return missing + len(self._missing(segment, text))

    def count_unfit(self, segment: Segment, ids: Sequence[int]) -> int:
        """Count the terms that a translation has in another number than the source demands."""
        text = self._tokenizers.target.decode(ids)
        return sum(_is_unfit(text, term) for term in segment.terms)

    def begins_as_given(self, segment: Segment, ids: Sequence[int]) -> bool:
        """Return whether a translation begins as it must."""
        return f"{self._tokenizers.target.decode(ids)} ".startswith(segment.beginning)

    def missing_terms(self, segment: Segment, ids: Sequence[int]) -> list[Term]:
        """Return the terms that a translation lacks, or has less often than the source."""
        text = self._tokenizers.target.decode(ids) if segment.terms else ""
        return list(dict.fromkeys(each.term for each in self._missing(segment, text)))

    def forbid_usual_words(
        self,
        segment: Segment,
        ids: Sequence[int],
        alignment: Alignment,
        also_of_repeated: bool = True,
    ) -> Segment:
        """Return the segment with terms that forbid the words by which a translation replaces them.

        ids: the translation; also_of_repeated: whether terms that occur several times forbid words,
        if none of their forms is there yet
        """
        draft, lacking = self._draft(segment, ids, alignment)
        given = _WORDS.findall(segment.beginning)

        def forbidding(term: TermConstraint) -> TermConstraint:
            enough = len(term.written) if also_of_repeated else 1
            if not term.forms or not 0 < lacking.count(term) == len(term.written) <= enough:
                return term
            usual = draft.usual_words(set(term.written), term.forms)
            usual = [word for word in usual if word not in given]
            return replace(term, forbidden=(*term.forbidden, *usual))

        return replace(segment, terms=tuple(map(forbidding, segment.terms)))

    def begin_with_term(
        self, segment: Segment, ids: Sequence[int], alignment: Alignment
    ) -> list[list[int]]:
        """Return beginnings of other translations, which end with the first term that one lacks.

        They are those of the given translation up to the word that the term replaces, with each
        form of the term; none if there is no place for it. A term in the wrong number counts as
        missing. For the arguments, see `forbid_usual_words`.
        """
        draft, lacking = self._draft(segment, ids, alignment)
        places = [
            (place, term)
            for term in segment.terms
            if (term in lacking or _is_unfit(draft.text, term)) and term.preferred
            if (place := draft.place(set(term.written), term.forms)) is not None
        ]
        if not places:
            return []
        place, term = min(places, key=lambda pair: pair[0].word)
        begun = self._tokenizers.target.encode_lines(self._beginnings(draft, place, term))
        return [each for each in begun if each and UNK not in each]

    def _draft(
        self, segment: Segment, ids: Sequence[int], alignment: Alignment
    ) -> tuple[AlignedTranslation, list[TermConstraint]]:
        """Return a translation with its source, and the terms that it lacks."""
        text = self._tokenizers.target.decode(ids)
        source = segment.part.text.removeprefix(segment.tag)  # a tag is no word
        return AlignedTranslation(source, text, alignment), self._missing(segment, text)

    def _beginnings(
        self, draft: AlignedTranslation, place: Place, term: TermConstraint
    ) -> list[str]:
        """Return the translation up to a place, each time with a form of the term."""
        lemma = term.term.targets[0]
        is_german, is_noun = two_letters(self._data.target_language) == "de", lemma[0].isupper()
        if is_german and not is_noun and lemma.endswith("n"):
            lower = [form for form in term.preferred if form.islower()]
            separated = [verb for verb, _ in term.separated]
            return draft.verb_beginnings(place, lemma, lower, separated)
        if not (is_german and is_noun):
            return draft.beginnings(place, dict.fromkeys(term.preferred, ()))
        # What the table of nouns knows is right, even if the training text lacks it.
        known = {
            form: _in_number(noun_features(lemma, form), term.is_plural) for form in term.fitting
        }
        forms = {x: known[x] or FEATURES for x in term.fitting if known[x] or x in term.preferred}
        return draft.beginnings(place, forms)

    def out_of_vocabulary(self, terms: Iterable[Term]) -> list[str]:
        """Return what the target vocabulary lacks of the terms' translations: characters, or words
        if it has no subwords.
        """
        target = self._tokenizers.target
        texts = (self._cleaner.target(term.targets[0]) for term in terms if term.targets)
        whole = target.whole_words
        units = (unit for text in texts for unit in (text.split() if whole else text))
        return [unit for unit in dict.fromkeys(units) if UNK in target.encode(unit)]

    def _missing(self, segment: Segment, text: str) -> list[TermConstraint]:
        """Return the terms that a text lacks, each as often as it is missing."""
        missing = []
        for each in segment.terms:
            lacking = len(each.written) - _count_term(text, each, each.forms) if each.forms else 0
            missing += [each] * max(lacking, bool(_find_all(text, each.forbidden)))
        return missing

    def constraints(self, segments: Sequence[Segment]) -> Constraints:
        """Return the placeholders and terms that translations must contain, as whole words."""
        target = self._tokenizers.target
        needed = [
            [
                *(self._placeholder(segment.part.text, mark) for mark in segment.part.words),
                *filter(None, map(self._phrases, segment.terms)),
            ]
            for segment in segments
        ]
        closing = [
            [] if segment.beginning or _ENDS.search(segment.part.text) else _closing(target)
            for segment in segments
        ]
        forbidden = [
            [
                *(
                    ids
                    for term in segment.terms
                    for word in term.forbidden
                    for ids in self._forbidden(word, phrases)
                ),
                *target.encode_lines(list(segment.forbidden)),
            ]
            for segment, phrases in zip(segments, needed, strict=True)
        ]
        constraints = Constraints(needed, _continuing(target), closing, forbidden=forbidden)
        if not any(segment.beginning for segment in segments):
            return constraints
        beginnings = [self._spelled(segment.beginning) for segment in segments]
        return replace(constraints, beginnings=beginnings, spellings=_spellings(target))

    def _spelled(self, text: str) -> bytes:
        space = "" if not text or self._tokenizers.target.marks_end else " "
        return f"{space}{text}".encode()

    def _phrases(self, term: TermConstraint) -> list[list[int]]:
        """Return the forms of a term as tokens, without those that have unknown characters."""
        target = self._tokenizers.target
        phrases = target.encode_lines(list(term.preferred))
        if term.attached and not target.marks_end:
            mark = target.encode('"')
            quoted = target.encode_lines([f'"{form}' for form in term.preferred])
            phrases += [ids[len(mark) :] for ids in quoted if ids[: len(mark)] == mark]
        return [ids for ids in phrases if ids and UNK not in ids]

    def _forbidden(self, word: str, needed: list[list[list[int]]]) -> Iterator[list[int]]:
        """Yield phrases without which a word, and those that begin with it, can't be written.

        Its first tokens are enough if they are most of it: otherwise, the model would begin the
        word, and then continue with another ending. needed: what must be written
        """
        target = self._tokenizers.target
        ids = target.encode(word)
        if " " not in word:
            counts = range(1, len(ids) + 1)
            enough = (n for n in counts if 2 * len(target.decode(ids[:n])) >= len(word))
            first = ids[: next(enough, len(ids))]
            begun = {tuple(phrase[: len(first)]) for phrases in needed for phrase in phrases}
            ids = ids if tuple(first) in begun else first
            start = f" {word}".encode()
            if not target.marks_end:
                for number, spelling in enumerate(_spellings(target)):
                    if spelling.startswith(start) and (number,) not in begun:
                        yield [number]
        if ids:
            yield ids

    def _placeholder(self, text: str, mark: str) -> list[list[int]]:
        """Return a placeholder as phrases: alone, and with the genitive's s if it is a token."""
        phrase = self._phrase(text, mark)
        return [phrase, *([*phrase, ending] for ending in _genitive(self._tokenizers.target))]

    def _phrase(self, text: str, mark: str) -> list[int]:
        """Return a placeholder as tokens, without a space before it if it has none in this text."""
        target = self._tokenizers.target
        ids = target.encode(mark)
        before = text.partition(mark)[0]
        attached = before and not before.endswith(" ")  # as to a quotation mark
        return ids[-1:] if attached and not target.marks_end else ids


# Facts about the vocabulary, which `Segmenter`s for different glossaries share: a request may bring
# its own.


@lru_cache(_MOST_VOCABULARIES)
def _spellings(target: Tokenizer) -> list[bytes]:
    """What each target token writes; nothing for whole words, which have other spaces."""
    if target.whole_words:
        return []
    tokens = target.tokens(range(target.size))
    byte = [_BYTE.fullmatch(token) for token in tokens]
    return [
        b""
        if i < len(SPECIALS)
        else bytes([int(x[1], 16)])
        if x
        else token.replace(_SPACE, " ").encode()
        for i, (token, x) in enumerate(zip(tokens, byte, strict=True))
    ]


@lru_cache(_MOST_VOCABULARIES)
def _continuing(target: Tokenizer) -> list[int]:
    """The ids of target tokens that continue a word."""
    if target.marks_end:  # then a phrase ends the word
        return []
    tokens, marks = target.tokens(range(target.size)), PLACEHOLDERS + NUMBERS
    return [i for i, x in enumerate(tokens) if x[:1].isalnum() or x in marks]


@lru_cache(_MOST_VOCABULARIES)
def _closing(target: Tokenizer) -> list[int]:
    """The ids of target tokens that end a sentence."""
    tokens = target.tokens(range(target.size))
    return [i for i, token in enumerate(tokens) if _CLOSING.fullmatch(token)]


@lru_cache(_MOST_VOCABULARIES)
def _genitive(target: Tokenizer) -> list[int]:
    """The id of the token that may follow a placeholder directly, if there is one."""
    continuing = _continuing(target)
    tokens = target.tokens(continuing)
    return [i for i, token in zip(continuing, tokens, strict=True) if token == "s"]


def _start(text: str) -> int:
    """Return the place of the first letter or digit."""
    return next((i for i, character in enumerate(text) if character.isalnum()), len(text))


def _is_unfit(text: str, term: TermConstraint) -> bool:
    """Return whether a text lacks a form of a term in the number that the source demands."""
    return bool(term.is_plural and term.fitting and not _count_term(text, term, term.fitting))


def _in_number(features: Sequence[str], is_plural: bool | None) -> list[str]:
    """Return the features of a noun in one number; all if it is None or there are none of them."""
    fitting = [x for x in features if is_plural in (None, x.startswith("p"))]
    return fitting or list(features)


def _count_term(text: str, term: TermConstraint, forms: Sequence[str]) -> int:
    """Count these forms of a term in a text, and the separated ones.

    A separated particle stands at the end of a clause; elsewhere, it is a preposition.
    """
    separated = (
        re.findall(
            rf"(?i)\b{re.escape(verb)}\b[^{SENTENCE_ENDS}]*? {particle}(?:{_CLAUSE_ENDS})", text
        )
        for verb, particle in term.separated
    )
    return len(_find_all(text, forms)) + sum(map(len, separated))


def _find_all(text: str, words: Sequence[str]) -> list[str]:
    """Return every occurrence of the words in a text."""
    if not words:
        return []
    longest_first = "|".join(map(re.escape, sorted(words, key=len, reverse=True)))
    return re.findall(rf"(?<!\w)(?:{longest_first})(?!\w)", text)


def text_rules(data: DataConfig, seen: TrainingLines, room: int) -> TextRules:
    """Return how text is read and written; room: most tokens that the model has positions for."""
    return TextRules(
        data.source_language,
        data.target_language,
        data.unicode,
        data.lowercase,
        data.plain_punctuation,
        min(seen.longest, room),
        room,
        seen.growth,
        seen.usual if seen.one_sentence_per_line else 0,
        data.strip_punctuation,
        seen.end_in_marks,
    )
