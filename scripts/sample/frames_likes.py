"""Frames about hobbies, likes and abilities."""

from __future__ import annotations

from sample import nouns, words
from sample.clause import Nominal, clause, phrase, pronoun
from sample.dice import CODING, Dice, Draft, capital, frame, say
from sample.nouns import NOUNS
from sample.text import listed
from sample.verbs import Activity, activities

SKILLS = activities(
    "swim, cook, code, sing, dance, draw, paint, bake, knit, sew, sail, climb, dive, surf, ride, "
    "ski, drive, play the piano, play the guitar, play the violin, play the flute, play chess, "
    "play tennis, play the trumpet, play cards, row"
)
SOCIAL = activities(
    "cook, code, sing, dance, travel, hike, jog, bake, sail, climb, camp, chat, swim, cycle, draw, "
    "play football, play tennis, play chess, play cards, play basketball, go_walk for a walk, "
    "listen to music, watch_tv TV, paint, ride, ski, tell stories, collect mushrooms, shop"
)
GAMES = activities(
    "play football, play tennis, play chess, play cards, play basketball, watch_tv TV, "
    "listen to music, learn German, learn French, collect mushrooms, solve riddles"
)
LONG = activities(
    "cook, read, code, sing, dance, draw, paint, sleep, bake, knit, sew, fish, write, study, work, "
    "watch_tv TV, iron, play chess, play cards, play the piano, play the guitar, "
    "listen to music, write letters, solve riddles, chat, learn German, play tennis, "
    "play the violin, play football"
)
BUSY_WITH = activities(
    "cook, read, code, bake, knit, sew, swim, jog, shop, study, paint, draw, dance, fish, iron, "
    "play football, play the piano, watch_tv TV"
)
WANTED = activities(
    "swim, cook, read, code, sing, dance, draw, paint, jog, bake, knit, sew, chat, shop, write, "
    "study, work, watch_tv TV, go_walk for a walk, iron, play football, play tennis, play chess, "
    "play cards, play basketball, play the piano, play the guitar, play the violin, "
    "play the trumpet, play the flute, learn German, learn French"
)
DAY_TRIPS = activities("hike, fish, sail, climb, row, dive, surf, cycle, ride, ski, camp")
REGULAR = activities(
    "swim, cook, read, code, sing, dance, draw, paint, hike, run, jog, bake, knit, sew, fish, "
    "sail, climb, row, shop, cycle, ride, write, study, work, watch_tv TV, go_walk for a walk, "
    "iron, play football, play tennis, play chess, play cards, play basketball, play the piano, "
    "play the guitar, play the violin, play the flute, play the trumpet, listen to music, "
    "listen to the radio, learn German, learn French, tell stories, solve riddles, write letters, "
    "bake cakes, eat fish, drink tea"
)
MORNING_SPORTS = activities("swim, jog, fish, shop")
WEEKLY_SPORTS = activities("dance, climb, sail, surf")
NOUN_ACTIVITIES = activities(
    "swim, cook, read, code, sing, dance, draw, paint, hike, jog, bake, knit, sew, fish, sail, "
    "climb, camp, row, dive, surf, shop, ride, write, study, run, travel"
)
TOO: dict[tuple[str, str], tuple[Activity, ...]] = {
    ("tired", "müde"): activities(
        "cook, read, code, sing, dance, swim, hike, jog, bake, study, write, iron, drive, work, "
        "shop, play football, play tennis, play chess, play the piano, play cards, "
        "go_walk for a walk, watch_tv TV, tell stories, ride, climb, draw"
    ),
    ("lazy", "faul"): activities(
        "cook, study, iron, shop, jog, hike, work, bake, swim, go_walk for a walk, cycle, "
        "write letters, learn French"
    ),
    ("busy", "beschäftigt"): activities(
        "cook, read, bake, shop, play tennis, play cards, go_walk for a walk, watch_tv TV, swim, "
        "jog, write letters, play chess"
    ),
    ("nervous", "nervös"): activities(
        "sing, dance, drive, ride, climb, sleep, play the piano, play the violin, dive"
    ),
}
PAST_ACTIVITIES = activities(
    "play football, play tennis, play chess, play cards, play basketball, cook, code, sing, dance, "
    "watch_tv TV, listen to music, solve riddles, collect mushrooms, study, shop, bake, hike, "
    "go_walk for a walk, swim, draw, learn German, play the guitar, paint, ski"
)

