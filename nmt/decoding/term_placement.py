"""Where a missing term belongs in a translation: in place of the words aligned with it.

The words are aligned by cross-attention, as in Hasler et al. (2018), "Neural Machine Translation
Decoding with Terminology Constraints".
"""

from collections.abc import Collection, Mapping, Sequence
from typing import NamedTuple

from nmt.decoding.inflection import noun_features
from nmt.decoding.noun_phrases import before_nouns, in_cases_of
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
        self.text = target
        self._source = [word.strip(_AROUND) for word in source.split()]
        self._target = target.split()
        self._pairs, self._nearest = alignment

    def usual_words(self, terms: Collection[str], forms: Sequence[str]) -> list[str]:
        """Return the words that translate a term in other ways; terms: see `place`."""
        places = (i for each in self._occurrences(terms) for i in self._usual_places(each, forms))
        return [self._word(place) for place in dict.fromkeys(places)]

    def place(self, terms: Collection[str], forms: Sequence[str]) -> Place | None:
        """Return where to write a missing term; None if unknown.

        terms: the term as the source writes it, perhaps in different ways. If it occurs several
        times, it is missing where no aligned word is one of its forms.

        If no word is aligned with it, a verb replaces the word that attends to it most, if this is
        no noun, and other terms go in front of what is aligned with the words after them or, if
        there is nothing, next to what attends to them most: after a noun, in front of other words.
        """
        if not self._target:
            return None
        written = self._written(forms)
        occurrences = self._occurrences(terms)
        lacking = [each for each in occurrences if written.keys().isdisjoint(self._aligned(each))]
        # Words may be aligned with other occurrences: then those that come first are written.
        there = len({i - j for i, j in written.items()})  # places where one begins
        missing = max(len(occurrences) - there, 1)
        found = (self._place(each, forms) for each in lacking[-missing:] or occurrences)
        return next(filter(None, found), None)

    def _written(self, forms: Sequence[str]) -> dict[int, int]:
        """Return the numbers of the words that are forms of a term, and their places in a form."""
        words = [self._word(i) for i in range(len(self._target))]
        found = sorted(_places(words, forms), key=len)
        return {number: place for numbers in found for place, number in enumerate(numbers)}

    def _place(self, occurrence: Sequence[int], forms: Sequence[str]) -> Place | None:
        is_noun = forms[0][0].isupper()
        if usual := self._usual_places(occurrence, forms):
            return Place(min(usual) if is_noun else max(usual), True)
        nearest = [self._nearest[i] for i in occurrence]
        if not is_noun and (verbs := [i for i in nearest if _is_alternative(self._word(i), forms)]):
            return Place(max(verbs), True)
        aligned = self._aligned(occurrence)
        if alike := [i for i in aligned if self._word(i)[:1].isupper() == is_noun] or aligned:
            return Place(min(alike), True)
        after = range(occurrence[-1] + 1, len(self._source))
        found = (self._aligned([i]) for i in after)
        following = next((Place(min(each), False) for each in found if each), None)
        if following:
            return following
        last = max(nearest)
        return Place(last + self._word(last)[:1].isupper(), False)

    def beginnings(self, place: Place, forms: Mapping[str, Collection[str]]) -> list[str]:
        """Return the translation up to a place, each time with one of the forms.

        forms: with the features of German nouns, see `noun_phrases`; none: other words. Words
        before such a noun agree with it, and it may get an article if it replaces no word.
        """
        before, word = self._before(place), (self._target[place.word :] or [""])[0]
        if place.is_replaced and (noun := word.strip(_AROUND))[:1].isupper():
            forms = _in_its_cases(forms, before, noun)
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
        before = self._before(place)
        fitting = fitting_forms(verb, forms, separated, before)
        return [" ".join([*before, form if before else form.capitalize()]) for form in fitting]

    def _before(self, place: Place) -> list[str]:
        """Return the words before a place; without the final punctuation if these are all words."""
        before = self._target[: place.word]
        if place.word == len(self._target):
            before[-1] = before[-1].rstrip(_AROUND)
        return before

    def _occurrences(self, terms: Collection[str]) -> list[list[int]]:
        """Return the numbers of the source words of each occurrence of a term.

        Case-sensitive; ignores case if nothing matches.
        """
        lower = [word.lower() for word in self._source]
        return _places(self._source, terms) or _places(lower, {term.lower() for term in terms})

    def _aligned(self, places: Sequence[int]) -> list[int]:
        """Return the numbers of the target words aligned with source words."""
        return [target for source, target in self._pairs if source in places]

    def _usual_places(self, occurrence: Sequence[int], forms: Sequence[str]) -> list[int]:
        aligned = self._aligned(occurrence)
        return [i for i in aligned if _is_alternative(self._word(i), forms)]

    def _word(self, number: int) -> str:
        return self._target[number].strip(_AROUND)


def _places(words: Sequence[str], phrases: Collection[str]) -> list[list[int]]:
    """Return the numbers of the words of each occurrence of a phrase."""
    parts = [phrase.split() for phrase in {*phrases}]
    return sorted(
        list(range(i, i + len(part)))
        for part in parts
        for i in range(len(words) - len(part) + 1)
        if words[i : i + len(part)] == part
    )


def _in_its_cases(
    forms: Mapping[str, Collection[str]], before: Sequence[str], noun: str
) -> Mapping[str, Collection[str]]:
    """Return the forms of a noun, with those of their features whose case a replaced noun has.

    before: the words before the replaced noun. All are returned if none has such a case.
    """
    known = noun_features(noun, noun)
    for replaced in ([feature for feature in known if feature[0] != "p"], known):
        fitting = {
            form: found
            for form, features in forms.items()
            if (found := in_cases_of(before, replaced, features))
        }
        if fitting:
            return fitting
    return forms


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
