"""Frames about people: family, jobs, health, feelings, greetings and verbs with prepositions."""

from __future__ import annotations

from collections.abc import Sequence

from sample import nouns, words
from sample.clause import Nominal, clause, phrase
from sample.dice import Dice, Draft, frame, say
from sample.names import CITIES
from sample.nouns import NOUNS
from sample.text import listed

# English, masculine, feminine.
JOBS = tuple(
    (en, *de.split("/"))
    for en, de in words.table("""
teacher = Lehrer/Lehrerin
doctor = Arzt/Ärztin
baker = Bäcker/Bäckerin
farmer = Bauer/Bäuerin
gardener = Gärtner/Gärtnerin
mechanic = Mechaniker/Mechanikerin
pilot = Pilot/Pilotin
lawyer = Anwalt/Anwältin
cook = Koch/Köchin
engineer = Ingenieur/Ingenieurin
journalist = Journalist/Journalistin
painter = Maler/Malerin
photographer = Fotograf/Fotografin
singer = Sänger/Sängerin
actor = Schauspieler/Schauspielerin
programmer = Programmierer/Programmiererin
dentist = Zahnarzt/Zahnärztin
nurse = Krankenpfleger/Krankenschwester
hairdresser = Friseur/Friseurin
secretary = Sekretär/Sekretärin
librarian = Bibliothekar/Bibliothekarin
architect = Architekt/Architektin
butcher = Metzger/Metzgerin
bus driver = Busfahrer/Busfahrerin
waiter = Kellner/Kellnerin
""")
)


JOB_NAMES = {en: (masculine, feminine) for en, masculine, feminine in JOBS}


# Jobs of people one may call "our doctor".
SERVING = listed(
    "teacher doctor baker gardener mechanic lawyer dentist hairdresser secretary architect butcher "
    "cook"
)


FEMALE_KIN = listed("mother sister aunt daughter grandmother niece")


MALE_KIN = listed("father brother uncle son grandfather nephew")


# Age ranges of relatives.
AGES = {
    "grandmother": (60, 95),
    "grandfather": (60, 95),
    "mother": (35, 65),
    "father": (35, 65),
    "aunt": (30, 65),
    "uncle": (30, 65),
    "son": (2, 25),
    "daughter": (2, 25),
}


PARENTS = listed("mother father aunt uncle grandmother grandfather brother sister")


THANKS = words.table("""
the beautiful flowers = die schönen Blumen
the present = das Geschenk
the nice letter = den netten Brief
the help = die Hilfe
the tea = den Tee
the postcard = die Postkarte
the good dinner = das gute Abendessen
the invitation = die Einladung
the book = das Buch
the beautiful evening = den schönen Abend
the photos = die Fotos
the cake = den Kuchen
the good idea = die gute Idee
the message = die Nachricht
the answer = die Antwort
""")


WISHES = words.table("""
Good morning = Guten Morgen
Good evening = Guten Abend
Good night = Gute Nacht
Happy birthday = Alles Gute zum Geburtstag
Merry Christmas = Frohe Weihnachten
Happy New Year = Frohes neues Jahr
Good luck with the exam = Viel Glück bei der Prüfung
Have a nice day = Einen schönen Tag
Have a good trip = Gute Reise
Enjoy your meal = Guten Appetit
Get well soon = Gute Besserung
Welcome home = Willkommen zu Hause
Congratulations = Herzlichen Glückwunsch
See you soon = Bis bald
See you tomorrow = Bis morgen
See you next week = Bis nächste Woche
Sleep well = Schlaf gut
Have fun = Viel Spaß
Take care = Pass auf dich auf
""")


def kin_of_name(d: Dice, kin: Sequence[str]) -> Nominal:
    """A relative of somebody named, or of the speaker."""
    noun = NOUNS[d.pick(kin)]
    if d.chance(0.75):
        return phrase(noun, "", owner=d.owner())
    return phrase(noun, d.pick(("my", "our")))


@frame(1.3)
def job(d: Dice) -> Draft:
    """Anna's mother is a doctor. - Annas Mutter ist Ärztin."""
    female = d.chance(0.5)
    who = kin_of_name(d, FEMALE_KIN if female else MALE_KIN)
    en, *de = d.pick(JOBS)
    if en == "waiter" and female:
        en, de = "teacher", list(JOB_NAMES["teacher"])
    title = de[female]
    roll = d.upto(1, 4)
    a_job = phrase_job(en)
    if roll == 1:
        made = clause(who, "work", f"as {a_job}", f"als {title}")
    elif roll == 2:
        city_en, city_de = d.pick(CITIES)
        made = clause(who, "work", f"as {a_job} in {city_en}", f"als {title} in {city_de}")
    elif roll == 3 and "grand" not in who.en:
        made = clause(who, "become", a_job, title, "want")
    else:
        made = clause(who, "be", a_job, title)
    return say(made.en, made.de, f"{en} {roll}" if roll != 2 else f"work as {en}")


def phrase_job(en: str) -> str:
    """The English job with its article."""
    return f"an {en}" if en[0] in "aeiou" else f"a {en}"