# activity key: places to do it, English = German, separated by ";"
WHERE: dict[str, str] = {
    "read": "in the garden=im Garten;in bed=im Bett;in the park=im Park;on the train=im Zug;"
    "at the café=im Café;on the balcony=auf dem Balkon",
    "code": "at the café=im Café;in the garden=im Garten;on the train=im Zug;"
    "on the balcony=auf dem Balkon;at the library=in der Bibliothek",
    "swim": "in the lake=im See;in the sea=im Meer;in the river=im Fluss",
    "hike": "in the mountains=in den Bergen;in the forest=im Wald;in Austria=in Österreich",
    "draw": "in the garden=im Garten;in the park=im Park;at the lake=am See",
    "paint": "in the garden=im Garten;at the beach=am Strand;on the balcony=auf dem Balkon",
    "jog": "in the park=im Park;in the forest=im Wald;at the beach=am Strand",
    "run": "in the park=im Park;in the forest=im Wald",
    "sleep": "on the sofa=auf dem Sofa;in the tent=im Zelt;on the train=im Zug",
    "fish": "in the river=im Fluss;in the lake=im See",
    "sing": "in the choir=im Chor;in the bath=in der Badewanne;in the car=im Auto",
    "write": "at the café=im Café;in the garden=im Garten;in bed=im Bett",
    "play football": "in the park=im Park;in the garden=im Garten;on the beach=am Strand",
    "play cards": "on the train=im Zug;in the garden=im Garten;in the kitchen=in der Küche",
    "play chess": "in the park=im Park;at the café=im Café;on the train=im Zug",
    "camp": "at the lake=am See;in the forest=im Wald;in the mountains=in den Bergen",
    "knit": "on the sofa=auf dem Sofa;on the train=im Zug;on the balcony=auf dem Balkon",
    "cycle": "in the forest=im Wald;in the park=im Park",
    "ski": "in Norway=in Norwegen;in Austria=in Österreich;in the mountains=in den Bergen",
    "study": "at the library=in der Bibliothek;in the kitchen=in der Küche;in bed=im Bett",
    "drink coffee": "at the café=im Café;in the garden=im Garten;on the balcony=auf dem Balkon",
    "shop": "at the market=auf dem Markt;in Milan=in Mailand;at the supermarket=im Supermarkt",
    "sail": "on the lake=auf dem See;in Croatia=in Kroatien",
    "climb": "in the mountains=in den Bergen;in Italy=in Italien",
}
WHERE_ROWS = tuple(
    (activity, tuple(entry.partition("=")[::2]))
    for key, entries in WHERE.items()
    for activity in activities(key)
    for entry in entries.split(";")
)
FREE_TIME = words.table("""
in the evening = abends
in the morning = morgens
in the afternoon = nachmittags
at the weekend = am Wochenende
""")
DURATIONS = words.table("""
all day = den ganzen Tag
all morning = den ganzen Vormittag
all afternoon = den ganzen Nachmittag
all evening = den ganzen Abend
for two hours = zwei Stunden lang
for three hours = drei Stunden lang
for an hour = eine Stunde lang
""")
LIKED_FOOD = tuple(
    noun
    for noun in nouns.kinds("fruit", "mass_food", "drink", "dish", "snack")
    if noun.en not in ("salt", "flour", "water")
)
LOVED = nouns.kinds("pet", "instrument", "clothes") + nouns.some(
    "bike, car, garden, flat, house, kitchen, camera, sofa, motorbike, boat, balcony, bed"
)
RIVALS = (
    nouns.kinds("fruit")[:9] + nouns.some("grape, nut"),
    nouns.some("tomato, carrot, potato, onion, cucumber, mushroom, bean"),
    nouns.kinds("drink"),
    nouns.kinds("pet", "farm_animal"),
    nouns.some("bread, cheese, fish, meat, rice, sausage, egg, chocolate, ice cream, cake, jam"),
    nouns.some("rose, tulip, sunflower"),
)
LIKED_QUALITIES = frozenset(
    listed(
        "fresh sweet ripe red green hot cold warm soft dark black strong dry white tasty yellow "
        "colourful big small"
    )
)
DISLIKED_QUALITIES = frozenset(listed("sour cold salty sweet dry black strong dark hard green"))
UNLOVED_QUALITIES = frozenset(
    listed("dirty narrow cheap cold empty heavy hungry loud wet slow clean")
)
LIKED = LIKED_FOOD + nouns.kinds("flower", "pet")
PLURAL_DISHES = ("pizza", "salad", "soup")


