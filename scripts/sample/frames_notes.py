"""Frames without a final mark: notes, captions, shopping lists, headlines and chat messages."""

from __future__ import annotations

from sample import nouns, words
from sample.clause import Nominal, clause, phrase, proper
from sample.dice import Dice, Draft, capital, frame, note, say
from sample.names import CITIES, COUNTRIES
from sample.nouns import NOUNS
from sample.text import listed
from sample.verbs import activities

LISTED = nouns.kinds("fruit", "dish", "snack", "clothes", "pair", "tableware", "gift", "flower")
ON_THE_LIST = nouns.kinds("fruit") + nouns.some("flour, rice, sugar, cheese, meat, fish, nut")
CAPTIONS = words.places(
    "in the garden, in the park, at the beach, at the lake, at school, at work, at the station, "
    "at the zoo, at the market, in the kitchen, in the mountains, in the forest, at the seaside, "
    "at the museum, at the airport, in bed, at home, at the café, at the office, at the playground"
)


@frame(1.4)
def counted_things(d: Dice) -> Draft:
    """two red apples - zwei rote Äpfel"""
    noun, value = d.pick(LISTED), d.upto(2, 12)
    adjective = d.adjective_for(noun, COUNTED_QUALITIES.__contains__) if d.chance(0.75) else None
    counted = phrase(noun, "", adjective, True, number=words.number(value))
    combos = (f"{adjective.en} {noun.en}",) if adjective else ()
    made = note(counted.en, counted.de("acc"), f"{words.number(value)[0]} {noun.en}", combos)
    return _maybe_capital(d, made)


COUNTED_QUALITIES = frozenset(
    listed(
        "red green blue white black grey brown yellow big small new old fresh ripe sweet warm "
        "beautiful colourful clean dirty"
    )
)


def _maybe_capital(d: Dice, made: Draft) -> Draft:
    """Start with a capital letter in half of the cases."""
    if d.chance(0.5):
        return made
    return Draft(capital(made.en), capital(made.de), made.combos)


@frame(0.8)
def shopping_list(d: Dice) -> Draft:
    """two kilos of potatoes - zwei Kilo Kartoffeln"""
    (en, de), noun = d.pick(AMOUNTS), d.pick(ON_THE_LIST)
    item = phrase(noun, "", None, noun.countable)
    made = note(f"{en} {item.en}", f"{de} {item.de()}", f"{en} {noun.en}")
    return _maybe_capital(d, made)


AMOUNTS = words.table("""
a kilo of = ein Kilo
two kilos of = zwei Kilo
three kilos of = drei Kilo
five kilos of = fünf Kilo
half a kilo of = ein halbes Kilo
a pound of = ein Pfund
two pounds of = zwei Pfund
a bag of = eine Tüte
a lot of = viel
a little = ein wenig
""")[:8]


@frame(1.4)
def caption(d: Dice) -> Draft:
    """Anna in the garden - Anna im Garten"""
    roll = d.upto(1, 4)
    if roll == 1:
        one, other = d.two_names()
        place = d.pick(CAPTIONS)
        return say(
            f"{one.en} and {other.en} {place.at[0]}",
            f"{one.de()} und {other.de()} {place.at[1]}",
            f"caption both {place.key}",
            end="",
        )
    who = d.name() if roll < 4 else d.named_kin()
    if d.chance(0.35):
        en, de = d.pick(CITIES + COUNTRIES)
        time_en, time_de = d.pick(
            (
                ("", ""),
                ("in summer", "im Sommer"),
                ("in winter", "im Winter"),
                ("in spring", "im Frühling"),
                ("in autumn", "im Herbst"),
            )
        )
        return say(
            f"{who.en} in {en} {time_en}".strip(),
            f"{who.de()} {time_de} in {de}",
            f"caption {en}",
            end="",
        )
    place = d.pick(CAPTIONS)
    return say(
        f"{who.en} {place.at[0]}", f"{who.de()} {place.at[1]}", f"caption {place.key}", end=""
    )


@frame(1.0)
def owned_thing(d: Dice) -> Draft:
    """Anna's red bike - Annas rotes Fahrrad"""
    noun = d.pick(
        nouns.kinds("vehicle", "pet", "clothes", "home", "instrument", "room", "furniture")
    )
    thing = d.thing(noun, "", 0.85, owner=d.owner(), wanted=OWNED_QUALITIES.__contains__)
    return say(thing.en, thing.de("nom"), f"own {noun.en}", thing.combos, end="")


OWNED_QUALITIES = frozenset(
    listed("new old big small red blue green white black beautiful young brown grey")
)


@frame(0.9)
def thing_somewhere(d: Dice) -> Draft:
    """The old house at the lake - Das alte Haus am See"""
    head, place = d.pick(HEADS)
    noun = NOUNS[head]
    thing = d.thing(
        noun,
        d.pick(("the", "a")),
        0.8,
        wanted=frozenset(
            listed("old new big small young beautiful red white black brown")
        ).__contains__,
    )
    en, de = place
    made = note(f"{thing.en} {en}", f"{thing.de('nom')} {de}", f"{head} {en}", thing.combos)
    return Draft(capital(made.en), capital(made.de), made.combos)


