"""Frames about how people feel, what hurts, what they wait for and look forward to."""

from __future__ import annotations

from sample import nouns, words
from sample.clause import clause, phrase, pronoun
from sample.dice import Dice, Draft, frame, say
from sample.frames_people import PARENTS
from sample.nouns import NOUNS
from sample.text import listed

STATES = words.table("""
tired = müde
ill = krank
hungry = hungrig
thirsty = durstig
happy = glücklich
sad = traurig
angry = wütend
nervous = nervös
busy = beschäftigt
healthy = gesund
ready = fertig
proud = stolz
friendly = freundlich
polite = höflich
patient = geduldig
curious = neugierig
""")


TRAITS = words.table("""
friendly = freundlich
polite = höflich
patient = geduldig
curious = neugierig
funny = lustig
clever = klug
hard-working = fleißig
lazy = faul
brave = mutig
strict = streng
famous = berühmt
rich = reich
nice = nett
strong = stark
""")


TOPICS = words.table("""
history = Geschichte
music = Musik
art = Kunst
politics = Politik
sport = Sport
technology = Technik
football = Fußball
languages = Sprachen
computers = Computer
old cars = alte Autos
modern art = moderne Kunst
wild animals = wilde Tiere
horses = Pferde
old books = alte Bücher
fashion = Mode
nature = Natur
animals = Tiere
mathematics = Mathematik
physics = Physik
films = Filme
""")


AFRAID_OF = words.table("""
the big dog = dem großen Hund
the dark = der Dunkelheit
the exam = der Prüfung
the dentist = dem Zahnarzt
the water = dem Wasser
snakes = Schlangen
mice = Mäusen
spiders = Spinnen
big dogs = großen Hunden
wolves = Wölfen
the strict teacher = dem strengen Lehrer
the night = der Nacht
the thunderstorm = dem Gewitter
bears = Bären
horses = Pferden
flying = dem Fliegen
""")


WAIT_FOR = nouns.some(
    "bus, train, tram, ferry, taxi, letter, parcel, answer, doctor, waiter, boss, guest, message, "
    "postcard, brother, sister, mother, father, son, daughter, aunt, uncle, colleague, teacher"
)


LOOK_FORWARD = words.table("""
the party = die Party
the weekend = das Wochenende
the summer = den Sommer
the holidays = die Ferien
the concert = das Konzert
Christmas = Weihnachten
the wedding = die Hochzeit
the new house = das neue Haus
the trip = die Reise
the new film = den neuen Film
the game = das Spiel
the first day of school = den ersten Schultag
the snow = den Schnee
the new flat = die neue Wohnung
""")


BODY_CARE = (
    ("wash", "hands", "die Hände"),
    ("wash", "face", "das Gesicht"),
    ("wash", "hair", "die Haare"),
    ("wash", "feet", "die Füße"),
    ("brush", "teeth", "die Zähne"),
    ("dry", "hands", "die Hände"),
    ("dry", "hair", "die Haare"),
    ("comb", "hair", "die Haare"),
)


PAINS = words.table("""
a headache = Kopfschmerzen
a stomach ache = Bauchschmerzen
a toothache = Zahnschmerzen
a sore throat = Halsschmerzen
a cold = eine Erkältung
a temperature = Fieber
a cough = Husten
""")


BODY_PARTS = words.table("""
foot = mein linker Fuß
arm = mein linker Arm
leg = mein linkes Bein
hand = meine linke Hand
knee = mein linkes Knie
ear = mein linkes Ohr
shoulder = meine linke Schulter
eye = mein linkes Auge
""")


BROKEN = words.table("""
arm = den Arm
leg = das Bein
foot = den Fuß
hand = die Hand
finger = den Finger
nose = die Nase
""")


@frame()
def feels(d: Dice) -> Draft:
    """Anna is very tired today. - Anna ist heute sehr müde."""
    who, (en, de) = d.who(), d.pick(STATES[:12])
    how_en, how_de = d.pick(
        (
            ("very ", "sehr "),
            ("a little ", "ein wenig "),
            ("not ", "nicht "),
            ("really ", "wirklich "),
        )
    )
    if en in ("ready", "healthy", "ill", "proud") and how_en != "not ":
        how_en, how_de = "", ""
    if en == "proud":
        en, de = "nervous", "nervös"
    time_en, time_de = d.pick(
        (("today", "heute"), ("today", "heute"), ("now", "jetzt"), ("again", "wieder"))
    )
    if how_en == "not ":
        time_en, time_de = "today", "heute"
    if en == "ready" and not how_en:
        time_en, time_de = "now", "jetzt"
    elif time_en == "now" and en in ("healthy", "ill"):
        time_en, time_de = "again", "wieder"
    made = clause(who, "be", f"{how_en}{en} {time_en}", f"{time_de} {how_de}{de}")
    return say(made.en, made.de, f"{how_en}{en} {time_en}")


