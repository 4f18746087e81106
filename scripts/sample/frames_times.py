"""Frames about the time, the date, timetables and the weather."""

from __future__ import annotations

from sample import german, nouns, words
from sample.clause import clause, phrase, pronoun, proper
from sample.dice import Dice, Draft, frame, say
from sample.names import CITIES, COUNTRIES
from sample.text import listed

# The hours between which each activity is plausible.
HOURS_OF = {"come_back": (4, 9), "go_home": (4, 9), "start_work": (6, 9)}


@frame(0.6)
def it_is_oclock(d: Dice) -> Draft:
    """It is a quarter past seven. - Es ist Viertel nach sieben."""
    en, de = d.pick(words.CLOCK)
    front_en, front_de = d.pick(
        (
            ("it is", "es ist"),
            ("it is already", "es ist schon"),
            ("it is almost", "es ist fast"),
            ("it is only", "es ist erst"),
        )
    )
    return say(f"{front_en} {en}", f"{front_de} {de}", f"{front_en} {en}")


@frame(1.2)
def gets_up_at(d: Dice) -> Draft:
    """Anna gets up at half past six. - Anna steht um halb sieben auf."""
    who, verb = d.who(), d.pick(("get_up", "wake_up", "come_back", "go_home", "start_work", "eat_"))
    time_en, time_de = words.clock_between(d.upto(1, 10**6), *HOURS_OF.get(verb, (5, 9)))
    day_en, day_de = d.pick(
        (("", ""), *words.ON_WEEKDAYS, ("every day", "jeden Tag"), ("tomorrow", "morgen"))
    )
    phrases = {
        "get_up": ("get_up", "", ""),
        "wake_up": ("wake_up", "", ""),
        "come_back": ("come_back", "", ""),
        "go_home": ("go", "home", "nach Hause"),
        "start_work": ("go", "to work", "zur Arbeit"),
        "eat_": ("eat", "lunch", "zu Mittag"),
    }
    key, rest, mid = phrases[verb]
    if verb == "eat_":
        time_en, time_de = d.pick(
            (
                ("twelve", "zwölf"),
                ("one", "eins"),
                ("half past twelve", "halb eins"),
                ("half past one", "halb zwei"),
                ("noon", "zwölf Uhr"),
            )
        )
    tense = "will" if day_en == "tomorrow" else "present"
    made = clause(
        who,
        key,
        " ".join(filter(None, (rest, "at", time_en, day_en))),
        " ".join(filter(None, (day_de, "um", time_de, mid))),
        tense,
    )
    return say(made.en, made.de, f"{verb} {time_en}")


@frame()
def event_starts(d: Dice) -> Draft:
    """The film starts at half past eight on Friday. - Der Film beginnt am Freitag um halb neun."""
    noun = d.pick(nouns.some("film, concert, game, meeting, course, exam, party"))
    thing = phrase(noun, "the")
    if noun.en in ("party", "exam", "course", "wedding") and d.chance(0.7):
        thing = phrase(noun, "", owner=d.owner())
    evening = noun.en in ("film", "concert", "game", "party")
    verb = d.pick(("start", "start", "end"))
    hours = {("start", True): (5, 8), ("end", True): (9, 11), ("start", False): (8, 10)}
    time_en, time_de = words.clock_between(d.upto(1, 10**6), *hours.get((verb, evening), (11, 12)))
    day_en, day_de = d.pick((("today", "heute"), ("tomorrow", "morgen"), *words.ON_WEEKDAY[:6]))
    made = clause(thing, verb, f"at {time_en} {day_en}", f"{day_de} um {time_de}")
    if d.chance(0.25):
        asked = clause(thing, verb, day_en, day_de)
        return say(
            f"when {asked.en_question}",
            asked.de_after("wann"),
            f"{noun.en} {verb} {day_en}",
            end="?",
        )
    return say(made.en, made.de, f"{noun.en} {verb} {day_en}")


