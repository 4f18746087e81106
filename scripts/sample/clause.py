"""Noun phrases and clauses in both languages."""

from __future__ import annotations

from dataclasses import dataclass, replace

from sample import english, german
from sample.adjectives import Adjective
from sample.german import Case, Gender, Person
from sample.nouns import Noun
from sample.text import listed
from sample.verbs import VERBS, Verb

# English determiner: German stem.
DETERMINERS = {
    "the": "der",
    "a": "ein",
    "no": "kein",
    "this": "dies",
    "these": "dies",
    "every": "jed",
    "which": "welch",
    "my": "mein",
    "your": "dein",
    "his": "sein",
    "her": "ihr",
    "its": "sein",
    "our": "unser",
    "their": "ihr",
    "": "",
}
# Pronoun: possessive in English.
POSSESSIVES = {
    "I": "my",
    "you": "your",
    "he": "his",
    "she": "her",
    "it": "its",
    "we": "our",
    "they": "their",
}
EN_OBJECT = {"I": "me", "he": "him", "she": "her", "we": "us", "they": "them"}
# Pronoun: German person and the nominative, accusative, dative forms and reflexives.
PRONOUNS: dict[str, tuple[Person, str, str, str]] = {
    "I": ("ich", "ich", "mich", "mir"),
    "you": ("du", "du", "dich", "dir"),
    "he": ("er", "er", "ihn", "ihm"),
    "she": ("er", "sie", "sie", "ihr"),
    "it": ("er", "es", "es", "ihm"),
    "we": ("wir", "wir", "uns", "uns"),
    "they": ("sie", "sie", "sie", "ihnen"),
}
REFLEXIVES: dict[Person, tuple[str, str]] = {
    "ich": ("mich", "mir"),
    "du": ("dich", "dir"),
    "er": ("sich", "sich"),
    "wir": ("uns", "uns"),
    "ihr": ("euch", "euch"),
    "sie": ("sich", "sich"),
}


@dataclass(frozen=True)
class Nominal:
    """A noun phrase, name or pronoun with all its forms."""

    en: str
    cases: tuple[str, str, str, str]  # nominative, accusative, dative, genitive
    pronoun: str = "it"  # the English pronoun that refers to it
    person: Person = "er"
    en_object: str = ""
    gender: Gender = "n"

    def de(self, case: Case = "nom") -> str:
        """The German form in a case."""
        return self.cases[german.CASES.index(case)]

    def after(self, preposition: str, case: Case) -> str:
        """The German form after a preposition, contracted where usual."""
        return german.contract(f"{preposition} {self.de(case)}")

    @property
    def obj(self) -> str:
        """The English object form."""
        return self.en_object or self.en

    @property
    def poss(self) -> str:
        """The English possessive determiner that refers to it."""
        return POSSESSIVES[self.pronoun]

    @property
    def is_pronoun(self) -> bool:
        """Whether this is a personal pronoun."""
        return self.en in PRONOUNS

    @property
    def kinless(self) -> bool:
        """Whether this is a name or pronoun, which can have any relative."""
        return self.is_pronoun or (" " not in self.en or self.en.startswith("Mr"))

    @property
    def third(self) -> bool:
        """Whether the English verb takes the third person singular."""
        return self.pronoun in ("he", "she", "it")

    @property
    def self_acc(self) -> str:
        """The accusative reflexive pronoun."""
        return REFLEXIVES[self.person][0]

    @property
    def self_dat(self) -> str:
        """The dative reflexive pronoun."""
        return REFLEXIVES[self.person][1]


def pronoun(word: str) -> Nominal:
    """A personal pronoun by its English nominative."""
    person, nom, acc, dat = PRONOUNS[word]
    return Nominal(word, (nom, acc, dat, ""), word, person, EN_OBJECT.get(word, word))


def proper(en: str, de: str = "", pronoun_word: str = "it") -> Nominal:
    """A proper name, the same in every case."""
    de = de or en
    return Nominal(en, (de, de, de, f"von {de}"), pronoun_word)


