"""Frames that compare things and people, with prices and numbers."""

from __future__ import annotations

from sample import nouns, words
from sample.adjectives import ADJECTIVES, Adjective, some
from sample.clause import Nominal, clause, phrase
from sample.dice import Dice, Draft, frame, say
from sample.frames_describe import OWNERLESS
from sample.nouns import NOUNS, Noun
from sample.text import listed

# Adjectives, and the nouns that are compared with them.
COMPARED: tuple[tuple[str, str], ...] = (
    ("old expensive new small big beautiful comfortable", "house, flat, hotel, restaurant"),
    ("expensive cheap beautiful warm new", "coat, jacket, sweater, shirt, scarf, hat"),
    ("fast expensive slow old new", "car, bus, bike, motorbike, train, taxi"),
    ("big small old strong", "dog, horse, donkey, cow, pig"),
    ("big dangerous strong fast", "bear, lion, elephant, wolf"),
    ("small fast clever", "mouse, rabbit, cat, fox, monkey"),
    ("heavy big light", "suitcase, bag, box, backpack, parcel, basket"),
    ("sweet sour big small", "apple, pear, plum, peach, cherry, orange, lemon"),
    ("long interesting exciting boring", "book, film, story, novel"),
    ("difficult easy long", "exam, exercise, text, poem"),
    ("old big beautiful", "tower, church, castle"),
    ("high old long", "wall, fence"),
    ("deep long wide", "river, lake"),
    ("comfortable soft expensive old", "sofa, armchair, bed, chair"),
    ("big quiet beautiful small", "village, town, park"),
    ("bright big small warm", "kitchen, bedroom, living room, bathroom"),
)


PERSON_ADJECTIVES = some(
    "old young tall strong rich clever friendly polite funny patient brave hard-working famous "
    "nice lazy fast strict"
)


BEST_OF: tuple[tuple[str, str, str], ...] = (
    ("old big beautiful", "tower, church, castle, house, tree", "town, village"),
    ("old big expensive modern", "hotel, restaurant, museum, theatre, cinema", "town"),
    ("good cheap", "café, bakery, restaurant, bookshop", "town, street"),
    ("long narrow quiet old", "street", "town"),
    ("long narrow old", "bridge", "town"),
    ("high", "mountain", "island"),
    ("big beautiful deep", "lake, river", "valley"),
    ("fast old expensive", "car, motorbike, bike", "street, village"),
    ("important difficult", "question, word, sentence", "text"),
    ("bright big quiet", "room", "house, flat"),
    ("funny clever lazy", "dog, cat, horse, donkey", "village"),
)


PRICED = nouns.kinds("clothes", "tableware", "home") + nouns.some(
    "book, novel, newspaper, magazine, doll, ball, kite, lamp, radio, ticket, chair, ring, watch, "
    "pizza, cake, soup, salad, bag, umbrella, suitcase, backpack, basket, bucket"
)


CHEAP = frozenset(
    listed(
        "book novel newspaper magazine ticket pizza cake soup salad cup glass plate "
        "bowl knife fork spoon candle towel ball kite bottle bucket basket"
    )
)


@frame(1.2)
def person_compared(d: Dice) -> Draft:
    """Anna is taller than Ben. - Anna ist größer als Ben."""
    one, other, quality = d.third(0.85), d.someone(0.85), d.pick(PERSON_ADJECTIVES)
    while other.en == one.en:
        other = d.someone(0.85)
    roll = d.upto(1, 4)
    if roll == 1:
        made = clause(
            one, "be", f"as {quality.en} as {other.en}", f"so {quality.de} wie {other.de()}"
        )
        return say(made.en, made.de, f"as {quality.en}")
    if roll == 2:
        made = clause(
            one,
            "be",
            f"not as {quality.en} as {other.en}",
            f"nicht so {quality.de} wie {other.de()}",
        )
        return say(made.en, made.de, f"not as {quality.en}")
    much = d.chance(0.35)
    made = clause(
        one,
        "be",
        f"{'much ' * much}{quality.en_comparative} than {other.en}",
        f"{'viel ' * much}{quality.de_comparative} als {other.de()}",
    )
    if d.chance(0.25) and not much:
        return say(made.en_question, made.de_question, f"ask {quality.en_comparative}", end="?")
    return say(made.en, made.de, f"{'much ' * much}{quality.en_comparative} than")