def liking(who: Nominal, activity: Activity, negated: bool = False) -> tuple[str, str]:
    """ "Anna likes to swim" in both languages."""
    en = clause(who, "like", f"to {activity.en}", negated=negated).en
    gern = "nicht gern" if negated else "gern"
    return en, clause(who, activity.verb, mid=f"{gern} {activity.de_mid}".strip()).de


@frame(3.5)
def like_activity(d: Dice) -> Draft:
    """Anna likes to code. - Anna programmiert gern."""
    who, activity = d.who(0.7), d.activity()
    en, de = liking(who, activity)
    return say(en, de, f"like {activity.key}", end="" if d.chance(0.12) else ".")


@frame(1.3)
def like_activity_not(d: Dice) -> Draft:
    """Anna does not like to cook. - Anna kocht nicht gern."""
    who, activity = d.who(0.7), d.activity()
    while activity.key == "sleep":
        activity = d.activity()
    en, de = liking(who, activity, negated=True)
    return say(en, de, f"like not {activity.key}")


@frame(1.3)
def like_activity_question(d: Dice) -> Draft:
    """Does Anna like to code? - Programmiert Anna gern?"""
    who, activity = d.who(0.7, "you he she they"), d.activity()
    en = clause(who, "like", f"to {activity.en}").en_question
    de = clause(who, activity.verb, mid=f"gern {activity.de_mid}".strip()).de_question
    return say(en, de, f"like ask {activity.key}", end="?")


@frame()
def like_activity_with(d: Dice) -> Draft:
    """Anna likes to cook with her brother. - Anna kocht gern mit ihrem Bruder."""
    who, activity = d.pick((d.name, d.name, d.pronoun))(), d.activity(SOCIAL)
    other = d.name() if d.chance(0.5) else companion(d, who)
    en = clause(who, "like", f"to {activity.en} with {other.obj}").en
    mid = f"gern mit {other.de('dat')} {activity.de_mid}".strip()
    return say(en, clause(who, activity.verb, mid=mid).de, f"like with {activity.key}")


def companion(d: Dice, who: Nominal) -> Nominal:
    """A relative or friends of the subject."""
    relatives = listed("brother sister mother father aunt uncle grandmother son daughter")
    return phrase(NOUNS[d.pick(relatives)], who.poss)


@frame()
def like_activity_where(d: Dice) -> Draft:
    """Anna likes to read in the garden. - Anna liest gern im Garten."""
    who, (activity, (at_en, at_de)) = d.who(), d.pick(WHERE_ROWS)
    en = clause(who, "like", f"to {activity.en} {at_en}").en
    mid = f"gern {at_de} {activity.de_mid}".strip()
    return say(en, clause(who, activity.verb, mid=mid).de, f"like {activity.key} {at_en}")


@frame()
def like_activity_when(d: Dice) -> Draft:
    """In the evening Anna likes to code. - Abends programmiert Anna gern."""
    who, activity = d.who(), d.activity((*REGULAR, CODING, CODING))
    time_en, time_de = d.pick(FREE_TIME)
    en = f"{time_en} {clause(who, 'like', f'to {activity.en}').en}"
    de = clause(who, activity.verb, mid=f"gern {activity.de_mid}".strip())
    return say(en, de.de_after(capital(time_de)), f"like {activity.key} {time_en}")