@frame()
def mister_job(d: Dice) -> Draft:
    """Mrs. Weber is our new teacher. - Frau Weber ist unsere neue Lehrerin."""
    who = d.mister()
    en = d.pick(SERVING)
    de, female = JOB_NAMES[en], who.pronoun == "she"
    adjective = d.pick((("new", "neu"), ("old", "alt"), ("friendly", "freundlich")))
    det_en, det_de = d.pick((("our", "unser"), ("my", "mein"), ("her", "ihr"), ("his", "sein")))
    ending = "e" if female else ""
    adj_ending = "e" if female else "er"
    return say(
        f"{who.en} is {det_en} {adjective[0]} {en}",
        f"{who.de()} ist {det_de}{ending} {adjective[1]}{adj_ending} {de[female]}",
        f"{adjective[0]} {en} {det_en}",
    )


@frame()
def greeting(d: Dice) -> Draft:
    """Good morning, Anna! - Guten Morgen, Anna!"""
    en, de = d.pick(WISHES)
    informal = en in ("Sleep well", "Take care")
    person = d.name() if informal or d.chance(0.8) else d.mister()
    return say(f"{en}, {person.en}", f"{de}, {person.de()}", f"{en}", end="!")


@frame()
def thanks(d: Dice) -> Draft:
    """Thank you for the beautiful flowers, Anna! - Danke für die schönen Blumen, Anna!"""
    en, de = d.pick(THANKS)
    person = d.name() if d.chance(0.85) else d.mister()
    if d.chance(0.4):
        who, whom = d.pick((d.name, d.name, d.pronoun))(), d.name()
        made = clause(
            who,
            "thank",
            f"{whom.en} for {en}",
            f"{whom.de('dat')} für {de}",
            d.pick(("past_perfect", "want")),
        )
        return say(made.en, made.de, f"thank {en}")
    return say(
        f"thank you for {en}, {person.en}",
        f"danke für {de}, {person.de()}",
        f"thanks {en}",
        end="!",
    )


@frame()
def how_are(d: Dice) -> Draft:
    """How is Anna's mother? - Wie geht es Annas Mutter?"""
    roll = d.upto(1, 5)
    if roll == 1:
        name = d.name()
        return say(f"how are you, {name.en}", f"wie geht es dir, {name.de()}", "how you", end="?")
    if roll == 2:
        person = d.mister()
        return say(
            f"how are you, {person.en}", f"wie geht es Ihnen, {person.de()}", "how formal", end="?"
        )
    if roll == 3:
        pair = d.couple()
        return say(f"how are {pair.en}", f"wie geht es {pair.de('dat')}", "how pair", end="?")
    kin = d.pick(PARENTS)
    noun = NOUNS[kin]
    who = d.pick(
        (
            phrase(noun, "", owner=d.owner()),
            phrase(noun, "", owner=d.owner()),
            phrase(noun, d.pick(("your", "his", "her"))),
        )
    )
    well_en, well_de = d.pick((("better", "besser"), ("well", "gut"), ("not well", "nicht gut")))
    if roll == 4:
        time_en, time_de = ("again", "wieder") if well_en == "well" else ("today", "heute")
        return say(
            f"{who.en} is {well_en} {time_en}",
            f"{who.de('dat')} geht es {time_de} {well_de}",
            f"{kin} {well_en}",
        )
    return say(
        f"how is {who.en} today", f"wie geht es {who.de('dat')} heute", f"how {kin}", end="?"
    )


@frame()
def name_is(d: Dice) -> Draft:
    """My sister's name is Anna. - Meine Schwester heißt Anna."""
    name = d.name()
    female = name.pronoun == "she"
    kin = FEMALE_KIN if female else MALE_KIN
    noun = NOUNS[d.pick(kin)]
    pet = d.chance(0.35)
    if pet:
        noun = NOUNS[d.pick(("dog", "cat", "horse", "rabbit", "bird", "donkey"))]
    det = d.pick(("my", "your", "our", "his", "her", "their"))
    owner = phrase(noun, "", owner=d.owner()) if d.chance(0.4) else phrase(noun, det)
    return say(
        f"{owner.en}'s name is {name.en}",
        f"{owner.de()} heißt {name.de()}",
        f"name {noun.en} {det}",
    )


@frame()
def this_is(d: Dice) -> Draft:
    """This is Anna's new bike. - Das ist Annas neues Fahrrad."""
    options = nouns.kinds("vehicle", "pet", "device", "clothes", "instrument", "room", "carried")
    noun = d.pick(options)
    owner = d.owner()
    thing = d.thing(noun, "", 0.6, owner=owner)
    roll = d.upto(1, 3)
    if roll == 1:
        return say(
            f"is this {thing.en}",
            f"ist das {thing.de('nom')}",
            f"is this {noun.en}",
            thing.combos,
            end="?",
        )
    no_en, no_de = ("not ", "nicht ") if roll == 2 else ("", "")
    return say(
        f"this is {no_en}{thing.en}",
        f"das ist {no_de}{thing.de('nom')}",
        f"this is {no_en}{noun.en}",
        thing.combos,
    )


