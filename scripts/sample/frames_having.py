"""Frames about having, needing, giving, lending, eating and drinking."""

from __future__ import annotations

from sample import german, nouns, words
from sample.clause import Nominal, clause, phrase
from sample.dice import Dice, Draft, frame, say, suits
from sample.frames_objects import GIFT_ADJECTIVES, WISHED_QUALITIES, imperative
from sample.nouns import NOUNS, Noun
from sample.text import listed
from sample.verbs import VERBS

HAD = nouns.kinds("pet", "vehicle", "instrument", "device") + nouns.some(
    "garden, balcony, house, flat, key, umbrella, suitcase, watch, phone, desk, sofa, passport, "
    "ticket, question, idea, plan, boat, backpack, mirror"
)


NEEDED = nouns.kinds("device", "furniture", "clothes") + nouns.some(
    "bag, umbrella, suitcase, backpack, basket, box, bottle, bucket, bike, car, phone, pencil, "
    "notebook, passport, flat, pan, pot, knife, pillow, blanket, guitar"
)


GIFTS = nouns.kinds("gift") + nouns.some(
    "book, bike, watch, scarf, hat, camera, guitar, ring, novel, vase, backpack, sweater, cap, "
    "picture, dog, cat, rabbit, phone, radio"
)


NEEDED_QUALITIES = GIFT_ADJECTIVES | {"cheap", "comfortable", "sharp", "soft"} - {"funny"}


OWNED_QUALITIES = GIFT_ADJECTIVES | {"old", "brown", "grey", "good", "fast", "important"}


HANDED = nouns.some(
    "key, book, newspaper, ball, bag, umbrella, cup, glass, plate, knife, fork, spoon, bottle, "
    "camera, letter, photo, pencil, notebook, ticket, box, towel, pillow, blanket, bowl, parcel"
)


GIVEN = nouns.some(
    "key, book, newspaper, ball, bag, umbrella, camera, letter, photo, pencil, notebook, ticket, "
    "blanket, parcel, bottle, picture, phone, suitcase"
)


SHOWN = nouns.some(
    "book, camera, photo, picture, letter, garden, house, flat, kitchen, car, bike, dress, coat, "
    "ring, ticket, passport, dog, cat, watch, room, phone, motorbike, boat, bag, report"
)


SENT = nouns.some("letter, parcel, postcard, message, photo, report, picture, text, poem, present")


SEVERAL = nouns.some(
    "brother, sister, son, daughter, uncle, aunt, car, bike, guitar, coat, hat, suitcase, watch, "
    "camera, computer, suit, key, phone, lamp, boat, bag"
)


PASSING_QUALITIES = frozenset(listed("full empty heavy light wet dirty clean cheap hungry boring"))


BELONGINGS = nouns.kinds(
    "carried", "pocket", "vehicle", "pet", "instrument", "clothes"
) + nouns.some("house, shop, farm, garden, camera, book, ball, armchair")


HELP = words.table("""
in the garden = im Garten
in the kitchen = in der Küche
on the farm = auf dem Bauernhof
with the shopping = beim Einkaufen
with the cooking = beim Kochen
with the exercise = bei der Übung
with the letter = mit dem Brief
with the heavy bag = mit der schweren Tasche
with the suitcase = mit dem Koffer
with the new computer = mit dem neuen Computer
every day = jeden Tag
in the shop = im Geschäft
""")


