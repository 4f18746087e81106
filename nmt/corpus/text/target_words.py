"""Recognizes words of a translation that the training text lacks.

A small model spells words that it hardly met from subwords, and some of these words exist in no
language. Among the hypotheses of a beam, one without them is often only a little less probable.
"""

from collections.abc import Iterable

from nmt.corpus.text.names import WORD

TARGET_WORDS = "target_words.json"
_SHORTEST = 3  # letters of a component of a compound


class TargetWords:
    """The lower-cased words of the training targets."""

    def __init__(self, words: Iterable[str]):
        self.words = frozenset(words)

    def count_new(self, translation: str, source: str) -> int:
        """Count the words that neither training nor the source has.

        A compound of two known words is known, also with a linking s ("Arbeitsplatz"); so is the
        genitive of a word of the source ("Toms").
        """
        given = {word.lower() for word in WORD.findall(source)}
        given |= {f"{word}s" for word in given}
        written = (word.lower() for word in WORD.findall(translation))
        return sum(word not in given and not self._knows(word) for word in written)

    def _knows(self, word: str) -> bool:
        return word in self.words or any(
            (word[:at] in self.words or word[:at].removesuffix("s") in self.words)
            and word[at:] in self.words
            for at in range(_SHORTEST, len(word) - _SHORTEST + 1)
        )