def name_genitive(name: str) -> tuple[str, str]:
    """The possessive of a name in both languages."""
    return english.genitive(name), f"{name}s"


def phrase(
    noun: Noun,
    det: str = "the",
    adjective: Adjective | None = None,
    plural: bool = False,
    owner: tuple[str, str] | None = None,
    number: tuple[str, str] | None = None,
) -> Nominal:
    """A noun phrase: determiner, possessor or number, adjective and noun."""
    gender: Gender = "p" if plural else noun.gender
    en_noun = noun.english(plural)
    words = [adjective.en, en_noun] if adjective else [en_noun]
    en_tail = " ".join(words)
    de_det = DETERMINERS[det]
    if owner or number:
        en_lead, de_lead = owner or number or ("", "")
        en = f"{en_lead} {en_tail}"
        de_det = ""
    else:
        de_lead = ""
        en = english.a_or_an(en_tail) if det == "a" else f"{det} {en_tail}".strip()

    def form(case: Case) -> str:
        lead = de_lead or (german.determiner(de_det, case, gender) if de_det else "")
        middle = german.adjective(adjective.de, de_det, case, gender) if adjective else ""
        return " ".join(filter(None, (lead, middle, noun.german(case, plural))))

    nom, acc, dat, gen = (form(case) for case in german.CASES)
    return Nominal(
        en, (nom, acc, dat, gen), _pronoun(noun, plural), "sie" if plural else "er", "", gender
    )


_FEMALE_PERSONS = frozenset(
    listed("woman girl sister mother daughter aunt grandmother niece wife grandma")
)
_NEUTRAL_PERSONS = frozenset({"child"})


def _pronoun(noun: Noun, plural: bool) -> str:
    if plural:
        return "they"
    if noun.kind not in ("person", "kin") or noun.en in _NEUTRAL_PERSONS:
        return "it"
    return "she" if noun.en in _FEMALE_PERSONS else "he"


def both(first: Nominal, second: Nominal) -> Nominal:
    """Two people joined with "and"."""
    nom, acc, dat, gen = (f"{a} und {b}" for a, b in zip(first.cases, second.cases, strict=True))
    return Nominal(f"{first.en} and {second.en}", (nom, acc, dat, gen), "they", "sie", "", "p")


# English auxiliary and German modal verb of the tenses that take an infinitive.
MODAL_TENSES: dict[str, tuple[str, str]] = {
    "can": ("can", "can"),
    "must": ("must", "must"),
    "may": ("may", "may"),
    "should": ("should", "should"),
    "will": ("will", "will"),
    "would like": ("would", "would like"),
    "could": ("could", "can"),
}
# Lexical verbs that stand for a German modal: English verb and German modal.
SEMI_MODALS: dict[str, tuple[english.Verb, str]] = {
    "want": (english.Verb("want", "wanted", "wanted"), "want"),
    "have to": (english.Verb("have", "had", "had"), "must"),
}
BE_PRESENT = {"I": "am", "he": "is", "she": "is", "it": "is"}


