"""Cleaning: what the model reads of a sentence, and which training pairs are left out."""

import re
import unicodedata
from dataclasses import dataclass

from nmt.config import DataConfig
from nmt.special_tokens import PLACEHOLDERS

# Control and invisible formatting characters carry no words; they would end up in vocabularies.
_INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff"
    f"{PLACEHOLDERS}]"
)


@dataclass(frozen=True)
class Cleaner:
    """Normalises text as `data.unicode` and `data.lowercase` say, alike in all stages."""

    data: DataConfig

    def source(self, text: str) -> str:
        """Return the source sentence as the model reads it."""
        return self.source_case(self.tidy(text))

    def target(self, text: str) -> str:
        """Return the target sentence as the model learns to write it."""
        return self.target_case(self.tidy(text))

    def tidy(self, text: str) -> str:
        """Return the text in one line of visible, normalised characters; its case is kept."""
        text = _INVISIBLE.sub("", text)
        if not text.isascii():
            if self.data.unicode != "none":
                text = unicodedata.normalize(self.data.unicode, text)
            # A lone surrogate cannot be written as UTF-8; it comes from broken input only.
            text = text.encode("utf-8", "replace").decode("utf-8")
        return " ".join(text.split())

    def source_case(self, tidied: str) -> str:
        """Return tidied text of the source in the case that the model reads."""
        return tidied.lower() if self.data.lowercase in ("source", "both") else tidied

    def target_case(self, tidied: str) -> str:
        """Return tidied text of the target in the case that the model writes."""
        return tidied.lower() if self.data.lowercase == "both" else tidied

    def reason_to_drop(self, source: str, target: str) -> str | None:
        """Return why a cleaned training pair is left out, or None when it stays."""
        source_words, target_words = source.count(" ") + 1, target.count(" ") + 1
        if not source or not target:
            return "empty side"
        if max(source_words, target_words) > self.data.max_words:
            return "too long"
        if max(source_words, target_words) > self.data.max_ratio * min(source_words, target_words):
            return "length ratio"
        return None
