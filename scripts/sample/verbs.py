"""The verbs of the sample corpus, the activities and the objects each verb may take.

One entry per line:
`[key =] english [past participle] [~particle]: german [third past participle] [+s]`.
A bar marks a separable prefix ("an|rufen"), "+s" the auxiliary "sein"; parts not given are
regular. The key is needed only where one English verb has several German ones.
"""

from __future__ import annotations

from dataclasses import dataclass

from sample import english, german

TABLE = """
be was been: sein ist war gewesen +s
have had had: haben hat hatte gehabt
become became become: werden wird wurde geworden +s
know knew known: wissen weiß wusste gewusst
know_person = know knew known: kennen kennt kannte gekannt
swim swam swum: schwimmen schwimmt schwamm geschwommen +s
cook: kochen
read read read: lesen liest las gelesen
code: programmieren
sing sang sung: singen singt sang gesungen
dance: tanzen
travel: reisen reist reiste gereist +s
draw drew drawn: zeichnen
paint: malen
hike: wandern wandert wanderte gewandert +s
sleep slept slept: schlafen schläft schlief geschlafen
run ran run: laufen läuft lief gelaufen +s
jog: joggen joggt joggte gejoggt +s
bake: backen backt backte gebacken
knit: stricken
sew sewed sewn: nähen
fish: angeln
sail: segeln
climb: klettern klettert kletterte geklettert +s
camp: zelten
row: rudern rudert ruderte gerudert +s
dive dived dived: tauchen
surf: surfen
chat: plaudern
shop: ein|kaufen
watch_tv = watch: fern|sehen sieht sah ferngesehen
write wrote written: schreiben schreibt schrieb geschrieben
laugh: lachen
play: spielen
cycle: Rad_|fahren fährt fuhr Rad_gefahren +s
drive drove driven: Auto_|fahren fährt fuhr Auto_gefahren
go_walk = go went gone: spazieren_|gehen geht ging spazieren_gegangen +s
ride rode ridden: reiten reitet ritt geritten +s
ski skied skied: Ski_|fahren fährt fuhr Ski_gefahren +s
take_photos = take took taken: fotografieren
study studied studied: lernen
learn: lernen
work: arbeiten
listen: hören
go went gone: gehen geht ging gegangen +s
come came come: kommen kommt kam gekommen +s
come_back = come came come ~back: zurück|kommen kommt kam zurückgekommen +s
come_along = come came come ~along: mit|kommen kommt kam mitgekommen +s
fly flew flown: fliegen fliegt flog geflogen +s
tell told told: erzählen
collect: sammeln
solve: lösen
iron: bügeln
tidy ~up: auf|räumen
get_up = get got got ~up: auf|stehen steht stand aufgestanden +s
wake_up = wake woke woken ~up: auf|wachen wacht wachte aufgewacht +s
arrive: an|kommen kommt kam angekommen +s
leave left left: ab|fahren fährt fuhr abgefahren +s
start: beginnen beginnt begann begonnen
end: enden
rain: regnen
snow: schneien
eat ate eaten: essen isst aß gegessen
drink drank drunk: trinken trinkt trank getrunken
buy bought bought: kaufen
sell sold sold: verkaufen
wash: waschen wäscht wusch gewaschen
clean: putzen
repair: reparieren
look_for = look: suchen
find found found: finden findet fand gefunden
forget forgot forgotten: vergessen vergisst vergaß vergessen
lose lost lost: verlieren verliert verlor verloren
wear wore worn: tragen trägt trug getragen
carry: tragen trägt trug getragen
open: öffnen
close: schließen schließt schloss geschlossen
turn_on = turn ~on: ein|schalten
turn_off = turn ~off: aus|schalten
see saw seen: sehen sieht sah gesehen
feed fed fed: füttern
visit: besuchen
meet met met: treffen trifft traf getroffen
invite: ein|laden lädt lud eingeladen
call: an|rufen ruft rief angerufen
ask: fragen
understand understood understood: verstehen versteht verstand verstanden
explain: erklären
build built built: bauen
order: bestellen
bring brought brought: bringen bringt brachte gebracht
take took taken: nehmen nimmt nahm genommen
send sent sent: schicken
get got got: bekommen bekommt bekam bekommen
use: benutzen
borrow: aus|leihen leiht lieh ausgeliehen
lend lent lent: leihen leiht lieh geliehen
pack: packen
cut cut cut: schneiden schneidet schnitt geschnitten
plant: pflanzen
water: gießen gießt goss gegossen
pick: pflücken
pick_up = pick ~up: ab|holen
peel: schälen
count: zählen
give gave given: geben gibt gab gegeben
give_present = give gave given: schenken
show showed shown: zeigen
help: helfen hilft half geholfen
thank: danken
answer: antworten
belong: gehören
wait: warten
look_after = look: kümmern
think_of = think thought thought: denken denkt dachte gedacht
think thought thought: glauben
dream dreamt dreamt: träumen
talk: sprechen spricht sprach gesprochen
speak spoke spoken: sprechen spricht sprach gesprochen
say said said: sagen
remember: erinnern
look_forward = look: freuen
hurry: beeilen
rest: aus|ruhen
feel felt felt: fühlen
live: wohnen
stay: bleiben bleibt blieb geblieben +s
sit sat sat: sitzen sitzt saß gesessen
stand stood stood: stehen steht stand gestanden
lie lay lain: liegen liegt lag gelegen
put put put: legen
like: mögen mag mochte gemocht
love: lieben
need: brauchen
cost cost cost: kosten
taste: schmecken
try_on = try tried tried ~on: an|probieren
try tried tried: versuchen
hope: hoffen
win won won: gewinnen gewinnt gewann gewonnen
break broke broken: zerbrechen zerbricht zerbrach zerbrochen
copy: ab|schreiben schreibt schrieb abgeschrieben
translate: übersetzen übersetzt übersetzte übersetzt
celebrate: feiern
marry: heiraten
find_way = find found found: finden findet fand gefunden
pay paid paid: bezahlen
interest: interessieren
wash_self = wash: waschen wäscht wusch gewaschen
brush_self = brush: putzen
dry_self = dry dried dried: trocknen
comb_self = comb: kämmen
break_bone = break broke broken: brechen bricht brach gebrochen
get_married = get got got ~married: heiraten
move: ziehen zieht zog gezogen +s
miss: verpassen
"""


