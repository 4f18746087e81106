"""Frames about everyday actions: a verb and its object, in many tenses."""

from __future__ import annotations

from sample import german, nouns, words
from sample.clause import Nominal, clause, pronoun
from sample.dice import Dice, Draft, frame, say, suits
from sample.nouns import NOUNS
from sample.text import listed
from sample.verbs import VERBS

ONGOING = tuple(
    listed(
        "read write wash clean repair look_for eat drink cook bake paint draw feed explain build "
        "pack cut plant water pick peel count try_on tidy carry translate copy"
    )
)


LASTING = (*ONGOING, "wear", "visit")


# Everyday actions, and larger ones that can have happened weeks ago.
DONE = tuple(
    listed(
        "read write buy repair find lose see order send get wash bake draw break invite call "
        "translate clean pack forget miss pick cut cook borrow meet sing"
    )
)


DONE_ONCE = tuple(listed("buy sell visit meet find lose paint write plant repair get learn"))


FINISHED = tuple(
    listed(
        "read write sell repair find wash bake order send pack cook feed clean tidy translate call "
        "water explain copy solve"
    )
)


WANTED = tuple(
    listed(
        "read buy sell wash repair eat drink cook bake paint draw visit invite build order use "
        "borrow plant see learn translate meet try_on write"
    )
)


CHORES = tuple(
    listed(
        "wash clean repair feed tidy water pick_up call pack translate buy order learn write "
        "send read ask explain copy"
    )
)


REQUESTS = tuple(
    listed(
        "open close turn_on turn_off bring wash feed tidy water explain order peel cut call "
        "pick_up repair carry clean pack translate read"
    )
)


PLANS = tuple(listed("visit sell buy repair paint learn"))


SMALL_PLANS = tuple(listed("visit invite meet call translate cook read bring plant write"))


GIFT_ADJECTIVES = frozenset(
    listed(
        "new beautiful small big red blue green white black warm colourful interesting young "
        "funny expensive exciting"
    )
)


WISHED_QUALITIES = GIFT_ADJECTIVES - {"expensive", "young", "funny"}


CARRIED_QUALITIES = frozenset(listed("new red blue green black white brown warm big"))


WISHES = listed("buy order eat drink try_on visit learn see build invite meet sing")


@frame(1.5)
def doing(d: Dice) -> Draft:
    """Anna is reading a long book. - Anna liest ein langes Buch."""
    who, verb = d.who(), d.pick(LASTING)
    thing = d.object_of(verb, who)
    both_ways = clause(who, verb, _with(verb, thing.nominal.obj), thing.de(), "progressive")
    return say(both_ways.en, both_ways.de, thing.combos)


def _with(verb: str, thing: str) -> str:
    """The English object with the preposition the verb asks for."""
    return f"for {thing}" if verb == "look_for" else thing


@frame(1.2)
def doing_right_now(d: Dice) -> Draft:
    """Anna is reading the newspaper right now. - Anna liest gerade die Zeitung."""
    who, verb = d.who(), d.pick(ONGOING)
    thing = d.object_of(verb, who)
    rest = f"{_with(verb, thing.en)} right now"
    made = clause(who, verb, rest, f"gerade {thing.de()}", "progressive")
    return say(made.en, made.de, thing.combos)


@frame()
def doing_question(d: Dice) -> Draft:
    """Is Anna looking for her key? - Sucht Anna ihren Schlüssel?"""
    who, verb = d.who(0.65, "you he she they"), d.pick(ONGOING)
    thing = d.object_of(verb, who)
    made = clause(who, verb, _with(verb, thing.en), thing.de(), "progressive")
    return say(made.en_question, made.de_question, thing.combos, end="?")


def _past_deed(d: Dice) -> tuple[Nominal, str, words.Pair]:
    """A person, something done and a time that suits it."""
    if d.chance(0.6):
        return d.who(), d.pick(DONE), d.pick(words.RECENT_DAYS)
    return d.who(), d.pick(DONE_ONCE), d.pick(words.PAST[4:])


@frame(1.5)
def did_yesterday(d: Dice) -> Draft:
    """Anna bought a hat yesterday. - Anna hat gestern einen Hut gekauft."""
    who, verb, (time_en, time_de) = _past_deed(d)
    thing = d.object_of(verb, who)
    made = clause(who, verb, f"{thing.en} {time_en}", f"{time_de} {thing.de()}", "past_perfect")
    return say(made.en, made.de, thing.combos)


