"""German words before a noun, whose endings depend on its gender, number and case.

A feature is a gender, or p for the plural, with a case: "fd" is feminine dative.
"""

import re
from collections.abc import Collection, Mapping, Sequence

FEATURES = tuple(gender + case for gender in "mfnp" for case in "nadg")


def _table(*of_genders: str) -> dict[str, str]:
    """Return the form for each feature; a text for each gender: nominative, accusative, …

    0: no ending
    """
    return dict(zip(FEATURES, " ".join(of_genders).split(), strict=True))


def _inflected(stem: str, endings: Mapping[str, str]) -> dict[str, str]:
    return {feature: stem + ending.strip("0") for feature, ending in endings.items()}


def _contracted(dative: str, preposition: str, accusative: str = "") -> dict[str, str]:
    """Return the forms of an article after a preposition, such as "im", "in", "ins"."""
    forms = {"md": dative, "nd": dative, "fd": f"{preposition} der", "pd": f"{preposition} den"}
    if accusative:
        forms |= {"ma": f"{preposition} den", "na": accusative}
        forms |= dict.fromkeys(("fa", "pa"), f"{preposition} die")
    return forms


_DER = _table("der den dem des", "die die der der", "das das dem des", "die die den der")
_LIKE_DIESER = _table("er en em es", "e e er er", "es es em es", "e e en er")
_LIKE_EIN = _table("0 en em es", "e e er er", "0 0 em es", "e e en er")
# The endings of adjectives after them.
_AFTER_DIESER = _table("e en en en", "e e en en", "e e en en", "en en en en")
_AFTER_EIN = _table("er en en en", "e e en en", "es es en en", "en en en en")
_EIN = {
    feature: form for feature, form in _inflected("ein", _LIKE_EIN).items() if feature[0] != "p"
}
_PARADIGMS = (
    (_DER, _AFTER_DIESER),
    (_EIN, _AFTER_EIN),
    *(
        (_inflected(stem, _LIKE_DIESER), _AFTER_DIESER)
        for stem in ("dies", "jed", "jen", "manch", "solch", "welch")
    ),
    *(
        (_inflected(stem, _LIKE_EIN), _AFTER_EIN)
        for stem in ("kein", "mein", "dein", "sein", "ihr", "Ihr", "unser")
    ),
    (_inflected("eur", _LIKE_EIN) | dict.fromkeys(("mn", "nn", "na"), "euer"), _AFTER_EIN),
    (_contracted("am", "an", "ans"), _AFTER_DIESER),
    (_contracted("im", "in", "ins"), _AFTER_DIESER),
    (_contracted("beim", "bei"), _AFTER_DIESER),
    (_contracted("vom", "von"), _AFTER_DIESER),
    (_contracted("zum", "zu") | {"fd": "zur"}, _AFTER_DIESER),
)
_BY_FORM = {form: paradigm for paradigm in reversed(_PARADIGMS) for form in paradigm[0].values()}
_ADJECTIVE = re.compile("e[mnrs]?$")


def before_nouns(
    words: Sequence[str], features: Collection[str] = FEATURES, may_add: bool = False
) -> list[str]:
    """Return what may stand before a noun in place of words that stood before another noun.

    The words may end in a determiner, perhaps with an adjective after it; these get the endings
    that a noun with any of the features needs. Other words remain. may_add: also return the words
    with the articles that suit the noun

    >>> before_nouns(["in", "dem", "neuen"], ["fd", "fa"])
    ['in die neue', 'in der neuen']
    """
    before, last, adjective = _divided(words)
    stem = _ADJECTIVE.sub("", adjective)
    found = []
    if paradigm := _paradigm(last):
        forms, endings = paradigm
        for feature in filter(forms.get, features):
            form = forms[feature]
            chosen = form[0].upper() + form[1:] if last[0].isupper() else form
            adjectives = [stem + endings[feature]] if stem else []
            found.append(" ".join([*before, chosen, *adjectives]))
    # Otherwise "die", for example, may be a relative pronoun.
    if not found or (before[-1:] and before[-1].endswith(",")):
        found.append(" ".join(words))
    if may_add:
        articles = (
            forms[feature] for forms in (_DER, _EIN) for feature in features if feature in forms
        )
        found += [" ".join([*words, article]) for article in articles]
    return list(dict.fromkeys(found))


def in_cases_of(
    words: Sequence[str], noun: Collection[str], features: Collection[str]
) -> list[str]:
    """Return those features whose case a replaced noun may have after these words.

    noun: the features of the replaced noun; none: unknown

    >>> in_cases_of(["in", "dem"], ["nn", "nd", "na"], ["fn", "fd", "fa", "fg"])
    ['fd']
    """
    _, last, adjective = _divided(words)
    cases = {feature[1] for feature in noun}
    if paradigm := _paradigm(last):
        forms, endings = paradigm
        ending = adjective.removeprefix(_ADJECTIVE.sub("", adjective))
        cases = {
            feature[1]
            for feature in noun or FEATURES
            if forms.get(feature, "").lower() == last.lower()
            and (not adjective or endings[feature] == ending)
        }
    return [feature for feature in features if feature[1] in cases]


def _divided(words: Sequence[str]) -> tuple[list[str], str, str]:
    """Return the words before a determiner, the determiner, and the adjective after it or "".

    If there is no determiner, the last word stands in its place.
    """
    *before, last = words or [""]
    if before and not _paradigm(last) and _ADJECTIVE.search(last) and _paradigm(before[-1]):
        return before[:-1], before[-1], last
    return before, last, ""


def _paradigm(word: str) -> tuple[dict[str, str], dict[str, str]] | None:
    return _BY_FORM.get(word) or (_BY_FORM.get(word.lower()) if word.istitle() else None)
