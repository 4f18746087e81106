"""The texts of documents, which are divided into sentences, translated, and joined again."""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from nmt.config.data import DataConfig
from nmt.corpus.text.sentences import SplitText
from nmt.corpus.text.tags import split_tag
from nmt.documents.formatting import (
    Formatted,
    Links,
    Part,
    Span,
    format_by,
    has_letters,
    join_sentences,
    sentences_of,
    words,
)

if TYPE_CHECKING:
    from nmt.decoding.translator import Translation, Translator
    from nmt.reports.inspection import Inspection

_TIE = np.float32(1e-5)  # decides between words of equal weight only


@dataclass(frozen=True)
class FoundText:
    """A translated text."""

    parts: "list[Part]"
    """Its parts with their formats, as `format_words` returns them."""
    sentences: "Sequence[Translation]"
    """The translation of each sentence."""

    @property
    def text(self) -> str:
        """The translation without formats."""
        return "".join(text for text, _ in self.parts)

    @property
    def from_memory(self) -> bool:
        """Whether all of it is from the translation memory."""
        return all(sentence.from_memory for sentence in self.sentences)


class DividedText:
    """A text in sentences; sentences: those to translate, the others have no letters."""

    def __init__(self, formatted: Formatted, cut: SplitText, data: DataConfig):
        self.formatted = formatted
        # Every sentence begins with the text's tag, if it has one.
        self._tag = len(split_tag(data, formatted.text)[0])
        self._all = sentences_of(formatted, cut, self._tag)
        self.sentences = [each for each in self._all if has_letters(each.text)]

    def joined(self, best: "Sequence[Translation]", parts: Sequence[list[Part]]) -> FoundText:
        """Return the translation of the text.

        best: that of each of `sentences`; parts: the same, with formats
        """
        rest = iter(parts)
        found = [next(rest) if has_letters(each.text) else None for each in self._all]
        return FoundText(join_sentences(self.formatted, self._tag, self._all, found), best)


def split(translator: "Translator", text: str) -> SplitText:
    """Split a text into sentences, unless the translation memory has it as a whole."""
    if not translator.remembered(text):
        return translator.split(text)
    start = len(text) - len(text.lstrip())
    return SplitText([text.strip()], [text[:start], text[len(text.rstrip()) :]])


def translate_texts(translator: "Translator", texts: Sequence[Formatted]) -> Iterator[FoundText]:
    """Translate texts one after another; without their hypotheses, to save memory."""
    divided = [DividedText(each, split(translator, each.spaced), translator.data) for each in texts]
    asked = (sentence.text for each in divided for sentence in each.sentences)
    found = translator.stream(asked)
    link = partial(link_words, translator)
    for each in divided:
        best = [next(found)[0] for _ in each.sentences]
        pairs = zip(each.sentences, best, strict=True)
        parts = [format_by(link, *pair, each.formatted) for pair in pairs]
        yield each.joined([replace(one, found=()) for one in best], parts)


def link_words(
    translator: "Translator", sentence: str, translation: "Translation", cuts: Collection[int]
) -> Links | None:
    """Link the words of a sentence and its translation by attention; raises like `inspect`."""
    if translation.from_memory:
        return None
    translator.pytorch  # noqa: B018  # raises an error if PyTorch is missing, which this imports:
    from nmt.reports.inspection import inspect

    return links_in(inspect(translator, sentence, translation, probabilities=False), cuts)


def links_in(found: "Inspection", cuts: Collection[int] = ()) -> Links | None:
    """Link words by attention, except invisible ones; None if tokens do not match the texts.

    cuts: as for `words`, in the source
    """
    spans = found.source_spans
    if spans is None or found.target_spans is None:
        return None
    sources = [word for word in words(found.source, cuts) if _tokens_of(word, spans)]
    targets = words(found.translation)
    columns = [_tokens_of(word, spans) for word in sources]
    rows = [_tokens_of(word, found.target_spans) for word in targets]
    if not columns or not all(rows):
        return None
    average = found.cross.average
    weights = [[average[row][:, column].sum() for column in columns] for row in rows]
    linked = np.array(weights, np.float32).reshape(len(rows), len(columns))
    # The words of a quotation are one token: they are linked by position.
    target_places = [
        _place(word, found.target_spans[row[0]]) for word, row in zip(targets, rows, strict=True)
    ]
    source_places = [
        _place(word, spans[column[0]]) for word, column in zip(sources, columns, strict=True)
    ]
    apart = np.abs(np.subtract.outer(target_places, source_places)).astype(np.float32)
    return Links(sources, targets, linked - _TIE * apart)


def _place(word: Span, token: Span) -> float:
    """Return where in a token a word begins, from 0 to 1."""
    return max(0, word[0] - token[0]) / max(1, token[1] - token[0])


def _tokens_of(word: Span, spans: Sequence[Span]) -> list[int]:
    return [i for i, (start, end) in enumerate(spans) if start < word[1] and word[0] < end]