RECIPES: dict[words.Pair, tuple[words.Pair, ...]] = {
    ("the cake", "den Kuchen"): words.table("""
two eggs = zwei Eier
three eggs = drei Eier
a kilo of flour = ein Kilo Mehl
a litre of milk = einen Liter Milch
a little sugar = ein wenig Zucker
butter = Butter
a kilo of apples = ein Kilo Äpfel
a piece of chocolate = ein Stück Schokolade
"""),
    ("the soup", "die Suppe"): words.table("""
four potatoes = vier Kartoffeln
a kilo of carrots = ein Kilo Karotten
two onions = zwei Zwiebeln
a little salt = ein wenig Salz
a litre of water = einen Liter Wasser
three tomatoes = drei Tomaten
fresh mushrooms = frische Pilze
a pound of meat = ein Pfund Fleisch
"""),
    ("the salad", "den Salat"): words.table("""
two tomatoes = zwei Tomaten
a cucumber = eine Gurke
an onion = eine Zwiebel
a little salt = ein wenig Salz
three eggs = drei Eier
a piece of cheese = ein Stück Käse
fresh beans = frische Bohnen
a pound of nuts = ein Pfund Nüsse
"""),
    ("the trip", "die Reise"): words.table("""
two suitcases = zwei Koffer
a backpack = einen Rucksack
a camera = eine Kamera
new shoes = neue Schuhe
warm socks = warme Socken
an umbrella = einen Regenschirm
two tickets = zwei Fahrkarten
a new passport = einen neuen Pass
"""),
    ("the party", "die Party"): words.table("""
ten bottles of beer = zehn Flaschen Bier
twenty glasses = zwanzig Gläser
three cakes = drei Kuchen
six bottles of wine = sechs Flaschen Wein
five pizzas = fünf Pizzen
thirty plates = dreißig Teller
more chairs = mehr Stühle
colourful candles = bunte Kerzen
"""),
}


COMBINED = tuple(
    (tuple(one.split("=")), tuple(other.split("=")))
    for one, others in {
        "bread=Brot": "butter=Butter;cheese=Käse;honey=Honig;jam=Marmelade;sausage=Wurst",
        "fish=Fisch": "rice=Reis;potatoes=Kartoffeln;salad=Salat;carrots=Karotten",
        "meat=Fleisch": "potatoes=Kartoffeln;beans=Bohnen;rice=Reis;mushrooms=Pilzen",
        "rice=Reis": "carrots=Karotten;mushrooms=Pilzen;eggs=Eiern",
        "pancakes=Pfannkuchen": "jam=Marmelade;sugar=Zucker;apples=Äpfeln;honey=Honig",
        "ice cream=Eis": "strawberries=Erdbeeren;cherries=Kirschen;nuts=Nüssen",
        "pizza=Pizza": "cheese=Käse;tomatoes=Tomaten;mushrooms=Pilzen;onions=Zwiebeln",
        "cake=Kuchen": "plums=Pflaumen;nuts=Nüssen;cherries=Kirschen;apples=Äpfeln",
        "salad=Salat": "eggs=Eiern;tomatoes=Tomaten;cucumber=Gurke;nuts=Nüssen;cheese=Käse",
        "tea=Tee": "lemon=Zitrone;milk=Milch;honey=Honig;sugar=Zucker",
        "coffee=Kaffee": "milk=Milch;sugar=Zucker",
        "rolls=Brötchen": "butter=Butter;cheese=Käse;jam=Marmelade;sausage=Wurst",
    }.items()
    for other in others.split(";")
)


RECEIVERS = tuple(listed("brother sister mother father son daughter aunt uncle niece nephew"))


MASS_NOT_TAKEN = {
    "eat": "meat, fish, cheese, bread, rice, butter, chocolate, ice cream",
    "drink": "milk, tea, coffee, beer, wine, lemonade, cocoa, apple juice",
}


OCCASIONS = words.table("""
for {poss} birthday = zum Geburtstag
for Christmas = zu Weihnachten
""")


CONTAINERS = words.table("""
a cup of tea = eine Tasse Tee
a cup of coffee = eine Tasse Kaffee
a cup of cocoa = eine Tasse Kakao
a glass of water = ein Glas Wasser
a glass of milk = ein Glas Milch
a glass of wine = ein Glas Wein
a glass of apple juice = ein Glas Apfelsaft
a glass of orange juice = ein Glas Orangensaft
a glass of lemonade = ein Glas Limonade
a bottle of water = eine Flasche Wasser
a bottle of beer = eine Flasche Bier
a piece of cake = ein Stück Kuchen
a piece of bread = ein Stück Brot
a piece of cheese = ein Stück Käse
a piece of chocolate = ein Stück Schokolade
a bowl of soup = eine Schüssel Suppe
a bowl of rice = eine Schüssel Reis
a bowl of salad = eine Schüssel Salat
""")


