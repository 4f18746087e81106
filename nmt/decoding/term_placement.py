"""Where a missing term belongs in a translation: in place of the words aligned with it.

The words are aligned by cross-attention, as in Hasler et al. (2018), "Neural Machine Translation
Decoding with Terminology Constraints".
"""

from collections.abc import Sequence
from typing import NamedTuple

from nmt.decoding.noun_phrases import before_nouns

_AROUND = ".,;:!?…()[]„“”\"'"  # around words
_SHORTEST_USUAL = 3  # letters of a word that a term replaces


class Place(NamedTuple):
    """Where to write a term: at a word of the translation, by its number."""

    word: int
    is_replaced: bool
    """Whether the term stands in place of the word, not in front of it."""


class AlignedTranslation:
    """A source and its translation.

    pairs: the numbers of aligned words, of source and target
    """

    def __init__(self, source: str, target: str, pairs: Sequence[tuple[int, int]]):
        self._source = [word.strip(_AROUND).lower() for word in source.split()]
        self._target = target.split()
        self._pairs = pairs

    def usual_words(self, term: str, forms: Sequence[str]) -> list[str]:
        """Return the words that translate a term otherwise than by its forms."""
        return [self._word(place) for place in self._usual_places(term, forms)]

    def place(self, term: str, forms: Sequence[str]) -> Place | None:
        """Return where to write a missing term; None if unknown.

        If no word is aligned with it, this is in front of what is aligned with the words after it.
        """
        aligned = self._aligned(self._places(term))
        alike = [i for i in aligned if self._word(i)[:1].isupper() == forms[0][0].isupper()]
        if places := self._usual_places(term, forms) or alike or aligned:
            return Place(min(places), True)
        after = range(max(self._places(term), default=len(self._source)) + 1, len(self._source))
        found = (self._aligned([i]) for i in after)
        return next((Place(min(places), False) for places in found if places), None)

    def beginnings(self, place: Place, forms: Sequence[str], is_german: bool) -> list[str]:
        """Return the translation up to a place, each time with one of the forms.

        In German, words before a noun may have other endings, too, and there may be an article if
        the noun replaces no word.
        """
        before, word = self._target[: place.word], self._target[place.word]
        marks = word[: len(word) - len(word.lstrip(_AROUND))]  # such as a quotation mark
        opening = marks if place.is_replaced and marks != word else ""
        is_noun = is_german and forms[0][0].isupper()
        starts = before_nouns(before, not place.is_replaced) if is_noun else [" ".join(before)]
        return [f"{start} {opening}{form}".strip() for form in forms for start in starts]

    def _places(self, term: str) -> list[int]:
        """Return the numbers of the source words of a term, as written there."""
        phrase = term.lower().split()
        length = len(phrase)
        starts = (i for i in range(len(self._source)) if self._source[i : i + length] == phrase)
        return sorted({start + i for start in starts for i in range(length)})

    def _aligned(self, places: Sequence[int]) -> list[int]:
        """Return the numbers of the target words aligned with source words."""
        return [target for source, target in self._pairs if source in places]

    def _usual_places(self, term: str, forms: Sequence[str]) -> list[int]:
        return [
            i for i in self._aligned(self._places(term)) if _is_alternative(self._word(i), forms)
        ]

    def _word(self, number: int) -> str:
        return self._target[number].strip(_AROUND)


def _is_alternative(word: str, forms: Sequence[str]) -> bool:
    """Return whether a word may be what the model writes instead of a term.

    It is, like the term, a noun or not, and no word that a form of the term begins with.
    """
    return (
        len(word) >= _SHORTEST_USUAL
        and word[0].isupper() == forms[0][0].isupper()
        and not any(form.lower().startswith(word.lower()) for form in forms)
    )
