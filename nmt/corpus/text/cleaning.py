"""Cleaning: normalizes text for the model, and decides which training pairs to drop."""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nmt.config.data import DataConfig
from nmt.corpus.text.filters import Filter, apply_filters, make_filters
from nmt.corpus.text.normalization import is_right_to_left, normalize, tidy
from nmt.corpus.text.punctuation import plain, strip_punctuation

_MOST_CHARACTERS_A_WORD = 50  # on average


def as_lines(texts: Sequence[str]) -> str:
    """Return texts as lines; a line feed within a text becomes a space."""
    block = "\n".join(texts)
    if block.count("\n") >= len(texts):  # some texts contain line feeds
        block = "\n".join(text.replace("\n", " ") for text in texts)
    return block


@dataclass(frozen=True)
class Cleaner:
    """Normalizes text as the data section says, identically in all stages."""

    data: DataConfig

    @cached_property
    def filters(self) -> dict[str, Filter]:
        """The enabled filters, keyed by the reason for dropping a pair."""
        return make_filters(self.data)

    @cached_property
    def _keep_bidi(self) -> bool:
        return any(map(is_right_to_left, self.data.languages))

    def source(self, text: str) -> str:
        """Return the source sentence as the model reads it."""
        return self.source_form(self.tidy(text))

    def target(self, text: str) -> str:
        """Return the target sentence as the model learns to write it."""
        return self.target_form(self.tidy(text))

    def sources(self, texts: Sequence[str]) -> list[str]:
        """Apply `source` to many texts at once, which is faster."""
        return self.source_form(self.tidy_lines(as_lines(texts))).split("\n")

    def targets(self, texts: Sequence[str]) -> list[str]:
        """Apply `target` to many texts at once, which is faster."""
        return self.target_form(self.tidy_lines(as_lines(texts))).split("\n")

    def composed(self, reference: str) -> str:
        """Return a reference with composed letters (NFC), as the model writes them.

        Some programs write ü as u and a diaeresis, which would never match in a score.
        """
        return reference if self.data.unicode == "none" else unicodedata.normalize("NFC", reference)

    def tidy(self, text: str) -> str:
        """Return the text as one line of visible, normalized characters; keep its case."""
        text = tidy(text, self.data.unicode, self._keep_bidi)
        return plain(text) if self.data.plain_punctuation else text

    def tidy_lines(self, block: str) -> str:
        """Apply `tidy` to many texts at once, which is faster; block: see `as_lines`.

        Normalization leaves line feeds alone, so all lines are processed in one go.
        """
        block = normalize(block, self.data.unicode, self._keep_bidi)
        lines = (plain(block) if self.data.plain_punctuation else block).split("\n")
        return "\n".join([" ".join(line.split()) for line in lines])

    def source_form(self, tidied: str) -> str:
        """Return tidied source text in the case and with the punctuation that the model reads."""
        text = self._stripped(tidied)
        return text.lower() if self.data.lowercase in ("source", "both") else text

    def target_form(self, tidied: str) -> str:
        """Return tidied target text in the case and with the punctuation that the model writes."""
        text = self._stripped(tidied)
        return text.lower() if self.data.lowercase == "both" else text

    def _stripped(self, tidied: str) -> str:
        return strip_punctuation(tidied) if self.data.strip_punctuation else tidied

    def reasons_to_drop(self, sources: Sequence[str], targets: Sequence[str]) -> NDArray[np.str_]:
        """Return why each cleaned training pair is dropped, or "" if it is kept; shape (pairs,)."""
        stripped: list[Sequence[str]] = [sources, targets]
        if self.data.strip_punctuation:
            stripped = [list(map(strip_punctuation, lines)) for lines in stripped]
        words = np.array([[line.count(" ") + 1 for line in lines] for lines in (sources, targets)])
        fewer, more = words.min(axis=0), words.max(axis=0)
        # Text without spaces, such as base64, would count as one word.
        characters = np.array([list(map(len, lines)) for lines in (sources, targets)]).max(axis=0)
        most_characters = _MOST_CHARACTERS_A_WORD * self.data.max_words
        reasons = {  # the first that applies is reported
            "empty side": np.array([not (s and t) for s, t in zip(*stripped, strict=True)]),
            "too long": (more > self.data.max_words) | (characters > most_characters),
            "length ratio": more > self.data.max_ratio * fewer,
        }
        found = np.select(list(reasons.values()), list(reasons), "")
        return apply_filters(self.filters, sources, targets, found)