HEADS = tuple(
    (noun.strip(), where)
    for names_, where in (
        ("house, hotel, castle, restaurant, café, village", ("at the lake", "am See")),
        ("house, hotel, village, town, café", ("at the seaside", "am Meer")),
        ("house, village, hotel, castle, church, farm", ("in the mountains", "in den Bergen")),
        ("house, castle, lake, tree, meadow, church", ("in the forest", "im Wald")),
        ("tree, chair, table, bench, cat, dog, rabbit, bird, rose", ("in the garden", "im Garten")),
        ("cat, dog, book, blanket, pillow", ("on the sofa", "auf dem Sofa")),
        ("book, cup, lamp, vase, glass, letter, plate, candle", ("on the table", "auf dem Tisch")),
        ("man, woman, boy, girl, bench, dog, tree, café", ("in the park", "im Park")),
        ("man, woman, boy, girl, dog, bird", ("at the window", "am Fenster")),
    )
    for noun in names_.split(",")
)


@frame(1.0)
def appointment(d: Dice) -> Draft:
    """Meeting with Mr. Weber on Tuesday at ten - Treffen mit Herrn Weber am Dienstag um zehn"""
    (en, de), hours = d.pick(tuple(APPOINTMENTS.items()))
    person = d.mister() if en == "Lesson" or d.chance(0.3) else d.name()
    day_en, day_de = d.pick((*words.ON_WEEKDAY, ("tomorrow", "morgen"), ("today", "heute")))
    when_en, when_de = day_en, day_de
    if d.chance(0.6):
        time_en, time_de = words.clock_between(d.upto(1, 10**6), *hours)
        when_en, when_de = f"{day_en} at {time_en}", f"{day_de} um {time_de}"
    return say(
        f"{en} with {person.en} {when_en}",
        f"{de} mit {person.de('dat')} {when_de}",
        f"{en} {day_en}",
        end="",
    )


# Calendar entries, and the hours between which they can take place.
APPOINTMENTS: dict[words.Pair, tuple[int, int]] = {
    ("Meeting", "Treffen"): (8, 11),
    ("Breakfast", "Frühstück"): (7, 10),
    ("Lunch", "Mittagessen"): (12, 12),
    ("Dinner", "Abendessen"): (6, 8),
    ("Coffee", "Kaffee"): (2, 4),
    ("Lesson", "Unterricht"): (8, 11),
    ("Tennis", "Tennis"): (2, 6),
    ("Concert", "Konzert"): (7, 8),
}


@frame(0.9)
def back_at(d: Dice) -> Draft:
    """Back home at eight - Um acht wieder zu Hause"""
    (what_en, what_de), hours = d.pick(tuple(BACK.items()))
    time_en, time_de = words.clock_between(d.upto(1, 10**6), *hours)
    ending_en = ending_de = ""
    if d.chance(0.5):
        name = d.name()
        ending_en, ending_de = f", {name.en}", f", {name.de()}"
    return say(
        f"{what_en} at {time_en}{ending_en}",
        f"um {time_de} {what_de}{ending_de}",
        f"{what_en} {time_en}",
        end="",
    )


BACK: dict[words.Pair, tuple[int, int]] = {
    ("back home", "wieder zu Hause"): (1, 12),
    ("back at the office", "wieder im Büro"): (8, 11),
    ("at the station", "am Bahnhof"): (1, 12),
    ("at the airport", "am Flughafen"): (1, 12),
    ("dinner", "Abendessen"): (6, 8),
    ("lunch", "Mittagessen"): (12, 12),
    ("at the cinema", "im Kino"): (2, 8),
    ("in the park", "im Park"): (1, 6),
    ("at the café", "im Café"): (1, 6),
}


@frame(1.7)
def headline_likes(d: Dice) -> Draft:
    """Grandma likes the new garden - Oma mag den neuen Garten"""
    who = _family_or_name(d)
    own = d.chance(0.25)
    noun = d.suiting(OWNED if own else OWNED + PUBLIC, who)
    det = who.poss if own else d.pick(("the", "the", "this"))
    thing = d.thing(noun, det, 0.8, wanted=LIKED.__contains__)
    verb = d.pick(("like", "like", "love"))
    negated = verb == "like" and d.chance(0.2)
    made = clause(who, verb, thing.en, thing.de() + " nicht" * negated, negated=negated)
    return say(made.en, made.de, f"{verb} {noun.en}", thing.combos, end="")


