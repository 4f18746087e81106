"""Inflected forms of terms: English ones to recognize, German ones to choose from.

The forms of German nouns are those of a table, if it is installed. Otherwise, and for adjectives,
rules propose too many, of which only those are kept that the dictionary of `simplemma` (extra
`terms`) knows. The forms of German verbs are looked for in the training text.
"""

import re
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

from nmt.decoding.noun_table import NounTable, Number, noun_table
from nmt.errors import missing_extra

_UMLAUTS = {"a": "ä", "o": "ö", "u": "ü", "A": "Ä", "O": "Ö", "U": "Ü"}
_NOUN_ENDINGS = ("e", "en", "n", "s", "es", "er", "ern", "nen", "ses", "se", "sen", "ens")
_ADJECTIVE_ENDINGS = ("e", "en", "er", "es", "em")
_FOREIGN = {"um": ("en", "a"), "us": ("en", "i"), "ma": ("men",), "a": ("en",), "on": ("en", "a")}
# Masculine nouns with this ending, as in "Kunden" and "Präsidenten", in all cases but one.
_WEAK = re.compile(
    "(?:[ae]nt|ist|at|[nl]oge|soph|nom|graf|affe|bär|bote|experte|gedanke|hase|held|herr|junge|"
    "kollege|kunde|löwe|mensch|nachbar|name|neffe|prinz|stabe|wille|zeuge)$",
    re.IGNORECASE,
)
_UNCHANGED = re.compile("(?:er|el|en|chen|lein)$")  # nouns whose plural often equals the singular
_IRREGULAR = {
    **{"child": "children", "man": "men", "woman": "women", "person": "people", "foot": "feet"},
    **{"tooth": "teeth", "mouse": "mice", "goose": "geese", "ox": "oxen"},
    **{f"{x}f": f"{x}ves" for x in ("cal", "hal", "lea", "loa", "shel", "thie", "wol")},
    **{f"{x}fe": f"{x}ves" for x in ("kni", "li", "wi")},
    **{f"{x}o": f"{x}oes" for x in ("ech", "her", "potat", "tomat")},
    **{f"{x}is": f"{x}es" for x in ("analys", "bas", "cris", "hypothes", "thes")},
}
# What German verbs such as "abholen" begin with, and separate from their finite forms: "holt … ab".
# Without "über" and "unter", which rarely do.
SEPARABLE = (
    *("ab", "an", "auf", "aus", "bei", "da", "dar", "durch", "ein", "entgegen", "fern", "fest"),
    *("fort", "frei", "her", "heran", "heraus", "herein", "herunter", "hervor", "hin", "hinaus"),
    *("hinein", "hinzu", "hoch", "los", "mit", "nach", "nieder", "statt", "teil", "um"),
    *("vor", "voran", "voraus", "vorbei", "weg", "weiter", "wieder", "zu", "zurecht"),
    *("zurück", "zusammen"),
)
_SHORTEST_HEAD = 3  # letters of the last part of a compound
_MOST_FORMS = 16
_MOST_TEXTS = 4  # whose words are kept by their lemmas


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


def english_number(word: str, lemma: str) -> Number | None:
    """Return the number of a noun in a text; None if it is not one of the lemma's two forms.

    >>> english_number("bills", "bill")
    'plural'
    """
    if word == lemma:
        is_plural = word in _IRREGULAR.values() or re.search("[^isu]s$", word)  # as in a glossary
        return None if is_plural else "singular"
    return "plural" if word == english_forms(lemma, verb=False)[1] else None


@lru_cache(maxsize=100_000)
def english_lemma(word: str) -> str:
    """Return the base form of a word, such as "write" of "wrote"; the word if it is unknown.

    Without `simplemma`, no word is known.
    """
    try:
        import simplemma
    except ImportError:
        return word
    lemma: str = simplemma.lemmatize(word, "en")
    return lemma


def _with_s(word: str) -> str:
    if re.search("(?:s|x|z|ch|sh)$", word):
        return f"{word}es"
    return f"{word[:-1]}ies" if re.search("[^aeiou]y$", word) else f"{word}s"


# ----------------------------------------------------------------------------------------- German


def german_forms(
    term: str, number: Number | None = None, words: frozenset[str] = frozenset()
) -> list[str]:
    """Return the forms of a noun, an adjective, a verb, or a noun with adjectives.

    number: of a noun; None: both, first the term itself; words: of a text, in lower case, from
    which the forms of verbs are taken. Raises `UserError` without `simplemma`.

    >>> german_forms("Buch", "plural")
    ['Bücher', 'Büchern']
    >>> german_forms("freigeben", words=frozenset({"gegeben", "freigegeben", "freigibt"}))
    ['freigeben', 'freigegeben', 'freigibt']
    """
    *first, head = re.split("([ -])", term)  # words with the separators between them
    is_noun = head[:1].isupper()
    heads = _noun_forms(head, number) if is_noun else _other_forms(head, words)
    # Adjectives before a noun agree with it: the search chooses forms that do.
    parts = [_word_forms(part) if is_noun and part.islower() else [part] for part in first]
    forms = ("".join(chosen) for chosen in product(*parts, heads))
    return list(dict.fromkeys([*([] if number else [term]), *forms]))[:_MOST_FORMS]


