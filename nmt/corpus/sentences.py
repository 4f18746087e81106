"""Splits text into sentences and joins their translations, preserving whitespace.

The library sentencex finds sentence boundaries; it knows each language's abbreviations and quotes.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from sentencex import segment

from nmt.corpus.languages import two_letters

_SPACE = re.compile(r"\s")
_SURROGATE = re.compile(r"[\ud800-\udfff]")
_LINE_END = re.compile(r"(?<=\n)")
_MOST_AT_ONCE = 5_000  # characters; sentencex takes quadratic time for unclosed quotation marks


@dataclass(frozen=True)
class CutText:
    """Sentences, and the whitespace around them: `gaps[0]` before the first, and so on."""

    sentences: list[str]
    gaps: list[str]

    def join(self, translations: Sequence[str]) -> str:
        """Return the text with each sentence replaced by its translation."""
        pieces = [self.gaps[0]]
        for translation, gap in zip(translations, self.gaps[1:], strict=True):
            pieces += [translation, gap]
        return "".join(pieces)


def cut(text: str, language: str, between_sentences: bool = True) -> CutText:
    """Cut text at line breaks and between sentences, or at line breaks only.

    language: code of two or three letters; for unknown languages, sentencex applies general rules

    >>> cut("Anna sings.  Ben reads.\\n", "en")
    CutText(sentences=['Anna sings.', 'Ben reads.'], gaps=['', '  ', '\\n'])
    """
    sentences, gaps = [], [""]
    for line in _LINE_END.split(text):
        start = 0
        several = between_sentences and not line.isspace()
        for length in _lengths(line, language) if several else [len(line)]:
            piece = line[start : start + length]
            start += length
            sentence = piece.lstrip()
            gaps[-1] += piece[: len(piece) - len(sentence)]
            if sentence:
                sentences.append(sentence.rstrip())
                gaps.append(sentence[len(sentences[-1]) :])
    return CutText(sentences, gaps)


def has_several(tidied: Sequence[str], language: str) -> list[bool]:
    """Return which lines have several sentences; faster than `cut`, but for tidied lines only."""
    code = two_letters(language)
    return [len(segment(code, line[:_MOST_AT_ONCE])) > 1 for line in tidied]


def _lengths(line: str, language: str) -> list[int]:
    """Return the length of each sentence of a line in characters, including trailing whitespace."""
    # sentencex fails on unusual whitespace and lone surrogates; replacing them one for one
    # preserves lengths.
    plain = _SURROGATE.sub("\ufffd", _SPACE.sub(" ", line))
    lengths: list[int] = []
    start = 0
    while start < len(plain):
        part = plain[start : start + _MOST_AT_ONCE]
        found = [len(sentence) for sentence in segment(two_letters(language), part)]
        if start + len(part) < len(plain):  # the last sentence may continue
            # Cut a longer sentence in the middle, so that its last words are not translated alone.
            half = len(part) // 2
            found = found[:-1] or [part.rfind(" ", 0, half) + 1 or half]
        lengths += found
        start += sum(found)
    return lengths
