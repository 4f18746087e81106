"""Frames about places, travel, the time, the date and the weather."""

from __future__ import annotations

from sample import german, nouns, words
from sample.clause import Nominal, clause, phrase
from sample.dice import Dice, Draft, frame, say
from sample.names import CITIES, COUNTRIES, LANGUAGES
from sample.nouns import NOUNS
from sample.text import listed

BUILDINGS = nouns.some(
    "school, church, hotel, museum, restaurant, library, station, hospital, theatre, cinema, "
    "bakery, pharmacy, town hall, café, swimming pool, bookshop, supermarket, castle, park"
)


FURNITURE = nouns.some("table, chair, bed, sofa, cupboard, shelf, desk, armchair, bench")


# Things that lie, and things that stand, in a room.
LYING = nouns.some(
    "book, newspaper, letter, key, phone, wallet, watch, pencil, ticket, passport, notebook, "
    "jacket, scarf, hat, ball, towel, blanket, pillow, ring, glove, sock, knife, photo"
)


STANDING = nouns.some("lamp, vase, bottle, cup, glass, bowl, candle, basket, box, plate, pot")


SURFACES = nouns.some("table, chair, bed, sofa, shelf, desk, cupboard, bench, armchair")


STANDING_PLACES = nouns.some("table, shelf, desk, cupboard")


SMALL_PETS = nouns.some("cat, dog, rabbit, bird")


POSITIONS = words.table("""
under = unter
next to = neben
behind = hinter
in front of = vor
""")


NEARBY: tuple[tuple[str, str, german.Case], ...] = (
    ("next to", "neben", "dat"),
    ("behind", "hinter", "dat"),
    ("opposite", "gegenüber", "dat"),
    ("near", "in der Nähe", "gen"),
)


SHOPS = nouns.some(
    "restaurant, bakery, pharmacy, café, bookshop, supermarket, hotel, school, library, park, "
    "cinema, church"
)


VISIBLE = frozenset(listed("new old red blue green black white brown small big"))


CITY_SIGHTS = nouns.some(
    "church, museum, hotel, restaurant, theatre, café, park, bridge, school, shop, cinema, street, "
    "house, bookshop, library, tourist, student"
)


@frame(1.2)
def is_at(d: Dice) -> Draft:
    """Anna is at the library today. - Anna ist heute in der Bibliothek."""
    who, place = d.who(), d.pick(words.PRESENCE)
    time_en, time_de = d.pick(
        (
            ("", ""),
            ("today", "heute"),
            ("now", "jetzt"),
            ("again", "wieder"),
            ("tonight", "heute Abend"),
        )
    )
    negated = d.chance(0.3)
    evening = time_en == "tonight" and place.key not in words.EVENING_PLACES
    if evening or (negated and time_en == "again"):
        time_en, time_de = "today", "heute"
    mid = " ".join(filter(None, (time_de, "nicht" * negated, place.at[1])))
    made = clause(who, "be", f"{place.at[0]} {time_en}".strip(), mid, negated=negated)
    return say(made.en, made.de, f"be {place.key} {time_en}")


@frame()
def was_at(d: Dice) -> Draft:
    """Yesterday Anna was at the cinema. - Gestern war Anna im Kino."""
    who, place = d.who(), d.pick(words.PRESENCE)
    time_en, time_de = d.pick(words.past_times(place))
    made = clause(who, "be", place.at[0], place.at[1], "past")
    return say(f"{time_en} {made.en}", made.de_after(time_de), f"was {place.key}")


@frame(1.2)
def going_to(d: Dice) -> Draft:
    """Anna is going to the library tomorrow. - Anna geht morgen in die Bibliothek."""
    who = d.who()
    place = _goal(d, who)
    time_en, time_de = d.pick(words.future_times(place))
    made = clause(who, "go", f"{place.to[0]} {time_en}", f"{time_de} {place.to[1]}", "progressive")
    if d.chance(0.25) and not d.about_speaker(who):
        return say(made.en_question, made.de_question, f"go {place.key} {time_en}", end="?")
    return say(made.en, made.de, f"go {place.key} {time_en}")