@frame()
def would_like_portion(d: Dice) -> Draft:
    """Would you like a cup of tea, Anna? - Möchtest du eine Tasse Tee, Anna?"""
    en, de = d.pick(CONTAINERS)
    roll = d.upto(1, 4)
    if roll == 1:
        name = d.name()
        return say(
            f"would you like {en}, {name.en}",
            f"möchtest du {de}, {name.de()}",
            f"offer {en}",
            end="?",
        )
    if roll == 2:
        person = d.mister()
        return say(
            f"would you like {en}, {person.en}",
            f"möchten Sie {de}, {person.de()}",
            f"offer {en}",
            end="?",
        )
    who = d.who()
    return say(
        f"{who.en} would like {en}",
        f"{who.de()} {german.MODALS['would like'].present(who.person)} {de}",
        f"offer {en}",
    )


@frame()
def need(d: Dice) -> Draft:
    """Anna needs a new bike. - Anna braucht ein neues Fahrrad."""
    who = d.who()
    noun = d.suiting(NEEDED, who)
    thing = d.thing(noun, "a", 0.5, wanted=NEEDED_QUALITIES.__contains__)
    negated = not thing.combos and d.chance(0.35)
    de = d.thing(noun, "no", 0.0).de() if negated else thing.de()
    made = clause(who, "need", thing.en, de, negated=negated)
    return say(made.en, made.de, f"need {noun.en}", thing.combos)


@frame()
def need_for(d: Dice) -> Draft:
    """We need two eggs and a kilo of flour for the cake."""
    who, (dish, parts) = d.who(), d.pick(tuple(RECIPES.items()))
    first, second = d.pick(parts), d.pick(parts)
    while second[1].split()[-1] == first[1].split()[-1]:
        second = d.pick(parts)
    dish_en, dish_de = dish
    made = clause(
        who,
        "need",
        f"{first[0]} and {second[0]} for {dish_en}",
        f"{first[1]} und {second[1]} für {dish_de}",
    )
    return say(made.en, made.de, f"{first[0]}/{second[0]}")


@frame()
def has_thing(d: Dice) -> Draft:
    """Anna has a big dog. - Anna hat einen großen Hund."""
    who, noun = d.who(), d.pick(HAD)
    thing = d.thing(noun, "a", 0.7, wanted=OWNED_QUALITIES.__contains__)
    made = clause(who, "have", thing.en, thing.de())
    return say(made.en, made.de, f"have {noun.en}", thing.combos)


@frame()
def has_none(d: Dice) -> Draft:
    """Anna does not have a car. - Anna hat kein Auto."""
    who, noun = d.who(), d.pick(HAD)
    no = d.thing(noun, "no", 0.0)
    made = clause(who, "have", d.thing(noun, "a", 0.0).en, no.de(), negated=True)
    return say(made.en, made.de, f"have no {noun.en}")


@frame()
def has_question(d: Dice) -> Draft:
    """Does Anna have a garden? - Hat Anna einen Garten?"""
    who, noun = d.who(0.6, "you you they he she"), d.pick(HAD)
    thing = d.thing(noun, "a", 0.3, wanted=OWNED_QUALITIES.__contains__)
    made = clause(who, "have", thing.en, thing.de())
    return say(made.en_question, made.de_question, f"have ask {noun.en}", thing.combos, end="?")


@frame()
def has_several(d: Dice) -> Draft:
    """Anna has three small rabbits. - Anna hat drei kleine Kaninchen."""
    who, value = d.who(), d.upto(2, 12)
    group = nouns.kinds("pet", "farm_animal") if d.chance(0.5) else SEVERAL
    noun = d.pick(group)
    if noun.kind != "farm_animal":
        value = d.upto(2, 4)
    adjective = d.adjective_for(noun, OWNED_QUALITIES.__contains__) if d.chance(0.35) else None
    counted = phrase(noun, "", adjective, True, number=words.number(value))
    made = clause(who, "have", counted.en, counted.de("acc"))
    combos = (f"{adjective.en} {noun.en}",) if adjective else ()
    return say(made.en, made.de, f"{words.number(value)[0]} {noun.en}", combos)


@frame(1.2)
def give_present(d: Dice) -> Draft:
    """Anna is giving her brother a book for his birthday."""
    who, receiver = _giver_and_receiver(d)
    thing = d.thing(_gift_for(d, receiver), "a", 0.6, wanted=GIFT_ADJECTIVES.__contains__)
    poss = "their" if receiver.pronoun == "they" else receiver.poss
    time_en, time_de = d.pick(OCCASIONS)
    made = clause(
        who,
        "give_present",
        f"{receiver.en} {thing.en} {time_en.format(poss=poss)}",
        f"{receiver.de('dat')} {time_de} {thing.de()}",
        "progressive",
    )
    return say(made.en, made.de, f"give {thing.noun.en}", thing.combos)


