"""The adjectives of the sample corpus with their comparison."""

from __future__ import annotations

from dataclasses import dataclass

from sample import german

# english[/comparative/superlative]: german[/comparative[/superlative stem]].
TABLE = """
big/bigger/biggest: groß/größer/größt
small/smaller/smallest: klein
little: klein
tall/taller/tallest: groß/größer/größt
high/higher/highest: hoch/höher/höchst
long/longer/longest: lang/länger/längst
short/shorter/shortest: kurz/kürzer/kürzest
new/newer/newest: neu/neuer/neuest
old/older/oldest: alt/älter/ältest
young/younger/youngest: jung/jünger/jüngst
beautiful: schön
expensive: teuer/teurer/teuerst
cheap/cheaper/cheapest: billig
heavy/heavier/heaviest: schwer
light/lighter/lightest: leicht/leichter/leichtest
clean/cleaner/cleanest: sauber
dirty/dirtier/dirtiest: schmutzig
broken: kaputt
empty: leer
full: voll
open: offen
warm/warmer/warmest: warm/wärmer/wärmst
cold/colder/coldest: kalt/kälter/kältest
hot/hotter/hottest: heiß/heißer/heißest
fresh/fresher/freshest: frisch/frischer/frischest
sweet/sweeter/sweetest: süß/süßer/süßest
sour: sauer/saurer/sauerst
ripe/riper/ripest: reif
salty/saltier/saltiest: salzig
tasty/tastier/tastiest: lecker
healthy/healthier/healthiest: gesund/gesünder/gesündest
lean: mager
sharp/sharper/sharpest: scharf/schärfer/schärfst
ill: krank
tired: müde
hungry: hungrig
thirsty: durstig
happy/happier/happiest: glücklich
sad: traurig
angry: wütend
nervous: nervös
friendly/friendlier/friendliest: freundlich
nice/nicer/nicest: nett/netter/nettest
polite: höflich
strong/stronger/strongest: stark/stärker/stärkst
rich/richer/richest: reich
poor/poorer/poorest: arm/ärmer/ärmst
clever/cleverer/cleverest: klug/klüger/klügst
funny/funnier/funniest: lustig
strict/stricter/strictest: streng
quiet/quieter/quietest: ruhig
loud/louder/loudest: laut/lauter/lautest
famous: berühmt/berühmter/berühmtest
interesting: interessant/interessanter/interessantest
boring: langweilig
exciting: spannend/spannender/spannendst
difficult: schwierig
easy/easier/easiest: einfach
important: wichtig
good/better/best: gut/besser/best
bad/worse/worst: schlecht/schlechter/schlechtest
true: wahr
fast/faster/fastest: schnell
slow/slower/slowest: langsam
modern: modern
comfortable: bequem
dark/darker/darkest: dunkel/dunkler/dunkelst
bright/brighter/brightest: hell
deep/deeper/deepest: tief
wide/wider/widest: breit/breiter/breitest
narrow/narrower/narrowest: eng
thick/thicker/thickest: dick
fat/fatter/fattest: dick
thin: dünn
round: rund
soft/softer/softest: weich
hard/harder/hardest: hart/härter/härtest
dry/drier/driest: trocken
wet: nass
brave/braver/bravest: mutig
lazy: faul
hard-working: fleißig
curious: neugierig
proud: stolz
dangerous: gefährlich
colourful: bunt
patient: geduldig
ready: fertig
busy: beschäftigt
red: rot
blue: blau
green: grün
yellow: gelb
black: schwarz
white: weiß
grey: grau
brown: braun
"""


@dataclass(frozen=True)
class Adjective:
    """An adjective in both languages with comparative and superlative (stems in German)."""

    en: str
    en_comparative: str
    en_superlative: str
    de: str
    de_comparative: str
    de_superlative: str


def _parse(line: str) -> Adjective:
    left, _, right = line.partition(": ")
    en = left.split("/")
    de = right.split("/")
    stem = german.ADJECTIVE_STEMS.get(de[0], de[0])
    comparative = de[1] if len(de) > 1 else stem + "er"
    superlative = de[2] if len(de) > 2 else de[0] + "st"
    if len(en) == 1:
        en = [en[0], f"more {en[0]}", f"most {en[0]}"]
    return Adjective(en[0], en[1], en[2], de[0], comparative, superlative)


ADJECTIVES: dict[str, Adjective] = {
    adjective.en: adjective for adjective in (_parse(line) for line in TABLE.strip().splitlines())
}


def some(words: str) -> tuple[Adjective, ...]:
    """The adjectives named in a space-separated list of English words."""
    return tuple(ADJECTIVES[word] for word in words.split())