@frame(1.2)
def yesterday_did(d: Dice) -> Draft:
    """Last week Anna sold her old car. - Letzte Woche hat Anna ihr altes Auto verkauft."""
    who, verb, (time_en, time_de) = _past_deed(d)
    thing = d.object_of(verb, who)
    made = clause(who, verb, thing.en, thing.de(), "past_perfect")
    return say(f"{time_en} {made.en}", made.de_after(time_de), thing.combos)


@frame(1.2)
def already_done(d: Dice) -> Draft:
    """Anna has already read the new book. - Anna hat das neue Buch schon gelesen."""
    who, verb = d.who(), d.pick(FINISHED)
    thing = d.object_of(verb, who, "the")
    made = clause(who, verb, thing.en, f"{thing.de()} schon", "perfect", adverb="already")
    return say(made.en, made.de, thing.combos)


@frame(1.2)
def not_yet_done(d: Dice) -> Draft:
    """Anna has not read the book yet. - Anna hat das Buch noch nicht gelesen."""
    who, verb = d.who(), d.pick(FINISHED)
    thing = d.object_of(verb, who, "the", 0.3)
    made = clause(who, verb, f"{thing.en} yet", f"{thing.de()} noch nicht", "perfect", True)
    return say(made.en, made.de, thing.combos)


@frame()
def done_question(d: Dice) -> Draft:
    """Has Anna already fed the dog? - Hat Anna den Hund schon gefüttert?"""
    who, verb = d.who(0.65, "you he she they"), d.pick(FINISHED)
    thing = d.object_of(verb, who, "the", 0.3)
    made = clause(who, verb, thing.en, f"{thing.de()} schon", "perfect", adverb="already")
    return say(made.en_question, made.de_question, thing.combos, end="?")


@frame()
def seen_my(d: Dice) -> Draft:
    """Have you seen my key, Anna? - Hast du meinen Schlüssel gesehen, Anna?"""
    noun, _ = d.object_noun("look_for")
    thing = d.thing(noun, "my", 0.45, noun.kind == "pair", wanted=CARRIED_QUALITIES.__contains__)
    name = d.name()
    if d.chance(0.5):
        made = clause(name, "see", thing.en, thing.de(), "perfect")
        return say(made.en_question, made.de_question, f"see {noun.en}", thing.combos, end="?")
    return say(
        f"have you seen {thing.en}, {name.en}",
        f"hast du {thing.de()} gesehen, {name.de()}",
        f"see {noun.en}",
        thing.combos,
        end="?",
    )


@frame(1.4)
def want_to(d: Dice) -> Draft:
    """Anna wants to buy a red coat. - Anna will einen roten Mantel kaufen."""
    who, verb = d.who(), d.pick(WANTED)
    thing = d.object_of(verb, who)
    made = clause(who, verb, thing.en, thing.de(), "want")
    return say(made.en, made.de, thing.combos)


@frame()
def want_question(d: Dice) -> Draft:
    """Do you want to buy this coat? - Willst du diesen Mantel kaufen?"""
    who, verb = (
        d.who(0.5, "you you he she they"),
        d.pick(("buy", "sell", "try_on", "read", "see", "borrow", "use", "translate")),
    )
    thing = d.object_of(verb, who, "the" if verb == "sell" else "this", 0.35)
    if thing.noun.kind == "pair":
        thing = d.thing(thing.noun, "these", 0.35, plural=True)
    made = clause(who, verb, thing.en, thing.de(), "want")
    return say(made.en_question, made.de_question, f"{verb} {thing.noun.en}", thing.combos, end="?")


@frame(1.4)
def have_to(d: Dice) -> Draft:
    """Anna has to repair the fence tomorrow. - Anna muss morgen den Zaun reparieren."""
    who, verb, (time_en, time_de) = d.who(), d.pick(CHORES), d.pick(words.NEAR_FUTURE)
    thing = d.object_of(verb, who, "", 0.35)
    rest = f"{_with(verb, thing.en)} {time_en}"
    made = clause(who, verb, rest, f"{time_de} {thing.de()}", "have to")
    return say(made.en, made.de, thing.combos)


@frame()
def had_to(d: Dice) -> Draft:
    """Yesterday Anna had to repair the car. - Gestern musste Anna das Auto reparieren."""
    who, verb, (time_en, time_de) = d.who(), d.pick(CHORES), d.pick(words.RECENT_DAYS)
    thing = d.object_of(verb, who, "", 0.35)
    made = clause(who, verb, _with(verb, thing.en), thing.de(), "have to past")
    return say(f"{time_en} {made.en}", made.de_after(time_de), thing.combos)


