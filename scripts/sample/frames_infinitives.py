"""Frames with infinitives, relative clauses, joined main clauses and tales."""

from __future__ import annotations

from sample import names, nouns, words
from sample.clause import Nominal, clause, phrase, pronoun
from sample.dice import Dice, Draft, frame, say
from sample.nouns import NOUNS
from sample.text import listed
from sample.verbs import VERBS, activities


@frame(1.3)
def in_order_to(d: Dice) -> Draft:
    """Anna is going to the baker to buy bread. - Anna geht zum Bäcker, um Brot zu kaufen."""
    who, (place, verb, things) = d.who(0.65), d.pick(ERRANDS)
    thing = d.pick(things.split("; "))
    thing_en, _, thing_de = thing.partition("=")
    goal = words.BY_PLACE[place].to
    time_en, time_de = d.pick((("", ""), ("", ""), ("today", "heute"), ("now", "jetzt")))
    main = clause(
        who, "go", f"{time_en and ''}{goal[0]}", f"{time_de} {goal[1]}".strip(), "progressive"
    )
    lexeme = VERBS[verb]
    lead = f"{time_en} " if time_en else ""
    english = f"{main.en} {lead}to {lexeme.en.infinitive} {thing_en}".strip()
    return say(
        english,
        f"{main.de}, um {thing_de} {lexeme.de.zu_infinitive}".replace("  ", " "),
        f"{place} {verb} {thing_en}",
    )


ERRANDS = (
    ("at the baker's", "buy", "bread=Brot; rolls=Brötchen; a cake=einen Kuchen"),
    (
        "at the supermarket",
        "buy",
        "milk=Milch; eggs=Eier; cheese=Käse; rice=Reis; flour=Mehl; sugar=Zucker; butter=Butter",
    ),
    (
        "at the market",
        "buy",
        "apples=Äpfel; fresh fish=frischen Fisch; flowers=Blumen; "
        "tomatoes=Tomaten; potatoes=Kartoffeln; honey=Honig; cherries=Kirschen",
    ),
    ("at the library", "read", "the newspaper=die Zeitung; a book=ein Buch"),
    ("at the library", "borrow", "a book=ein Buch; a novel=einen Roman"),
    ("at the station", "pick_up", "a guest=einen Gast; Grandma=Oma; Grandpa=Opa"),
    ("at the airport", "pick_up", "a guest=einen Gast; Mum=Mama; Dad=Papa"),
    ("at the post office", "send", "a parcel=ein Paket; a letter=einen Brief"),
    ("at the post office", "pick_up", "a parcel=ein Paket"),
    (
        "in the garden",
        "water",
        "the flowers=die Blumen; the tomatoes=die Tomaten; the roses=die Rosen",
    ),
    ("in the garden", "pick", "strawberries=Erdbeeren; cherries=Kirschen; flowers=Blumen"),
    ("in the kitchen", "cook", "soup=Suppe; potatoes=Kartoffeln"),
    ("in the kitchen", "bake", "a cake=einen Kuchen; a pizza=eine Pizza"),
    ("in the park", "play", "football=Fußball; chess=Schach"),
    ("in the forest", "collect", "mushrooms=Pilze; nuts=Nüsse"),
    ("at the café", "drink", "tea=Tee; coffee=Kaffee; cocoa=Kakao"),
    ("at the café", "eat", "cake=Kuchen; ice cream=Eis"),
    ("at the restaurant", "eat", "fish=Fisch; pizza=Pizza; soup=Suppe"),
    ("at the bookshop", "buy", "a novel=einen Roman; a magazine=eine Zeitschrift; a book=ein Buch"),
    ("at the cinema", "see", "the new film=den neuen Film; an old film=einen alten Film"),
    (
        "at the zoo",
        "see",
        "the monkeys=die Affen; the lions=die Löwen; the elephants=die Elefanten; "
        "the bears=die Bären",
    ),
)


@frame(1.2)
def try_to(d: Dice) -> Draft:
    """Anna is trying to repair the bike. - Anna versucht, das Fahrrad zu reparieren."""
    who, verb = (
        d.who(),
        d.pick(
            listed(
                "repair open find understand close learn build solve turn_on "
                "translate sell draw explain"
            )
        ),
    )
    thing = d.object_of(verb, who)
    main = clause(who, "try", tense="progressive")
    lexeme = VERBS[verb]
    return say(
        f"{main.en} to {lexeme.en.infinitive} {thing.en}",
        f"{main.de}, {thing.de()} {lexeme.de.zu_infinitive}",
        f"try {verb}",
        thing.combos,
    )