OWNED = nouns.kinds("room", "furniture", "vehicle", "pet", "clothes", "home") + nouns.some(
    "house, camera, computer, phone, lamp"
)
PUBLIC = nouns.some(
    "lake, beach, park, town, village, school, book, film, cake, soup, game, hotel, café"
)
LIKED = frozenset(
    listed(
        "new old big small red blue green white black beautiful young brown modern quiet exciting "
        "long interesting comfortable colourful"
    )
)


def _family_or_name(d: Dice) -> Nominal:
    if d.chance(0.35):
        en, de, word = d.pick(words.FAMILIAR)
        return Nominal(en, (de, de, de, ""), word)
    return d.name()


@frame(1.8)
def chat_status(d: Dice) -> Draft:
    """Anna is already at home - Anna ist schon zu Hause"""
    who = _family_or_name(d) if d.chance(0.8) else d.pronoun()
    place = d.pick(words.PRESENCE)
    front_en, front_de = d.pick((("already", "schon"), ("still", "noch")))
    roll = d.upto(1, 2)
    if roll == 1:
        made = clause(who, "be", f"{front_en} {place.at[0]}", f"{front_de} {place.at[1]}")
    else:
        made = clause(who, "be", f"not {place.at[0]} yet", f"noch nicht {place.at[1]}")
    return say(made.en, made.de, f"{front_en if roll == 1 else 'not yet'} {place.key}", end="")


@frame(1.7)
def diary_today(d: Dice) -> Draft:
    """Today Mum is baking a cake - Heute backt Mama einen Kuchen"""
    who = _family_or_name(d)
    if d.chance(0.5):
        verb = d.pick(
            listed("bake cook wash repair read write paint visit buy clean plant draw tidy")
        )
        thing = d.object_of(verb, who)
        made = clause(who, verb, thing.en, thing.de(), "progressive")
        combos: tuple[str, ...] = thing.combos
    else:
        activity = d.pick(DIARY)
        made = clause(who, activity.verb, activity.en_rest, activity.de_mid, "progressive")
        combos = (f"diary {activity.key}",)
    time_en, time_de = d.pick(
        (
            ("today", "heute"),
            ("tonight", "heute Abend"),
            ("tomorrow", "morgen"),
            ("on Sunday", "am Sonntag"),
            ("on Saturday", "am Samstag"),
        )
    )
    return say(f"{time_en} {made.en}", made.de_after(time_de), combos, end="")


DIARY = activities(
    "cook, code, sing, dance, work, study, play football, play tennis, play chess, play cards, "
    "bake, watch_tv TV, play the piano, swim, paint, shop"
)


@frame(1.7)
def chat_news(d: Dice) -> Draft:
    """Anna has a new dog - Anna hat einen neuen Hund"""
    who = _family_or_name(d)
    roll = d.upto(1, 4)
    if roll == 1:
        noun = d.suiting(nouns.kinds("pet", "vehicle", "clothes", "instrument", "device"), who)
        thing = d.thing(
            noun,
            "a",
            1.0,
            wanted=frozenset(listed("new big small red young beautiful")).__contains__,
        )
        made = clause(who, "have", thing.en, thing.de())
        return say(made.en, made.de, f"have {noun.en}", thing.combos, end="")
    if roll == 2:
        en, de = d.pick(CITIES)
        time_en, time_de = d.pick(words.NEAR_FUTURE)
        made = clause(who, "come", f"from {en} {time_en}", f"{time_de} aus {de}", "progressive")
        made = clause(who, "fly", f"to {en} {time_en}", f"{time_de} nach {de}", "progressive")
        return say(made.en, made.de, f"fly {en}", end="")
    verb = d.pick(listed("find lose repair sell bake buy win break miss"))
    if verb == "win":
        made = clause(who, "win", "the game", "das Spiel", "perfect")
        return say(made.en, made.de, "win game", end="")
    thing = d.object_of(verb, who)
    made = clause(who, verb, thing.en, thing.de(), "perfect")
    return say(made.en, made.de, thing.combos, end="")


@frame(1.2)
def chat_late(d: Dice) -> Draft:
    """The train is late again - Der Zug hat wieder Verspätung"""
    noun = d.pick(nouns.some("train, bus, tram, ferry"))
    city_en, city_de = d.pick(CITIES[:37])
    if noun.en in ("tram", "ferry"):
        thing = phrase(noun, "the")
    else:
        base = phrase(noun, "the")
        thing = proper(f"{base.en} to {city_en}", f"{base.de()} nach {city_de}")
    en, de = d.pick(
        (
            ("late again", "wieder Verspätung"),
            ("late today", "heute Verspätung"),
            ("late", "Verspätung"),
            ("an hour late", "eine Stunde Verspätung"),
            ("ten minutes late", "zehn Minuten Verspätung"),
            ("twenty minutes late", "zwanzig Minuten Verspätung"),
            ("five minutes late", "fünf Minuten Verspätung"),
            ("two hours late", "zwei Stunden Verspätung"),
        )
    )
    return say(f"{thing.en} is {en}", f"{thing.de()} hat {de}", f"late {noun.en} {en}", end="")