@frame()
def is_relative_of(d: Dice) -> Draft:
    """Anna is Ben's aunt. - Anna ist Bens Tante."""
    name = d.name()
    kin = d.pick(FEMALE_KIN if name.pronoun == "she" else MALE_KIN)
    noun = NOUNS[kin]
    adjective = None
    roll = d.upto(1, 3)
    if kin in ("brother", "sister", "son", "daughter") and d.chance(0.5):
        word_en, word_de = d.pick((("older", "älter"), ("younger", "jünger"), ("little", "klein")))
        owner_en, owner_de = d.owner()
        ending = "er" if noun.gender == "m" else "e"
        return say(
            f"{name.en} is {owner_en} {word_en} {kin}",
            f"{name.de()} ist {owner_de} {word_de}{ending} {noun.de}",
            f"{word_en} {kin}",
        )
    other = phrase(noun, "", adjective, owner=d.owner())
    if roll == 1:
        return say(
            f"is {name.en} {other.en}", f"ist {name.de()} {other.de()}", f"is {kin}", end="?"
        )
    if roll == 2:
        return say(
            f"{name.en} is not {other.en}", f"{name.de()} ist nicht {other.de()}", f"is not {kin}"
        )
    return say(f"{name.en} is {other.en}", f"{name.de()} ist {other.de()}", f"is a {kin}")


@frame()
def age(d: Dice) -> Draft:
    """Anna is seven years old. - Anna ist sieben Jahre alt."""
    child = False
    if d.chance(0.6):
        who, child = d.name(), d.chance(0.5)
        ages = (2, 17) if child else (18, 80)
    else:
        kin = d.pick(tuple(AGES))
        who, ages = phrase(NOUNS[kin], "", owner=d.owner()), AGES[kin]
    years_en, years_de = words.number(d.upto(*ages))
    roll = d.upto(1, 3 if child else 2)
    if roll == 1:
        return say(
            f"{who.en} is {years_en} years old",
            f"{who.de()} ist {years_de} Jahre alt",
            f"age {years_en}",
        )
    if roll == 2:
        return say(
            f"{who.en} will be {years_en} on {(day := d.pick(words.WEEKDAYS))[0]}",
            f"{who.de()} wird am {day[1]} {years_de}",
            f"will be {years_en}",
        )
    return say(
        f"{who.en} is only {years_en} years old",
        f"{who.de()} ist erst {years_de} Jahre alt",
        f"only {years_en}",
    )


@frame()
def how_many_kin(d: Dice) -> Draft:
    """How many brothers does Anna have? - Wie viele Brüder hat Anna?"""
    who = d.who(0.65, "you you he she they")
    noun = d.pick(
        nouns.kinds("pet", "farm_animal", "pair", "vehicle")
        + nouns.some("brother, sister, son, daughter, aunt, uncle, book, guitar, suitcase, key")
    )
    made = clause(who, "have")
    return say(
        f"how many {noun.en_plural} {made.en_question}",
        made.de_after(f"wie viele {noun.de_plural}"),
        f"how many {noun.en}",
        end="?",
    )


@frame()
def kids_do(d: Dice) -> Draft:
    """Anna and Ben are playing in the garden. - Anna und Ben spielen im Garten."""
    pair = d.couple()
    verb = d.pick(("play", "play", "sit", "work", "sleep", "stand", "chat", "dance", "cook"))
    places = {
        "play": "in the garden, in the park, at the playground, at the beach, in the forest",
        "sit": "in the kitchen, at the café, in the garden, in the park, at the cinema",
        "work": "at the office, in the garden, at the library, at the museum",
        "sleep": "at home",
        "stand": "at the station, in the garden, in the kitchen",
        "chat": "in the kitchen, at the café, in the garden, in the park, at the office",
        "dance": "at the concert, in the kitchen, in the garden",
        "cook": "in the kitchen, at home",
    }[verb]
    place = d.pick(words.places(places))
    made = clause(pair, verb, place.at[0], place.at[1], "progressive")
    if d.chance(0.25):
        return say(made.en_question, made.de_question, f"{verb} {place.key}", end="?")
    return say(made.en, made.de, f"{verb} {place.key}")


@frame()
def come_along(d: Dice) -> Draft:
    """Anna and Ben, are you coming along to the park? - Anna und Ben, kommt ihr mit in den Park?"""
    place = d.pick(words.OUTINGS)
    roll = d.upto(1, 3)
    if roll == 1:
        pair = d.couple()
        return say(
            f"{pair.en}, are you coming along {place.to[0]}",
            f"{pair.de()}, kommt ihr mit {place.to[1]}",
            f"come both {place.key}",
            end="?",
        )
    if roll == 2:
        name = d.name()
        return say(
            f"are you coming along {place.to[0]}, {name.en}",
            f"kommst du mit {place.to[1]}, {name.de()}",
            f"come you {place.key}",
            end="?",
        )
    person = d.mister()
    return say(
        f"are you coming along {place.to[0]}, {person.en}",
        f"kommen Sie mit {place.to[1]}, {person.de()}",
        f"come formal {place.key}",
        end="?",
    )