@frame(1.2)
def forgot_to(d: Dice) -> Draft:
    """Anna forgot to feed the cat. - Anna hat vergessen, die Katze zu füttern."""
    who, verb = (
        d.who(),
        d.pick(
            listed(
                "feed close water call turn_off wash pack send invite "
                "tidy bring pick_up order open ask"
            )
        ),
    )
    thing = d.object_of(verb, who, "the", 0.25)
    main = clause(who, "forget", tense=d.pick(("past_perfect", "past_perfect", "perfect")))
    lexeme = VERBS[verb]
    return say(
        f"{main.en} to {lexeme.en.infinitive} {thing.en}",
        f"{main.de}, {thing.de()} {lexeme.de.zu_infinitive}",
        f"forgot {verb}",
        thing.combos,
    )


@frame()
def hope_to_see(d: Dice) -> Draft:
    """We hope to see Anna tomorrow. - Wir hoffen, Anna morgen zu sehen."""
    who, other = d.pick((d.name, d.pronoun))(), d.name()
    time_en, time_de = d.pick(words.NEAR_FUTURE)
    verb = d.pick(("see", "meet", "visit"))
    lexeme = VERBS[verb]
    main = clause(who, "hope")
    return say(
        f"{main.en} to {lexeme.en.infinitive} {other.en} {time_en}",
        f"{main.de}, {other.de()} {time_de} {lexeme.de.zu_infinitive}",
        f"hope {verb} {time_en}",
    )


@frame()
def that_bought(d: Dice) -> Draft:
    """This is the bike that Anna bought yesterday. - Das ist das Fahrrad, das Anna gestern ..."""
    who, verb = (
        d.pick((d.name, d.name, d.pronoun))(),
        d.pick(listed("buy find repair write draw paint get order bake lose")),
    )
    noun, plural = d.object_noun(verb)
    while plural or not noun.countable:
        noun, plural = d.object_noun(verb)
    thing = d.thing(
        noun,
        "the",
        0.35,
        wanted=frozenset(
            listed("new old beautiful red blue green black small big interesting")
        ).__contains__,
    )
    time_en, time_de = d.pick(words.RECENT_DAYS)
    relative = {"m": "den", "f": "die", "n": "das"}[noun.gender]
    side = clause(who, verb, time_en, time_de, "past_perfect")
    return say(
        f"this is {thing.en} that {side.en}",
        f"das ist {thing.de('nom')}, {relative} {side.de_last}",
        f"that {verb} {noun.en}",
        thing.combos,
    )


PEOPLE_DOING = (
    ("lives next door", "nebenan wohnt"),
    ("works at the library", "in der Bibliothek arbeitet"),
    ("is sitting in the garden", "im Garten sitzt"),
    ("lives in our street", "in unserer Straße wohnt"),
    ("is standing in front of the house", "vor dem Haus steht"),
    ("is reading the newspaper", "die Zeitung liest"),
    ("plays the piano", "Klavier spielt"),
    ("works at the office", "im Büro arbeitet"),
    ("is waiting for the bus", "auf den Bus wartet"),
    ("is wearing a red coat", "einen roten Mantel trägt"),
    ("likes to code", "gern programmiert"),
    ("likes to dance", "gern tanzt"),
    ("is drinking coffee", "Kaffee trinkt"),
)


@frame(1.1)
def who_lives(d: Dice) -> Draft:
    """The man who lives next door is Anna's uncle. - Der Mann, der nebenan wohnt, ist Annas ..."""
    female = d.chance(0.5)
    head = NOUNS["woman" if female else "man"]
    doing_en, doing_de = d.pick(PEOPLE_DOING)
    kin = d.pick(
        listed("aunt mother grandmother sister")
        if female
        else listed("uncle father grandfather brother")
    )
    roll = d.upto(1, 3)
    thing = d.thing(head, "the", 0.3, wanted=frozenset({"friendly", "tall"}).__contains__)
    relative = "die" if female else "der"
    if roll == 1:
        return say(
            f"do you know {thing.en} who {doing_en}",
            f"kennst du {thing.de('acc')}, {relative} {doing_de}",
            f"who {doing_en}",
            thing.combos,
            end="?",
        )
    if roll == 2:
        name = d.name()
        while (name.pronoun == "she") != female:
            name = d.name()
        return say(
            f"{thing.en} who {doing_en} is called {name.en}",
            f"{thing.de('nom')}, {relative} {doing_de}, heißt {name.de()}",
            f"who {doing_en} called",
            thing.combos,
        )
    who = phrase(NOUNS[kin], "", owner=d.owner())
    return say(
        f"{thing.en} who {doing_en} is {who.en}",
        f"{thing.de('nom')}, {relative} {doing_de}, ist {who.de()}",
        f"who {doing_en} {kin}",
        thing.combos,
    )