@frame()
def like_most(d: Dice) -> Draft:
    """Anna likes to hike most of all. - Anna wandert am liebsten."""
    who, activity = d.who(), d.activity()
    en = clause(who, "like", f"to {activity.en} most of all").en
    de = clause(who, activity.verb, mid=f"am liebsten {activity.de_mid}".strip()).de
    return say(en, de, f"like most {activity.key}")


@frame(1.2)
def like_thing(d: Dice) -> Draft:
    """Anna likes fresh strawberries. - Anna mag frische Erdbeeren."""
    who, noun = d.who(), d.pick(LIKED)
    plural = noun.countable and noun.en not in PLURAL_DISHES
    if noun.en in PLURAL_DISHES:
        return _like_dish(d, who, noun.en)
    thing = d.thing(noun, "", 0.5, plural, wanted=LIKED_QUALITIES.__contains__)
    en = clause(who, "like", thing.en).en
    return say(en, clause(who, "like", mid=thing.de()).de, f"like {noun.en}", thing.combos)


def _like_dish(d: Dice, who: Nominal, name: str) -> Draft:
    en = clause(who, "like", name).en
    return say(en, clause(who, "like", mid=NOUNS[name].de).de, f"like {name}")


@frame()
def like_thing_not(d: Dice) -> Draft:
    """Anna does not like cheese. - Anna mag keinen Käse."""
    who = d.who()
    noun = d.pick(LIKED_FOOD)
    plural = noun.countable and noun.en not in PLURAL_DISHES
    adjective = None
    if d.chance(0.3) and noun.en not in PLURAL_DISHES:
        adjective = d.adjective_for(noun, DISLIKED_QUALITIES.__contains__)
    en_phrase = phrase(noun, "", adjective, plural)
    de_phrase = phrase(noun, "no", adjective, plural)
    en = clause(who, "like", en_phrase.en, negated=True).en
    combos = (f"{adjective.en} {noun.en}",) if adjective else ()
    return say(en, clause(who, "like", mid=de_phrase.de("acc")).de, f"like not {noun.en}", combos)


@frame()
def like_better(d: Dice) -> Draft:
    """Anna likes tea better than coffee. - Anna mag Tee lieber als Kaffee."""
    who = d.who()
    group = d.pick(RIVALS)
    first, second = d.pick(group), d.pick(group)
    while second.en == first.en:
        second = d.pick(group)
    one, other = (phrase(noun, "", None, noun.countable) for noun in (first, second))
    en = clause(who, "like", f"{one.en} better than {other.en}").en
    de = clause(who, "like", mid=f"{one.de('acc')} lieber als {other.de('acc')}").de
    return say(en, de, f"better {first.en}/{second.en}")


@frame()
def love_own_thing(d: Dice) -> Draft:
    """Anna loves her new bike. - Anna liebt ihr neues Fahrrad."""
    who = d.who(0.65)
    noun = d.suiting(LOVED, who)
    thing = d.thing(noun, who.poss, 0.8, wanted=lambda word: word not in UNLOVED_QUALITIES)
    en = clause(who, "love", thing.en).en
    return say(en, clause(who, "love", mid=thing.de()).de, f"love {noun.en}", thing.combos)


@frame()
def can_do_well(d: Dice) -> Draft:
    """Anna can swim very well. - Anna kann sehr gut schwimmen."""
    who, activity = d.who(0.65), d.activity(SKILLS)
    how_en, how_de = d.pick(
        (
            ("very well", "sehr gut"),
            ("quite well", "ziemlich gut"),
            ("well", "gut"),
            ("really well", "wirklich gut"),
        )
    )
    en = clause(who, activity.verb, f"{activity.en_rest} {how_en}".strip(), tense="can").en
    mid = f"{how_de} {activity.de_mid}".strip()
    return say(
        en, clause(who, activity.verb, mid=mid, tense="can").de, f"can {activity.key} {how_en}"
    )


@frame()
def cannot_do(d: Dice) -> Draft:
    """Anna cannot ski. - Anna kann nicht Ski fahren."""
    who, activity = d.who(0.65), d.activity(SKILLS)
    en = clause(who, activity.verb, activity.en_rest, tense="can", negated=True).en
    mid = f"nicht {activity.de_mid}".strip()
    return say(en, clause(who, activity.verb, mid=mid, tense="can").de, f"cannot {activity.key}")


