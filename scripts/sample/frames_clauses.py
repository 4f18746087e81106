"""Frames with two clauses: subordinate clauses, infinitives with "zu", relative clauses."""

from __future__ import annotations

from sample import nouns, words
from sample.clause import Clause, Nominal, clause, phrase, pronoun
from sample.dice import Dice, Draft, frame, say
from sample.frames_likes import WANTED
from sample.names import CITIES
from sample.nouns import NOUNS
from sample.text import listed
from sample.verbs import activities


@frame(1.3)
def because_tired(d: Dice) -> Draft:
    """Anna is staying at home because she is tired. - Anna bleibt zu Hause, weil sie müde ist."""
    who = d.who(0.65)
    (verb, rest, mid, tense), reasons = d.pick(REASONED)
    state_en, state_de = d.pick(words.table(reasons))
    main = clause(who, verb, rest, mid.format(self=who.self_acc), tense)
    side = _about(who, state_en, state_de)
    return say(
        f"{main.en} because {side.en}",
        f"{main.de}, weil {side.de_last}",
        f"{verb} {rest} because {state_en}",
    )


def _about(who: Nominal, state_en: str, state_de: str) -> Clause:
    """A clause about the person: a state ("tired") or something they have ("have: a cold")."""
    him = pronoun(who.pronoun)
    verb, colon, rest = state_en.rpartition(": ")
    return clause(him, verb if colon else "be", rest, state_de)


_ILL = (
    "tired = müde\nill = krank\nhave: a cold = eine Erkältung\nhave: a headache = Kopfschmerzen\n"
)


_LATE = "late = spät dran\nhave: no time = keine Zeit\nhave: an exam = eine Prüfung\n"


REASONED: tuple[tuple[tuple[str, str, str, str], str], ...] = (
    (("stay", "at home", "zu Hause", "progressive"), _ILL + "nervous = nervös\nsad = traurig"),
    (("stay", "in bed", "im Bett", "progressive"), _ILL),
    (
        ("go", "to the doctor", "zum Arzt", "progressive"),
        "ill = krank\n"
        "have: a cough = Husten\nhave: a temperature = Fieber\nhave: a stomach ache = "
        "Bauchschmerzen",
    ),
    (("go", "to the dentist", "zum Zahnarzt", "progressive"), "have: a toothache = Zahnschmerzen"),
    (("go", "to bed", "ins Bett", "progressive"), _ILL + "very tired = sehr müde"),
    (
        ("cook", "soup", "Suppe", "progressive"),
        "hungry = hungrig\nvery hungry = sehr hungrig\nhave: guests = Gäste\nill = krank",
    ),
    (
        ("drink", "a glass of water", "ein Glas Wasser", "progressive"),
        "thirsty = durstig\nvery thirsty = sehr durstig\nhave: a headache = Kopfschmerzen",
    ),
    (
        ("eat", "a roll", "ein Brötchen", "progressive"),
        "hungry = hungrig\nvery hungry = sehr hungrig",
    ),
    (
        ("eat", "a pizza", "eine Pizza", "progressive"),
        "hungry = hungrig\nvery hungry = sehr hungrig",
    ),
    (("hurry", "", "{self}", "have to"), _LATE),
    (
        ("take", "a taxi", "ein Taxi", "progressive"),
        "tired = müde\nhave: no time = keine Zeit\n"
        "have: a heavy suitcase = einen schweren Koffer\nill = krank",
    ),
    (("laugh", "", "", "progressive"), "happy = glücklich\nvery happy = sehr glücklich"),
    (
        ("sing", "", "", "progressive"),
        "happy = glücklich\nvery happy = sehr glücklich\nbored = gelangweilt",
    ),
    (("dance", "", "", "progressive"), "happy = glücklich\nvery happy = sehr glücklich"),
    (
        ("buy", "an umbrella", "einen Regenschirm", "progressive"),
        "wet = nass\nhave: no coat = keinen Mantel",
    ),
    (
        ("look_for", "for a flat", "eine Wohnung", "progressive"),
        "have: a new job = eine neue Arbeit\nhave: three children = drei Kinder",
    ),
    (
        ("sell", "the car", "das Auto", "progressive"),
        "have: no money = kein Geld\nhave: a new bike = ein neues Fahrrad\npoor = arm",
    ),
    (
        ("code", "at the weekend", "am Wochenende", "progressive"),
        "bored = gelangweilt\nhave: time = Zeit\nhave: a good idea = eine gute Idee",
    ),
)


