"""Splits lines into segments that a model can translate, and joins their translations.

Models generalize badly to unfamiliar input. So a line is split into sentences if training had one
per line, or if the line is longer than any in training. A sentence is split only if the model has
too few positions for it. Words that did not occur in training are replaced with placeholders and
filled in afterwards.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from nmt.config.data import DataConfig
from nmt.config.decoding import DecodingConfig
from nmt.corpus.preparing.report import PreparationReport
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.text.normalization import count_lost, halves, reveal
from nmt.corpus.text.sentences import CutText, cut
from nmt.corpus.text.tags import split_prefix
from nmt.corpus.tokenizers.tokenizers import Tokenizers
from nmt.decoding.engines.interface import Required
from nmt.decoding.glossary import Glossary, Term
from nmt.special_tokens import EOS, PLACEHOLDERS, UNK

# If a larger share of the training lines than this had several sentences, lines are not split into
# sentences.
_MOST_WITH_SEVERAL = 0.05


@dataclass(frozen=True)
class TrainingLines:
    """Facts about the source lines of training.

    longest: length of the longest in pieces; single: whether to translate sentences one by one,
    because nearly all lines were single sentences
    """

    longest: int
    single: bool

    @classmethod
    def of(cls, report: PreparationReport, decoding: DecodingConfig) -> "TrainingLines":
        """Read them from the report of `prepare`; older reports do not count sentences."""
        several = report.get("several_sentences", 0.0)
        single = decoding.split_sentences and several <= _MOST_WITH_SEVERAL
        return cls(report["lengths"]["source"]["longest"], single)


@dataclass(frozen=True)
class Segment:
    """A piece of text to translate as a whole.

    text: normalized; cased: the same before lower-casing; hidden: the words behind its
    placeholders; written: what the translation has in their place; ids: with <eos>; terms: what the
    translation must contain
    """

    text: str
    cased: str
    hidden: list[str]
    written: list[str]
    ids: list[int]
    terms: tuple["RequiredTerm", ...] = ()


@dataclass(frozen=True)
class RequiredTerm:
    """A term of the glossary: one of its forms, as the model writes them, must be written.

    attached: whether no space precedes it in the source, as after a quotation mark
    """

    term: Term
    forms: tuple[str, ...]
    attached: bool


class Segmenter:
    """Splits lines and hides words before a search; restores words and capitals after it.

    seen: facts about training lines; room: maximum length that the model has positions for, without
    <eos>; glossary: the terms whose translations are prescribed
    """

    def __init__(
        self,
        tokenizers: Tokenizers,
        data: DataConfig,
        seen: TrainingLines,
        room: int,
        glossary: Glossary | None = None,
    ):
        self._tokenizers = tokenizers
        self._glossary = glossary
        self._cleaner = Cleaner(data)
        self._data = data
        self._single = seen.single
        self._longest, self._room = min(seen.longest, room), room

    # ------------------------------------------------------------------------------ before a search

    def sentences(self, line: str) -> CutText:
        """Cut a line into parts to translate separately, each with the line's tag."""
        prefix, text = split_prefix(self._data, line)
        found = cut(text, self._data.source_language, self._single)
        return CutText([prefix + sentence for sentence in found.sentences], found.gaps)

    def cut(self, line: str) -> list[Segment]:
        """Return the segments of a sentence, each with its tag; none for a blank one."""
        prefix, text = split_prefix(self._data, line)
        return self._cut(self._cleaner.tidy(text), prefix)

    def _cut(self, text: str, prefix: str) -> list[Segment]:
        if not text:
            return []
        known = self._tokenizers.known
        cased, hidden = known.hide(text) if known else (text, [])
        shown = self._cleaner.source_case(cased)
        ids = self._tokenizers.source.encode(prefix + shown)
        if not ids:  # only marks that SentencePiece uses for spaces
            return []
        if len(ids) > self._longest and len(text) > 1:
            parts = self._divide(text, len(ids))
            if len(parts) > 1:
                return [segment for part in parts for segment in self._cut(part, prefix)]
        # One character, as bytes, may exceed the positions of a very small model.
        terms, written = self._find_terms(text, hidden)
        ids = [*ids[: self._room], EOS]
        return [Segment(prefix + shown, prefix + cased, hidden, written, ids, terms)]

    def _find_terms(
        self, text: str, hidden: list[str]
    ) -> tuple[tuple[RequiredTerm, ...], list[str]]:
        """Return the terms to require, and the hidden words, those that are terms translated."""
        if not self._glossary:
            return (), hidden
        required: dict[Term, RequiredTerm] = {}
        translated: dict[str, str] = {}
        for match in self._glossary.find(text):
            if match.text in hidden:  # its placeholder becomes the translation
                translated[match.text] = match.text if match.term.keep else match.term.targets[0]
            else:
                forms = dict.fromkeys(map(self._cleaner.target, self._glossary.forms(match)))
                attached = match.start > 0 and not text[match.start - 1].isspace()
                required.setdefault(match.term, RequiredTerm(match.term, tuple(forms), attached))
        return tuple(required.values()), [translated.get(word, word) for word in hidden]

    def _divide(self, text: str, pieces: int) -> list[str]:
        """Split between sentences, and within one only if the model has too few positions."""
        sentences = cut(text, self._data.source_language).sentences
        if len(sentences) > 1 or pieces <= self._room:
            return sentences
        return halves(text)

    # ------------------------------------------------------------------------------- after a search

    def restore(self, segment: Segment, text: str) -> str:
        """Restore capitals and hidden words in the translation of a segment."""
        casing = self._tokenizers.casing
        return reveal(casing.restore(text) if casing else text, segment.written)

    def lost(self, segment: Segment, ids: Sequence[int]) -> int:
        """Count the hidden words and terms that a translation lacks, or has within other words."""
        text = self._tokenizers.target.decode(ids)
        return count_lost(text, segment.hidden) + len(self._missing(segment, text))

    def missing_terms(self, segment: Segment, ids: Sequence[int]) -> list[Term]:
        """Return the terms that a translation lacks."""
        return self._missing(segment, self._tokenizers.target.decode(ids)) if segment.terms else []

    def _missing(self, segment: Segment, text: str) -> list[Term]:
        return [
            each.term
            for each in segment.terms
            if not any(re.search(rf"(?<!\w){re.escape(x)}(?!\w)", text) for x in each.forms)
        ]

    def required(self, segments: Sequence[Segment]) -> Required:
        """Return the placeholders and terms that translations must contain, as whole words."""
        needed = [
            [
                *(
                    self._placeholder(segment.text, mark)
                    for mark in PLACEHOLDERS[: len(segment.hidden)]
                ),
                *filter(None, map(self._phrases, segment.terms)),
            ]
            for segment in segments
        ]
        return Required(needed, self._continuing)

    def _phrases(self, required: RequiredTerm) -> list[list[int]]:
        """Return the forms of a term as pieces, without those that have unknown characters."""
        target = self._tokenizers.target
        phrases = target.encode_lines(list(required.forms))
        if required.attached and not target.marks_end:
            mark = target.encode('"')
            quoted = target.encode_lines([f'"{form}' for form in required.forms])
            phrases += [ids[len(mark) :] for ids in quoted if ids[: len(mark)] == mark]
        return [ids for ids in phrases if ids and UNK not in ids]

    def _placeholder(self, text: str, mark: str) -> list[list[int]]:
        """Return a placeholder as phrases: alone, and with the genitive's s if it is a piece."""
        phrase = self._phrase(text, mark)
        return [phrase, *([*phrase, ending] for ending in self._genitive)]

    def _phrase(self, text: str, mark: str) -> list[int]:
        """Return a placeholder as pieces, without a space before it if it has none in this text."""
        target = self._tokenizers.target
        ids = target.encode(mark)
        before = text.partition(mark)[0]
        attached = before and not before.endswith(" ")  # as to a quotation mark
        return ids[-1:] if attached and not target.marks_end else ids

    @cached_property
    def _continuing(self) -> list[int]:
        """The ids of target pieces that continue a word."""
        target = self._tokenizers.target
        if target.marks_end:  # then a phrase ends the word
            return []
        pieces = target.pieces(range(target.size))
        return [i for i, x in enumerate(pieces) if x[:1].isalnum() or x in PLACEHOLDERS]

    @cached_property
    def _genitive(self) -> list[int]:
        """The id of the piece that may follow a copied word directly, if there is one."""
        pieces = self._tokenizers.target.pieces(self._continuing)
        return [i for i, piece in zip(self._continuing, pieces, strict=True) if piece == "s"]