def _giver_and_receiver(d: Dice) -> tuple[Nominal, Nominal]:
    who = d.pick((d.name, d.name, d.pronoun))()
    return who, phrase(NOUNS[d.pick(RECEIVERS)], who.poss)


def _gift_for(d: Dice, receiver: Nominal) -> Noun:
    """A present that suits the recipient; toys are not for parents, uncles and aunts."""
    grown_up = receiver.en.endswith(("mother", "father", "aunt", "uncle"))
    grown_up = grown_up and not receiver.en.endswith("brother")
    noun = d.suiting(GIFTS, receiver)
    while grown_up and noun.en in ("ball", "doll", "toy", "kite"):
        noun = d.suiting(GIFTS, receiver)
    return noun


@frame()
def gave_something(d: Dice) -> Draft:
    """Yesterday Ben gave his aunt a key. - Gestern hat Ben seiner Tante ... gegeben."""
    who, receiver = _giver_and_receiver(d)
    verb = d.pick(("give", "show", "send"))
    noun = d.pick({"send": SENT, "give": GIVEN, "show": SHOWN}[verb])
    thing = d.thing(
        noun, "a" if verb == "send" else "the", 0.4, wanted=GIFT_ADJECTIVES.__contains__
    )
    time_en, time_de = d.pick(words.RECENT_DAYS)
    made = clause(
        who, verb, f"{receiver.en} {thing.en}", f"{receiver.de('dat')} {thing.de()}", "past_perfect"
    )
    return say(f"{time_en} {made.en}", made.de_after(time_de), f"{verb} {noun.en}", thing.combos)


@frame()
def give_me(d: Dice) -> Draft:
    """Give me the red bag, Anna. - Gib mir die rote Tasche, Anna."""
    verb = d.pick(("give", "give", "show", "bring"))
    noun = d.pick(SHOWN if verb == "show" else HANDED)
    name = d.name()
    whom_en, whom_de = d.pick(
        (("me", "mir"), ("me", "mir"), ("us", "uns"), ("him", "ihm"), ("her", "ihr"))
    )
    thing = d.thing(
        noun, "your" if verb == "show" else "the", 0.45, wanted=GIFT_ADJECTIVES.__contains__
    )
    return say(
        f"please {VERBS[verb].en.infinitive} {whom_en} {thing.en}, {name.en}",
        f"{imperative(verb, 'du', '', '')} {whom_de} bitte {thing.de()}, {name.de()}",
        f"{verb} {noun.en}",
        thing.combos,
    )


@frame()
def lend_me(d: Dice) -> Draft:
    """Can you lend me your bike, Anna? - Kannst du mir dein Fahrrad leihen, Anna?"""
    name = d.name()
    noun, _ = d.object_noun("borrow")
    thing = d.thing(noun, "your", 0.4, wanted=WISHED_QUALITIES.__contains__)
    whom_en, whom_de = d.pick((("me", "mir"), ("us", "uns")))
    time_en, time_de = d.pick((("", ""), *words.NEAR_FUTURE[:5]))
    en = f"can you lend {whom_en} {thing.en} {time_en}".strip()
    middle = " ".join(filter(None, (time_de, thing.de())))
    return say(
        f"{en}, {name.en}",
        f"kannst du {whom_de} {middle} leihen, {name.de()}",
        f"lend {noun.en}",
        thing.combos,
        end="?",
    )


@frame()
def buy_for(d: Dice) -> Draft:
    """Anna is buying a doll for her niece. - Anna kauft eine Puppe für ihre Nichte."""
    who, receiver = _giver_and_receiver(d)
    if d.chance(0.4):
        receiver = d.name()
    noun = _gift_for(d, receiver)
    thing = d.thing(noun, "a", 0.5, wanted=GIFT_ADJECTIVES.__contains__)
    made = clause(
        who,
        "buy",
        f"{thing.en} for {receiver.en}",
        f"{thing.de()} für {receiver.de('acc')}",
        d.pick(("progressive", "want")),
    )
    return say(made.en, made.de, f"buy for {noun.en}", thing.combos)