@frame()
def because_activity(d: Dice) -> Draft:
    """Anna is buying a guitar because she likes to play the guitar."""
    who = d.who(0.65)
    (rest, mid), verb, names_ = d.pick(TOOLS)
    activity = d.pick(activities(names_))
    main = clause(who, verb, rest, mid, d.pick(("progressive", "want")))
    him = pronoun(who.pronoun)
    en = clause(him, "like", f"to {activity.en}").en
    side = clause(him, activity.verb, mid=f"gern {activity.de_mid}".strip())
    return say(
        f"{main.en} because {en}", f"{main.de}, weil {side.de_last}", f"{rest} {activity.key}"
    )


TOOLS: tuple[tuple[tuple[str, str], str, str], ...] = (
    (("a guitar", "eine Gitarre"), "buy", "play the guitar, sing"),
    (("a piano", "ein Klavier"), "buy", "play the piano, sing"),
    (("a computer", "einen Computer"), "buy", "code, write"),
    (("a new computer", "einen neuen Computer"), "buy", "code"),
    (("a tent", "ein Zelt"), "buy", "camp, travel, hike"),
    (("a boat", "ein Boot"), "buy", "sail, fish, row"),
    (("a bike", "ein Fahrrad"), "buy", "cycle"),
    (("a camera", "eine Kamera"), "buy", "travel, take_photos photos"),
    (("a radio", "ein Radio"), "buy", "dance, listen to music, sing"),
    (("flour and eggs", "Mehl und Eier"), "buy", "bake, bake cakes"),
    (("a book", "ein Buch"), "buy", "read"),
    (("new shoes", "neue Schuhe"), "buy", "run, jog, hike, dance"),
    (("a violin", "eine Geige"), "buy", "play the violin"),
    (("a backpack", "einen Rucksack"), "buy", "hike, travel, climb"),
    (("a flat by the sea", "eine Wohnung am Meer"), "buy", "swim, surf, sail, dive"),
    (("a horse", "ein Pferd"), "buy", "ride"),
    (("wool", "Wolle"), "buy", "knit"),
)


@frame(1.3)
def thinks_that(d: Dice) -> Draft:
    """Anna thinks that Ben is at the cinema. - Anna glaubt, dass Ben im Kino ist."""
    who, other = d.pick((d.name, d.pronoun, d.pronoun))(), d.name()
    verb = d.pick(("think", "think", "know", "say", "hope"))
    side, combo = d.pick((_where_they_are, _what_they_do, _what_they_have))(d, other)
    main = clause(who, "think" if verb == "say" and who.is_pronoun else verb)
    return say(
        f"{main.en} that {side.en}", f"{main.de}, dass {side.de_last}", f"{main.verb.key} {combo}"
    )


def _where_they_are(d: Dice, other: Nominal) -> tuple[Clause, str]:
    place = d.pick(words.PRESENCE)
    return clause(other, "be", place.at[0], place.at[1]), f"be {place.key}"


def _what_they_do(d: Dice, other: Nominal) -> tuple[Clause, str]:
    activity = d.pick(WANTED)
    tense = d.pick(("can", "want", "want"))
    if tense == "can" and activity.key in CANNOT_BE_A_SKILL:
        tense = "want"
    return clause(other, activity.verb, activity.en_rest, activity.de_mid, tense), activity.key


CANNOT_BE_A_SKILL = frozenset(
    {
        "shop",
        "study",
        "work",
        "watch_tv TV",
        "go_walk for a walk",
        "learn German",
        "learn French",
        "chat",
        "iron",
        "jog",
    }
)


def _what_they_have(d: Dice, other: Nominal) -> tuple[Clause, str]:
    noun = d.pick(
        nouns.some(
            "dog, cat, car, bike, house, boat, horse, garden, brother, sister, "
            "piano, guitar, camera, flat, computer"
        )
    )
    thing = d.thing(
        noun, "a", 0.5, wanted=frozenset(listed("new old big small beautiful")).__contains__
    )
    if noun.kind == "kin":
        thing = d.thing(noun, "a", 0.0)
    return clause(other, "have", thing.en, thing.de()), f"have {thing.en}"


@frame(1.2)
def do_you_know_if(d: Dice) -> Draft:
    """Do you know if Anna is at home? - Weißt du, ob Anna zu Hause ist?"""
    other = d.third(0.8)
    side, combo = d.pick((_where_they_are, _what_they_do, _what_they_have, _if_comes))(d, other)
    if d.chance(0.5):
        return say(
            f"do you know if {side.en}", f"weißt du, ob {side.de_last}", f"if {combo}", end="?"
        )
    who = d.pick((pronoun("I"), pronoun("we"), d.name()))
    main = clause(who, "know", negated=True)
    de = clause(who, "know", mid="nicht").de
    return say(f"{main.en} if {side.en}", f"{de}, ob {side.de_last}", f"if {combo}")