@frame()
def wanted_to_but(d: Dice) -> Draft:
    """Anna wanted to buy the hat, but it was too expensive."""
    who, verb = d.who(), "buy"
    noun, plural = d.object_noun(verb)
    thing = d.thing(noun, "the", 0.4, plural, wanted=WISHED_QUALITIES.__contains__)
    made = clause(who, verb, thing.en, thing.de(), "want past")
    it_en, it_de = (
        ("they were", "sie waren")
        if plural
        else ("it was", f"{ {'m': 'er', 'f': 'sie', 'n': 'es'}[noun.gender] } war")
    )
    return say(
        f"{made.en}, but {it_en} too expensive",
        f"{made.de}, aber {it_de} zu teuer",
        f"{verb} {noun.en}",
        thing.combos,
    )


@frame(1.2)
def can_you(d: Dice) -> Draft:
    """Can you open the window, Anna? - Kannst du das Fenster öffnen, Anna?"""
    name, verb = d.name(), d.pick(REQUESTS)
    thing = d.object_of(verb, pronoun("I"), "the", 0.3)
    please_en, please_de = ("please ", "bitte ") if d.chance(0.4) else ("", "")
    infinitive = VERBS[verb]
    return say(
        f"can you {please_en}{infinitive.en.infinitive} {thing.en}, {name.en}",
        f"kannst du {please_de}{thing.de()} {infinitive.de.full_infinitive}, {name.de()}",
        thing.combos,
        end="?",
    )


@frame()
def could_you_formal(d: Dice) -> Draft:
    """Could you please open the window, Mr. Weber? - Könnten Sie bitte das Fenster öffnen, ...?"""
    person, verb = d.mister(), d.pick(REQUESTS)
    thing = d.object_of(verb, pronoun("I"), "the", 0.3)
    infinitive = VERBS[verb]
    return say(
        f"could you please {infinitive.en.infinitive} {thing.en}, {person.en}",
        f"könnten Sie bitte {thing.de()} {infinitive.de.full_infinitive}, {person.de()}",
        thing.combos,
        end="?",
    )


def imperative(verb: str, person: german.Person, thing: str, please: str = "bitte") -> str:
    """A German imperative with its object: "Räum bitte das Zimmer auf"."""
    parts = VERBS[verb].de
    return " ".join(filter(None, (parts.imperative(person), please, thing, parts.prefix.strip())))


@frame(1.2)
def please_do(d: Dice) -> Draft:
    """Please open the window, Anna. - Öffne bitte das Fenster, Anna."""
    name, verb = d.name(), d.pick(REQUESTS)
    thing = d.object_of(verb, pronoun("I"), "the", 0.3)
    infinitive = VERBS[verb].en.infinitive
    return say(
        f"please {infinitive} {thing.en}, {name.en}",
        f"{imperative(verb, 'du', thing.de())}, {name.de()}",
        thing.combos,
    )


@frame()
def please_do_both(d: Dice) -> Draft:
    """Anna and Ben, please tidy up the room! - Anna und Ben, räumt bitte das Zimmer auf!"""
    pair, verb = d.couple(), d.pick(REQUESTS)
    thing = d.object_of(verb, pronoun("I"), "the", 0.3)
    infinitive = VERBS[verb].en.infinitive
    return say(
        f"{pair.en}, please {infinitive} {thing.en}",
        f"{pair.de()}, {imperative(verb, 'ihr', thing.de())}",
        thing.combos,
        end="!",
    )


@frame()
def dont_forget(d: Dice) -> Draft:
    """Don't forget your umbrella, Anna! - Vergiss deinen Regenschirm nicht, Anna!"""
    name = d.name()
    noun = d.pick(
        nouns.some(
            "umbrella, key, ticket, passport, wallet, phone, bag, notebook, "
            "jacket, coat, scarf, hat, book, ball, suitcase, camera, cap, watch, "
            "backpack, towel, glove, pencil, violin, guitar"
        )
    )
    plural = noun.kind == "pair" or (noun.en in ("key", "book", "ticket") and d.chance(0.4))
    thing = d.thing(noun, "your", 0.3, plural, wanted=CARRIED_QUALITIES.__contains__)
    lose = noun.kind == "pocket" and d.chance(0.5)
    verb_en, verb_de = ("lose", "verlier") if lose else ("forget", "vergiss")
    return say(
        f"don't {verb_en} {thing.en}, {name.en}",
        f"{verb_de} {thing.de()} nicht, {name.de()}",
        f"{verb_en} {noun.en}",
        thing.combos,
        end="!",
    )