def _goal(d: Dice, who: Nominal) -> words.Place:
    """A place the person may be going to; uncles and bakers do not go to school."""
    place = d.pick(words.OUTINGS + words.ERRANDS)
    while place.key == "at school" and not who.kinless:
        place = d.pick(words.OUTINGS + words.ERRANDS)
    return place


@frame()
def goes_every(d: Dice) -> Draft:
    """Every morning Anna goes to school. - Jeden Morgen geht Anna zur Schule."""
    who = d.who()
    place = _goal(d, who)
    while place.key in ("at the station", "at the airport", "at home", "at the dentist's"):
        place = _goal(d, who)
    time_en, time_de = d.pick(words.WEEKLY)
    made = clause(who, "go", place.to[0], place.to[1])
    return say(f"{time_en} {made.en}", made.de_after(time_de), f"goes {place.key} {time_en}")


@frame()
def has_gone(d: Dice) -> Draft:
    """Anna has already gone home. - Anna ist schon nach Hause gegangen."""
    who = d.who()
    place = _goal(d, who)
    front_en, front_de = d.pick((("already", "schon"), ("just", "gerade"), ("never", "noch nie")))
    if front_en == "never":
        place = d.pick(words.OUTINGS)
        while place.key in ("at the concert", "in town"):
            place = d.pick(words.OUTINGS)
        made = clause(who, "be", place.at[0], f"noch nie {place.at[1]}", "past")
        return say(
            f"{who.en} {'has' if who.third else 'have'} never been {_to_be(place)}",
            made.de,
            f"never {place.key}",
        )
    if who.en in ("I", "we"):
        who = d.name()
    made = clause(who, "go", place.to[0], f"{front_de} {place.to[1]}", "perfect", adverb=front_en)
    return say(made.en, made.de, f"gone {place.key}")


def _to_be(place: words.Place) -> str:
    return place.to[0].replace("into ", "to ")


@frame()
def want_to_go(d: Dice) -> Draft:
    """Do you want to go to the cinema with me, Anna?"""
    place, name = d.pick(words.OUTINGS), d.name()
    whom_en, whom_de = d.pick(
        (("me", "mir"), ("us", "uns"), ("him", "ihm"), ("her", "ihr"), ("them", "ihnen"))
    )
    if d.chance(0.5):
        time_en, time_de = d.pick(words.future_times(place))
        made = clause(
            name,
            "go",
            f"{place.to[0]} with {whom_en} {time_en}",
            f"{time_de} mit {whom_de} {place.to[1]}",
            "want",
        )
        return say(made.en, made.de, f"go with {place.key}")
    return say(
        f"do you want to go {place.to[0]} with {whom_en}, {name.en}",
        f"willst du mit {whom_de} {place.to[1]} gehen, {name.de()}",
        f"go with {place.key}",
        end="?",
    )


@frame()
def lets_go_to(d: Dice) -> Draft:
    """Let's go to the zoo on Sunday. - Lass uns am Sonntag in den Zoo gehen."""
    place = d.pick(words.OUTINGS)
    time_en, time_de = d.pick(words.future_times(place))
    ending_en, ending_de, mark = "", "", "."
    if d.chance(0.6):
        other = d.name()
        ending_en, ending_de = f" with {other.en}", f"mit {other.de()} "
    return say(
        f"let's go {place.to[0]}{ending_en} {time_en}",
        f"lass uns {time_de} {ending_de}{place.to[1]} gehen",
        f"let's {place.key} {time_en}",
        end=mark,
    )