@frame()
def is_by_nature(d: Dice) -> Draft:
    """Anna's uncle is rich but lazy. - Annas Onkel ist reich, aber faul."""
    who = d.who(0.5) if d.chance(0.6) else d.named_kin()
    (one_en, one_de), (two_en, two_de) = d.pick(TRAITS), d.pick(TRAITS)
    while two_en == one_en:
        two_en, two_de = d.pick(TRAITS)
    join_en, join_de = d.pick(((" and", " und"), (" but", ", aber")))
    good = not ({one_en, two_en} & {"lazy", "strict"})
    while not good and not {one_en, two_en} & {"nice", "funny", "friendly", "clever", "polite"}:
        two_en, two_de = d.pick(TRAITS)
    if good or {one_en, two_en} == {"lazy", "strict"}:
        join_en, join_de = " and", " und"
    else:
        join_en, join_de = " but", ", aber"
    made = clause(who, "be", f"{one_en}{join_en} {two_en}", f"{one_de}{join_de} {two_de}")
    return say(made.en, made.de, f"{one_en}/{two_en}")


@frame()
def interested_in(d: Dice) -> Draft:
    """Anna is interested in history. - Anna interessiert sich für Geschichte."""
    who, (en, de) = d.who(0.65), d.pick(TOPICS)
    negated = d.chance(0.3)
    made = clause(who, "be", f"interested in {en}", negated=negated)
    mid = f"{who.self_acc} {'nicht ' * negated}für {de}"
    return say(made.en, clause(who, "interest", mid=mid).de, f"interest {en}")


@frame()
def afraid_of(d: Dice) -> Draft:
    """Anna is afraid of the big dog. - Anna hat Angst vor dem großen Hund."""
    who, (en, de) = d.who(0.6), d.pick(AFRAID_OF)
    negated = d.chance(0.3)
    made = clause(who, "be", f"afraid of {en}", negated=negated)
    no = "keine " * negated
    german_clause = clause(who, "have", mid=f"{no}Angst vor {de}")
    if not negated and d.chance(0.3) and not d.about_speaker(who):
        return say(made.en_question, german_clause.de_question, f"afraid {en}", end="?")
    return say(made.en, german_clause.de, f"afraid {en}")


@frame(1.2)
def waiting_for(d: Dice) -> Draft:
    """Anna is waiting for the bus. - Anna wartet auf den Bus."""
    who = d.who(0.6)
    noun = d.pick(WAIT_FOR)
    while noun.kind == "kin" and not who.kinless:
        noun = d.pick(WAIT_FOR)
    det = who.poss if noun.kind == "kin" else "a" if noun.en in ("answer", "message") else "the"
    other = d.name() if who.is_pronoun and d.chance(0.5) else phrase(noun, det)
    place = d.pick(
        words.places(
            "at home, at the station, at the airport, at the library, "
            "at the office, in the park, at the café, in town"
        )
    )
    if noun.kind != "kin" and noun.en not in ("guest", "colleague") and not other.kinless:
        place_en, place_de = d.pick((("", ""), ("now", "jetzt"), ("again", "wieder")))
    else:
        place_en, place_de = place.at
    made = clause(
        who,
        "wait",
        f"for {other.obj} {place_en}".strip(),
        f"{place_de} {other.after('auf', 'acc')}".strip(),
        "progressive",
    )
    if d.chance(0.2) and not d.about_speaker(who):
        return say(made.en_question, made.de_question, f"wait {noun.en}", end="?")
    return say(made.en, made.de, f"wait {noun.en}")


@frame()
def thinks_of(d: Dice) -> Draft:
    """Anna often thinks of her grandmother. - Anna denkt oft an ihre Großmutter."""
    who = d.pick((d.name, d.name, d.pronoun))()
    other = d.name() if d.chance(0.3) else phrase(NOUNS[d.pick(PARENTS)], who.poss)
    often_en, often_de = d.pick(words.OFTEN[:5])
    verb, prep_en, prep_de, case = d.pick(
        (
            ("think_of", "of", "an", "acc"),
            ("dream", "of", "von", "dat"),
            ("talk", "about", "über", "acc"),
        )
    )
    made = clause(
        who,
        verb,
        f"{prep_en} {other.en}",
        f"{often_de} {prep_de} {other.de('dat' if case == 'dat' else 'acc')}",
        adverb=often_en,
    )
    return say(made.en, made.de, f"{verb} {often_en}")


