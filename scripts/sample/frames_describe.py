"""Frames that describe and compare things, with numbers and prices."""

from __future__ import annotations

from sample import nouns, words
from sample.adjectives import ADJECTIVES, some
from sample.clause import clause, phrase
from sample.dice import Dice, Draft, frame, say
from sample.nouns import NOUNS
from sample.text import listed

# English adjectives: nouns (English singulars, "/" for plural only) that they may describe.
QUALITIES: dict[str, str] = {
    "hot cold salty tasty": "soup",
    "hot cold sweet strong": "tea, coffee",
    "cold warm fresh": "milk, water, apple juice, orange juice",
    "cold expensive": "beer, wine, lemonade",
    "fresh dry expensive": "bread, roll, cake",
    "ripe sour sweet": "apple, pear, banana, cherry/, strawberry/, plum/, peach, grape/",
    "expensive cheap beautiful": "hat, coat, ring, watch, dress, lamp, vase, carpet, necklace, "
    "picture, mirror, sofa, guitar, camera",
    "long short expensive": "skirt, dress, coat, belt, scarf",
    "dirty clean wet": "shirt, towel, jacket, sock/, shoe/, boot/, glove/, blanket, sweater, cap",
    "warm wet thick": "coat, jacket, blanket, sweater, sock/, scarf",
    "heavy full empty": "suitcase, bag, box, backpack, basket, bottle, bucket",
    "heavy big": "parcel, cupboard, table, piano",
    "comfortable old": "sofa, armchair, bed, chair",
    "broken old new": "lamp, radio, computer, camera, printer, washing machine, fridge, television",
    "broken dirty": "cup, plate, glass, bowl, chair, window, umbrella",
    "broken fast slow": "car, bike, motorbike, truck, tractor, boat",
    "long boring interesting exciting": "book, film, story, novel",
    "long difficult easy": "text, exercise, poem, exam, sentence",
    "difficult easy important": "question",
    "open new old": "door, window, gate",
    "small dark bright cold": "room, kitchen, flat, bedroom, living room, bathroom, office",
    "deep cold": "lake, river",
    "narrow long wide": "street, bridge",
    "high old": "wall, fence",
    "dangerous hungry big": "bear, lion, wolf, snake",
    "hungry tired old": "dog, cat, horse, rabbit, cow, donkey, sheep/, goat, pig",
    "small quiet beautiful": "village, town, park, island",
    "modern big expensive": "hotel, restaurant, shop, swimming pool",
    "sharp dirty clean": "knife",
    "soft hard": "bed, pillow, sofa",
}


QUALITY_ROWS = tuple(
    (tuple(adjectives.split()), noun.strip())
    for adjectives, names in QUALITIES.items()
    for noun in names.split(",")
)


DEGREES = words.table("""
very = sehr
too = zu
not = nicht
really = wirklich
still = noch
already = schon
""")


COLOURED = nouns.kinds("clothes", "pair", "vehicle", "carried") + nouns.some(
    "house, door, sofa, carpet, armchair, lamp, umbrella, towel, blanket, chair, bike, wall, cat, "
    "horse, rabbit, gate, fence, cup, vase, notebook"
)


COLOURS = some("red blue green yellow black white grey brown")


PARTS = (
    ("roof", "house, church, castle, school, station, garage, farm, museum, town hall"),
    ("door", "house, car, church, garage, shop, cupboard, café, library"),
    ("window", "house, car, church, kitchen, bedroom, train, shop"),
    ("colour", "car, dress, coat, house, carpet, sofa, door, wall, hat, bike, flower"),
    ("price", "book, ticket, car, ring, house, computer, hat, suit, camera, flat"),
    ("end", "film, story, street, book, summer, concert, novel, letter, game"),
    ("beginning", "film, story, book, concert, summer, novel, letter"),
    ("key", "house, car, flat, garage, cellar, suitcase, office"),
    ("name", "street, hotel, boy, dog, village, teacher, ship, doctor, girl, river, student"),
    ("owner", "house, dog, car, restaurant, shop, hotel, horse, farm, bike, boat"),
)


EXTRA = {
    "colour": ("die", "Farbe"),
    "price": ("der", "Preis"),
    "end": ("das", "Ende"),
    "beginning": ("der", "Anfang"),
    "name": ("der", "Name"),
    "owner": ("der", "Besitzer"),
}


