"""From a line of text to the segments that a model can translate at once, and back.

A line longer than any training sentence is cut, since a model translates lengths badly that it has
never seen. Words that training never saw are hidden behind placeholders, and put back afterwards.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nmt.config import DataConfig
from nmt.corpus.cleaning import Cleaner
from nmt.corpus.placeholders import reveal
from nmt.corpus.tags import split_prefix
from nmt.corpus.tokenizers import Tokenizers
from nmt.special_tokens import EOS, PLACEHOLDERS

# Between sentences, but not after a title or an initial.
_SENTENCE_END = re.compile(
    r"(?<=[.!?…])(?<!\b[Mm]r\.)(?<!\b[Mm]rs\.)(?<!\b[DdSs][rt]\.)(?<!\b\w\.) "
)


@dataclass(frozen=True)
class Segment:
    """What is translated at once.

    text: as the model reads it; hidden: the words behind its placeholders; ids: with <eos>
    """

    text: str
    hidden: list[str]
    ids: list[int]


class Segmenter:
    """Cuts lines and hides words before a search; puts words and capitals back after it.

    longest: pieces of the longest segment where a line can be cut between sentences;
    room: pieces of the longest that the model has positions for, without <eos>
    """

    def __init__(self, tokenizers: Tokenizers, data: DataConfig, longest: int, room: int):
        self._tokenizers = tokenizers
        self._cleaner = Cleaner(data)
        self._longest, self._room = min(longest, room), room

    # ------------------------------------------------------------------------------ before a search

    def cut(self, line: str) -> list[Segment]:
        """Return a line's segments, each with the line's tag; none for a line without text."""
        prefix, text = split_prefix(line)
        return self._cut(self._cleaner.tidy(text), prefix)

    def _cut(self, text: str, prefix: str) -> list[Segment]:
        if not text:
            return []
        shown, hidden = self._as_read(text)
        ids = self._tokenizers.source.encode(prefix + shown)
        if not ids:  # nothing but marks that the subwords use for spaces
            return []
        if len(ids) > self._longest and len(text) > 1:
            parts = self._divide(text, len(ids))
            if len(parts) > 1:
                return [segment for part in parts for segment in self._cut(part, prefix)]
        # One character spelled in bytes can outnumber the positions of a very small model.
        return [Segment(prefix + shown, hidden, [*ids[: self._room], EOS])]

    def _as_read(self, text: str) -> tuple[str, list[str]]:
        """Return tidied text as the model reads it, and the words behind its placeholders."""
        known = self._tokenizers.known
        shown, hidden = known.hide(text) if known else (text, [])
        return self._cleaner.source_case(shown), hidden

    def _divide(self, text: str, pieces: int) -> list[str]:
        """Divide between sentences; within one only where the model's positions end."""
        sentences = _SENTENCE_END.split(text)
        if len(sentences) > 1 or pieces <= self._room:
            return sentences
        words = text.split(" ")
        packed = self._pack(words)
        if len(packed) > 1:
            return packed
        if len(words) > 1:  # names, of which only so many can be hidden at once
            middle = len(words) // 2
            return [" ".join(words[:middle]), " ".join(words[middle:])]
        return [text[: len(text) // 2], text[len(text) // 2 :]]

    def _pack(self, words: list[str]) -> list[str]:
        """Join neighbouring words as long as the model's positions hold them."""
        as_read = [self._as_read(word)[0] for word in words]
        lengths = [len(ids) for ids in self._tokenizers.source.encode_lines(as_read)]
        packed: list[str] = []
        used = self._room + 1
        for word, length in zip(words, lengths, strict=True):
            if used + length <= self._room:
                packed[-1] += " " + word
                used += length
            else:
                packed.append(word)
                used = length
        return packed

    # ------------------------------------------------------------------------------- after a search

    def restore(self, segment: Segment, text: str) -> str:
        """Put the capitals and the hidden words into a segment's translation."""
        casing = self._tokenizers.casing
        return reveal(casing.restore(text) if casing else text, segment.hidden)

    def lost(self, segment: Segment, ids: Sequence[int]) -> int:
        """Count the hidden words whose placeholders a translation does not hold."""
        text = self._tokenizers.target.decode(ids)
        return sum(mark not in text for mark in PLACEHOLDERS[: len(segment.hidden)])

    def required(self, segment: Segment) -> list[int]:
        """Return the ids of the placeholders that a translation has to hold."""
        target = self._tokenizers.target
        ids = target.encode(" ".join(PLACEHOLDERS[: len(segment.hidden)]))
        return [
            i for i, piece in zip(ids, target.pieces(ids), strict=True) if piece in PLACEHOLDERS
        ]