def _if_comes(d: Dice, other: Nominal) -> tuple[Clause, str]:
    en, de = d.pick(words.NEAR_FUTURE)
    return clause(other, "come", en, de, "progressive"), f"come {en}"


@frame()
def if_weather(d: Dice) -> Draft:
    """If it rains tomorrow, Anna will stay at home. - Wenn es morgen regnet, bleibt Anna ..."""
    cond_en, cond_de, results = d.pick(CONDITIONS)
    time_en, time_de = d.pick(
        (
            ("tomorrow", "morgen"),
            ("today", "heute"),
            ("at the weekend", "am Wochenende"),
            *words.ON_WEEKDAY,
        )
    )
    who = d.who(0.65)
    verb, rest, mid = d.pick(results)
    main = clause(who, verb, rest, mid, "will")
    return say(
        f"if {cond_en} {time_en}, {main.en}",
        f"wenn {cond_de.format(time_de)}, {main.de_after('')}",
        f"if {cond_en} {rest}",
    )


_INDOORS = (
    ("stay", "at home", "zu Hause"),
    ("read", "a book", "ein Buch"),
    ("go", "to the cinema", "ins Kino"),
    ("cook", "soup", "Suppe"),
    ("code", "", ""),
    ("take", "the bus", "den Bus"),
    ("play", "chess", "Schach"),
    ("go", "to the museum", "ins Museum"),
    ("bake", "a cake", "einen Kuchen"),
)


_OUTDOORS = (
    ("go", "to the park", "in den Park"),
    ("swim", "in the lake", "im See"),
    ("play", "tennis", "Tennis"),
    ("work", "in the garden", "im Garten"),
    ("go", "to the beach", "zum Strand"),
    ("go_walk", "for a walk", ""),
    ("eat", "in the garden", "im Garten"),
    ("wash", "the car", "das Auto"),
)


CONDITIONS = (
    ("it rains", "es {} regnet", _INDOORS),
    ("it snows", "es {} schneit", (*_INDOORS, ("ski", "", ""))),
    ("it is cold", "es {} kalt ist", _INDOORS),
    ("it is warm", "es {} warm ist", _OUTDOORS),
    ("the sun shines", "{} die Sonne scheint", _OUTDOORS),
    ("the weather is good", "das Wetter {} gut ist", _OUTDOORS),
    ("the weather is bad", "das Wetter {} schlecht ist", _INDOORS),
)


@frame()
def when_young(d: Dice) -> Draft:
    """When Anna was ten years old, she lived in Rome. - Als Anna zehn Jahre alt war, wohnte ..."""
    who = d.who(0.7, "I he she")
    him = pronoun(who.pronoun)
    years_en, years_de = words.number(d.upto(3, 19))
    city_en, city_de = d.pick(CITIES)
    side = clause(who, "be", f"{years_en} years old", f"{years_de} Jahre alt", "past")
    if "grand" in who.en or " " not in who.en or d.chance(0.5):
        main = clause(him, "live", f"in {city_en}", f"in {city_de}", "past")
    else:
        main = clause(him, "have", "a dog", "einen Hund", "past")
    return say(
        f"when {side.en}, {main.en}",
        f"als {side.de_last}, {main.de_after('')}",
        f"when {years_en} {city_en}",
    )


@frame()
def although(d: Dice) -> Draft:
    """Although Anna is ill, she is going to work. - Obwohl Anna krank ist, geht sie zur Arbeit."""
    who, (state, deeds) = d.who(0.65), d.pick(ALTHOUGH)
    state_en, _, state_de = state.partition(" = ")
    verb, rest, mid = d.pick(deeds)
    if state_en == "very old":
        who = d.pick(
            (
                d.name(),
                phrase(NOUNS["grandmother"], "my"),
                phrase(NOUNS["grandfather"], "", owner=d.owner()),
            )
        )
    side = clause(who, "be", state_en, state_de)
    habit = state_en in ("rich", "very old")
    tense = "present" if habit else "progressive"
    main = clause(pronoun(who.pronoun), verb, rest, mid, tense)
    return say(
        f"although {side.en}, {main.en}",
        f"obwohl {side.de_last}, {main.de_after('')}",
        f"although {state_en} {verb} {rest}",
    )


_EFFORTS = (
    ("go", "to work", "zur Arbeit"),
    ("go", "to school", "zur Schule"),
    ("work", "in the garden", "im Garten"),
    ("play", "tennis", "Tennis"),
    ("tidy", "the cellar", "den Keller"),
    ("go", "to the party", "zur Party"),
    ("iron", "the shirts", "die Hemden"),
)


