"""Where a missing term belongs in a translation: in place of the words aligned with it.

The words are aligned by cross-attention, as in Hasler et al. (2018), "Neural Machine Translation
Decoding with Terminology Constraints".
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from nmt.decoding.noun_phrases import before_nouns
from nmt.decoding.verb_phrases import fitting_forms, is_auxiliary

_AROUND = ".,;:!?…()[]„“”\"'"  # around words
_SHORTEST_USUAL = 3  # letters of a word that a term replaces


class Place(NamedTuple):
    """Where to write a term: at a word of the translation, by its number."""

    word: int
    is_replaced: bool
    """Whether the term stands in place of the word, not in front of it."""


class Alignment(NamedTuple):
    """Which words of a source and its translation belong together, by their numbers."""

    pairs: Sequence[tuple[int, int]]
    """Of source and target; not every word is in one."""
    nearest: Sequence[int]
    """For each source word, the target word that attends to it most."""


class AlignedTranslation:
    """A source and its translation."""

    def __init__(self, source: str, target: str, alignment: Alignment):
        self._source = [word.strip(_AROUND).lower() for word in source.split()]
        self._target = target.split()
        self._pairs, self._nearest = alignment

    def usual_words(self, term: str, forms: Sequence[str]) -> list[str]:
        """Return the words that translate a term otherwise than by its forms."""
        return [self._word(place) for place in self._usual_places(term, forms)]

    def place(self, term: str, forms: Sequence[str]) -> Place | None:
        """Return where to write a missing term; None if unknown.

        If no word is aligned with it, a verb replaces the word that attends to it most, if this is
        no noun, and other terms go in front of what is aligned with the words after them.
        """
        if not self._target:
            return None
        places, is_noun = self._places(term), forms[0][0].isupper()
        if usual := self._usual_places(term, forms):
            return Place(min(usual) if is_noun else max(usual), True)
        nearest = [self._nearest[i] for i in places]
        if not is_noun and (verbs := [i for i in nearest if _is_alternative(self._word(i), forms)]):
            return Place(max(verbs), True)
        aligned = self._aligned(places)
        if alike := [i for i in aligned if self._word(i)[:1].isupper() == is_noun] or aligned:
            return Place(min(alike), True)
        after = range(max(places, default=len(self._source)) + 1, len(self._source))
        found = (self._aligned([i]) for i in after)
        return next((Place(min(places), False) for places in found if places), None)

    def beginnings(self, place: Place, forms: Mapping[str, Collection[str]]) -> list[str]:
        """Return the translation up to a place, each time with one of the forms.

        forms: with the features of German nouns, see `noun_phrases`; none: other words. Words
        before such a noun agree with it, and it may get an article if it replaces no word.
        """
        before, word = self._target[: place.word], self._target[place.word]
        marks = word[: len(word) - len(word.lstrip(_AROUND))]  # such as a quotation mark
        opening = marks if place.is_replaced and marks != word else ""
        return [
            f"{start} {opening}{form}".strip()
            for form, features in forms.items()
            for start in (
                before_nouns(before, features, may_add=not place.is_replaced)
                if features
                else [" ".join(before)]
            )
        ]

    def verb_beginnings(
        self, place: Place, verb: str, forms: Sequence[str], separated: Sequence[str]
    ) -> list[str]:
        """Return the translation up to a place, each time with a fitting form of a German verb.

        separated: see `fitting_forms`
        """
        before = self._target[: place.word]
        fitting = fitting_forms(verb, forms, separated, before)
        return [" ".join([*before, form if before else form.capitalize()]) for form in fitting]

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
        aligned = self._aligned(self._places(term))
        return [i for i in aligned if _is_alternative(self._word(i), forms)]

    def _word(self, number: int) -> str:
        return self._target[number].strip(_AROUND)


def _is_alternative(word: str, forms: Sequence[str]) -> bool:
    """Return whether a word may be what the model writes instead of a term.

    It is a noun if the term is one, no auxiliary, and no word that a form of the term begins with.
    """
    return (
        len(word) >= _SHORTEST_USUAL
        and word[0].isupper() == forms[0][0].isupper()
        and not is_auxiliary(word)
        and not any(form.lower().startswith(word.lower()) for form in forms)
    )