@frame()
def may_i(d: Dice) -> Draft:
    """May I use your camera, Anna? - Darf ich deine Kamera benutzen, Anna?"""
    name, verb = d.name(), d.pick(("use", "borrow", "read", "try_on", "see"))
    noun, plural = d.object_noun("borrow" if verb in ("use", "see") else verb)
    while not suits(noun, name):
        noun, plural = d.object_noun(verb)
    if noun.en in ("text",):
        noun = NOUNS["letter"]
    thing = d.thing(noun, "your", 0.45, plural, wanted=WISHED_QUALITIES.__contains__)
    infinitive = VERBS[verb]
    return say(
        f"may I {infinitive.en.infinitive} {thing.en}, {name.en}",
        f"darf ich {thing.de()} {infinitive.de.full_infinitive}, {name.de()}",
        f"{verb} {noun.en}",
        thing.combos,
        end="?",
    )


@frame(1.2)
def will_do(d: Dice) -> Draft:
    """Anna will visit the museum tomorrow. - Anna wird morgen das Museum besuchen."""
    great = d.chance(0.5)
    who, verb = d.who(), d.pick(PLANS if great else SMALL_PLANS)
    time_en, time_de = d.pick(words.FAR_FUTURE if great else words.NEAR_FUTURE)
    thing = d.object_of(verb, who)
    made = clause(who, verb, f"{thing.en} {time_en}", f"{time_de} {thing.de()}", "will")
    return say(made.en, made.de, thing.combos)


@frame()
def call_somebody(d: Dice) -> Draft:
    """Anna is calling Ben tomorrow. - Anna ruft morgen Ben an."""
    who, whom = d.name() if d.chance(0.5) else d.pronoun(), d.name()
    verb = d.pick(("call", "visit", "meet", "pick_up"))
    time_en, time_de = d.pick(words.NEAR_FUTURE)
    made = clause(who, verb, f"{whom.en} {time_en}", f"{whom.de()} {time_de}", "progressive")
    return say(made.en, made.de, f"{verb} {time_en}")


@frame()
def know_somebody(d: Dice) -> Draft:
    """Do you know Anna's new neighbour? - Kennst du Annas neuen Nachbarn?"""
    who = d.pick((d.pronoun, d.name))()
    noun = d.pick(
        nouns.some(
            "neighbour, boss, colleague, teacher, aunt, uncle, grandmother, "
            "brother, sister, son, daughter, mother, father"
        )
    )
    thing = d.thing(
        noun,
        "",
        0.5 if noun.kind == "person" else 0.0,
        owner=d.owner(),
        wanted=("new", "old", "young", "friendly", "nice", "polite").__contains__,
    )
    if d.chance(0.5):
        return say(
            f"do you know {thing.en}",
            f"kennst du {thing.de()}",
            f"know {noun.en}",
            thing.combos,
            end="?",
        )
    negated = d.chance(0.4)
    made = clause(who, "know_person", thing.en, thing.de() + " nicht" * negated, negated=negated)
    return say(made.en, made.de, f"know {noun.en}", thing.combos)


@frame()
def would_like_to(d: Dice) -> Draft:
    """Anna would like to buy a hat. - Anna möchte einen Hut kaufen."""
    who, verb = d.who(), d.pick(WISHES)
    thing = d.object_of(verb, who)
    made = clause(who, verb, thing.en, thing.de(), "would like")
    return say(made.en, made.de, thing.combos)


@frame()
def does_not(d: Dice) -> Draft:
    """Anna does not understand the question. - Anna versteht die Frage nicht."""
    who, verb = d.who(), d.pick(("understand", "understand", "find", "find", "wear", "read", "use"))
    if verb in ("understand", "find"):
        thing = d.object_of(verb, who)
        tense = "can" if verb == "find" else "present"
    else:
        thing, tense = d.object_of(verb, who, "own" if verb == "wear" else "the"), "present"
    made = clause(who, verb, thing.en, f"{thing.de()} nicht", tense, True)
    return say(made.en, made.de, f"not {verb} {thing.noun.en}", thing.combos)
