"""The random choices that sentence frames draw from, and the registry of frames."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from sample import nouns
from sample.adjectives import ADJECTIVES, Adjective
from sample.clause import Nominal, both, name_genitive, phrase, pronoun, proper
from sample.german import Case
from sample.names import SURNAMES
from sample.nouns import NOUNS, Noun
from sample.objects import OBJECTS, USES
from sample.text import listed
from sample.verbs import ACTIVITIES, Activity

T = TypeVar("T")
Wanted = Callable[[str], bool]  # whether an (English) adjective fits

SURNAME_LIST = tuple(SURNAMES.split())
MY_KIN = tuple(listed("brother sister mother father son daughter aunt uncle grandmother"))
NO_GENITIVE_ENDINGS = ("s", "x", "z", "ß", "ce", "sh", "ch")
ROLES = nouns.some(
    "teacher, doctor, neighbour, baker, farmer, waiter, student, policeman, gardener, mechanic, "
    "driver, man, woman, boy"
)


@dataclass(frozen=True)
class Draft:
    """A sentence pair and the combinations of words in it."""

    en: str
    de: str
    combos: tuple[str, ...]
    frame: str = ""


@dataclass(frozen=True)
class Thing:
    """A noun phrase, the noun it is made of and the word combinations in it."""

    nominal: Nominal
    noun: Noun
    combos: tuple[str, ...] = ()

    @property
    def en(self) -> str:
        """The English phrase."""
        return self.nominal.en

    def de(self, case: Case = "acc") -> str:
        """The German phrase, in the accusative by default."""
        return self.nominal.de(case)


class Dice:
    """A seeded source of words; names are dealt like cards, so that all are equally frequent."""

    def __init__(self, seed: int | str, names: Sequence[tuple[str, str]]) -> None:
        self.random = random.Random(seed)
        self._names = tuple(names)
        self._deck: list[tuple[str, str]] = []

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[int(self.random.random() * len(options))]

    def chance(self, probability: float) -> bool:
        """True with the given probability."""
        return self.random.random() < probability

    def upto(self, low: int, high: int) -> int:
        """A whole number between two bounds."""
        return low + int(self.random.random() * (high - low + 1))

    # People ------------------------------------------------------------------------------------

    def _deal(self) -> tuple[str, str]:
        if not self._deck:
            self._deck = list(self._names)
            self.random.shuffle(self._deck)
        return self._deck.pop()

    def name(self) -> Nominal:
        """A first name."""
        name, pronoun_word = self._deal()
        return proper(name, pronoun_word=pronoun_word)

    def two_names(self) -> tuple[Nominal, Nominal]:
        """Two different first names."""
        first, second = self.name(), self.name()
        while second.en == first.en:
            second = self.name()
        return first, second

    def owner(self) -> tuple[str, str]:
        """A first name in the possessive."""
        while True:
            name = self._deal()[0]
            if not name.endswith(NO_GENITIVE_ENDINGS):
                return name_genitive(name)

    def mister(self) -> Nominal:
        """A man or woman by surname, with the dative and accusative "Herrn"."""
        surname = self.pick(SURNAME_LIST)
        if self.chance(0.5):
            return Nominal(
                f"Mr. {surname}",
                (f"Herr {surname}", f"Herrn {surname}", f"Herrn {surname}", ""),
                "he",
            )
        return proper(f"Mrs. {surname}", f"Frau {surname}", "she")

    def pronoun(self, words: str = "I we he she they") -> Nominal:
        """One of the personal pronouns."""
        return pronoun(self.pick(words.split()))

    def kin(self, yours: bool = False) -> Nominal:
        """A relative: "my brother" or "our aunt", in questions "your brother"."""
        det = "your" if yours else self.pick(("my", "my", "our"))
        return phrase(NOUNS[self.pick(MY_KIN)], det)

    def named_kin(self) -> Nominal:
        """A relative of a named person: "Anna's brother"."""
        return phrase(NOUNS[self.pick(MY_KIN)], "", owner=self.owner())

    def role(self, adjective_share: float = 0.4) -> Thing:
        """A person described by occupation or role: "the old teacher"."""
        return self.thing(self.pick(ROLES), "the", adjective_share)

    def who(self, names: float = 0.55, pronouns: str = "I we he she they") -> Nominal:
        """A person as the subject of a sentence; `names` determines how often by name."""
        if self.chance(names * 0.88):
            return self.name()
        roll = self.random.random()
        if roll < 0.4 and pronouns:
            return self.pronoun(pronouns)
        if roll < 0.62:
            return self.kin(yours="you" in pronouns)
        if roll < 0.75:
            return self.role().nominal
        if roll < 0.88:
            return self.mister()
        return self.named_kin()

    def third(self, names: float = 0.7) -> Nominal:
        """A person in the third person, not a pronoun."""
        return self.who(names, "")

    @staticmethod
    def about_speaker(who: Nominal) -> bool:
        """Whether questions about this person would be odd: I, we, my or our relatives."""
        return who.en in ("I", "we") or who.en.startswith(("my ", "our "))

    def other_person(self, names: float = 0.85) -> Nominal:
        """A person that one can ask others about."""
        who = self.third(names)
        while self.about_speaker(who):
            who = self.third(names)
        return who

    def couple(self) -> Nominal:
        """Two people by name."""
        return both(*self.two_names())

    def someone(self, names: float = 0.6) -> Nominal:
        """A person as an object: a name, a relative or a surname."""
        if self.chance(names):
            return self.name()
        return self.pick((self.kin, self.mister, self.named_kin))()

    # Things ------------------------------------------------------------------------------------

    def adjective_for(self, noun: Noun, wanted: Wanted = bool) -> Adjective | None:
        """An adjective that suits the noun and passes the test `wanted`, if there is one."""
        fitting = [word for word in noun.adjectives if wanted(word)]
        return ADJECTIVES[self.pick(fitting)] if fitting else None

    def thing(
        self,
        noun: Noun,
        det: str = "the",
        adjective_share: float = 0.45,
        plural: bool = False,
        owner: tuple[str, str] | None = None,
        wanted: Wanted = bool,
    ) -> Thing:
        """A noun phrase around `noun`; "a" is left out before plurals and mass nouns."""
        adjective = self.adjective_for(noun, wanted) if self.chance(adjective_share) else None
        plural = plural or noun.en == noun.en_plural
        if det == "a" and (plural or not noun.countable):
            det = ""
        combos = (f"{adjective.en} {noun.en}",) if adjective else ()
        return Thing(phrase(noun, det, adjective, plural, owner), noun, combos)

    def object_noun(self, verb: str) -> tuple[Noun, bool]:
        """A noun the verb may take and whether it has to be plural."""
        name = self.pick(OBJECT_NAMES[verb])
        return NOUNS[name.removesuffix("/")], name.endswith("/")

    def object_of(
        self, verb: str, subject: Nominal, det: str = "", adjective_share: float = 0.4
    ) -> Thing:
        """A plausible object of the verb for this subject.

        `det` is chosen to suit the verb unless it is given; "own" stands for the possessive of the
        subject. Relatives are always the subject's own.
        """
        use = USES[verb]
        noun, plural = self.object_noun(verb)
        while (noun.kind == "kin" and not subject.kinless) or not suits(noun, subject):
            noun, plural = self.object_noun(verb)
        det = det or self.pick(use.determiners)
        if noun.kind in ("person", "kin"):
            det = "own" if noun.kind == "kin" else "the"
        elif noun.countable and det not in ("this", "these") and noun.en not in NO_PLURAL:
            plural = plural or self.chance(use.plurals)
        if det == "own":
            det = "the" if noun.kind == "abstract" else subject.poss
        made = self.thing(noun, det, adjective_share, plural, wanted=use.adjectives.__contains__)
        return Thing(made.nominal, noun, (f"{verb} {noun.en}", *made.combos))

    def suiting(self, options: Sequence[Noun], person: Nominal) -> Noun:
        """A noun that suits the person."""
        noun = self.pick(options)
        while not suits(noun, person):
            noun = self.pick(options)
        return noun

    def activity(self, options: Sequence[Activity] = ACTIVITIES) -> Activity:
        """Something to do; coding comes up more often than the rest."""
        if options is ACTIVITIES and self.chance(0.06):
            return CODING
        return self.pick(options)


OBJECT_NAMES: dict[str, tuple[str, ...]] = {
    verb: tuple(name.strip() for name in names.split(",")) for verb, names in OBJECTS.items()
}
CODING = next(activity for activity in ACTIVITIES if activity.key == "code")


# People usually order one soup or salad, not two.
NO_PLURAL = frozenset({"soup", "salad", "pizza"})
WOMENS_THINGS = frozenset({"skirt", "dress", "blouse", "necklace", "doll"})


def suits(noun: Noun, person: Nominal) -> bool:
    """Whether it is plausible that the person has, wears or wants this thing."""
    if person.pronoun in ("we", "they"):
        return noun.kind != "clothes"
    if person.pronoun == "he":
        return noun.en not in WOMENS_THINGS
    return noun.en != "tie" or person.pronoun != "she"


FrameFunction = Callable[[Dice], Draft]


@dataclass(frozen=True)
class Frame:
    """A sentence frame: a function that fills it and its relative share of the corpus.

    `new_names` is False where the German depends on the gender of a name and the English does not
    show it, so that a model could not know it for a name it never saw.
    """

    name: str
    fill: FrameFunction
    weight: float
    new_names: bool


FRAMES: dict[str, Frame] = {}


def frame(weight: float = 1.0, new_names: bool = True) -> Callable[[FrameFunction], FrameFunction]:
    """Register a function as a sentence frame under its own name."""

    def register(fill: FrameFunction) -> FrameFunction:
        name = fill.__name__
        if name in FRAMES:
            raise ValueError(f"two frames are called {name}")
        FRAMES[name] = Frame(name, fill, weight, new_names)
        return fill

    return register


def capital(text: str) -> str:
    """The text with its first letter in upper case."""
    return text[0].upper() + text[1:]


def note(en: str, de: str, *combos: str | tuple[str, ...]) -> Draft:
    """A draft of a note: neither capital letters nor an end mark are added."""
    made = say(f" {en}", f" {de}", *combos, end="")
    return Draft(made.en.strip(), made.de.strip(), made.combos)


def say(en: str, de: str, *combos: str | tuple[str, ...], end: str = ".") -> Draft:
    """A draft with capital letters at the start and an end mark."""
    flat: list[str] = []
    for combo in combos:
        flat.extend((combo,) if isinstance(combo, str) else combo)
    en, de = (re.sub(r"  +", " ", text) for text in (en, de))
    return Draft(capital(en) + end, capital(de) + end, tuple(flat))