@frame()
def looks_forward(d: Dice) -> Draft:
    """We are looking forward to the party. - Wir freuen uns auf die Party."""
    who, (en, de) = d.who(0.65), d.pick(LOOK_FORWARD)
    very = d.chance(0.3)
    made = clause(who, "look_forward", f"forward to {en}", tense="progressive")
    mid = f"{who.self_acc} {'schon ' * very}auf {de}"
    english = made.en.replace(" looking ", " already looking ") if very else made.en
    return say(english, clause(who, "look_forward", mid=mid).de, f"forward {en}")


@frame()
def remembers(d: Dice) -> Draft:
    """Do you remember Anna's old teacher? - Erinnerst du dich an Annas alten Lehrer?"""
    noun = d.pick(
        nouns.some(
            "teacher, neighbour, dog, cat, house, boss, garden, film, trip, "
            "wedding, party, car, grandmother, grandfather, aunt, uncle"
        )
    )
    owned = noun.en not in ("film", "trip")
    thing = d.thing(
        noun,
        "" if owned else "the",
        0.5 if noun.kind != "kin" else 0.0,
        owner=d.owner() if owned else None,
        wanted=frozenset(listed("old funny beautiful big small red exciting nice")).__contains__,
    )
    who = d.pick((pronoun("you"), d.name(), d.pronoun()))
    if who.en == "you" or (d.chance(0.3) and not d.about_speaker(who)):
        made = clause(
            who, "remember", thing.en, f"{who.self_acc} {thing.nominal.after('an', 'acc')}"
        )
        return say(made.en_question, made.de_question, f"remember {noun.en}", thing.combos, end="?")
    made = clause(who, "remember", thing.en, f"{who.self_acc} {thing.nominal.after('an', 'acc')}")
    return say(made.en, made.de, f"remember {noun.en}", thing.combos)


@frame()
def looks_after(d: Dice) -> Draft:
    """Anna looks after the old cat. - Anna kümmert sich um die alte Katze."""
    who = d.who(0.65)
    noun = d.pick(nouns.some("dog, cat, rabbit, horse, garden, child, guest, house, flower, bird"))
    owner = d.owner() if d.chance(0.35) and noun.kind != "person" else None
    thing = d.thing(
        noun,
        "" if owner else "the",
        0.4,
        noun.en in ("flower", "guest"),
        owner,
        frozenset(listed("old small big young little beautiful")).__contains__,
    )
    time_en, time_de = d.pick(
        (
            ("", ""),
            *words.FUTURE[:1],
            *words.ON_WEEKDAY[:3],
            ("at the weekend", "am Wochenende"),
            ("next week", "nächste Woche"),
        )
    )
    made = clause(
        who,
        "look_after",
        f"after {thing.en} {time_en}".strip(),
        f"{who.self_acc} {time_de} um {thing.de()}".replace("  ", " "),
        "will" if time_en else "present",
    )
    return say(made.en, made.de, f"look after {noun.en}", thing.combos)


@frame()
def body_care(d: Dice) -> Draft:
    """Anna is washing her hands. - Anna wäscht sich die Hände."""
    who, (verb, part, part_de) = d.who(), d.pick(BODY_CARE)
    if part == "face" and who.pronoun in ("we", "they"):
        part, part_de = "feet", "die Füße"
    tense, (time_en, time_de) = d.pick(
        (
            ("progressive", ("", "")),
            ("present", ("every morning", "jeden Morgen")),
            ("present", ("every evening", "jeden Abend")),
            ("have to", ("now", "jetzt")),
            ("want", ("now", "jetzt")),
            ("perfect", ("already", "schon")),
        )
    )
    key = f"{verb}_self"
    if tense == "perfect":
        made = clause(
            who,
            key,
            f"{who.poss} {part}",
            f"{who.self_dat} {part_de} schon",
            "perfect",
            adverb="already",
        )
    else:
        made = clause(
            who,
            key,
            f"{who.poss} {part} {time_en}".strip(),
            f"{who.self_dat} {time_de} {part_de}".replace("  ", " "),
            tense,
        )
    return say(made.en, made.de, f"{verb} {part} {tense} {time_en}")