@frame(1.2)
def help_somebody(d: Dice) -> Draft:
    """Anna helps the old neighbour in the garden. - Anna hilft dem alten Nachbarn im Garten."""
    who = d.who(0.7)
    helped = d.role(0.5) if d.chance(0.5) or not who.kinless else None
    whom = helped.nominal if helped else phrase(NOUNS[d.pick(RECEIVERS)], who.poss)
    (with_en, with_de) = d.pick(HELP)
    tense = d.pick(("present", "progressive", "past_perfect", "want"))
    made = clause(who, "help", f"{whom.en} {with_en}", f"{whom.de('dat')} {with_de}", tense)
    return say(made.en, made.de, f"help {with_en}", helped.combos if helped else ())


@frame()
def belongs_to(d: Dice) -> Draft:
    """The red bike belongs to my sister. - Das rote Fahrrad gehört meiner Schwester."""
    noun = d.pick(BELONGINGS)
    thing = d.thing(
        noun, d.pick(("the", "this")), 0.6, wanted=lambda word: word not in PASSING_QUALITIES
    )
    owner = d.someone(0.45) if d.chance(0.8) else d.role(0.4).nominal
    while not suits(noun, owner):
        owner = d.someone(0.45)
    made = clause(thing.nominal, "belong", f"to {owner.obj}", owner.de("dat"))
    if d.chance(0.25):
        return say(made.en_question, made.de_question, f"belong {noun.en}", thing.combos, end="?")
    return say(made.en, made.de, f"belong {noun.en}", thing.combos)


@frame()
def never_takes(d: Dice) -> Draft:
    """Ben does not drink beer. - Ben trinkt kein Bier."""
    who, verb = d.who(), d.pick(("eat", "drink"))
    noun = d.pick(nouns.some(MASS_NOT_TAKEN[verb]))
    time_en, time_de = d.pick(
        (("", ""), ("today", "heute"), ("in the evening", "abends"), ("in the morning", "morgens"))
    )
    mid = f"{time_de} {phrase(noun, 'no').de('acc')}".strip()
    made = clause(who, verb, f"{noun.en} {time_en}".strip(), mid, negated=True)
    if time_en == "today":
        made = clause(who, verb, f"{noun.en} today", mid, "progressive", True)
    return say(made.en, made.de, f"{verb} {noun.en}")


@frame()
def neither_nor(d: Dice) -> Draft:
    """Anna drinks neither coffee nor tea. - Anna trinkt weder Kaffee noch Tee."""
    who, verb = d.who(), d.pick(("eat", "drink"))
    group = nouns.some(MASS_NOT_TAKEN[verb])
    first, second = d.pick(group), d.pick(group)
    while second is first:
        second = d.pick(group)
    if d.chance(0.5):
        made = clause(
            who,
            verb,
            f"{first.en} and {second.en}",
            f"nur {first.de} und {second.de}",
            adverb="only",
        )
    else:
        made = clause(
            who, verb, f"neither {first.en} nor {second.en}", f"weder {first.de} noch {second.de}"
        )
    return say(made.en, made.de, f"{verb} {first.en}/{second.en}")


@frame()
def meal_habit(d: Dice) -> Draft:
    """In the morning Anna drinks hot tea. - Morgens trinkt Anna heißen Tee."""
    who, verb = d.who(), d.pick(("eat", "drink"))
    thing = d.object_of(verb, who)
    dish = thing.noun.en in ("pizza", "soup", "salad", "fish", "meat", "sausage", "pancake", "rice")
    time_en, time_de = d.pick(words.WEEKLY if dish else words.DAILY)
    made = clause(who, verb, thing.en, thing.de())
    return say(
        f"{time_en} {made.en}", made.de_after(time_de), f"{time_en} {thing.noun.en}", thing.combos
    )


@frame()
def eats_with(d: Dice) -> Draft:
    """Anna is eating bread with butter. - Anna isst Brot mit Butter."""
    who, (one, other) = d.who(), d.pick(COMBINED)
    tense = d.pick(("progressive", "would like", "want"))
    verb = "drink" if one[0] in ("tea", "coffee") else "eat"
    made = clause(who, verb, f"{one[0]} with {other[0]}", f"{one[1]} mit {other[1]}", tense)
    return say(made.en, made.de, f"{one[0]} with {other[0]}")