@frame()
def can_do_question(d: Dice) -> Draft:
    """Can Anna code? - Kann Anna programmieren?"""
    who, activity = d.who(0.65, "you he she they"), d.activity(SKILLS)
    both = clause(who, activity.verb, activity.en_rest, activity.de_mid, "can")
    return say(both.en_question, both.de_question, f"can ask {activity.key}", end="?")


@frame()
def learn_to(d: Dice) -> Draft:
    """Anna is learning to code. - Anna lernt programmieren."""
    who, activity = d.who(), d.activity(SKILLS)
    time_en, time_de = d.pick(
        (
            ("", ""),
            ("now", "jetzt"),
            ("this year", "dieses Jahr"),
            ("this summer", "diesen Sommer"),
            ("at last", "endlich"),
        )
    )
    en = clause(who, "learn", f"to {activity.en} {time_en}".strip(), tense="progressive").en
    mid = f"{time_de} {activity.de}".strip()
    return say(en, clause(who, "learn", mid=mid).de, f"learn {activity.key}")


@frame(1.3)
def want_activity(d: Dice) -> Draft:
    """Anna wants to code tomorrow. - Anna will morgen programmieren."""
    who = d.who()
    day_trip = d.chance(0.2)
    activity = d.activity(DAY_TRIPS if day_trip else (*WANTED, CODING, CODING))
    time_en, time_de = d.pick(words.DAYS if day_trip else words.NEAR_FUTURE)
    negated = d.chance(0.3)
    mid = " ".join(filter(None, (time_de, "nicht" * negated, activity.de_mid)))
    en = clause(
        who, activity.verb, f"{activity.en_rest} {time_en}".strip(), tense="want", negated=negated
    ).en
    return say(
        en, clause(who, activity.verb, mid=mid, tense="want").de, f"want {activity.key} {time_en}"
    )


@frame()
def activity_all_day(d: Dice) -> Draft:
    """Anna has coded all day. - Anna hat den ganzen Tag programmiert."""
    who, activity = d.who(), d.activity(LONG + activities("code, code"))
    time_en, time_de = d.pick(DURATIONS)
    en = clause(who, activity.verb, f"{activity.en_rest} {time_en}".strip(), tense="perfect").en
    mid = f"{time_de} {activity.de_mid}".strip()
    return say(
        en, clause(who, activity.verb, mid=mid, tense="perfect").de, f"{activity.key} {time_en}"
    )


@frame()
def too_tired_to(d: Dice) -> Draft:
    """Anna is too tired to cook. - Anna ist zu müde, um zu kochen."""
    who, (state_en, state_de) = d.who(), d.pick(tuple(TOO))
    activity = d.activity(TOO[state_en, state_de])
    en = clause(who, "be", f"too {state_en} to {activity.en}").en
    zu = f"um {activity.de_mid} {activity.verb.de.zu_infinitive}".replace("  ", " ")
    return say(
        en, f"{clause(who, 'be', mid=f'zu {state_de}').de}, {zu}", f"too {state_en} {activity.key}"
    )


@frame()
def no_time_for(d: Dice) -> Draft:
    """Anna has no time to cook today. - Anna hat heute keine Zeit zum Kochen."""
    who, activity = d.who(), d.activity(BUSY_WITH)
    time_en, time_de = d.pick(words.FUTURE)
    en = clause(who, "have", f"no time to {activity.en} {time_en}").en
    mid = f"{time_de} keine Zeit zum {activity.de.replace(' ', '').capitalize()}"
    return say(en, clause(who, "have", mid=mid).de, f"no time {activity.key} {time_en}")


@frame()
def lets_go(d: Dice) -> Draft:
    """Let's go swimming tomorrow, Anna! - Lass uns morgen schwimmen gehen, Anna!"""
    name, weekly = d.name(), d.chance(0.4)
    activity = d.activity(WEEKLY_SPORTS if weekly else MORNING_SPORTS)
    time_en, time_de = d.pick(words.DAYS if weekly else words.NEAR_FUTURE)
    return say(
        f"let's go {activity.en_ing} {time_en}, {name.en}",
        f"lass uns {time_de} {activity.de} gehen, {name.de()}",
        f"go {activity.key} {time_en}",
        end="!",
    )