@frame()
def too_heavy_that(d: Dice) -> Draft:
    """The suitcase is so heavy that Anna cannot carry it. - Der Koffer ist so schwer, dass ..."""
    who, (adjective, verb, names_) = d.who(0.65), d.pick(SO_THAT)
    noun = d.pick(nouns.some(names_))
    thing = phrase(noun, d.pick(("the", "this")))
    en, _, de = adjective.partition("=")
    it = {"m": "ihn", "f": "sie", "n": "es"}[noun.gender]
    main = clause(thing, "be", f"so {en}", f"so {de}")
    side = clause(who, verb, "it", f"{it} nicht", "can", True)
    return say(
        f"{main.en} that {side.en}", f"{main.de}, dass {side.de_last}", f"{en} {verb} {noun.en}"
    )


SO_THAT = (
    (
        "heavy=schwer",
        "carry",
        "suitcase, bag, box, parcel, table, backpack, cupboard, basket, bucket",
    ),
    (
        "expensive=teuer",
        "buy",
        "house, car, ring, watch, coat, dress, piano, sofa, flat, camera, bike, carpet",
    ),
    ("difficult=schwierig", "understand", "text, question, sentence, book, poem, exercise, letter"),
    ("hot=heiß", "drink", "tea, coffee, milk, cocoa"),
    ("salty=salzig", "eat", "soup, fish, meat, cheese, rice"),
    ("small=klein", "find", "key, ring, mistake, photo, ticket"),
    ("old=alt", "sell", "car, bike, piano, house, computer, sofa, boat"),
    ("long=lang", "learn", "poem, song, text, sentence"),
)


@frame()
def two_at_once(d: Dice) -> Draft:
    """Anna is playing the piano and Ben is singing. - Anna spielt Klavier und Ben singt."""
    one, other = d.two_names()
    first, second = d.pick(activities(TOGETHER)), d.pick(activities(TOGETHER))
    while second.verb is first.verb:
        second = d.pick(activities(TOGETHER))
    if d.chance(0.4):
        can = clause(one, first.verb, first.en_rest, first.de_mid, "can")
        return say(
            f"{can.en}, but {other.en} cannot",
            f"{can.de}, aber {other.de()} nicht",
            f"can but {first.key}",
        )
    one_clause, other_clause = (
        clause(who, deed.verb, deed.en_rest, deed.de_mid, "progressive")
        for who, deed in ((one, first), (other, second))
    )
    return say(
        f"{one_clause.en} and {other_clause.en}",
        f"{one_clause.de} und {other_clause.de}",
        f"and {first.key}/{second.key}",
    )


TOGETHER = (
    "cook, read, code, sing, dance, draw, paint, bake, knit, sew, write, swim, play the piano, "
    "play the guitar, play the violin, iron, climb, ski, ride, play the flute"
)


@frame()
def come_but_no_time(d: Dice) -> Draft:
    """Anna would like to ski, but she has to work. - Anna möchte Ski fahren, aber ..."""
    who = d.who(0.65)
    activity = d.pick(
        activities(
            "swim, dance, shop, travel, go_walk for a walk, cook, hike, "
            "play football, play tennis, watch_tv TV, ski, code, sing"
        )
    )
    main = clause(who, activity.verb, activity.en_rest, activity.de_mid, "would like")
    him = pronoun(who.pronoun)
    excuse = d.pick(
        (
            clause(him, "work", tense="have to"),
            clause(him, "study", tense="have to"),
            clause(him, "be", "too tired", "zu müde"),
            clause(him, "have", "no time", "keine Zeit"),
            clause(him, "be", "ill", "krank"),
            clause(him, "have", "an exam", "eine Prüfung"),
            clause(him, "sleep", tense="have to"),
            clause(him, "have", "a cold", "eine Erkältung"),
            clause(him, "tidy", "the kitchen", "die Küche", "have to"),
            clause(him, "have", "guests", "Gäste"),
        )
    )
    return say(
        f"{main.en}, but {excuse.en}",
        f"{main.de}, aber {excuse.de}",
        f"but {activity.key} {excuse.verb.key} {excuse.rest}",
    )


@frame()
def instead_of(d: Dice) -> Draft:
    """Anna is buying pears instead of apples. - Anna kauft Birnen statt Äpfel."""
    who, (verb, names_) = (
        d.who(0.65),
        d.pick(
            (
                ("buy", "apple/, pear/, cherry/, banana/, strawberry/, plum/, orange/"),
                ("drink", "tea, coffee, milk, water, wine, beer, cocoa, lemonade"),
                ("order", "soup, pizza, salad, cake, fish, ice cream"),
                ("eat", "rice, bread, fish, meat, cheese, chocolate, soup, salad"),
                ("plant", "rose/, tulip/, potato/, tomato/, bean/, sunflower/"),
                ("learn", "Spanish, French, Italian, German, English, Polish"),
            )
        ),
    )
    options = [n.strip() for n in names_.split(",")]
    first, second = d.pick(options), d.pick(options)
    while first == second:
        second = d.pick(options)
    one, other = (_plain(n) for n in (first, second))
    tense = d.pick(("progressive", "want", "will"))
    made = clause(who, verb, f"{one[0]} instead of {other[0]}", f"{one[1]} statt {other[1]}", tense)
    return say(made.en, made.de, f"{one[0]} instead {other[0]}")