@frame(1.2)
def thing_compared(d: Dice) -> Draft:
    """The coat is more expensive than the jacket. - Der Mantel ist teurer als die Jacke."""
    adjectives, names = d.pick(COMPARED)
    options, quality = nouns.some(names), ADJECTIVES[d.pick(adjectives.split())]
    one = d.pick(options)
    other = d.pick(options)
    roll = d.upto(1, 3)
    if roll == 1 and one.kind not in OWNERLESS and one.kind != "transport":
        first, second = (phrase(one, "", owner=d.owner()) for _ in range(2))
        made = clause(
            first,
            "be",
            f"{quality.en_comparative} than {second.en}",
            f"{quality.de_comparative} als {second.de()}",
        )
        return say(made.en, made.de, f"{quality.en_comparative} {one.en}")
    while other is one:
        other = d.pick(options)
    first, second = phrase(one, "the"), phrase(other, "the")
    if roll == 2:
        made = clause(
            first,
            "be",
            f"not as {quality.en} as {second.en}",
            f"nicht so {quality.de} wie {second.de()}",
        )
    else:
        made = clause(
            first,
            "be",
            f"{quality.en_comparative} than {second.en}",
            f"{quality.de_comparative} als {second.de()}",
        )
    return say(made.en, made.de, f"{one.en} {quality.en_comparative} {other.en}")


def superlative(noun: Noun, quality: Adjective, det: str = "the") -> Nominal:
    """ "the oldest house" in both languages."""
    stem = Adjective(quality.en_superlative, "", "", quality.de_superlative, "", "")
    return phrase(noun, det, stem)


@frame()
def oldest_in_town(d: Dice) -> Draft:
    """This is the oldest house in the town. - Das ist das älteste Haus der Stadt."""
    adjectives, names, wholes = d.pick(BEST_OF)
    noun, quality = d.pick(nouns.some(names)), ADJECTIVES[d.pick(adjectives.split())]
    whole = phrase(d.pick(nouns.some(wholes)), d.pick(("the", "this", "our")))
    best = superlative(noun, quality)
    roll = d.upto(1, 3)
    place_en = f"{'on' if whole.en.endswith('island') else 'in'} {whole.en}"
    if roll == 1 and noun.kind in ("building", "structure"):
        owner = d.name()
        made = clause(
            owner,
            "see",
            f"{best.en} {place_en}",
            f"{best.de('acc')} {whole.de('gen')}",
            "past_perfect",
        )
        return say(made.en, made.de, f"{quality.en_superlative} {noun.en}")
    if roll == 2:
        return say(
            f"where is {best.en} {place_en}",
            f"wo ist {best.de()} {whole.de('gen')}",
            f"{quality.en_superlative} {noun.en}",
            end="?",
        )
    return say(
        f"this is {best.en} {place_en}",
        f"das ist {best.de()} {whole.de('gen')}",
        f"{quality.en_superlative} {noun.en}",
    )


@frame(1.1)
def costs(d: Dice) -> Draft:
    """The blue shirt costs twenty euros. - Das blaue Hemd kostet zwanzig Euro."""
    noun = d.pick(PRICED)
    cheap = noun.en in CHEAP
    value = d.upto(2, 19) if cheap else d.pick((*range(20, 100, 5), 24, 36, 48, 59, 72, 99))
    en, de = words.number(value)
    thing = d.thing(
        noun,
        d.pick(("the", "this")),
        0.5,
        wanted=lambda word: (
            word
            not in (
                "dirty",
                "clean",
                "expensive",
                "cheap",
                "empty",
                "full",
                "wet",
                "old",
                "heavy",
                "light",
            )
        ),
    )
    only = d.chance(0.25)
    made = clause(thing.nominal, "cost", f"{'only ' * only}{en} euros", f"{'nur ' * only}{de} Euro")
    if d.chance(0.25):
        made = clause(thing.nominal, "cost")
        return say(
            f"how much {made.en_question}",
            made.de_after("wie viel"),
            f"cost {noun.en}",
            thing.combos,
            end="?",
        )
    return say(made.en, made.de, f"{noun.en} {en} euros", thing.combos)


@frame()
def paid_price(d: Dice) -> Draft:
    """Anna paid 45 euros for the coat. - Anna hat 45 Euro für den Mantel bezahlt."""
    who, noun = d.who(), d.pick(PRICED)
    value = d.upto(2, 19) if noun.en in CHEAP else d.upto(20, 150)
    if noun.en in CHEAP and d.chance(0.4):
        cents = d.pick((50, 20, 80, 95, 90, 75))
        price_en, price_de = f"{value}.{cents} euros", f"{value},{cents} Euro"
    else:
        price_en, price_de = f"{value} euros", f"{value} Euro"
    thing = d.thing(
        noun,
        d.pick(("the", "this", "a")),
        0.4,
        wanted=frozenset(
            listed("new red blue green white black brown beautiful big small")
        ).__contains__,
    )
    made = clause(
        who, "pay", f"{price_en} for {thing.en}", f"{price_de} für {thing.de()}", "past_perfect"
    )
    return say(made.en, made.de, f"pay {noun.en}", thing.combos)