@dataclass(frozen=True)
class Clause:
    """A clause in both languages.

    `tense` is "present", "progressive", "past" (German preterite), "past_perfect" (English simple
    past, German perfect), "perfect", a key of MODAL_TENSES or of SEMI_MODALS, the latter also with
    " past" appended. The German negation is part of the middle field `mid`.
    """

    subject: Nominal
    verb: Verb
    rest: str = ""  # what follows the English verb
    mid: str = ""  # the German middle field
    tense: str = "present"
    negated: bool = False
    adverb: str = ""  # before the English main verb: "often", "already"

    # English -----------------------------------------------------------------------------------

    def _english_parts(self, support: bool) -> tuple[str, str]:
        """The auxiliary and the main verb; with `support`, there is always an auxiliary."""
        verb, third = self.verb.en, self.subject.third
        if self.tense in MODAL_TENSES:
            main = "like to " if self.tense == "would like" else ""
            return MODAL_TENSES[self.tense][0], main + verb.infinitive
        if self.tense == "perfect":
            return ("has" if third else "have"), verb.past_participle
        if self.tense == "progressive":
            return self._be(False), verb.ing
        past = self.tense.startswith("past") or self.tense.endswith(" past")
        semi = SEMI_MODALS.get(self.tense.removesuffix(" past"))
        tail = f" to {verb.infinitive}" if semi else ""
        if semi:
            verb = semi[0]
        if verb.base == "be":
            return self._be(past), ""
        if support:
            return ("did" if past else "does" if third else "do"), verb.infinitive + tail
        return "", (verb.simple_past if past else verb.present(third)) + tail

    def _be(self, past: bool) -> str:
        if past:
            return "was" if self.subject.third or self.subject.pronoun == "I" else "were"
        return BE_PRESENT.get(self.subject.pronoun, "are")

    @property
    def en(self) -> str:
        """The English clause as a statement."""
        aux, main = self._english_parts(self.negated)
        if self.negated:
            aux = "cannot" if aux == "can" else f"{aux} not"
        return _join(self.subject.en, aux, self.adverb, main, self.rest)

    @property
    def en_question(self) -> str:
        """The English clause as a yes/no question, without the question mark."""
        aux, main = self._english_parts(True)
        return _join(aux, self.subject.en, "not" * self.negated, self.adverb, main, self.rest)

    # German ------------------------------------------------------------------------------------

    def _finite(self) -> tuple[str, str]:
        """The finite form, and the infinitive or participle that closes the sentence bracket."""
        verb, person = self.verb.de, self.subject.person
        past = self.tense.endswith(" past") or self.tense == "could"
        base = self.tense.removesuffix(" past")
        key = SEMI_MODALS[base][1] if base in SEMI_MODALS else ""
        key = key or MODAL_TENSES.get(base, ("", ""))[1]
        if key:
            modal = german.MODALS[key]
            finite = modal.preterite(person) if past else modal.present(person)
            return finite, verb.full_infinitive
        if self.tense in ("perfect", "past_perfect"):
            return german.AUXILIARIES[verb.aux].present(person), verb.participle
        if self.tense == "past":
            return verb.preterite(person), ""
        return verb.present(person), ""

    def _bracket(self) -> tuple[str, str]:
        finite, closing = self._finite()
        return finite, closing or self.verb.de.prefix.strip()

    @property
    def de(self) -> str:
        """The German main clause with the subject in front."""
        finite, closing = self._bracket()
        return _join(self.subject.de(), finite, self.mid, closing)

    def de_after(self, front: str) -> str:
        """The German main clause with something else in front."""
        finite, closing = self._bracket()
        return _join(front, finite, self.subject.de(), self.mid, closing)

    @property
    def de_question(self) -> str:
        """The German yes/no question, without the question mark."""
        return self.de_after("")

    @property
    def de_last(self) -> str:
        """The German subordinate clause, without its conjunction."""
        return f"{self.subject.de()} {self.de_last_rest}"

    @property
    def de_last_rest(self) -> str:
        """The German subordinate clause without its subject."""
        finite, closing = self._finite()
        if not closing:
            finite = self.verb.de.last(finite)
        return _join(self.mid, closing, finite)

    def with_(self, **changes: str | bool) -> Clause:
        """A copy with some fields changed."""
        return replace(self, **changes)  # type: ignore[arg-type]


def _join(*parts: str) -> str:
    return " ".join(part for part in parts if part)


def clause(
    subject: Nominal,
    verb: str | Verb,
    rest: str = "",
    mid: str = "",
    tense: str = "present",
    negated: bool = False,
    adverb: str = "",
) -> Clause:
    """A clause with the verb given by its key."""
    lexeme = VERBS[verb] if isinstance(verb, str) else verb
    return Clause(subject, lexeme, rest, mid, tense, negated, adverb)
