"""Splits text into sentences and joins their translations, preserving whitespace.

The library sentencex finds sentence boundaries; it knows each language's abbreviations and quotes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from sentencex import segment

from nmt.config.languages import two_letters
from nmt.corpus.text.normalization import MOST_AT_ONCE, missing_space, sentence_lengths

_LINE_END = re.compile(r"(?<=\n)")


@dataclass(frozen=True)
class SplitText:
    """Sentences, and the whitespace around them: `gaps[0]` before the first, and so on."""

    sentences: list[str]
    gaps: list[str]

    def join(self, translations: Sequence[str]) -> str:
        """Return the text with each sentence replaced by its translation."""
        pieces = [self.gaps[0]]
        for translation, gap in zip(translations, self.gaps[1:], strict=True):
            pieces += [translation, gap]
        return "".join(pieces)


def split_sentences(text: str, language: str, between_sentences: bool = True) -> SplitText:
    """Cut text at line breaks, between sentences and at tabs, or at line breaks only.

    Between sentences, a missing space is added.

    language: code of two or three letters; for unknown languages, sentencex applies general rules

    >>> split_sentences("Anna sings.  Ben reads.\\n", "en")
    SplitText(sentences=['Anna sings.', 'Ben reads.'], gaps=['', '  ', '\\n'])
    """
    sentences: list[str] = []
    gaps = [""]
    segment_ = partial(segment, two_letters(language))
    for line in _LINE_END.split(text):
        start = 0
        several = between_sentences and not line.isspace()
        for length in sentence_lengths(line, segment_) if several else [len(line)]:
            piece = line[start : start + length]
            start += length
            sentence = piece.lstrip()
            gaps[-1] += piece[: len(piece) - len(sentence)]
            if sentence:
                if sentences and start > length and not gaps[-1]:
                    gaps[-1] = missing_space(sentences[-1], sentence)
                sentences.append(sentence.rstrip())
                gaps.append(sentence[len(sentences[-1]) :])
    return SplitText(sentences, gaps)


def has_several(tidied: Sequence[str], language: str) -> list[bool]:
    """Return which tidied lines have several sentences; faster than `split_sentences`."""
    code = two_letters(language)
    return [len(segment(code, line[:MOST_AT_ONCE])) > 1 for line in tidied]