@frame(1.4)
def thing_is(d: Dice) -> Draft:
    """The soup is too salty. - Die Suppe ist zu salzig."""
    adjectives, name = d.pick(QUALITY_ROWS)
    noun, plural = NOUNS[name.removesuffix("/")], name.endswith("/")
    quality = ADJECTIVES[d.pick(adjectives)]
    owner = d.owner() if d.chance(0.45) and noun.kind not in OWNERLESS else None
    det = "" if owner else d.pick(("the", "the", "this" if not plural else "these"))
    thing = phrase(noun, det, None, plural or noun.en == "sheep", owner)
    how_en, how_de = d.pick(DEGREES[:4])
    if how_en == "too" and quality.en in PLEASANT:
        how_en, how_de = "very", "sehr"
    if quality.en in ("broken", "open", "empty", "full"):
        how_en, how_de = d.pick(
            (("already", "schon"), ("still", "noch"), ("not", "nicht"), ("again", "wieder"))
        )
        if how_en == "again":
            made = clause(thing, "be", f"{quality.en} again", f"wieder {quality.de}")
            return say(made.en, made.de, f"{noun.en} is {quality.en}")
    made = clause(thing, "be", f"{how_en} {quality.en}", f"{how_de} {quality.de}")
    if d.chance(0.2) and how_en not in ("not", "still", "already"):
        how_en, how_de = ("", "") if how_en == "really" else (how_en, how_de)
        made = clause(
            thing, "be", f"{how_en} {quality.en}".strip(), f"{how_de} {quality.de}".strip()
        )
        return say(made.en_question, made.de_question, f"{noun.en} is {quality.en}", end="?")
    return say(made.en, made.de, f"{noun.en} is {quality.en}")


PLEASANT = frozenset(
    listed(
        "beautiful interesting exciting comfortable tasty fresh clean new cheap ripe strong fast "
        "modern important"
    )
)


OWNERLESS = frozenset(
    {"landscape", "structure", "wild_animal", "building", "abstract", "event", "tree", "house_part"}
)


@frame()
def colour_is(d: Dice) -> Draft:
    """Anna's new coat is green. - Annas neuer Mantel ist grün."""
    noun, colour = d.pick(COLOURED), d.pick(COLOURS)
    while noun.kind == "pet" and colour.en not in ("black", "white", "grey", "brown"):
        colour = d.pick(COLOURS)
    owner = d.owner() if d.chance(0.6) and noun.kind not in ("structure",) else None
    thing = d.thing(
        noun,
        "" if owner else d.pick(("the", "this", "my")),
        0.35,
        noun.kind == "pair" and owner is not None,
        owner,
        frozenset(listed("new old big small")).__contains__,
    )
    negated = d.chance(0.25)
    made = clause(
        thing.nominal, "be", f"{'not ' * negated}{colour.en}", f"{'nicht ' * negated}{colour.de}"
    )
    if not negated and d.chance(0.2):
        return say(
            made.en_question, made.de_question, f"{noun.en} is {colour.en}", thing.combos, end="?"
        )
    return say(made.en, made.de, f"{noun.en} is {colour.en}", thing.combos)


@frame()
def favourite(d: Dice) -> Draft:
    """Anna's favourite colour is green. - Annas Lieblingsfarbe ist Grün."""
    owner_en, owner_de = d.owner() if d.chance(0.8) else ("my", "meine")
    thing_en, thing_de, values = d.pick(
        (
            ("colour", "Lieblingsfarbe", tuple((a.en, a.de.capitalize()) for a in COLOURS)),
            ("day", "Lieblingstag", tuple((en, f"der {de}") for en, de in words.WEEKDAYS)),
            ("month", "Lieblingsmonat", tuple((en, f"der {de}") for en, de in words.MONTHS)),
            ("season", "Lieblingsjahreszeit", tuple((en, f"der {de}") for en, de in words.SEASONS)),
            (
                "animal",
                "Lieblingstier",
                tuple(
                    (phrase(n, "the").en, phrase(n, "the").de())
                    for n in nouns.kinds("wild_animal", "pet")
                    if n.en not in ("snake", "mouse")
                ),
            ),
        )
    )
    if owner_de == "meine":
        owner_de = "meine" if thing_de.endswith(("farbe", "zeit")) else "mein"
    en, de = d.pick(values)
    return say(
        f"{owner_en} favourite {thing_en} is {en}",
        f"{owner_de} {thing_de} ist {de}",
        f"favourite {thing_en} {en}",
    )


