"""Splits lines into segments that a model can translate, and joins their translations.

Models generalize badly to unfamiliar input. So a line is split into sentences if training had one
per line, or if the line is longer than any in training. A sentence is split only if the model has
too few positions for it. Words that did not occur in training are replaced with placeholders and
filled in afterwards.
"""

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
from nmt.special_tokens import EOS, PLACEHOLDERS

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
    placeholders; ids: with <eos>
    """

    text: str
    cased: str
    hidden: list[str]
    ids: list[int]


class Segmenter:
    """Splits lines and hides words before a search; restores words and capitals after it.

    seen: facts about training lines; room: maximum length that the model has positions for, without
    <eos>
    """

    def __init__(self, tokenizers: Tokenizers, data: DataConfig, seen: TrainingLines, room: int):
        self._tokenizers = tokenizers
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
        return [Segment(prefix + shown, prefix + cased, hidden, [*ids[: self._room], EOS])]

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
        return reveal(casing.restore(text) if casing else text, segment.hidden)

    def lost(self, segment: Segment, ids: Sequence[int]) -> int:
        """Count the hidden words that a translation lacks, or has only as parts of other words."""
        return count_lost(self._tokenizers.target.decode(ids), segment.hidden)

    def required(self, segments: Sequence[Segment]) -> Required:
        """Return the placeholders that translations must contain, as words of their own."""
        needed = [
            [self._phrase(segment.text, mark) for mark in PLACEHOLDERS[: len(segment.hidden)]]
            for segment in segments
        ]
        return Required(needed, self._inside_words)

    def _phrase(self, text: str, mark: str) -> list[int]:
        """Return a placeholder as pieces, without a space before it if it has none in this text."""
        target = self._tokenizers.target
        ids = target.encode(mark)
        before = text.partition(mark)[0]
        attached = before and not before.endswith(" ")  # as to a quotation mark
        return ids[-1:] if attached and not target.marks_end else ids

    @cached_property
    def _inside_words(self) -> list[int]:
        """The ids of target pieces that would continue a copied word, other than a genitive's s."""
        target = self._tokenizers.target
        if target.marks_end:  # then the placeholder's phrase ends the word
            return []
        pieces = target.pieces(range(target.size))
        continuing = (i for i, x in enumerate(pieces) if x[:1].isalnum() or x in PLACEHOLDERS)
        return [i for i in continuing if pieces[i] != "s"]
