"""German words before a noun, whose endings depend on its gender, number and case."""

import re
from collections.abc import Sequence

_CONTRACTED = (
    ("am", "ans", "an der", "an die", "an den"),
    ("im", "ins", "in der", "in die", "in den"),
    ("beim", "bei der", "bei den"),
    ("vom", "von der", "von den"),
    ("zum", "zur", "zu den"),
)
_LIKE_DIESER = ("dies", "jed", "jen", "manch", "solch", "welch")
_LIKE_EIN = ("ein", "kein", "mein", "dein", "sein", "ihr", "Ihr", "unser")
_AFTER_EIN = ("", "e", "er", "es", "en", "em")
_PARADIGMS = (
    ("der", "die", "das", "den", "dem", "des"),
    *(tuple(stem + ending for ending in ("er", "e", "es", "en", "em")) for stem in _LIKE_DIESER),
    *(tuple(stem + ending for ending in _AFTER_EIN) for stem in _LIKE_EIN),
    ("euer", "eure", "eurer", "eures", "euren", "eurem"),
    *_CONTRACTED,
)
_ARTICLES = (*_PARADIGMS[0], *(_LIKE_EIN[0] + ending for ending in _AFTER_EIN))
_DETERMINERS = {form: forms for forms in _PARADIGMS for form in forms}
_ADJECTIVE = re.compile("e[nrs]?$")
_ENDINGS = ("e", "en", "er", "es")  # of an adjective after a determiner


def before_nouns(words: Sequence[str], may_add: bool = False) -> list[str]:
    """Return the words before a noun, then with other forms of the determiner that they end in.

    An adjective between determiner and noun may have other endings, too. Most of the results suit
    no noun: a model has to choose. may_add: also return the words with each article

    >>> before_nouns(["Hier", "ist", "der"])
    ['Hier ist der', 'Hier ist die', 'Hier ist das', 'Hier ist den', 'Hier ist dem', 'Hier ist des']
    >>> len(before_nouns(["im", "neuen"]))
    20
    """
    *before, last = words or [""]
    adjectives = [""]
    if before and not _forms(last) and _ADJECTIVE.search(last):
        stem = _ADJECTIVE.sub("", last)
        adjectives = [f" {stem}{ending}" for ending in _ENDINGS]
        *before, last = before
    phrases = (
        " ".join([*before, form]) + adjective for form in _forms(last) for adjective in adjectives
    )
    added = [" ".join([*words, form]) for form in _ARTICLES] if may_add else []
    return list(dict.fromkeys([" ".join(words), *phrases, *added]))


def _forms(word: str) -> list[str]:
    """Return the forms of a determiner with its capital; none of other words."""
    if word in _DETERMINERS:
        return list(_DETERMINERS[word])
    lower = _DETERMINERS.get(word.lower(), ()) if word.istitle() else ()
    return [form[0].upper() + form[1:] for form in lower]
