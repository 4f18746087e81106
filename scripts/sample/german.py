"""German morphology: articles, adjective endings, noun cases and verb forms."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

Case = Literal["nom", "acc", "dat", "gen"]
Gender = Literal["m", "f", "n", "p"]  # "p" stands for the plural, which has no gender
Person = Literal["ich", "du", "er", "wir", "ihr", "sie"]

CASES: tuple[Case, ...] = ("nom", "acc", "dat", "gen")
COLUMN: dict[str, int] = {"m": 0, "f": 1, "n": 2, "p": 3}

DEFINITE: dict[Case, tuple[str, ...]] = {
    "nom": ("der", "die", "das", "die"),
    "acc": ("den", "die", "das", "die"),
    "dat": ("dem", "der", "dem", "den"),
    "gen": ("des", "der", "des", "der"),
}
# Endings of "ein", "kein" and the possessives.
EIN_ENDINGS: dict[Case, tuple[str, ...]] = {
    "nom": ("", "e", "", "e"),
    "acc": ("en", "e", "", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("es", "er", "es", "er"),
}
# Endings of "dieser", "jeder", "welcher".
DIES_ENDINGS: dict[Case, tuple[str, ...]] = {
    "nom": ("er", "e", "es", "e"),
    "acc": ("en", "e", "es", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("es", "er", "es", "er"),
}
STRONG: dict[Case, tuple[str, ...]] = {
    "nom": ("er", "e", "es", "e"),
    "acc": ("en", "e", "es", "e"),
    "dat": ("em", "er", "em", "en"),
    "gen": ("en", "er", "en", "er"),
}
WEAK: dict[Case, tuple[str, ...]] = {
    "nom": ("e", "e", "e", "en"),
    "acc": ("en", "e", "e", "en"),
    "dat": ("en", "en", "en", "en"),
    "gen": ("en", "en", "en", "en"),
}
MIXED: dict[Case, tuple[str, ...]] = {
    "nom": ("er", "e", "es", "en"),
    "acc": ("en", "e", "es", "en"),
    "dat": ("en", "en", "en", "en"),
    "gen": ("en", "en", "en", "en"),
}

# The stem an adjective takes before an ending, where it is not the adjective itself.
ADJECTIVE_STEMS = {"hoch": "hoh", "teuer": "teur", "dunkel": "dunkl", "sauer": "saur"}

DIES_WORDS = frozenset({"dies", "jed", "welch"})

CONTRACTIONS = {
    "in dem": "im",
    "an dem": "am",
    "zu dem": "zum",
    "zu der": "zur",
    "von dem": "vom",
    "bei dem": "beim",
    "in das": "ins",
    "an das": "ans",
}


def determiner(word: str, case: Case, gender: Gender) -> str:
    """Inflect a determiner: "der", "ein", "kein", a possessive, "dies", "jed" or "welch"."""
    column = COLUMN[gender]
    if word == "der":
        return DEFINITE[case][column]
    if word in DIES_WORDS:
        return word + DIES_ENDINGS[case][column]
    return possessive_stem(word, EIN_ENDINGS[case][column])


def possessive_stem(word: str, ending: str) -> str:
    """Join an "ein" word and its ending ("euer" + "en" gives "euren")."""
    if word == "euer" and ending:
        return "eur" + ending
    return word + ending


def adjective(word: str, det: str, case: Case, gender: Gender) -> str:
    """Inflect an adjective after the determiner `det` ("" for none)."""
    if not det:
        table = STRONG
    elif det == "der" or det in DIES_WORDS:
        table = WEAK
    else:
        table = MIXED
    stem = ADJECTIVE_STEMS.get(word, word)
    ending = table[case][COLUMN[gender]]
    return stem + (ending[1:] if stem.endswith("e") else ending)


def contract(text: str) -> str:
    """Merge a leading preposition and article: "in dem Haus" gives "im Haus"."""
    for long, short in CONTRACTIONS.items():
        if text.startswith(long + " "):
            return short + text[len(long) :]
    return text


def dative_plural(plural: str) -> str:
    """The dative of a plural noun: "Kinder" gives "Kindern"."""
    return plural if plural[-1] in "ns" else plural + "n"


def genitive_singular(noun: str, gender: Gender) -> str:
    """The regular genitive singular: "Haus" gives "Hauses"."""
    if gender == "f":
        return noun
    one_syllable = len(re.findall(r"[aeiouyäöüé]+", noun.lower())) == 1
    if noun[-1] in "sßxz" or (one_syllable and noun[-1] not in "aeiouéhäöür"):
        return noun + "es"
    return noun + "s"


@dataclass(frozen=True)
class Verb:
    """The principal parts of a German verb; `prefix` is the separable part."""

    infinitive: str  # without the separable prefix: "rufen"
    third: str  # "ruft"
    past: str  # "rief"
    participle: str  # with the prefix: "angerufen"
    aux: str = "haben"
    prefix: str = ""

    @property
    def stem(self) -> str:
        """The infinitive without its ending."""
        return self.infinitive[:-2] if self.infinitive.endswith("en") else self.infinitive[:-1]

    @property
    def full_infinitive(self) -> str:
        """The infinitive with the prefix: "anrufen", "spazieren gehen"."""
        return self._joined(self.infinitive)

    @property
    def zu_infinitive(self) -> str:
        """The infinitive with "zu": "anzurufen", "zu lesen"."""
        if self.prefix and not self.prefix.endswith(" "):
            return f"{self.prefix}zu{self.infinitive}"
        return f"{self.prefix}zu {self.infinitive}"

    def _joined(self, form: str) -> str:
        return self.prefix + form

    def present(self, person: Person) -> str:
        """The present form without the prefix."""
        special = PRESENT.get(self.infinitive)
        if special:
            return special[person]
        if person in ("wir", "sie"):
            return self.infinitive
        if person == "ich":
            stem = self.stem
            return (stem[:-2] + "l" if self.infinitive.endswith("eln") else stem) + "e"
        if person == "ihr":
            return self.stem + ("et" if needs_e(self.stem) else "t")
        return self.third if person == "er" else self._second_person()

    def _second_person(self) -> str:
        base = self.third[:-1]
        if base[-1] in "sßzx":
            return base + "t"
        return base + "st"

    def preterite(self, person: Person) -> str:
        """The simple past form without the prefix."""
        if person in ("ich", "er"):
            return self.past
        if person == "du":
            return self.past + ("est" if self.past[-1] in "sßtd" else "st")
        if person == "ihr":
            return self.past + ("et" if self.past[-1] in "td" else "t")
        return self.past + ("n" if self.past.endswith("e") else "en")

    def imperative(self, person: Person) -> str:
        """The imperative without the prefix, for "du", "ihr" or the formal "sie"."""
        if person == "sie":
            return self.infinitive + " Sie"
        if person == "ihr":
            return self.present("ihr")
        if self.infinitive == "sein":
            return "sei"
        changed = self.third[:-1]
        if changed != self.stem and "ä" not in changed and not changed.endswith("e"):
            return changed
        if self.infinitive.endswith("eln"):
            return self.present("ich")
        long = self.stem.endswith(("ier", "ersetz")) or self.infinitive.endswith("ern")
        return self.stem + ("e" if long or needs_e(self.stem) else "")

    def last(self, finite: str) -> str:
        """A finite form at the end of a clause, with the prefix joined to it."""
        return self._joined(finite)


def needs_e(stem: str) -> bool:
    """Whether "-st" and "-t" need a linking "e" after this stem ("arbeitet", "öffnet")."""
    if stem[-1] in "td":
        return True
    return stem[-1] in "nm" and len(stem) > 2 and stem[-2] in "fgtcdk"


_PERSONS: tuple[Person, ...] = ("ich", "du", "er", "wir", "ihr", "sie")


def _forms(row: str) -> dict[Person, str]:
    return dict(zip(_PERSONS, row.split(), strict=True))


PRESENT: dict[str, dict[Person, str]] = {
    "sein": _forms("bin bist ist sind seid sind"),
    "haben": _forms("habe hast hat haben habt haben"),
    "werden": _forms("werde wirst wird werden werdet werden"),
    "wissen": _forms("weiß weißt weiß wissen wisst wissen"),
    "können": _forms("kann kannst kann können könnt können"),
    "müssen": _forms("muss musst muss müssen müsst müssen"),
    "wollen": _forms("will willst will wollen wollt wollen"),
    "dürfen": _forms("darf darfst darf dürfen dürft dürfen"),
    "sollen": _forms("soll sollst soll sollen sollt sollen"),
    "mögen": _forms("mag magst mag mögen mögt mögen"),
    "möchten": _forms("möchte möchtest möchte möchten möchtet möchten"),
    "halten": _forms("halte hältst hält halten haltet halten"),
    "raten": _forms("rate rätst rät raten ratet raten"),
}


def regular(infinitive: str, prefix: str = "", aux: str = "haben") -> Verb:
    """A weak verb with regular forms only."""
    stem = infinitive[:-2] if infinitive.endswith("en") else infinitive[:-1]
    link = "e" if needs_e(stem) else ""
    inseparable = stem.startswith(("be", "ver", "er", "ent", "ge", "zer")) and len(stem) > 5
    ge = "" if stem.endswith("ier") or inseparable else "ge"
    participle = f"{prefix}{ge}{stem}{link}t"
    return Verb(infinitive, f"{stem}{link}t", f"{stem}{link}te", participle, aux, prefix)


SEIN = Verb("sein", "ist", "war", "gewesen", "sein")
HABEN = Verb("haben", "hat", "hatte", "gehabt")
WERDEN = Verb("werden", "wird", "wurde", "geworden", "sein")
AUXILIARIES = {"sein": SEIN, "haben": HABEN}
MODALS = {
    "can": Verb("können", "kann", "konnte", "gekonnt"),
    "could": Verb("können", "kann", "konnte", "gekonnt"),
    "must": Verb("müssen", "muss", "musste", "gemusst"),
    "want": Verb("wollen", "will", "wollte", "gewollt"),
    "may": Verb("dürfen", "darf", "durfte", "gedurft"),
    "should": Verb("sollen", "soll", "sollte", "gesollt"),
    "would like": Verb("möchten", "möchte", "mochte", "gemocht"),
    "will": WERDEN,
}
