"""Detects the language of a text, among those of the server."""

import unicodedata
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass

from nmt.corpus.text.names import WORD
from nmt.corpus.tokenizers.subwords import SPACE
from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.errors import UserError
from nmt.serve.served_run import ServedRun

_MOST_CHARACTERS = 5_000  # read to detect a text's language


@dataclass(frozen=True)
class Detected:
    """A candidate language."""

    language: str
    confidence: float
    """Percentage of the text's words that are known in the language."""


class Detector:
    """Detects languages by the words of the runs' validation and test sentences.

    Imported runs have none; the words in their vocabularies count instead.
    """

    def __init__(self, runs: Iterable[ServedRun]):
        self._words: dict[str, set[str]] = {}
        for run in runs:
            source = self._words.setdefault(run.source, set())
            target = self._words.setdefault(run.target, set())
            if run.folder.config.data.source == "imported":
                source.update(_known_words(run.translator.tokenizers.source))
                target.update(_known_words(run.translator.tokenizers.target))
            for split in ("validation", "test"):
                with suppress(UserError):  # a run can translate without its held-out sentences
                    for example in run.folder.examples(split):
                        source.update(_words(example.source))
                        target.update(_words(example.reference))

    def detect(self, text: str, among: Iterable[str] | None = None) -> list[Detected]:
        """Return the languages, or those in `among`, most likely first."""
        words = _words(text[:_MOST_CHARACTERS])
        found = [
            Detected(
                language,
                round(100 * sum(word in known for word in words) / max(1, len(words)), 1),
            )
            for language, known in self._words.items()
            if among is None or language in among
        ]
        return sorted(found, key=lambda each: -each.confidence)


def _known_words(tokenizer: Tokenizer) -> list[str]:
    """Return the words that are a token of this side; a joint vocabulary has those of both."""
    tokens = tokenizer.tokens(range(tokenizer.size))
    words = [token[1:] for token in tokens if token[:1] == SPACE and WORD.fullmatch(token[1:])]
    found = tokenizer.encode_lines(words)
    return [word.lower() for word, ids in zip(words, found, strict=True) if len(ids) == 1]


def _words(text: str) -> list[str]:
    """Return the words in lower case, with composed letters."""
    return WORD.findall(unicodedata.normalize("NFC", text).lower())