@frame(1.2)
def lives_in(d: Dice) -> Draft:
    """Anna lives in Vienna. - Anna wohnt in Wien."""
    who, (en, de) = d.who(0.65), d.pick(CITIES)
    roll = d.upto(1, 4)
    if roll == 1:
        value = d.upto(2, 20)
        years = words.number(value)
        return say(
            f"{who.en} {'has' if who.third else 'have'} lived in {en} for {years[0]} years",
            clause(who, "live", mid=f"seit {years[1]} Jahren in {de}").de,
            f"live {en}",
        )
    if roll == 2:
        noun = d.pick(nouns.some("house, flat, room, hotel"))
        thing = d.thing(
            noun,
            "a",
            0.9,
            wanted=frozenset(listed("big small old new modern beautiful")).__contains__,
        )
        made = clause(who, "live", f"in {thing.en} in {en}", f"in {thing.de('dat')} in {de}")
        return say(made.en, made.de, f"live {noun.en} {en}", thing.combos)
    time_en, time_de = d.pick((("", ""), ("now", "jetzt"), ("again", "wieder")))
    if roll == 3:
        time_en, time_de = d.pick(
            (
                ("last year", "letztes Jahr"),
                ("then", "damals"),
                ("before", "früher"),
                ("two years ago", "vor zwei Jahren"),
            )
        )
        made = clause(who, "live", f"in {en} {time_en}", f"{time_de} in {de}", "past")
        return say(made.en, made.de, f"live {en}")
    made = clause(who, "live", f"in {en} {time_en}".strip(), f"{time_de} in {de}".strip())
    return say(made.en, made.de, f"live {en}")


@frame()
def comes_from(d: Dice) -> Draft:
    """Anna comes from Sweden. - Anna kommt aus Schweden."""
    who, (en, de) = d.who(0.7), d.pick(COUNTRIES + CITIES)
    negated = d.chance(0.2)
    made = clause(who, "come", f"from {en}", "nicht " * negated + f"aus {de}", negated=negated)
    if d.chance(0.25) and not d.about_speaker(who):
        made = clause(who, "come", f"from {en}", f"aus {de}")
        return say(made.en_question, made.de_question, f"from {en}", end="?")
    return say(made.en, made.de, f"from {en}")


@frame()
def city_people(d: Dice) -> Draft:
    """Anna has an aunt in Rome. - Anna hat eine Tante in Rom."""
    who, (en, de) = d.who(0.7), d.pick(CITIES + COUNTRIES)
    noun = d.pick(nouns.some("aunt, uncle, sister, brother, daughter, son, house, flat, shop"))
    if noun.kind != "kin" or d.chance(0.5):
        thing = phrase(noun, "a")
        verb = "have"
    else:
        thing, verb = phrase(noun, "", None, True, number=words.number(d.upto(2, 4))), "have"
    made = clause(who, verb, f"{thing.en} in {en}", f"{thing.de('acc')} in {de}")
    return say(made.en, made.de, f"have {noun.en} {en}")


@frame()
def travels_to(d: Dice) -> Draft:
    """On Saturday we are flying to Rome. - Am Samstag fliegen wir nach Rom."""
    who, (en, de) = d.who(), d.pick(CITIES + COUNTRIES)
    time_en, time_de = d.pick(words.FAR_FUTURE + words.NEAR_FUTURE[:4] + words.NEAR_FUTURE[4:])
    verb = d.pick(("fly", "travel"))
    made = clause(who, verb, f"to {en}", f"nach {de}", "progressive")
    if d.chance(0.5):
        return say(f"{time_en} {made.en}", made.de_after(time_de), f"{verb} {en}")
    made = clause(who, verb, f"to {en} {time_en}", f"{time_de} nach {de}", "progressive")
    return say(made.en, made.de, f"{verb} {en}")


@frame()
def been_to(d: Dice) -> Draft:
    """Anna was in Rome last summer. - Anna war letzten Sommer in Rom."""
    who, (en, de) = d.who(), d.pick(CITIES + COUNTRIES)
    time_en, time_de = d.pick(words.PAST[4:])
    made = clause(who, "be", f"in {en} {time_en}", f"{time_de} in {de}", "past")
    if d.chance(0.3) and not d.about_speaker(who):
        return say(made.en_question, made.de_question, f"was {en}", end="?")
    return say(made.en, made.de, f"was {en}")