LANGUAGES = dict(names.LANGUAGES)


def _plain(name: str) -> tuple[str, str]:
    if name in LANGUAGES:
        return name, LANGUAGES[name]
    noun, plural = NOUNS[name.removesuffix("/")], name.endswith("/")
    return noun.english(plural), noun.german("acc", plural)


@frame()
def tale(d: Dice) -> Draft:
    """Once upon a time an old king lived in a big castle. - Es war einmal ..."""
    head_en, head_de = d.pick(TALE_HEROES)
    verb, rest, mid = d.pick(TALE_DEEDS)
    en, de = d.pick((TALE_TIMES[0], TALE_TIMES[4]) if verb == "live" else TALE_TIMES)
    hero = Nominal(head_en, (head_de, head_de, head_de, ""), "he")
    made = clause(hero, verb, rest, mid, "past")
    return say(f"{en} {made.en}", made.de_after(de), f"{head_en} {rest}")


TALE_TIMES = words.table("""
a long time ago = vor langer Zeit
one day = eines Tages
one evening = eines Abends
one morning = eines Morgens
many years ago = vor vielen Jahren
""")


TALE_HEROES = words.table("""
the old king = der alte König
the young king = der junge König
the little girl = das kleine Mädchen
the hungry wolf = der hungrige Wolf
the old farmer = der alte Bauer
the poor boy = der arme Junge
the beautiful queen = die schöne Königin
the brave boy = der mutige Junge
the clever fox = der kluge Fuchs
the old man = der alte Mann
the old woman = die alte Frau
the big bear = der große Bär
""")


TALE_DEEDS = (
    ("come", "to a big castle", "zu einem großen Schloss"),
    ("come", "to a small house", "zu einem kleinen Haus"),
    ("come", "to a deep river", "zu einem tiefen Fluss"),
    ("come", "into a dark forest", "in einen dunklen Wald"),
    ("go", "into the dark forest", "in den dunklen Wald"),
    ("go", "into the small village", "in das kleine Dorf"),
    ("go", "over the high mountain", "über den hohen Berg"),
    ("find", "a golden ring", "einen goldenen Ring"),
    ("find", "an old key", "einen alten Schlüssel"),
    ("find", "a small door", "eine kleine Tür"),
    ("see", "a big bear", "einen großen Bären"),
    ("see", "a white horse", "ein weißes Pferd"),
    ("see", "a small light in the forest", "ein kleines Licht im Wald"),
    ("lose", "the golden key", "den goldenen Schlüssel"),
    ("sit", "under an old tree", "unter einem alten Baum"),
    ("stand", "in front of the castle", "vor dem Schloss"),
    ("live", "in a small house in the forest", "in einem kleinen Haus im Wald"),
    ("live", "behind the high mountain", "hinter dem hohen Berg"),
)


@frame()
def advice(d: Dice) -> Draft:
    """You should sleep more, Anna. - Du solltest mehr schlafen, Anna."""
    name = d.name()
    en, de = d.pick(ADVICE)
    roll = d.upto(1, 2)
    if roll == 1:
        return say(f"you should {en}, {name.en}", f"du solltest {de}, {name.de()}", f"should {en}")
    who = d.third(0.85)
    return say(f"{who.en} should {en}", f"{who.de()} sollte {de}", f"should {en}")


ADVICE = words.table("""
sleep more = mehr schlafen
read more = mehr lesen
eat more fruit = mehr Obst essen
drink more water = mehr Wasser trinken
work less = weniger arbeiten
go to the doctor = zum Arzt gehen
learn to swim = schwimmen lernen
learn to code = programmieren lernen
stay at home today = heute zu Hause bleiben
go to bed early = früh ins Bett gehen
come home now = jetzt nach Hause kommen
eat less chocolate = weniger Schokolade essen
call the doctor = den Arzt anrufen
buy a new bike = ein neues Fahrrad kaufen
wear a warm coat = einen warmen Mantel tragen
ask the teacher = den Lehrer fragen
visit Grandma = Oma besuchen
travel more = mehr reisen
speak more slowly = langsamer sprechen
work more = mehr arbeiten
help Mum = Mama helfen
""")