@frame()
def go_doing(d: Dice) -> Draft:
    """Anna goes jogging every morning. - Anna geht jeden Morgen joggen."""
    who, weekly = d.who(), d.chance(0.4)
    activity = d.activity(WEEKLY_SPORTS if weekly else MORNING_SPORTS)
    time_en, time_de = d.pick(words.WEEKLY if weekly else words.REGULARLY)
    en = clause(who, "go", f"{activity.en_ing} {time_en}").en
    return say(
        en, clause(who, "go", mid=f"{time_de} {activity.de}").de, f"go {activity.key} {time_en}"
    )


@frame()
def more_fun_than(d: Dice) -> Draft:
    """Swimming is more fun than running. - Schwimmen macht mehr Spaß als Laufen."""
    first, second = d.activity(NOUN_ACTIVITIES), d.activity(NOUN_ACTIVITIES)
    while second is first:
        second = d.activity(NOUN_ACTIVITIES)
    return say(
        f"{first.en_ing} is more fun than {second.en_ing}",
        f"{capital(first.de)} macht mehr Spaß als {capital(second.de)}",
        f"fun {first.key}/{second.key}",
    )


@frame()
def play_together(d: Dice) -> Draft:
    """Anna is playing chess with Ben. - Anna spielt mit Ben Schach."""
    who, activity = d.pick((d.name, d.name, d.pronoun))(), d.activity(GAMES)
    other = d.name() if d.chance(0.5) else companion(d, who)
    en = clause(who, activity.verb, f"{activity.en_rest} with {other.obj}", tense="progressive").en
    mid = f"mit {other.de('dat')} {activity.de_mid}"
    return say(en, clause(who, activity.verb, mid=mid).de, f"with {activity.key}")


@frame()
def activity_yesterday(d: Dice) -> Draft:
    """Yesterday Anna played tennis with Ben. - Gestern hat Anna mit Ben Tennis gespielt."""
    who, activity = d.pick((d.name, d.name, d.pronoun))(), d.activity(PAST_ACTIVITIES)
    time_en, time_de = d.pick(words.RECENT_DAYS)
    other = d.name() if d.chance(0.5) else companion(d, who)
    rest = f"{activity.en_rest} with {other.obj}".strip()
    mid = f"mit {other.de('dat')} {activity.de_mid}".strip()
    both = clause(who, activity.verb, rest, mid, "past_perfect")
    return say(f"{time_en} {both.en}", both.de_after(time_de), f"{activity.key} {time_en}")


@frame()
def activity_how_often(d: Dice) -> Draft:
    """Anna often plays football. - Anna spielt oft Fußball."""
    who, activity = d.who(), d.activity((*REGULAR, CODING))
    often_en, often_de = d.pick(words.OFTEN)
    time_en, time_de = d.pick(
        (
            ("", ""),
            ("at the weekend", "am Wochenende"),
            ("on Sundays", "sonntags"),
            ("on Fridays", "freitags"),
        )
    )
    rest = f"{activity.en_rest} {time_en}".strip()
    mid = " ".join(filter(None, (time_de, often_de, activity.de_mid)))
    both = clause(who, activity.verb, rest, mid, adverb=often_en)
    return say(both.en, both.de, f"{often_en} {activity.key} {time_en}")


@frame()
def activity_now(d: Dice) -> Draft:
    """Anna is coding at the moment. - Anna programmiert im Moment."""
    who, activity = d.who(), d.activity((*REGULAR, CODING))
    rest = f"{activity.en_rest} at the moment".strip()
    both = clause(who, activity.verb, rest, f"im Moment {activity.de_mid}".strip(), "progressive")
    if d.chance(0.5):
        return say(both.en, both.de, f"now {activity.key}")
    question = (
        both
        if not d.about_speaker(who)
        else clause(pronoun("you"), activity.verb, rest, both.mid, "progressive")
    )
    return say(question.en_question, question.de_question, f"now ask {activity.key}", end="?")