@frame()
def what_a(d: Dice) -> Draft:
    """What a beautiful garden, Anna! - Was für ein schöner Garten, Anna!"""
    adjectives, name = d.pick(ADMIRED)
    noun, quality = NOUNS[name], ADJECTIVES[d.pick(adjectives)]
    thing = phrase(noun, "a", quality)
    person = d.name() if d.chance(0.8) else d.mister()
    return say(
        f"what {thing.en}, {person.en}",
        f"was für {thing.de()}, {person.de()}",
        f"{quality.en} {noun.en}",
        end="!",
    )


ADMIRED = tuple(
    (tuple(adjectives.split()), noun.strip())
    for adjectives, names in {
        "beautiful big": "garden, house, flat, kitchen, boat, castle, tree, lake",
        "beautiful expensive": "dress, coat, ring, watch, hat, necklace, car, guitar, sofa",
        "beautiful funny": "hat, picture, song, photo, story, postcard, cap",
        "good bad": "idea, plan, question, answer",
        "big beautiful clever funny": "dog, cat, horse, bird",
        "tasty big": "cake, pizza, salad, soup",
        "long boring": "film, concert, book, exam, meeting",
        "exciting long": "game, trip, story, novel",
        "heavy big": "suitcase, bag, backpack, box, parcel",
        "dark cold": "cellar, room",
    }.items()
    for noun in names.split(",")
)


@frame()
def which_one(d: Dice) -> Draft:
    """Which coat would you like to buy, Anna? - Welchen Mantel möchtest du kaufen, Anna?"""
    verb = d.pick(("buy", "try_on", "read", "see", "visit", "borrow", "order", "learn", "use"))
    noun, plural = d.object_noun(verb)
    while noun.kind in ("kin", "person", "wild_animal") or not noun.countable or plural:
        noun, plural = d.object_noun(verb)
    which = phrase(noun, "which")
    name = d.name()
    roll = d.upto(1, 2)
    if roll == 1:
        made = clause(phrase(NOUNS["man"]), verb)
        return say(
            f"which {noun.en} would you like to {made.verb.en.infinitive}, {name.en}",
            f"{which.de('acc')} möchtest du {made.verb.de.full_infinitive}, {name.de()}",
            f"{verb} {noun.en}",
            end="?",
        )
    made = clause(name, verb, tense="want")
    return say(
        f"which {noun.en} {made.en_question}",
        made.de_after(which.de("acc")),
        f"{verb} {noun.en}",
        end="?",
    )


@frame()
def every_one(d: Dice) -> Draft:
    """Every child likes this story. - Jedes Kind mag diese Geschichte."""
    people = NOUNS[
        d.pick(
            (
                "child",
                "girl",
                "boy",
                "student",
                "tourist",
                "guest",
                "teacher",
                "neighbour",
                "man",
                "woman",
            )
        )
    ]
    noun = d.pick(
        nouns.some(
            "story, book, film, song, dog, cat, garden, café, hotel, cake, soup, "
            "game, park, poem, idea, beach, island, restaurant, "
            "fairy tale, pizza, museum, picture"
        )
    )
    thing = d.thing(
        noun,
        "this",
        0.5,
        wanted=frozenset(
            listed("old new beautiful big small funny short exciting good friendly interesting")
        ).__contains__,
    )
    every = phrase(people, "every")
    verb = d.pick(("like", "know_person"))
    made = clause(every, verb, thing.en, thing.de())
    return say(made.en, made.de, f"{people.en} {verb} {noun.en}", thing.combos)


@frame()
def tastes(d: Dice) -> Draft:
    """Anna's soup tastes very good. - Annas Suppe schmeckt sehr gut."""
    noun = d.pick(
        nouns.some(
            "soup, cake, pizza, salad, tea, coffee, fish, bread, cheese, cocoa, "
            "lemonade, rice, jam, ice cream, sausage, apple, pear, meat, wine"
        )
    )
    owner = d.owner() if d.chance(0.6) else None
    thing = phrase(noun, "" if owner else d.pick(("the", "this")), owner=owner)
    quality = d.pick(words.table("good = gut\nbad = schlecht\nbetter = besser"))
    how_en, how_de = d.pick((("very ", "sehr "), ("really ", "wirklich "), ("", ""), ("not ", "")))
    if quality[0] == "better":
        made = clause(thing, "taste", "better today", "heute besser")
        return say(made.en, made.de, f"taste {noun.en} better")
    if how_en == "not ":
        made = clause(thing, "taste", quality[0], f"nicht {quality[1]}", negated=True)
        return say(made.en, made.de, f"taste {noun.en} not {quality[0]}")
    made = clause(thing, "taste", f"{how_en}{quality[0]}", f"{how_de}{quality[1]}")
    if not how_en and d.chance(0.6):
        return say(made.en_question, made.de_question, f"taste ask {noun.en}", end="?")
    return say(made.en, made.de, f"taste {noun.en} {how_en}{quality[0]}")
