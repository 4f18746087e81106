"""Inflected forms of terms: English ones to recognize, German ones to choose from.

Rules propose forms. For German, they propose too many, of which only those are kept that the
dictionary of `simplemma` (extra `terms`) knows.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from nmt.errors import missing_extra

_UMLAUTS = {"a": "ä", "o": "ö", "u": "ü", "A": "Ä", "O": "Ö", "U": "Ü"}
_NOUN_ENDINGS = ("e", "en", "n", "s", "es", "er", "ern", "nen", "ses", "se", "sen", "ens")
_ADJECTIVE_ENDINGS = ("e", "en", "er", "es", "em")
_FOREIGN = {"um": ("en", "a"), "us": ("en", "i"), "ma": ("men",), "a": ("en",), "on": ("en", "a")}
_IRREGULAR = {
    **{"child": "children", "man": "men", "woman": "women", "person": "people", "foot": "feet"},
    **{"tooth": "teeth", "mouse": "mice", "goose": "geese", "ox": "oxen"},
}
_SHORTEST_HEAD = 3  # letters of the last part of a compound
_MOST_FORMS = 16


# ---------------------------------------------------------------------------------------- English


def english_forms(word: str, verb: bool) -> list[str]:
    """Return a word in lower case with its plural, or its third person, -ing and -ed forms.

    >>> english_forms("release", verb=True)
    ['release', 'releases', 'releasing', 'released']
    """
    forms = [word, _IRREGULAR.get(word) or _with_s(word)]
    if verb:
        stem = word
        if word.endswith("e") and not word.endswith(("ee", "oe", "ye")):
            stem = word[:-1]
        doubled = stem + stem[-1] if re.search("[^aeiou][aeiou][^aeiouwxy]$", word) else stem
        for each in dict.fromkeys((stem, doubled)):
            past = f"{each[:-1]}ied" if re.search("[^aeiou]y$", each) else f"{each}ed"
            forms += [f"{each}ing", f"{word}d" if word.endswith("e") else past]
    return list(dict.fromkeys(forms))


def _with_s(word: str) -> str:
    if re.search("(?:s|x|z|ch|sh)$", word):
        return f"{word}es"
    return f"{word[:-1]}ies" if re.search("[^aeiou]y$", word) else f"{word}s"


# ----------------------------------------------------------------------------------------- German


def german_forms(term: str) -> list[str]:
    """Return the forms of a noun, an adjective, or a noun with adjectives, first the term itself.

    Raises `UserError` without `simplemma`.

    >>> german_forms("Buch")
    ['Buch', 'Buchs', 'Buches', 'Bücher', 'Büchern']
    """
    *first, head = re.split("([ -])", term)  # words with the separators between them
    heads = _word_forms(head)
    # Adjectives before a noun agree with it: the search chooses forms that do.
    parts = [_word_forms(part) if part.islower() else [part] for part in first]
    forms = ("".join(chosen) for chosen in product(*parts, heads))
    return list(dict.fromkeys([term, *forms]))[:_MOST_FORMS]


def _word_forms(word: str) -> list[str]:
    if len(word) < _SHORTEST_HEAD or not word.isalpha():
        return [word]
    for start in (0, *range(2, len(word) - _SHORTEST_HEAD + 1)):
        # An unknown compound is inflected like the longest known word that it ends in.
        head = word[start:].capitalize() if start and word[0].isupper() else word[start:]
        found = [form for form in _proposals(head) if _is_form(form, head)]
        # The dictionary may take the dative plural for a verb ("Wünschen").
        plurals = [form for form in found if form.endswith("e") and f"{form}n" not in found]
        found += [f"{form}n" for form in plurals if head[0].isupper()]
        if found:
            before = word[:start]
            return [word, *(before + (form.lower() if before else form) for form in found)]
    return [word]


def _is_form(form: str, word: str) -> bool:
    lemma = _german_lemma(form)
    return lemma != form and lemma == _german_lemma(word)  # unknown words are their own lemma


def _proposals(word: str) -> Iterator[str]:
    """Yield what could be forms of a word."""
    if word.islower():
        stems = {word, word.removesuffix("e")}
        stems |= {word[:-2] + word[-1]} if re.search("e[lr]$", word) else set()
        yield from (stem + ending for stem in stems for ending in _ADJECTIVE_ENDINGS)
        return
    stems = {word}
    if found := list(re.finditer("au|[aou]", word, re.IGNORECASE)):
        place = found[-1].start()
        stems.add(f"{word[:place]}{_UMLAUTS[word[place]]}{word[place + 1 :]}")
    for stem in sorted(stems, key=lambda stem: stem != word):
        if stem != word:
            yield stem
        yield from (stem + ending for ending in _NOUN_ENDINGS)
    for ending, plurals in _FOREIGN.items():
        if word.endswith(ending):
            yield from (word.removesuffix(ending) + plural for plural in plurals)


@lru_cache(maxsize=100_000)
def _german_lemma(word: str) -> str:
    try:
        import simplemma
    except ImportError:
        raise missing_extra("inflecting the terms of a glossary", "terms") from None
    lemma: str = simplemma.lemmatize(word, "de")
    return lemma