@frame()
def ever_been(d: Dice) -> Draft:
    """Have you ever been to Norway, Anna? - Warst du schon einmal in Norwegen, Anna?"""
    (en, de), name = d.pick(CITIES + COUNTRIES), d.name()
    roll = d.upto(1, 3)
    if roll == 1:
        return say(
            f"have you ever been to {en}, {name.en}",
            f"warst du schon einmal in {de}, {name.de()}",
            f"ever {en}",
            end="?",
        )
    if roll == 2:
        return say(
            f"has {name.en} ever been to {en}",
            f"war {name.de()} schon einmal in {de}",
            f"ever {en}",
            end="?",
        )
    who = d.who()
    return say(
        f"{who.en} {'has' if who.third else 'have'} never been to {en}",
        clause(who, "be", mid=f"noch nie in {de}", tense="past").de,
        f"ever {en}",
    )


@frame()
def speaks_language(d: Dice) -> Draft:
    """Anna speaks Spanish very well. - Anna spricht sehr gut Spanisch."""
    who, (en, de) = d.who(0.65), d.pick(LANGUAGES)
    how_en, how_de = d.pick(
        (
            ("very well", "sehr gut"),
            ("well", "gut"),
            ("a little", "ein wenig"),
            ("quite well", "ziemlich gut"),
            ("every day", "jeden Tag"),
            ("at home", "zu Hause"),
        )
    )
    if d.chance(0.3) and not d.about_speaker(who):
        made = clause(who, "speak", en, de)
        return say(made.en_question, made.de_question, f"speak {en}", end="?")
    if d.chance(0.2):
        made = clause(who, "speak", en, f"kein {de}", negated=True)
        return say(made.en, made.de, f"speak {en}")
    rest = f"a little {en}" if how_en == "a little" else f"{en} {how_en}"
    made = clause(who, "speak", rest, f"{how_de} {de}")
    return say(made.en, made.de, f"speak {en} {how_en}")


@frame()
def lying_where(d: Dice) -> Draft:
    """The key is lying on the table. - Der Schlüssel liegt auf dem Tisch."""
    lies = d.chance(0.6)
    noun = d.pick(LYING if lies else STANDING)
    det, owner = d.pick((("the", False), ("my", False), ("", True), ("", True)))
    several = noun.en in ("key", "book", "letter", "photo", "glass", "cup", "plate")
    plural = noun.kind == "pair" or (several and d.chance(0.4))
    thing = d.thing(noun, det, 0.35, plural, d.owner() if owner else None, VISIBLE.__contains__)
    place = d.thing(d.pick(SURFACES if lies else STANDING_PLACES), "the", 0.3)
    if lies and d.chance(0.3) and place.noun.en not in ("shelf", "cupboard"):
        prep_en, prep_de = "under", "unter"
    else:
        prep_en, prep_de = "on", "auf"
    verb = "lie" if lies else "stand"
    made = clause(
        thing.nominal,
        verb,
        f"{prep_en} {place.en}",
        place.nominal.after(prep_de, "dat"),
        "progressive",
    )
    return say(made.en, made.de, f"{noun.en} {prep_en} {place.noun.en}", thing.combos, place.combos)


@frame()
def put_where(d: Dice) -> Draft:
    """Put the book on the table, Anna. - Leg das Buch auf den Tisch, Anna."""
    lies = d.chance(0.6)
    noun = d.pick(LYING if lies else STANDING)
    thing = d.thing(noun, d.pick(("the", "your" if lies else "the")), 0.35, noun.kind == "pair")
    place = d.thing(d.pick(SURFACES if lies else STANDING_PLACES), "the", 0.25)
    name = d.name()
    verb = "Leg" if lies else "Stell"
    return say(
        f"please put {thing.en} on {place.en}, {name.en}",
        f"{verb} bitte {thing.de()} {place.nominal.after('auf', 'acc')}, {name.de()}",
        f"put {noun.en} {place.noun.en}",
        thing.combos,
        place.combos,
    )