@frame()
def train_leaves(d: Dice) -> Draft:
    """The train to Vienna leaves at nine. - Der Zug nach Wien fährt um neun ab."""
    noun, (en, de) = d.pick(nouns.some("train, bus, ferry, train, bus")), d.pick(CITIES[:37])
    verb = d.pick(("leave", "arrive"))
    if noun.en == "ferry":
        en, de = d.pick(
            (
                ("Sweden", "Schweden"),
                ("Norway", "Norwegen"),
                ("Denmark", "Dänemark"),
                ("Finland", "Finnland"),
                ("Greece", "Griechenland"),
                ("Ireland", "Irland"),
            )
        )
    prep_en, prep_de = ("to", "nach") if verb == "leave" else ("from", "aus")
    thing = proper(
        f"the {noun.en} {prep_en} {en}",
        f"{german.determiner('der', 'nom', noun.gender)} {noun.de} {prep_de} {de}",
    )
    roll = d.upto(1, 3)
    if roll == 1:
        made = clause(thing, verb)
        return say(
            f"when {made.en_question}", made.de_after("wann"), f"{noun.en} {verb} {en}", end="?"
        )
    if roll == 2:
        hour, minute = d.upto(6, 22), d.pick((5, 10, 15, 20, 25, 35, 40, 45, 50, 55))
        clock = f"{hour}:{minute:02d}"
        made = clause(thing, verb, f"at {clock}", f"um {clock} Uhr")
    else:
        time_en, time_de = d.pick(words.CLOCK)
        made = clause(thing, verb, f"at {time_en}", f"um {time_de}")
    return say(made.en, made.de, f"{noun.en} {verb} {en}")


@frame()
def meet_where_when(d: Dice) -> Draft:
    """We are meeting Anna at the station at eight. - Wir treffen Anna um acht am Bahnhof."""
    who, whom = d.pick((d.name, d.pronoun))(), d.name()
    place = d.pick(
        words.places(
            "at the station, at the airport, at the cinema, at the theatre, at the museum, "
            "at the library, at the restaurant, at the café, at the swimming pool, at the zoo, "
            "at the market, in the park, at the lake, at the office, at the beach, at the "
            "playground"
        )
    )
    time_en, time_de = d.pick(words.CLOCK) if d.chance(0.5) else ("", "")
    day_en, day_de = d.pick(words.NEAR_FUTURE)
    if time_en:
        when_en, when_de = f"at {time_en}", f"um {time_de}"
    else:
        when_en, when_de = day_en, day_de
    made = clause(
        who,
        "meet",
        f"{whom.en} {place.at[0]} {when_en}",
        f"{whom.de()} {when_de} {place.at[1]}",
        "progressive",
    )
    return say(made.en, made.de, f"meet {place.key}")


@frame()
def birthday(d: Dice) -> Draft:
    """Anna's birthday is on the third of May. - Annas Geburtstag ist am dritten Mai."""
    (en, de), (month_en, month_de) = d.pick(words.ORDINALS), d.pick(words.MONTHS)
    owner_en, owner_de = d.owner()
    tail_en, tail_de = f"the {en} of {month_en}", f"am {de} {month_de}"
    roll = d.upto(1, 3)
    if roll == 1:
        return say(
            f"{owner_en} birthday is on {tail_en}",
            f"{owner_de} Geburtstag ist {tail_de}",
            f"birthday {en} {month_en}",
        )
    name = d.name()
    if roll == 2:
        return say(
            f"{name.en} was born on {tail_en}",
            f"{name.de()} wurde {tail_de} geboren",
            f"born {en} {month_en}",
        )
    return say(
        f"{name.en} was born in {month_en}",
        f"{name.de()} wurde im {month_de} geboren",
        f"born {month_en}",
    )


