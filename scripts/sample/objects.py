"""The objects that each verb may take, and their determiners."""

from __future__ import annotations

from dataclasses import dataclass

# Plausible objects of each verb (English singulars).
OBJECTS: dict[str, str] = {
    "read": "book, newspaper, letter, story, novel, poem, magazine, report, message, fairy tale, "
    "article, text",
    "write": "letter, story, poem, report, message, postcard, article, song",
    "buy": "coat, jacket, shirt, dress, skirt, hat, cap, scarf, sweater, blouse, suit, tie, belt, "
    "bag, umbrella, suitcase, backpack, phone, watch, ring, computer, camera, lamp, mirror, vase, "
    "table, chair, bed, sofa, carpet, armchair, desk, bike, motorbike, car, book, guitar, piano, "
    "necklace, doll, cake, pizza, newspaper, ticket, washing machine, fridge, printer, television",
    "sell": "car, bike, motorbike, boat, house, flat, piano, guitar, violin, sofa, table, camera, "
    "computer, desk, tractor, truck, carpet, cow, horse, shop, farm",
    "wash": "car, shirt, blouse, sweater, skirt, dress, cup/, plate/, glass/, pan, pot, dog, "
    "blanket, towel, bowl/, fork/, spoon/, bike",
    "clean": "window, kitchen, bathroom, shoe/, boot/, cellar, balcony, living room, table, "
    "garage, mirror, office",
    "repair": "bike, car, lamp, chair, roof, computer, radio, washing machine, fence, tractor, "
    "motorbike, television, door, watch, camera, toy, printer, boat, fridge, gate",
    "look_for": "key, phone, wallet, umbrella, ticket, passport, ring, bag, watch, notebook, "
    "pencil, camera, glove/, hat, scarf, cat, dog, book, knife, cap",
    "find": "key, phone, wallet, umbrella, ticket, passport, ring, bag, watch, notebook, hat, "
    "mistake, answer, glove/, scarf, letter, photo",
    "lose": "key, phone, wallet, umbrella, ticket, passport, ring, watch, bag, notebook, hat, "
    "scarf, glove/, cap, necklace",
    "forget": "umbrella, key, ticket, passport, wallet, phone, bag, notebook, word, "
    "question, present, suitcase",
    "wear": "coat, jacket, shirt, dress, skirt, hat, cap, scarf, sweater, blouse, tie, suit, "
    "belt, boot/, shoe/, glove/, sock/",
    "carry": "suitcase, box, bag, basket, backpack, parcel, table, chair, bottle, bucket",
    "eat": "apple, pear, banana, orange, peach, plum, carrot, pizza, cake, salad, soup, sausage, "
    "pancake, egg, roll, cookie, tomato, cheese, bread, fish, ice cream, rice, meat",
    "drink": "water, milk, tea, coffee, apple juice, orange juice, beer, wine, lemonade, cocoa",
    "cook": "soup, fish, rice, meat, potato/, egg, bean/, carrot/",
    "bake": "cake, bread, pizza, cookie/, roll/, pancake/",
    "paint": "picture, house, tree, flower, horse, castle, lake, mountain, bird",
    "draw": "house, tree, cat, dog, horse, castle, tower, bird, elephant, ship, lion, fox, bear, "
    "monkey, duck, cow",
    "open": "window, door, bottle, suitcase, letter, parcel, gate, present, box",
    "close": "window, door, gate, suitcase, shop, box",
    "turn_on": "lamp, radio, computer, television, washing machine, printer",
    "turn_off": "lamp, radio, computer, television, washing machine, printer, phone",
    "see": "film, castle, lake, mountain, ship, bear, fox, elephant, lion, monkey, wolf, mouse, "
    "snake, house, tower, island",
    "feed": "dog, cat, rabbit, horse, bird, cow, duck, chicken, sheep/, goat, pig, donkey",
    "visit": "museum, castle, town, village, island, aunt, uncle, grandmother, grandfather, "
    "teacher, neighbour, brother, sister, school, factory, farm, colleague",
    "meet": "teacher, neighbour, doctor, colleague, boss, student, brother, sister, aunt, uncle, "
    "mother, father, guest, customer",
    "invite": "neighbour, teacher, colleague, boss, guest, aunt, uncle, grandmother, student, "
    "brother, sister, niece, nephew, grandfather",
    "call": "doctor, mother, father, brother, sister, aunt, uncle, neighbour, boss, mechanic, "
    "colleague, grandmother, customer, son, daughter",
    "ask": "teacher, doctor, neighbour, waiter, policeman, driver, mother, father, boss, baker, "
    "gardener, mechanic, colleague, uncle, aunt",
    "understand": "question, answer, text, sentence, word, problem, poem, story, letter, mistake, "
    "exercise, film, plan, language",
    "explain": "question, text, sentence, word, problem, poem, exercise, mistake, plan, idea",
    "build": "house, boat, bridge, tower, shelf, wall, fence, ship, kite, school, table, garage",
    "order": "pizza, soup, salad, cake, beer, coffee, tea, wine, apple juice, fish, water, "
    "taxi, book, lamp, cocoa, pancake/",
    "bring": "cake, salad, bottle, book, ball, guitar, newspaper, flower/, chair, umbrella, camera",
    "take": "bus, train, tram, taxi, ferry, ship, car, bike",
    "send": "letter, parcel, message, photo, postcard, report, present, picture",
    "get": "letter, parcel, message, postcard, present, answer, report, dog, bike",
    "use": "computer, camera, phone, printer, washing machine, bike, car, knife, pencil",
    "borrow": "book, bike, car, umbrella, camera, suitcase, ball, guitar, pencil, boat",
    "pack": "suitcase, bag, backpack, parcel, box",
    "cut": "bread, cake, cheese, tomato/, onion/, cucumber, sausage, apple, pizza",
    "plant": "tree, apple tree, rose, flower/, tulip/, sunflower, potato/, tomato/, bean/",
    "water": "flower/, rose/, tulip/, tree, tomato/, sunflower/, garden, apple tree",
    "pick": "apple/, pear/, flower/, cherry/, strawberry/, plum/, tulip/, tomato/, grape/",
    "peel": "potato/, apple, carrot/, onion, orange, egg, banana, cucumber, pear",
    "count": "sheep/, cow/, chicken/, apple/, bottle/, guest/, box/, egg/, book/",
    "pick_up": "brother, sister, son, daughter, guest, parcel, mother, uncle, aunt, niece, nephew, "
    "suitcase, cake, ticket",
    "try_on": "coat, jacket, shirt, dress, skirt, hat, sweater, blouse, suit, shoe/, boot/, cap",
    "learn": "poem, song, language, word/",
    "sing": "song",
    "translate": "text, letter, poem, sentence, book, article, song, report",
    "copy": "text, sentence, poem, exercise",
    "miss": "bus, train, tram, ferry, film, concert",
    "celebrate": "wedding",
    "break": "glass, cup, plate, vase, bottle, bowl, mirror",
    "solve": "problem, exercise",
    "tidy": "kitchen, room, cellar, garage, bedroom, living room, office",
}

