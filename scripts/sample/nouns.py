"""Nouns in both languages, read from noun_tables.py."""

from __future__ import annotations

from dataclasses import dataclass

from sample import english, german
from sample.german import Case, Gender
from sample.noun_adjectives import CLASS_ADJECTIVES, NOUN_ADJECTIVES, UNSUITED
from sample.noun_tables import TABLES


@dataclass(frozen=True)
class Noun:
    """A noun in both languages."""

    en: str
    en_plural: str
    de: str
    gender: Gender
    de_plural: str
    genitive: str
    weak: bool
    kind: str
    adjectives: tuple[str, ...] = ()

    @property
    def countable(self) -> bool:
        """Whether the noun has a plural."""
        return bool(self.de_plural)

    def german(self, case: Case, plural: bool = False) -> str:
        """The German noun form without article."""
        if plural:
            return german.dative_plural(self.de_plural) if case == "dat" else self.de_plural
        if self.weak and case != "nom":
            return self.de_plural
        return self.genitive if case == "gen" else self.de

    def english(self, plural: bool = False) -> str:
        """The English noun form without article."""
        return self.en_plural if plural else self.en


_GENDERS: dict[str, Gender] = {"der": "m", "die": "f", "das": "n"}


def _adjectives(en: str, kind: str) -> tuple[str, ...]:
    fitting = f"{CLASS_ADJECTIVES.get(kind, '')} {NOUN_ADJECTIVES.get(en, '')}".split()
    unsuited = UNSUITED.get(en, "").split()
    return tuple(dict.fromkeys(word for word in fitting if word not in unsuited))


def parse_noun(line: str, kind: str) -> Noun:
    """Read one entry of a noun table."""
    left, _, right = line.partition(": ")
    en, _, en_plural = left.partition("/")
    singular, plural, genitive = (*right.split(", "), "", "")[:3]
    article, _, noun = singular.partition(" ")
    weak = noun.endswith("*")
    noun = noun.rstrip("*")
    gender = _GENDERS[article]
    return Noun(
        en,
        en_plural or english.plural(en),
        noun,
        gender,
        plural,
        genitive or german.genitive_singular(noun, gender),
        weak,
        kind,
        _adjectives(en, kind),
    )


BY_KIND: dict[str, tuple[Noun, ...]] = {
    kind: tuple(parse_noun(line, kind) for line in table.strip().splitlines())
    for kind, table in TABLES.items()
}
# The German for "wife" and "husband" is that of "woman" and "man", so the key is English.
NOUNS: dict[str, Noun] = {noun.en: noun for group in BY_KIND.values() for noun in group}


def kinds(*names: str) -> tuple[Noun, ...]:
    """All nouns of the given classes."""
    return tuple(noun for name in names for noun in BY_KIND[name])


def some(names: str) -> tuple[Noun, ...]:
    """The nouns named in a comma-separated list of English singulars."""
    return tuple(NOUNS[name.strip()] for name in names.split(","))
