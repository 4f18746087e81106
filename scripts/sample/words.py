"""Small closed tables: times, weekdays, months, numbers, places and the like.

Each entry is an (English, German) pair unless the comment above a table says otherwise.
"""

from __future__ import annotations

from dataclasses import dataclass

from sample.text import listed

Pair = tuple[str, str]


def table(text: str) -> tuple[Pair, ...]:
    """Read lines of `english = german`."""
    rows = (line.partition(" = ") for line in text.strip().splitlines())
    return tuple((en, de) for en, _, de in rows)


WEEKDAYS = table("""
Monday = Montag
Tuesday = Dienstag
Wednesday = Mittwoch
Thursday = Donnerstag
Friday = Freitag
Saturday = Samstag
Sunday = Sonntag
""")

MONTHS = table("""
January = Januar
February = Februar
March = März
April = April
May = Mai
June = Juni
July = Juli
August = August
September = September
October = Oktober
November = November
December = Dezember
""")

SEASONS = table("""
spring = Frühling
summer = Sommer
autumn = Herbst
winter = Winter
""")

ON_WEEKDAY = tuple((f"on {en}", f"am {de}") for en, de in WEEKDAYS)
ON_WEEKDAYS = tuple((f"on {en}s", f"{de.lower()}s") for en, de in WEEKDAYS)

FUTURE = table("""
today = heute
tonight = heute Abend
this afternoon = heute Nachmittag
tomorrow = morgen
tomorrow morning = morgen früh
tomorrow evening = morgen Abend
the day after tomorrow = übermorgen
next week = nächste Woche
next month = nächsten Monat
at the weekend = am Wochenende
""")

PAST = table("""
yesterday = gestern
yesterday evening = gestern Abend
the day before yesterday = vorgestern
this morning = heute Morgen
last week = letzte Woche
last month = letzten Monat
last summer = letzten Sommer
last year = letztes Jahr
two days ago = vor zwei Tagen
three weeks ago = vor drei Wochen
a week ago = vor einer Woche
a month ago = vor einem Monat
""")

NEAR_FUTURE = tuple(pair for pair in FUTURE if not pair[0].startswith("next")) + ON_WEEKDAY
FAR_FUTURE = FUTURE[7:] + ON_WEEKDAY
DAYS = tuple(FUTURE[index] for index in (0, 3, 6, 9)) + ON_WEEKDAY

RECENT_DAYS = PAST[:4] + PAST[8:9] + PAST[10:11] + ON_WEEKDAY

REGULARLY = (
    table("""
every day = jeden Tag
every morning = jeden Morgen
every evening = jeden Abend
every week = jede Woche
every weekend = jedes Wochenende
every Saturday = jeden Samstag
every Sunday = jeden Sonntag
in the evening = abends
in the morning = morgens
in the afternoon = nachmittags
""")
    + ON_WEEKDAYS
)

DAILY = REGULARLY[:3] + REGULARLY[7:10]
WEEKLY = REGULARLY[3:7] + ON_WEEKDAYS

OFTEN = table("""
often = oft
always = immer
sometimes = manchmal
never = nie
rarely = selten
usually = meistens
""")

UNITS = listed(
    "null ein zwei drei vier fünf sechs sieben acht neun zehn elf zwölf dreizehn vierzehn "
    "fünfzehn sechzehn siebzehn achtzehn neunzehn"
)
EN_UNITS = listed(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen "
    "fifteen sixteen seventeen eighteen nineteen"
)
TENS = listed("- - zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig")
EN_TENS = listed("- - twenty thirty forty fifty sixty seventy eighty ninety")


def number(value: int) -> Pair:
    """A number from 1 to 99 in words ("ein" for one, as before a noun)."""
    if value < 20:
        return EN_UNITS[value], UNITS[value]
    ten, unit = divmod(value, 10)
    if not unit:
        return EN_TENS[ten], TENS[ten]
    return f"{EN_TENS[ten]}-{EN_UNITS[unit]}", f"{UNITS[unit]}und{TENS[ten]}"


ORDINALS = table("""
first = ersten
second = zweiten
third = dritten
fourth = vierten
fifth = fünften
sixth = sechsten
seventh = siebten
eighth = achten
ninth = neunten
tenth = zehnten
eleventh = elften
twelfth = zwölften
thirteenth = dreizehnten
fourteenth = vierzehnten
fifteenth = fünfzehnten
sixteenth = sechzehnten
eighteenth = achtzehnten
twentieth = zwanzigsten
twenty-first = einundzwanzigsten
twenty-fourth = vierundzwanzigsten
thirtieth = dreißigsten
""")

HOURS = tuple((EN_UNITS[hour], "eins" if hour == 1 else UNITS[hour]) for hour in range(1, 13))


def clock_times() -> tuple[Pair, ...]:
    """Times of day in spoken form."""
    times: list[Pair] = []
    for index, (en, de) in enumerate(HOURS):
        following = HOURS[(index + 1) % 12][1]
        times += [
            (en, de),
            (f"half past {en}", f"halb {following}"),
            (f"a quarter past {en}", f"Viertel nach {de}"),
            (f"a quarter to {en}", f"Viertel vor {de}"),
            (f"ten past {en}", f"zehn nach {de}"),
            (f"five to {en}", f"fünf vor {de}"),
            (f"twenty past {en}", f"zwanzig nach {de}"),
        ]
    return tuple(times)


CLOCK = clock_times()

CLOCK_STEPS = len(CLOCK) // len(HOURS)