_COLOURS = "red blue green white black grey brown yellow"

# verb: determiners, suitable adjectives, share of plurals. "own" is the possessive of the subject.
_USES: dict[str, tuple[str, str, float]] = {
    "read": ("a a the", "long short interesting new old funny exciting sad difficult", 0.1),
    "write": ("a", "long short funny new beautiful sad", 0.1),
    "buy": (
        "a",
        f"new expensive cheap {_COLOURS} beautiful modern big small warm comfortable round "
        "soft long thick",
        0.1,
    ),
    "sell": ("own own the", "old big small red blue green", 0.0),
    "wash": ("own the", f"dirty new old {_COLOURS}", 0.2),
    "clean": ("own the", "dirty big small", 0.0),
    "repair": ("own the", "old small red blue", 0.0),
    "look_for": ("own", "new small black red blue old warm", 0.0),
    "find": ("own", "new small black red blue old warm", 0.0),
    "lose": ("own", "new black red blue old warm expensive", 0.0),
    "forget": ("own", "new black red blue", 0.0),
    "wear": ("a", f"{_COLOURS} new old beautiful warm expensive long short thick", 0.0),
    "carry": ("a the", "heavy big small full", 0.0),
    "eat": ("a", "fresh big ripe sweet sour hot tasty red green cold warm salty", 0.15),
    "drink": ("a", "cold hot fresh strong sweet warm black red white green", 0.0),
    "cook": ("a", "fresh tasty", 0.0),
    "bake": ("a", "fresh big small sweet round", 0.1),
    "paint": ("a", "big small beautiful", 0.1),
    "draw": ("a", "big small beautiful", 0.15),
    "open": ("the", "big small old heavy new", 0.1),
    "close": ("the", "big small old heavy", 0.1),
    "turn_on": ("the", "old new small", 0.0),
    "turn_off": ("the", "old new small", 0.0),
    "see": ("a a the", "old big young beautiful white new funny famous high interesting", 0.0),
    "feed": ("the own", "hungry young old black white brown big small", 0.2),
    "visit": ("the a", "old beautiful new modern famous friendly", 0.0),
    "meet": ("the", "old young friendly nice new famous", 0.0),
    "invite": ("the", "old young friendly nice new", 0.0),
    "call": ("the", "old young friendly nice new", 0.0),
    "ask": ("the", "old young friendly nice new tall", 0.0),
    "understand": ("the", "long short difficult new", 0.0),
    "explain": ("the", "difficult new important long short", 0.1),
    "build": ("a", "big small new high", 0.1),
    "order": ("a", "hot cold fresh small big new", 0.05),
    "bring": ("the", "small big fresh red new", 0.0),
    "take": ("the", "", 0.0),
    "send": ("a", "long short important small big funny beautiful", 0.1),
    "get": ("a", "long short important big small beautiful new good", 0.05),
    "use": ("the", "new old small", 0.0),
    "borrow": ("the a", "old new big small interesting exciting red", 0.0),
    "pack": ("own the", "big small old", 0.0),
    "cut": ("the", "fresh big", 0.0),
    "plant": ("a", "red yellow small white colourful", 0.1),
    "water": ("the", "colourful red yellow", 0.0),
    "pick": ("a", "ripe red sweet yellow", 0.0),
    "peel": ("the", "big small ripe", 0.1),
    "count": ("the", "white brown", 0.0),
    "pick_up": ("the", "heavy big small", 0.0),
    "try_on": ("a the", f"{_COLOURS} new long short warm expensive beautiful", 0.0),
    "learn": ("a", "new long short difficult", 0.1),
    "sing": ("a", "beautiful sad new old", 0.2),
    "translate": ("the a", "long short difficult old", 0.1),
    "copy": ("the", "long short difficult", 0.1),
    "miss": ("the", "", 0.0),
    "celebrate": ("the", "", 0.0),
    "break": ("a the", "old new beautiful big small expensive white", 0.0),
    "solve": ("the a", "difficult", 0.2),
    "tidy": ("own the", "big small", 0.0),
}


@dataclass(frozen=True)
class Use:
    """How the objects of a verb are phrased."""

    determiners: tuple[str, ...]
    adjectives: frozenset[str]
    plurals: float


USES: dict[str, Use] = {
    verb: Use(tuple(determiners.split()), frozenset(adjectives.split()), plurals)
    for verb, (determiners, adjectives, plurals) in _USES.items()
}