@frame()
def part_of(d: Dice) -> Draft:
    """The roof of the old house is red. - Das Dach des alten Hauses ist rot."""
    part, names = d.pick(PARTS)
    noun = NOUNS[d.pick([n.strip() for n in names.split(",") if n.strip() in NOUNS])]
    whole = d.thing(
        noun,
        d.pick(("the", "this")),
        0.4,
        wanted=frozenset(listed("new old big small young")).__contains__,
    )
    if part in EXTRA:
        article, part_de = EXTRA[part]
    else:
        article = {"m": "der", "f": "die", "n": "das"}[NOUNS[part].gender]
        part_de = NOUNS[part].de
    en, de = f"the {part} of {whole.en}", f"{article} {part_de} {whole.de('gen')}"
    part_combo = f"{part} of {noun.en}"
    if part == "key":
        en, de = f"the key to {whole.en}", f"{article} Schlüssel {whole.de('gen')}"
        name = d.name()
        acc = de.replace("der Schlüssel", "den Schlüssel", 1)
        made = clause(name, "look_for", f"for {en}", acc, "progressive")
        return say(made.en, made.de, part_combo, whole.combos)
    if part in ("name", "owner"):
        accusative = de.replace("der Name", "den Namen", 1).replace(
            "der Besitzer", "den Besitzer", 1
        )
        who = d.who(0.7, "I we they he she")
        negated = d.chance(0.5)
        made = clause(who, "know_person", en, accusative + " nicht" * negated, negated=negated)
        return say(made.en, made.de, part_combo, whole.combos)
    quality = ADJECTIVES[d.pick(PART_QUALITIES[part])]
    how_en, how_de = d.pick((("very", "sehr"), ("not", "nicht"), ("really", "wirklich")))
    if part in ("roof", "door", "colour") and quality in COLOURS:
        how_en, how_de = "", ""
    if part in ("door", "window"):
        how_en, how_de = d.pick((("still", "noch"), ("not", "nicht"), ("already", "schon")))
    return say(
        f"{en} is {f'{how_en} {quality.en}'.strip()}",
        f"{de} ist {f'{how_de} {quality.de}'.strip()}",
        part_combo,
        whole.combos,
    )


PART_QUALITIES = {
    "roof": listed("red grey black green brown"),
    "door": listed("open broken"),
    "window": listed("open broken dirty"),
    "colour": listed("beautiful bright dark"),
    "price": listed("high"),
    "end": listed("sad beautiful good"),
    "beginning": listed("boring exciting good interesting"),
}


@frame()
def because_of(d: Dice) -> Draft:
    """Because of the rain Anna is staying at home. - Wegen des Regens bleibt Anna zu Hause."""
    who, (en, de) = d.who(), d.pick(CAUSES)
    exam = en.endswith("exam")
    place = d.pick(STUDY_PLACES if exam else SHELTERS)
    made = clause(who, "stay", place.at[0], place.at[1], "progressive")
    return say(f"{en} {made.en}", made.de_after(de), f"{en} {place.key}")


STUDY_PLACES = words.places("at home, at school, at the library, at the office")


SHELTERS = words.places("at home, at the office, in the kitchen, at the café")


CAUSES = words.table("""
because of the rain = wegen des Regens
because of the bad weather = wegen des schlechten Wetters
because of the snow = wegen des Schnees
because of the cold = wegen der Kälte
because of the storm = wegen des Sturms
because of the exam = wegen der Prüfung
despite the rain = trotz des Regens
despite the bad weather = trotz des schlechten Wetters
despite the good weather = trotz des guten Wetters
despite the party = trotz der Party
because of the heat = wegen der Hitze
""")


DEEDS: dict[str, tuple[str, str, str]] = {
    "sleep": ("sleep", "", ""),
    "read": ("read", "a book", "ein Buch"),
    "write": ("write", "a letter", "einen Brief"),
    "apple": ("eat", "an apple", "einen Apfel"),
    "chocolate": ("eat", "chocolate", "Schokolade"),
    "tea": ("drink", "tea", "Tee"),
    "picture": ("draw", "a picture", "ein Bild"),
    "call": ("call", "{poss} mother", "{p}e Mutter"),
    "code": ("code", "", ""),
    "laugh": ("laugh", "a lot", "viel"),
    "chat": ("chat", "with {name}", "mit {name}"),
    "key": ("lose", "{poss} key", "{p}en Schlüssel"),
    "work": ("work", "a lot", "viel"),
    "study": ("study", "with {name}", "mit {name}"),
    "photos": ("take_photos", "a lot of photos", "viel"),
}


DURING: dict[tuple[str, str], str] = {
    ("during the lesson", "während des Unterrichts"): "sleep apple picture laugh chat",
    ("during the holidays", "während der Ferien"): "read write code work study key",
    ("during the trip", "während der Reise"): "sleep read key photos chat laugh",
    ("during the break", "während der Pause"): "read apple chocolate tea call chat picture code",
    ("during the film", "während des Films"): "sleep chocolate laugh chat",
    ("during the concert", "während des Konzerts"): "sleep chat",
    ("during the meeting", "während der Besprechung"): "sleep picture tea",
    ("during the week", "während der Woche"): "work study",
}


@frame()
def during_it(d: Dice) -> Draft:
    """During the break Anna read a book. - Während der Pause hat Anna ein Buch gelesen."""
    who, (en, de) = d.who(0.65, "I he she"), d.pick(tuple(DURING))
    verb, rest, mid = DEEDS[d.pick(DURING[en, de].split())]
    stem = {"I": "mein", "he": "sein", "she": "ihr"}[who.pronoun]
    other = d.name().en
    made = clause(
        who,
        verb,
        rest.format(poss=who.poss, name=other),
        mid.format(p=stem, name=other),
        "past_perfect",
    )
    return say(f"{en} {made.en}", made.de_after(de), f"{en} {verb} {rest}")