ALTHOUGH = (
    ("ill = krank", _EFFORTS),
    (
        "very tired = sehr müde",
        (
            *_EFFORTS,
            ("read", "a long book", "ein langes Buch"),
            ("code", "", ""),
            ("watch_tv", "TV", ""),
        ),
    ),
    ("tired = müde", (*_EFFORTS, ("drive", "", ""), ("cook", "soup", "Suppe"), ("code", "", ""))),
    (
        "hungry = hungrig",
        (
            ("play", "football", "Fußball"),
            ("work", "in the garden", "im Garten"),
            ("sleep", "", ""),
        ),
    ),
    (
        "busy = beschäftigt",
        (
            ("help", "her", "ihr"),
            ("cook", "soup", "Suppe"),
            ("watch_tv", "TV", ""),
            ("help", "me", "mir"),
        ),
    ),
    (
        "rich = reich",
        (
            ("work", "a lot", "viel"),
            ("wear", "old shoes", "alte Schuhe"),
            ("live", "in a small flat", "in einer kleinen Wohnung"),
        ),
    ),
    ("nervous = nervös", (("sing", "", ""), ("laugh", "", ""))),
    (
        "very old = sehr alt",
        (
            ("jog", "every day", "jeden Tag"),
            ("work", "a lot", "viel"),
            ("swim", "every day", "jeden Tag"),
            ("dance", "a lot", "viel"),
        ),
    ),
)


@frame()
def before_bed(d: Dice) -> Draft:
    """Before Anna goes to bed, she reads a book. - Bevor Anna ins Bett geht, liest sie ein Buch."""
    who = d.who(0.65)
    time_en, time_de, deeds = d.pick(BEFORE)
    verb, side_rest, side_mid = time_en
    side = clause(who, verb, side_rest, side_mid)
    key, rest, mid = d.pick(deeds)
    him = pronoun(who.pronoun)
    main = clause(him, key, rest.format(poss=who.poss), mid.format(self=who.self_dat))
    return say(
        f"{time_de[0]} {side.en}, {main.en}",
        f"{time_de[1]} {side.de_last}, {main.de_after('')}",
        f"{time_de[0]} {side_rest} {rest}",
    )


_EVENING = (
    ("read", "a book", "ein Buch"),
    ("drink", "tea", "Tee"),
    ("listen", "to music", "Musik"),
    ("brush_self", "{poss} teeth", "{self} die Zähne"),
    ("watch_tv", "TV", ""),
    ("wash_self", "{poss} hands", "{self} die Hände"),
    ("read", "the newspaper", "die Zeitung"),
    ("drink", "a glass of milk", "ein Glas Milch"),
)


_MORNING = (
    ("drink", "coffee", "Kaffee"),
    ("eat", "a roll", "ein Brötchen"),
    ("read", "the newspaper", "die Zeitung"),
    ("feed", "the cat", "die Katze"),
    ("jog", "in the park", "im Park"),
    ("comb_self", "{poss} hair", "{self} die Haare"),
    ("listen", "to the radio", "Radio"),
    ("call", "Mum", "Mama"),
)


BEFORE = (
    (("go", "to bed", "ins Bett"), ("before", "bevor"), _EVENING),
    (("go", "to work", "zur Arbeit"), ("before", "bevor"), _MORNING),
    (("go", "to school", "zur Schule"), ("before", "bevor"), _MORNING[1:4]),
    (("eat", "", ""), ("before", "bevor"), (_EVENING[5], ("cook", "", ""), _EVENING[6])),
    (("come", "home", "nach Hause"), ("when", "wenn"), (*_EVENING[:3], *_EVENING[4:], _MORNING[3])),
    (("get_up", "", ""), ("when", "wenn"), _MORNING),
)