@frame()
def in_month(d: Dice) -> Draft:
    """In July we are going on holiday to Italy. - Im Juli fahren wir nach Italien in den Urlaub."""
    who, (en, de) = d.who(), d.pick(words.MONTHS + words.SEASONS)
    what = d.pick(("wedding", "house", "garden", "city", "course", "exam"))
    city_en, city_de = d.pick(CITIES + COUNTRIES)
    rest, mid, verb, tense = {
        "wedding": ("", "", "marry", "will"),
        "house": (f"to {city_en}", f"nach {city_de}", "move", "will"),
        "garden": ("in the garden every day", "jeden Tag im Garten", "work", "present"),
        "city": (f"to {city_en}", f"nach {city_de}", "fly", "will"),
        "course": (f"a course in {city_en}", f"einen Kurs in {city_de}", "start", "will"),
        "exam": ("an important exam", "eine wichtige Prüfung", "have", "present"),
    }[what]
    made = clause(who, verb, rest, mid, tense)
    if what == "wedding":
        made = clause(who, "get_married", "", "", tense)
    return say(f"in {en} {made.en}", made.de_after(f"im {de}"), f"{what} {en}")


WEATHER = words.table("""
cold = kalt
warm = warm
hot = heiß
dry = trocken
sunny = sonnig
cloudy = bewölkt
windy = windig
foggy = neblig
""")


@frame()
def weather_is(d: Dice) -> Draft:
    """It is cold in Berlin today. - In Berlin ist es heute kalt."""
    (en, de), (city_en, city_de) = d.pick(WEATHER), d.pick(CITIES + COUNTRIES)
    tense, (time_en, time_de) = d.pick(WEATHER_TIMES)
    if time_en == "in winter" and en in ("warm", "hot", "sunny"):
        en, de = "cold", "kalt"
    if time_en == "in summer" and en in ("cold", "foggy", "cloudy"):
        en, de = "hot", "heiß"
    degrees = [("", ""), ("very ", "sehr "), ("quite ", "ziemlich ")]
    if en in ("cold", "hot") and time_en == "today":
        degrees.append(("too ", "zu "))
    very_en, very_de = d.pick(degrees)
    made = clause(
        pronoun("it"),
        "be",
        f"{very_en}{en} in {city_en} {time_en}",
        f"{time_de} {very_de}{de}",
        tense,
    )
    return say(made.en, made.de_after(f"In {city_de}"), f"{en} {city_en}")


WEATHER_TIMES = (
    ("present", ("today", "heute")),
    ("past", ("yesterday", "gestern")),
    ("present", ("in winter", "im Winter")),
    ("present", ("in summer", "im Sommer")),
    ("past", ("last week", "letzte Woche")),
    ("will", ("tomorrow", "morgen")),
)


SNOWLESS = frozenset(listed("Cairo Athens Lisbon Naples Rome Venice Tokyo Florence Madrid"))
SNOWY_CITIES = tuple(city for city in CITIES if city[0] not in SNOWLESS)


@frame()
def weather_verb(d: Dice) -> Draft:
    """It is raining in Oslo today. - In Oslo regnet es heute."""
    verb = d.pick(("rain", "snow", "rain"))
    city_en, city_de = d.pick(SNOWY_CITIES if verb == "snow" else CITIES)
    tense, (time_en, time_de) = d.pick(
        (
            ("progressive", ("today", "heute")),
            ("past_perfect", ("yesterday", "gestern")),
            ("progressive", ("again", "wieder")),
            ("will", ("tomorrow", "morgen")),
            ("will", ("at the weekend", "am Wochenende")),
            ("will", ("on Sunday", "am Sonntag")),
        )
    )
    if tense == "past_perfect":
        time_en, time_de = d.pick(words.RECENT_DAYS)
    made = clause(pronoun("it"), verb, f"in {city_en} {time_en}", time_de, tense)
    return say(made.en, made.de_after(f"In {city_de}"), f"{verb} {city_en}")