@dataclass(frozen=True)
class Verb:
    """A verb in both languages."""

    key: str
    en: english.Verb
    de: german.Verb


def _parse_german(text: str) -> german.Verb:
    words = [word.replace("_", " ") for word in text.split()]
    aux = "sein" if words[-1] == "+s" else "haben"
    words = [word for word in words if word != "+s"]
    prefix, _, infinitive = words[0].rpartition("|")
    if len(words) == 1:
        return german.regular(infinitive, prefix, aux)
    return german.Verb(infinitive, words[1], words[2], words[3], aux, prefix)


def _parse_english(text: str) -> english.Verb:
    words = text.split()
    particle = words.pop()[1:] if words[-1].startswith("~") else ""
    base = words[0]
    past = words[1] if len(words) > 1 else english.regular_past(base)
    participle = words[2] if len(words) > 2 else past
    return english.Verb(base, past, participle, particle)


def parse_verb(line: str) -> Verb:
    """Read one entry of the verb table."""
    left, _, right = line.partition(": ")
    key, equals, en = left.partition(" = ")
    if not equals:
        key, en = left.split()[0], left
    return Verb(key, _parse_english(en), _parse_german(right))


VERBS: dict[str, Verb] = {
    verb.key: verb for verb in (parse_verb(line) for line in TABLE.strip().splitlines())
}


@dataclass(frozen=True)
class Activity:
    """Something one can like to do: a verb and what follows it in both languages."""

    verb: Verb
    en_rest: str = ""
    de_mid: str = ""

    @property
    def key(self) -> str:
        """A short name for the activity, used in combination keys."""
        return f"{self.verb.key} {self.en_rest}".strip()

    @property
    def en(self) -> str:
        """The English infinitive phrase."""
        return f"{self.verb.en.infinitive} {self.en_rest}".strip()

    @property
    def en_ing(self) -> str:
        """The English -ing phrase."""
        return f"{self.verb.en.ing} {self.en_rest}".strip()

    @property
    def de(self) -> str:
        """The German infinitive phrase."""
        return f"{self.de_mid} {self.verb.de.full_infinitive}".strip()


# verb key | English rest | German middle field
ACTIVITY_TABLE = """
swim
cook
read
code
sing
dance
travel
draw
paint
hike
sleep
run
jog
bake
knit
sew
fish
sail
climb
camp
row
dive
surf
chat
shop
cycle
drive
ride
ski
write
study
work
watch_tv|TV
take_photos|photos
go_walk|for a walk
iron
play|football|Fußball
play|tennis|Tennis
play|chess|Schach
play|cards|Karten
play|basketball|Basketball
play|the piano|Klavier
play|the guitar|Gitarre
play|the violin|Geige
play|the flute|Flöte
play|the trumpet|Trompete
listen|to music|Musik
listen|to the radio|Radio
learn|German|Deutsch
learn|French|Französisch
tell|jokes|Witze
tell|stories|Geschichten
solve|riddles|Rätsel
collect|stamps|Briefmarken
collect|mushrooms|Pilze
write|letters|Briefe
write|poems|Gedichte
read|books|Bücher
bake|cakes|Kuchen
eat|fish|Fisch
eat|chocolate|Schokolade
drink|tea|Tee
drink|coffee|Kaffee
"""


def _parse_activity(line: str) -> Activity:
    key, en_rest, de_mid = (*line.split("|"), "", "")[:3]
    return Activity(VERBS[key], en_rest, de_mid)


ACTIVITIES: tuple[Activity, ...] = tuple(
    _parse_activity(line) for line in ACTIVITY_TABLE.strip().splitlines()
)


def activities(keys: str) -> tuple[Activity, ...]:
    """The activities named in a comma-separated list of keys."""
    by_key = {activity.key: activity for activity in ACTIVITIES}
    return tuple(by_key[key.strip()] for key in keys.split(","))
