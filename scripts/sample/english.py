"""English morphology: plurals, articles and verb forms."""

from __future__ import annotations

from dataclasses import dataclass

from sample.text import listed

VOWELS = "aeiou"
# Words whose first sound is not what their first letter suggests.
CONSONANT_START = ("uni", "use", "one", "eu")
VOWEL_START = ("hour", "honest")

# Short verbs that double their last letter before -ing.
DOUBLING = frozenset(
    listed(
        "swim run get sit put cut shop jog chat forget begin stop plan knit travel set pet hug "
        "drop step win let"
    )
)


def plural(noun: str) -> str:
    """The regular plural of a noun."""
    if noun.endswith(("s", "x", "z", "ch", "sh")):
        return noun + "es"
    if noun.endswith("y") and noun[-2] not in VOWELS:
        return noun[:-1] + "ies"
    return noun + "s"


def a_or_an(text: str) -> str:
    """Put the indefinite article before `text`."""
    word = text.lower()
    vowel = word[0] in VOWELS and not word.startswith(CONSONANT_START)
    return f"an {text}" if vowel or word.startswith(VOWEL_START) else f"a {text}"


def genitive(noun: str) -> str:
    """The possessive form of a noun or name."""
    return noun + ("'" if noun.endswith("s") else "'s")


@dataclass(frozen=True)
class Verb:
    """An English verb with its irregular parts; a phrasal particle follows every form."""

    base: str
    past: str
    participle: str
    particle: str = ""

    def _with_particle(self, form: str) -> str:
        return f"{form} {self.particle}" if self.particle else form

    @property
    def infinitive(self) -> str:
        """The base form with its particle: "get up"."""
        return self._with_particle(self.base)

    @property
    def past_participle(self) -> str:
        """The participle with its particle."""
        return self._with_particle(self.participle)

    @property
    def ing(self) -> str:
        """The -ing form: "getting up"."""
        base = self.base
        if base.endswith("ie"):
            form = base[:-2] + "ying"
        elif base.endswith("e") and not base.endswith(("ee", "oe", "ye")) and base != "be":
            form = base[:-1] + "ing"
        elif base in DOUBLING:
            form = base + base[-1] + "ing"
        else:
            form = base + "ing"
        return self._with_particle(form)

    def present(self, third: bool) -> str:
        """The simple present; `third` asks for the third person singular."""
        if not third:
            return self.infinitive
        special = {"have": "has", "do": "does", "go": "goes", "be": "is"}.get(self.base)
        return self._with_particle(special or plural(self.base))

    @property
    def simple_past(self) -> str:
        """The simple past with its particle."""
        return self._with_particle(self.past)


def regular_past(base: str) -> str:
    """The regular past of a verb: "bake" gives "baked"."""
    if base.endswith("e"):
        return base + "d"
    if base.endswith("y") and base[-2] not in VOWELS:
        return base[:-1] + "ied"
    if base in DOUBLING:
        return base + base[-1] + "ed"
    return base + "ed"