@frame()
def where_is_thing(d: Dice) -> Draft:
    """Where is Anna's blue jacket? - Wo ist Annas blaue Jacke?"""
    noun = d.pick(
        LYING
        + nouns.some(
            "umbrella, bag, camera, coat, suitcase, backpack, dog, cat, "
            "shoe, boot, cap, sweater, guitar, bike"
        )
    )
    plural = noun.kind == "pair" or (noun.en in ("key", "book", "ticket") and d.chance(0.4))
    owner = d.owner() if d.chance(0.6) else None
    thing = d.thing(
        noun,
        "" if owner else d.pick(("my", "your", "the", "our")),
        0.45,
        plural,
        owner,
        VISIBLE.__contains__,
    )
    made = clause(thing.nominal, "be")
    return say(
        f"where {made.en_question}", made.de_after("wo"), f"where {noun.en}", thing.combos, end="?"
    )


@frame()
def pet_position(d: Dice) -> Draft:
    """Anna's cat is sleeping under the table. - Annas Katze schläft unter dem Tisch."""
    noun = d.pick(SMALL_PETS[:3])
    owner = d.owner() if d.chance(0.6) else None
    thing = d.thing(
        noun,
        "" if owner else d.pick(("the", "our")),
        0.4,
        owner=owner,
        wanted=frozenset(listed("big small old young black white brown")).__contains__,
    )
    verb = d.pick(("sleep", "sit"))
    prep_en, prep_de = d.pick((*POSITIONS, ("on", "auf")))
    place = d.thing(d.pick(FURNITURE), "the", 0.3)
    if prep_en == "on" and place.noun.en in ("shelf", "cupboard", "desk"):
        prep_en, prep_de = "next to", "neben"
    if prep_en == "under" and place.noun.en in ("shelf", "armchair"):
        prep_en, prep_de = "behind", "hinter"
    made = clause(
        thing.nominal, verb, f"{prep_en} {place.en}", f"{prep_de} {place.de('dat')}", "progressive"
    )
    return say(made.en, made.de, f"{verb} {prep_en} {place.noun.en}", thing.combos, place.combos)


@frame()
def runs_into(d: Dice) -> Draft:
    """The dog is running into the kitchen. - Der Hund läuft in die Küche."""
    noun = d.pick(nouns.some("dog, cat, child, boy, girl, fox, rabbit, mouse"))
    personal = noun.kind == "person"
    thing = d.thing(noun, "the", 0.45)
    subject = d.name() if d.chance(0.45) else thing.nominal
    combos = () if subject is not thing.nominal else thing.combos
    place = d.thing(
        d.pick(
            nouns.some(
                "kitchen, garden, house, forest, cellar, garage, park, "
                "school, shop, bedroom, room, church, café, station"
            )
        ),
        "the",
        0.25,
    )
    verb = "run"
    adverb_en, adverb_de = d.pick((("", ""), ("quickly", "schnell"))) if personal else ("", "")
    rest = f"{adverb_en} into {place.en}".strip()
    made = clause(
        subject,
        verb,
        rest,
        f"{adverb_de} {place.nominal.after('in', 'acc')}".strip(),
        d.pick(("progressive", "past_perfect")),
    )
    return say(made.en, made.de, f"run {place.noun.en}", combos, place.combos)


@frame()
def there_is_near(d: Dice) -> Draft:
    """There is a new café next to the station. - Neben dem Bahnhof gibt es ein neues Café."""
    thing = d.thing(d.pick(SHOPS), "a", 0.5)
    place = d.thing(d.pick(BUILDINGS), "the", 0.2)
    while place.noun is thing.noun:
        place = d.thing(d.pick(BUILDINGS), "the", 0.2)
    prep_en, prep_de, case = d.pick(NEARBY)
    return say(
        f"there is {thing.en} {prep_en} {place.en}",
        f"{prep_de} {place.de(case)} gibt es {thing.de()}",
        f"{thing.noun.en} {prep_en} {place.noun.en}",
        thing.combos,
        place.combos,
    )