def _other_forms(word: str, words: frozenset[str]) -> list[str]:
    """Return the forms of an adjective or, of what may be a verb, those among the words."""
    if not word.endswith("n"):  # as infinitives do
        return _word_forms(word)
    of_verb = _by_lemma(words).get(_german_lemma(word), [])
    of_adjective = [form for form in _proposals(word) if _is_form(form, word)]  # as of "offen"
    return list(dict.fromkeys([word, *of_verb, *of_adjective]))


def separated_forms(verb: str, words: frozenset[str]) -> list[tuple[str, str]]:
    """Return the forms of a separable verb without its particle, each with it.

    words: see `german_forms`

    >>> separated_forms("freigeben", frozenset({"gibt", "gab", "freigibt"}))
    [('gab', 'frei'), ('gibt', 'frei')]
    """
    return [
        (form, particle)
        for particle in SEPARABLE
        if verb.startswith(particle) and verb.endswith("n")
        for form in _by_lemma(words).get(verb.removeprefix(particle), [])
    ]


@lru_cache(_MOST_TEXTS)
def _by_lemma(words: frozenset[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {}
    for word in sorted(words):
        found.setdefault(_german_lemma(word), []).append(word)
    return found


def _noun_forms(noun: str, number: Number | None) -> list[str]:
    if (table := noun_table()) and (found := _tabulated(table, noun, number)):
        return found
    forms = _word_forms(noun)
    if not number:
        return forms
    plurals = _plurals(noun, forms)
    if number == "plural":
        return plurals
    return [x for x in forms if x == noun or x not in plurals or _is_weak(noun, x)]


def _tabulated(table: NounTable, noun: str, number: Number | None) -> list[str]:
    """Return the forms in the table, of which one number may be missing; [] for an unknown noun.

    Without the old dative in -e, as in "dem Fahrzeuge", if it is written like the plural.
    """
    for before, head in _heads(noun):
        lemma = head if head in table else _german_lemma(head)  # it may be given in the plural
        if forms := table.forms(lemma, number) or table.forms(lemma):
            if number == "singular" and f"{lemma}e" in table.forms(lemma, "plural"):
                forms = [form for form in forms if form != f"{lemma}e"]
            return [before + (form.lower() if before else form) for form in forms]
    return []


def noun_features(noun: str, form: str) -> list[str]:
    """Return the genders, numbers and cases that a form of a noun may have; none if unknown.

    They are written as in `noun_phrases`; noun and form may have adjectives before them.
    """
    if not (table := noun_table()):
        return []
    noun, form = noun.split(" ")[-1], form.split(" ")[-1]
    for before, head in _heads(noun):
        lemma = head if head in table else _german_lemma(head)
        last = form[len(before) :]
        if found := table.features(lemma, last.capitalize() if before else last):
            return found
    return []


def _heads(word: str) -> Iterator[tuple[str, str]]:
    """Yield the word, then what may be the last part of a compound, longest first, with the rest.

    >>> list(_heads("Neujahr"))
    [('', 'Neujahr'), ('Ne', 'Ujahr'), ('Neu', 'Jahr'), ('Neuj', 'Ahr')]
    """
    if len(word) < _SHORTEST_HEAD or not word.isalpha():
        return
    yield "", word
    for start in range(2, len(word) - _SHORTEST_HEAD + 1):
        yield word[:start], word[start:].capitalize() if word[0].isupper() else word[start:]


def _plurals(noun: str, forms: list[str]) -> list[str]:
    """Return the plural forms, at least one, the nominative first."""
    genitives = [noun + ending for ending in ("s", "es", "ses", "ns", "ens")]
    others = [form for form in forms if form not in (noun, *genitives)]
    others.sort(key=lambda form: not form.startswith(f"{noun}er"))  # "Bilder" before "Bilde"
    if not noun.lower().endswith("ort"):  # "Orte" and "Örter", "Worte" and "Wörter"
        # "Häuser" is the plural, so "Hause" is an old dative.
        others = [form for form in others if not form.startswith(noun)] or others
    if set(others) <= {f"{noun}n"} and _UNCHANGED.search(noun) and f"{noun}s" in forms:
        return [noun, *others]
    return others or [form for form in genitives if form in forms][:1] or [noun]


def _is_weak(noun: str, form: str) -> bool:
    return form in (f"{noun}n", f"{noun}en") and _WEAK.search(noun) is not None


def _word_forms(word: str) -> list[str]:
    for before, head in _heads(word):
        # An unknown compound is inflected like the longest known word that it ends in.
        found = [form for form in _proposals(head) if _is_form(form, head)]
        # The dictionary may take the dative plural for a verb ("Wünschen").
        plurals = [form for form in found if form.endswith("e") and f"{form}n" not in found]
        found += [f"{form}n" for form in plurals if head[0].isupper()]
        if found:
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