@frame()
def while_cooking(d: Dice) -> Draft:
    """While Anna cooks, Ben reads the newspaper. - Während Anna kocht, liest Ben die Zeitung."""
    one, other = (d.who(0.75), d.name())
    deed = d.pick(
        activities(
            "cook, read, code, sleep, work, bake, iron, shop, study, paint, knit, "
            "draw, play the piano, play chess, watch_tv TV, listen to music"
        )
    )
    verb, rest, mid = d.pick(
        (
            ("read", "the newspaper", "die Zeitung"),
            ("sing", "", ""),
            ("play", "with the dog", "mit dem Hund"),
            ("wash", "the car", "das Auto"),
            ("code", "", ""),
            ("tidy", "the kitchen", "die Küche"),
            ("sleep", "", ""),
            ("clean", "the window", "das Fenster"),
            ("draw", "a picture", "ein Bild"),
            ("feed", "the cat", "die Katze"),
            ("write", "a letter", "einen Brief"),
            ("water", "the flowers", "die Blumen"),
            ("drink", "tea", "Tee"),
        )
    )
    side = clause(one, deed.verb, deed.en_rest, deed.de_mid, "progressive")
    main = clause(other, verb, rest, mid, "progressive")
    while deed.verb.key == verb:
        return while_cooking(d)
    return say(
        f"while {side.en}, {main.en}",
        f"während {side.de_last}, {main.de_after('')}",
        f"while {deed.key} {verb} {rest}",
    )


@frame()
def dont_know_where(d: Dice) -> Draft:
    """I do not know where Anna lives. - Ich weiß nicht, wo Anna wohnt."""
    other = d.other_person()
    question_en, question_de, side = d.pick(
        (
            ("where", "wo", clause(other, "live")),
            ("where", "wo", clause(other, "work")),
            ("when", "wann", clause(other, "come_back")),
            ("where", "woher", clause(other, "come", "from")),
            ("what", "was", clause(other, "buy", tense="want")),
            ("what", "was", clause(other, "read", tense="progressive")),
            ("where", "wo", clause(other, "sleep", tense="progressive")),
            ("when", "wann", clause(other, "get_up")),
            ("why", "warum", clause(other, "laugh", tense="progressive")),
            ("what", "was", clause(other, "cook", tense="progressive")),
            ("why", "warum", clause(other, "be", "sad", "traurig")),
            ("when", "wann", clause(other, "code", tense="want")),
            ("how old", "wie alt", clause(other, "be")),
            ("why", "warum", clause(other, "be", "angry", "wütend")),
            ("how", "wie", clause(other, "find_way", "the way", "den Weg", "past_perfect")),
        )
    )
    roll = d.upto(1, 3)
    combo = f"{question_en} {side.verb.key} {side.rest}"
    if roll == 1:
        return say(
            f"do you know {question_en} {side.en}",
            f"weißt du, {question_de} {side.de_last}",
            combo,
            end="?",
        )
    if roll == 2:
        return say(
            f"please tell me {question_en} {side.en}",
            f"sag mir bitte, {question_de} {side.de_last}",
            combo,
        )
    who = d.pick((pronoun("I"), pronoun("we"), d.name()))
    return say(
        f"{clause(who, 'know', negated=True).en} {question_en} {side.en}",
        f"{clause(who, 'know', mid='nicht').de}, {question_de} {side.de_last}",
        combo,
    )


@frame()
def simple_question(d: Dice) -> Draft:
    """Where does Anna live? - Wo wohnt Anna?"""
    other = d.who(0.7, "you you he she they")
    question_en, question_de, side = d.pick(
        (
            ("where", "wo", clause(other, "live")),
            ("where", "wo", clause(other, "work")),
            ("when", "wann", clause(other, "come_back", tense="progressive")),
            ("what", "was", clause(other, "buy", tense="want")),
            ("what", "was", clause(other, "read", tense="progressive")),
            ("when", "wann", clause(other, "get_up")),
            ("why", "warum", clause(other, "laugh", tense="progressive")),
            ("what", "was", clause(other, "cook", tense="progressive")),
            ("why", "warum", clause(other, "be", "sad", "traurig")),
            ("what", "was", clause(other, "drink", tense="would like")),
            ("what", "was", clause(other, "eat", tense="would like")),
            ("why", "warum", clause(other, "be", "late", "zu spät")),
            ("how old", "wie alt", clause(other, "be")),
            ("what", "was", clause(other, "learn", tense="progressive")),
            ("when", "wann", clause(other, "code", tense="want")),
            ("what", "was", clause(other, "look_for", "for", tense="progressive")),
            ("why", "warum", clause(other, "be", "so tired", "so müde")),
            ("where", "wo", clause(other, "be")),
            ("why", "warum", clause(other, "come_along", negated=True)),
        )
    )
    if side.negated:
        side = side.with_(mid="nicht", tense="progressive")
        be = {"I": "am", "you": "are", "they": "are", "we": "are"}.get(other.pronoun, "is")
        return say(
            f"why {be} {other.en} not coming along", side.de_after("warum"), "why not come", end="?"
        )
    return say(
        f"{question_en} {side.en_question}",
        side.de_after(question_de),
        f"ask {question_en} {side.verb.key} {side.rest}",
        end="?",
    )