def clock_between(roll: int, first_hour: int, last_hour: int) -> Pair:
    """A time of day between two hours, chosen by a random number."""
    times = CLOCK[(first_hour - 1) * CLOCK_STEPS : last_hour * CLOCK_STEPS]
    return times[roll % len(times)]


@dataclass(frozen=True)
class Place:
    """A place one can be at and go to."""

    key: str
    at: Pair
    to: Pair


def _places(text: str) -> tuple[Place, ...]:
    places = []
    for line in text.strip().splitlines():
        at_en, at_de, to_en, to_de = (cell.strip() for cell in line.split("|"))
        places.append(Place(at_en, (at_en, at_de), (to_en, to_de)))
    return tuple(places)


PLACES = _places("""
at home | zu Hause | home | nach Hause
at school | in der Schule | to school | zur Schule
at work | bei der Arbeit | to work | zur Arbeit
at the station | am Bahnhof | to the station | zum Bahnhof
at the airport | am Flughafen | to the airport | zum Flughafen
at the cinema | im Kino | to the cinema | ins Kino
at the theatre | im Theater | to the theatre | ins Theater
at the museum | im Museum | to the museum | ins Museum
at the supermarket | im Supermarkt | to the supermarket | in den Supermarkt
at the library | in der Bibliothek | to the library | in die Bibliothek
at the restaurant | im Restaurant | to the restaurant | ins Restaurant
at the café | im Café | to the café | ins Café
at the swimming pool | im Schwimmbad | to the swimming pool | ins Schwimmbad
at the office | im Büro | to the office | ins Büro
at the zoo | im Zoo | to the zoo | in den Zoo
at the market | auf dem Markt | to the market | auf den Markt
at the playground | auf dem Spielplatz | to the playground | auf den Spielplatz
at the doctor's | beim Arzt | to the doctor | zum Arzt
at the dentist's | beim Zahnarzt | to the dentist | zum Zahnarzt
at the hairdresser's | beim Friseur | to the hairdresser | zum Friseur
at the baker's | beim Bäcker | to the baker | zum Bäcker
at the lake | am See | to the lake | zum See
at the beach | am Strand | to the beach | zum Strand
in the park | im Park | to the park | in den Park
in the garden | im Garten | into the garden | in den Garten
in the forest | im Wald | into the forest | in den Wald
in the kitchen | in der Küche | into the kitchen | in die Küche
in town | in der Stadt | into town | in die Stadt
in bed | im Bett | to bed | ins Bett
in hospital | im Krankenhaus | to hospital | ins Krankenhaus
in church | in der Kirche | to church | in die Kirche
in the mountains | in den Bergen | into the mountains | in die Berge
at the seaside | am Meer | to the seaside | ans Meer
at the post office | auf der Post | to the post office | zur Post
at the concert | im Konzert | to the concert | ins Konzert
at the bakery | in der Bäckerei | to the bakery | zur Bäckerei
at the bookshop | in der Buchhandlung | to the bookshop | in die Buchhandlung
""")
BY_PLACE = {place.key: place for place in PLACES}


def places(keys: str) -> tuple[Place, ...]:
    """The places named in a comma-separated list."""
    return tuple(BY_PLACE[key.strip()] for key in keys.split(","))


# Places to spend a while with a hobby or a friend.
OUTINGS = places(
    "at the cinema, at the theatre, at the museum, at the restaurant, at the café, "
    "at the swimming pool, at the zoo, at the market, at the playground, at the lake, "
    "at the beach, in the park, in town, at the concert, at the library, in the forest"
)
ERRANDS = places(
    "at school, at work, at the station, at the airport, at the supermarket, at the library, "
    "at the office, at the market, at the doctor's, at the dentist's, at the hairdresser's, "
    "at the baker's, at the post office, at the bookshop, at home, in town"
)
EVENING_PLACES = frozenset(
    place.key
    for place in places(
        "at the cinema, at the theatre, at the restaurant, at the café, at the swimming pool, "
        "in town, at the concert"
    )
)
DAYTIME_FUTURE = tuple(FUTURE[i] for i in (0, 2, 3, 4, 6)) + ON_WEEKDAY[:6]
DAYTIME_PAST = tuple(PAST[i] for i in (0, 2, 3, 8)) + ON_WEEKDAY[:6]
OUTING_KEYS = frozenset(place.key for place in OUTINGS)


def future_times(place: Place) -> tuple[Pair, ...]:
    """Plausible times for going to a place: not to the zoo in the evening."""
    if place.key in EVENING_PLACES:
        return NEAR_FUTURE
    if place.key in OUTING_KEYS:
        return (*DAYTIME_FUTURE, FUTURE[-1], ON_WEEKDAY[-1])
    return DAYTIME_FUTURE


def past_times(place: Place) -> tuple[Pair, ...]:
    """Plausible times for having been at a place."""
    if place.key in EVENING_PLACES:
        return RECENT_DAYS
    return (*DAYTIME_PAST, ON_WEEKDAY[-1]) if place.key in OUTING_KEYS else DAYTIME_PAST


PRESENCE = tuple(p for p in PLACES if p.key not in ("in church", "at the bakery", "at the seaside"))

# Parents, wives and so on are in nouns.py; these are used like names.
FAMILIAR = (
    ("Grandma", "Oma", "she"),
    ("Grandpa", "Opa", "he"),
    ("Mum", "Mama", "she"),
    ("Dad", "Papa", "he"),
)