@frame()
def there_is_in(d: Dice) -> Draft:
    """Is there a pharmacy in this village? - Gibt es in diesem Dorf eine Apotheke?"""
    where = phrase(NOUNS[d.pick(("town", "village", "street"))], d.pick(("this", "our")))
    thing = d.thing(d.pick(SHOPS if where.en.endswith("street") else BUILDINGS), "a", 0.4)
    roll = d.upto(1, 3)
    combo = f"{thing.noun.en} in {where.en}"
    prep = "in"
    if roll == 1:
        return say(
            f"is there {thing.en} {prep} {where.en}",
            f"gibt es in {where.de('dat')} {thing.de()}",
            combo,
            thing.combos,
            end="?",
        )
    if roll == 2:
        no = d.thing(thing.noun, "no", 0.0)
        return say(
            f"there is no {thing.noun.en} in {where.en}",
            f"in {where.de('dat')} gibt es {no.de()}",
            f"no {combo}",
        )
    return say(
        f"there is {thing.en} in {where.en}",
        f"in {where.de('dat')} gibt es {thing.de()}",
        combo,
        thing.combos,
    )


@frame()
def there_are_in_city(d: Dice) -> Draft:
    """There are many old churches in Rome. - In Rom gibt es viele alte Kirchen."""
    en, de = d.pick(CITIES)
    noun = d.pick(CITY_SIGHTS)
    sights = "young" if noun.kind == "person" else "old new big small modern beautiful narrow"
    wanted = frozenset(sights.split())
    adjective = d.adjective_for(noun, wanted.__contains__) if d.chance(0.7) else None
    many = phrase(noun, "", adjective, True, number=("many", "viele"))
    combos = (f"{adjective.en} {noun.en}",) if adjective else ()
    return say(
        f"there are {many.en} in {en}",
        f"in {de} gibt es {many.de('acc')}",
        f"{noun.en} {en}",
        combos,
    )


@frame()
def excuse_me_where(d: Dice) -> Draft:
    """Excuse me, Mr. Weber, where is the station? - Entschuldigung, Herr Weber, wo ist ...?"""
    person, noun = (d.mister() if d.chance(0.5) else d.name()), d.pick(BUILDINGS)
    thing = d.thing(noun, "the", 0.3)
    return say(
        f"excuse me, {person.en}, where is {thing.en}",
        f"Entschuldigung, {person.de()}, wo ist {thing.de('nom')}",
        f"where {noun.en}",
        thing.combos,
        end="?",
    )


@frame()
def way_to(d: Dice) -> Draft:
    """Can you show me the way to the station, Anna?"""
    name, noun = d.name(), d.pick(BUILDINGS)
    place = d.thing(noun, "the", 0.3)
    formal = d.chance(0.3)
    person = d.mister() if formal else name
    can = "können Sie" if formal else "kannst du"
    whom_en, whom_de = d.pick((("me", "mir"), ("us", "uns")))
    return say(
        f"can you show {whom_en} the way to {place.en}, {person.en}",
        f"{can} {whom_de} den Weg {place.nominal.after('zu', 'dat')} zeigen, {person.de()}",
        f"way {noun.en}",
        place.combos,
        end="?",
    )


@frame()
def take_number(d: Dice) -> Draft:
    """Take bus 12 to the station, Anna. - Nimm den Bus 12 zum Bahnhof, Anna."""
    line, noun, name = d.upto(2, 98), d.pick(BUILDINGS), d.name()
    place = d.thing(noun, "the", 0.15)
    vehicle_en, vehicle_de = d.pick((("bus", "den Bus"), ("tram", "die Straßenbahn")))
    return say(
        f"take {vehicle_en} {line} to {place.en}, {name.en}",
        f"nimm {vehicle_de} {line} {place.nominal.after('zu', 'dat')}, {name.de()}",
        f"{vehicle_en} {noun.en}",
        place.combos,
    )