@frame()
def broke_a_bone(d: Dice) -> Draft:
    """Anna broke her arm last week. - Anna hat sich letzte Woche den Arm gebrochen."""
    who, (en, de) = d.who(0.65, "I he she"), d.pick(BROKEN)
    time_en, time_de = d.pick(words.PAST)
    made = clause(
        who,
        "break_bone",
        f"{who.poss} {en} {time_en}",
        f"{who.self_dat} {time_de} {de}",
        "past_perfect",
    )
    return say(made.en, made.de, f"break {en} {time_en}")


@frame()
def has_pain(d: Dice) -> Draft:
    """Anna has a headache. - Anna hat Kopfschmerzen."""
    who, (en, de) = d.who(0.65), d.pick(PAINS)
    time_en, time_de = d.pick((("today", "heute"), ("again", "wieder"), ("", "")))
    tense = "present"
    if d.chance(0.3):
        tense, (time_en, time_de) = "past", d.pick(words.RECENT_DAYS)
    made = clause(who, "have", f"{en} {time_en}".strip(), f"{time_de} {de}".strip(), tense)
    if tense == "present" and d.chance(0.25) and not d.about_speaker(who):
        made = clause(who, "have", en, de)
        return say(made.en_question, made.de_question, f"pain {en}", end="?")
    return say(made.en, made.de, f"pain {en} {time_en}")


@frame(0.8)
def it_hurts(d: Dice) -> Draft:
    """Anna's left foot hurts. - Annas linker Fuß tut weh."""
    en, de = d.pick(BODY_PARTS)
    side_en, side_de = d.pick((("left", "link"), ("right", "recht")))
    de = de.replace("link", side_de)
    owner_en, owner_de = d.pick((("my", "mein"), ("your", "dein"), ("his", "sein"), ("her", "ihr")))
    determiner_de, rest_de = de.split(" ", 1)
    determiner_de = determiner_de.replace("mein", owner_de)
    if d.chance(0.7):
        owner_en, determiner_de = d.owner()
    time_en, time_de = d.pick(
        (("", ""), ("today", "heute"), ("again", "wieder"), ("very much", "sehr"))
    )
    return say(
        f"{owner_en} {side_en} {en} hurts {time_en}".strip(),
        f"{determiner_de} {rest_de} tut {time_de} weh".replace("  ", " "),
        f"{side_en} {en} {time_en}",
    )


@frame()
def feeling_reflexive(d: Dice) -> Draft:
    """Anna feels tired today. - Anna fühlt sich heute müde."""
    who, (en, de) = (
        d.who(0.65),
        d.pick(
            (
                *STATES[:2],
                *STATES[4:8],
                ("well", "gut"),
                ("better", "besser"),
                ("strong", "stark"),
                ("young", "jung"),
                ("old", "alt"),
                ("bad", "schlecht"),
            )
        ),
    )
    time_en, time_de = d.pick(
        (
            ("today", "heute"),
            ("again", "wieder"),
            ("at school", "in der Schule"),
            ("at work", "bei der Arbeit"),
            ("often", "oft"),
            ("now", "jetzt"),
        )
    )
    if time_en == "often":
        made = clause(who, "feel", en, f"{who.self_acc} oft {de}", adverb="often")
    else:
        made = clause(who, "feel", f"{en} {time_en}", f"{who.self_acc} {time_de} {de}")
    return say(made.en, made.de, f"feel {en} {time_en}")


@frame()
def hurry_and_rest(d: Dice) -> Draft:
    """We have to hurry tomorrow. - Wir müssen uns morgen beeilen."""
    who = d.who(0.65)
    if d.chance(0.35):
        verb, tense = "hurry", d.pick(("have to", "have to past"))
        time_en, time_de = d.pick(
            (
                ("today", "heute"),
                ("now", "jetzt"),
                ("tonight", "heute Abend"),
                ("tomorrow morning", "morgen früh"),
            )
        )
    else:
        verb, tense = "rest", d.pick(("have to", "want", "will", "would like"))
        time_en, time_de = d.pick((("now", "jetzt"), *words.NEAR_FUTURE))
    if tense.endswith("past"):
        time_en, time_de = d.pick((*words.PAST[:2], words.PAST[3], *words.ON_WEEKDAY))
    made = clause(who, verb, time_en, f"{who.self_acc} {time_de}", tense)
    return say(made.en, made.de, f"{verb} {tense} {time_en}")
