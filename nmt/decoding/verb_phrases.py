"""Which form of a German verb an auxiliary demands."""

import re
from collections.abc import Sequence

from nmt.decoding.inflection import SEPARABLE

_WITH_PARTICIPLES = {
    *("bin", "bist", "ist", "sind", "seid", "war", "warst", "waren", "wart", "wäre", "wären"),
    *("habe", "hast", "hat", "haben", "habt", "hatte", "hattest", "hatten", "hattet"),
    *("hätte", "hättest", "hätten", "wurde", "wurdest", "wurden", "wurdet"),
}
_WITH_INFINITIVES = {  # and, in the passive, with participles
    *("werde", "wirst", "wird", "werden", "werdet", "würde", "würdest", "würden", "würdet"),
    *("kann", "kannst", "können", "könnt", "konnte", "konnten", "könnte", "könntest", "könnten"),
    *("muss", "musst", "müssen", "müsst", "musste", "mussten", "darf", "darfst", "dürfen"),
    *("soll", "sollst", "sollen", "sollt", "sollte", "solltest", "sollten", "möchte", "möchten"),
    *("will", "willst", "wollen", "wollt", "wollte", "wollten", "möchtest", "lass", "lässt"),
}
_AUXILIARIES = _WITH_PARTICIPLES | _WITH_INFINITIVES
_CLAUSES = re.compile(r"[,;:.!?…]$|^(?:aber|denn|oder|sondern|und)$")
_UNSTRESSED = ("be", "emp", "ent", "er", "miss", "ver", "zer")  # participles without ge-


def is_auxiliary(word: str) -> bool:
    """Return whether other verbs may stand with this one."""
    return word.lower() in _AUXILIARIES or word in ("sein", "gewesen", "worden")


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
    participles = [form for form in forms if _is_participle(form, verb)]
    if clause & _WITH_INFINITIVES:
        found = [form for form in forms if form in participles or form == verb]
    elif clause & _WITH_PARTICIPLES:
        found = participles
    else:
        found = [*(form for form in forms if form not in participles), *separated]
    return found or list(forms)


def _is_participle(form: str, verb: str) -> bool:
    if form == verb or not form.endswith(("t", "en")):
        return False
    particle = max((x for x in SEPARABLE if verb.startswith(x)), key=len, default="")
    if verb.removeprefix(particle).startswith(_UNSTRESSED) or verb.endswith("ieren"):
        return True
    return form.startswith((f"{particle}ge", "ge"))
