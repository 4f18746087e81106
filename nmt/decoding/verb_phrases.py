"""Which form of a German verb an auxiliary demands."""

import re
from collections.abc import Sequence

from nmt.decoding.inflection import SEPARABLE

_PAST = ("e", "est", "en", "et")
_WITH_PARTICIPLES = {
    *("bin", "bist", "ist", "sind", "seid", "war", "warst", "waren", "wart"),
    *("habe", "hast", "hat", "haben", "habt"),
    *(f"{stem}{ending}" for stem in ("hatt", "hätt", "wär", "wurd") for ending in _PAST),
}
_WITH_INFINITIVES = {  # and, in the passive, with participles
    *("werde", "wirst", "wird", "werden", "werdet"),
    *("kann", "kannst", "können", "könnt", "muss", "musst", "müssen", "müsst"),
    *("darf", "darfst", "dürfen", "dürft", "soll", "sollst", "sollen", "sollt"),
    *("will", "willst", "wollen", "wollt", "mag", "magst", "mögen", "lass", "lasse", "lässt"),
    *("lasst", "lassen", "ließ", "ließen"),
    *(
        f"{stem}{ending}"
        for stem in ("würd", "konnt", "könnt", "musst", "müsst", "durft", "dürft", "sollt", "wollt")
        for ending in _PAST
    ),
    *(f"möcht{ending}" for ending in _PAST),
}
_AUXILIARIES = _WITH_PARTICIPLES | _WITH_INFINITIVES
_OTHER_FORMS = {"sein", "gewesen", "worden"}  # not "Sein", a noun
_CLAUSES = re.compile(r"[,;:.!?…]$|^(?:aber|denn|oder|sondern|und)$")
_UNSTRESSED = ("be", "emp", "ent", "er", "ge", "miss", "ver", "zer")  # participles without ge-


def is_auxiliary(word: str) -> bool:
    """Return whether other verbs may stand with this one."""
    return word.lower() in _AUXILIARIES or word in _OTHER_FORMS


def fitting_forms(
    verb: str, forms: Sequence[str], separated: Sequence[str], before: Sequence[str]
) -> list[str]:
    """Return the forms of a verb that may follow the words before it; all if none may.

    separated: those of its finite forms whose particle follows further back

    >>> fitting_forms("absehen", ["absehen", "absieht", "abgesehen"], ["sieht"], ["Ich", "habe"])
    ['abgesehen']
    >>> fitting_forms("absehen", ["absehen", "absieht", "abgesehen"], ["sieht"], ["Er"])
    ['absehen', 'absieht', 'sieht']
    """
    starts = (i + 1 for i in reversed(range(len(before))) if _CLAUSES.search(before[i]))
    clause = {word.lower() for word in before[next(starts, 0) :]}
    particle = max((x for x in SEPARABLE if verb.startswith(x)), key=len, default="")
    # Those with ge-, which are no other form: "geholt", "abgeholt", "gegeben" but not "gehört".
    certain = [
        form
        for form in forms
        if form.startswith(f"{particle}ge")
        and (not verb.removeprefix(particle).startswith("ge") or form.startswith(f"{particle}geg"))
        and form != verb
    ]
    if clause & _WITH_INFINITIVES:
        found = [verb, *_participles(verb, forms, particle, certain)]
        found = [form for form in forms if form in found]
    elif clause & _WITH_PARTICIPLES:
        found = _participles(verb, forms, particle, certain)
    else:
        found = [*(form for form in forms if form not in certain), *separated]
    return found or list(forms)


def _participles(
    verb: str, forms: Sequence[str], particle: str, certain: Sequence[str]
) -> list[str]:
    """Return what may be participles: the certain ones or, without any, "bezahlt", "verloren"."""
    has_prefix = verb.removeprefix(particle).startswith(_UNSTRESSED) or verb.endswith("ieren")
    if certain or not has_prefix:
        return list(certain)
    return [form for form in forms if form != verb and form.endswith(("t", "en"))]
