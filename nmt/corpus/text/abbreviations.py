"""Abbreviations and attached units that training lacks, in the form that it has.

"7pm" is read as "7 p.m.", "dont" as "don't", "e.g." as "for example". Needs only the standard
library, because `nmt export` copies this file beside translate.py.
"""

import re
from collections.abc import Callable

from nmt.corpus.text.dates import DAY_ABBREVIATIONS, spell_out_dates
from nmt.corpus.text.names import WORD

_CONTRACTIONS = (
    "I'm I've you're you've you'll they're they've we've he's she's that's what's there's where's "
    "who's let's it'll don't doesn't didn't can't won't isn't aren't wasn't weren't couldn't "
    "wouldn't shouldn't hasn't haven't hadn't o'clock"
)
_WORDS = {  # unless the training text has the short form itself
    **{form.replace("'", "").lower(): form for form in _CONTRACTIONS.split()},
    **{"asap": "as soon as possible", "btw": "by the way", "idk": "I don't know"},
    **{"pls": "please", "plz": "please", "thx": "thanks", "thanx": "thanks", "bday": "birthday"},
    **{"u": "you", "ur": "your", "r": "are", "bc": "because", "cuz": "because", "tho": "though"},
    **{"gonna": "going to", "wanna": "want to", "gotta": "have to", "lemme": "let me"},
    **{"gimme": "give me", "kinda": "kind of", "dunno": "don't know", "imo": "in my opinion"},
    **{"imho": "in my opinion", "fyi": "for your information", "afaik": "as far as I know"},
    **{"brb": "I'll be right back", "nvm": "never mind", "tbh": "to be honest"},
    **{"tmrw": "tomorrow", "tmr": "tomorrow", "msg": "message", "ppl": "people"},
}
_OFTEN_DOTTED = {"etc": "and so on", "incl": "including"}
_ALWAYS = {"approx": "about", "vs": "against"}  # even if training has the short form
_CONTRACTED = {
    **{"y'all": "you all", "'em": "them", "'cause": "because", "'bout": "about", "'til": "until"},
    **{"'twas": "it was", "'tis": "it is", "d'you": "do you", "c'mon": "come on"},
    **{"how'd": "how did", "s/he": "he or she"},
    **{"2nite": "tonight", "2night": "tonight", "2day": "today", "4ever": "forever"},
    **{"2morrow": "tomorrow", "2moro": "tomorrow"},
}
_DOTTED = {
    **{"e.g.": "for example", "i.e.": "that is", "a.s.a.p.": "as soon as possible"},
    **{"u.s.a.": "USA", "u.s.": "USA", "u.k.": "UK", "w/o": "without", "w/": "with"},
    **{"p.": "page", "pp.": "pages", "no.": "number", "nr.": "number", "ch.": "chapter"},
    **{"fig.": "figure", "vol.": "volume", "eq.": "equation", "ext.": "extension"},
    **{"y/o": "years old", "@": "at"},
}
_UNITS = {  # one, and several
    **dict.fromkeys(("h", "hr", "hrs"), ("hour", "hours")),
    **dict.fromkeys(("min", "mins"), ("minute", "minutes")),
    **dict.fromkeys(("sec", "secs"), ("second", "seconds")),
    **dict.fromkeys(("yr", "yrs"), ("year", "years")),
    **dict.fromkeys(("wk", "wks"), ("week", "weeks")),
    **dict.fromkeys(("lb", "lbs"), ("pound", "pounds")),
    **{"oz": ("ounce", "ounces"), "ft": ("foot", "feet")},
}
_LENGTHS_AND_WEIGHTS = ("ft", "lb", "lbs", "oz")
_WORD = re.compile(
    rf"(?<![\w'’.&@/-])(?i:({'|'.join(_WORDS)})|({'|'.join(_OFTEN_DOTTED)})(?:\.(?=,|\s[a-z\d]))?"
    rf"|({'|'.join(_ALWAYS)})(?:\.(?=\s))?)(?![\w'’&@/-]|\.\w)"
)
_CONTRACTION = re.compile(rf"(?<![\w'])(?i:{'|'.join(_CONTRACTED)})(?![\w'])")
_WITHOUT_G = re.compile(r"\b([^\W\d_]{2,}in)'(?=[\s.,;:!?]|$)")  # comin'
AFTER_SAYING = (
    r"(?:(?<=[Ss]aid )|(?<=says )|(?<=say )|(?<=answered )|(?<=replied ))"  # is "no" the answer
)
_ABBREVIATION = re.compile(
    r"(?<![\w.])(?i:e\.\s?g\.|i\.\s?e\.|a\.s\.a\.p\.|u\.s\.(?:a\.)?|u\.k\.)"
    rf"|(?!{AFTER_SAYING}no)\b(?i:n[or]|pp?|ch|eq|ext|fig|vol)\.(?=\s?\d)"
    r"|(?<!\S)(?:w/o?(?=\s)|y/o(?!\S)|@(?=\s))"
)
_MEASURE = re.compile(
    rf"(?:((?<![\d.,:/])1)|\d)\s?({'|'.join(_UNITS)})\b(?!['’-])(?:\.(?=\s[a-z\d]))?"
)
_ATTACHED = re.compile(r"(?<=\d)(?!(?:st|nd|rd|th)\b)(?=(?:[a-z]{2,}|[glm])(?![^\W_]))")
_SQUARE = re.compile(r"(?<=\d)\s?sq\.?\s?m\b\.?")
_NO_END = re.compile(  # of a sentence, before a small letter or a figure
    r"(?<![\w.])(?i:approx|(?-i:ca)|ch|dept|ed|eqs?|est|excl|ext|incl|lbs|max|oz|qty|tel|temp|vol"
    rf"|(?-i:{'|'.join(DAY_ABBREVIATIONS)}))\.(?=\s[a-z\d])"
    r"|(?<=\d)\.(?=[-–—](?!\w))"  # CHF 120.-
)
_HYPHENATED = re.compile(r"(?<![\w-])([^\W\d_]+)-([^\W\d_]+)(?![\w-])")
_TENS = ("twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety")
_ONES = ("one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_NUMBER_WORD = re.compile(  # twenty-one, but neither twenty-first nor two hundred and twenty-one
    rf"(?<!hundred )(?<!and )(?<!thousand )\b(?i:({'|'.join(_TENS)})[ -]({'|'.join(_ONES)}))"
    r"(?![\w-]| (?:hundred|thousand|million))"
)
# bread & butter; Ben & Jerry may be a name
_JOINED = re.compile(r"(?<=[^\W\d_]{2})\s?[&+]\s?(?=[a-z]{2})")
_AND_OR = re.compile(r"(?i:and\s?/\s?or)")
_ALTERNATIVE = re.compile(rf"{_AND_OR.pattern}|\s?/\s?")
_ALTERNATIVES = re.compile(  # yes/no, but not either/or
    rf"(?<![\w/.:@'’&-])(?:{_AND_OR.pattern}|(?<!\d )(?!(?i:and|either)\s?/)[^\W\d_]{{2,}}"
    r"(?:\s?/\s?(?!and/or\b)[^\W\d_]{2,})+)(?!['’-]?\w|/|\.\w)"
)
_PER_UNIT = re.compile(  # 5 dollars/hour
    r"(?<=\d )([a-z]{3,})/(hour|day|night|week|month|year|person|piece|kilo|pound)\b"
)
_AT_TELEPHONE = re.compile(
    r"\b(?:at|on)(?= (?:(?!\d\d?[/-]\d\d?[/-])(?:\+\d|0\d|\(\d{3}\))(?:[ /()-]{0,2}\d){4}"
    r"|(?:(?:1-)?\d{3}-)?\d{3}-\d{4}(?!\d)))"
)
_TITLE = re.compile(r"\b(Dr|Prof)(?= [A-Z])")
_TRIPLE = re.compile(r"([^\W\d_])\1{2,}")
_PERHAPS_SEVERAL = re.compile(r"\b([^\W\d_]{2,})\((s|e?n|es|ren)\)(?!\w)")  # friend(s)
_DECADE = re.compile(r"(?<=\d0)['’](?=s\b)|(?<!\w)['’](?=\d0s\b)")


def cover_abbreviations(text: str) -> str:
    """Return the text with letters in place of full stops that end no sentence."""
    return _NO_END.sub(lambda match: f"{match[0][:-1]}x", text)


def spell_out(text: str, languages: tuple[str, str], is_known: Callable[[str], bool]) -> str:
    """Return an English text with the long forms of what training lacks; others unchanged.

    languages: codes of the text's language and the target; is_known: whether training has a word,
    in lower case

    >>> spell_out("7pm, 5km, approx. 3h", ("en", "de"), {"p", "m", "about", "hours"}.__contains__)
    '7 p.m., 5 km, about 3 hours'
    """
    source, target = languages
    if source != "en":
        return text

    def knows(words: str) -> bool:
        return all(map(is_known, WORD.findall(words.lower())))

    def long_form(match: re.Match[str], form: str) -> str:
        if not knows(form):
            return match[0]
        first = match[0].lstrip("'")[0]
        return form[0].upper() + form[1:] if first.isupper() else form

    def word(match: re.Match[str]) -> str:
        if match[3]:
            return long_form(match, _ALWAYS[match[3].lower()])
        short = (match[1] or match[2]).lower()
        form = _WORDS.get(short) or _OFTEN_DOTTED[short]
        may_be_name = match[0][0].isupper() and match.start() > 0 and not text.isupper()
        if (may_be_name and "'" not in form) or (len(short) > 1 and is_known(short)):
            return match[0]
        return long_form(match, form)

    def contraction(match: re.Match[str]) -> str:
        return long_form(match, _CONTRACTED[match[0].lower()])

    def with_g(match: re.Match[str]) -> str:
        return f"{match[1]}g" if is_known(f"{match[1]}g".lower()) else match[0]

    def abbreviation(match: re.Match[str]) -> str:
        form = long_form(match, _DOTTED["".join(match[0].lower().split())])
        if form == match[0]:
            return form
        following = match.string[match.end() : match.end() + 1]
        return form + ("" if following else ".") + " " * following.isdigit()

    def measure(match: re.Match[str]) -> str:
        one, several = _UNITS[match[2]]
        form = one if match[1] else several
        known = match[2] in _LENGTHS_AND_WEIGHTS and is_known(match[2])
        return f"{match[0][0]} {form}" if knows(form) and not known else match[0]

    def in_figures(match: re.Match[str]) -> str:
        return f"{_TENS.index(match[1].lower()) + 2}{_ONES.index(match[2].lower()) + 1}"

    def alternatives(match: re.Match[str]) -> str:
        if _AND_OR.fullmatch(match[0]):
            return "or" if is_known("or") else match[0]
        words = _ALTERNATIVE.split(match[0])
        some_known = is_known("or") and any(is_known(word.lower()) for word in words)
        return " or ".join(words) if some_known else match[0]

    def not_drawn_out(match: re.Match[str]) -> str:  # sooo
        forms = (match[0], _TRIPLE.sub(r"\1\1", match[0]), _TRIPLE.sub(r"\1", match[0]))
        return next((form for form in forms if is_known(form.lower())), match[0])

    def hyphenated(match: re.Match[str]) -> str:
        solid = match[1] + match[2].lower()
        return solid if not knows(match[0]) and is_known(solid.lower()) else match[0]

    def several(match: re.Match[str]) -> str:
        plural = match[1] + match[2]
        return plural if is_known(plural.lower()) else match[1]

    spelled = _PERHAPS_SEVERAL.sub(several, spell_out_dates(text, is_known))
    if _TRIPLE.search(spelled):
        spelled = WORD.sub(not_drawn_out, spelled)
    spelled = _CONTRACTION.sub(contraction, _WITHOUT_G.sub(with_g, spelled))
    spelled = _PER_UNIT.sub(r"\1 per \2", spelled) if is_known("per") else spelled
    spelled = _TITLE.sub(r"\1.", _NUMBER_WORD.sub(in_figures, spelled))
    spelled = _JOINED.sub(" and ", spelled)
    if target == "de":
        if is_known("under"):  # unter in German
            spelled = _AT_TELEPHONE.sub("under", spelled)
        spelled = _ALTERNATIVES.sub(alternatives, spelled)  # `with_signs` undoes this
    spelled = _SQUARE.sub(" m²", spelled)
    spelled = _ATTACHED.sub(" ", _MEASURE.sub(measure, _DECADE.sub("", spelled)))
    spelled = _WORD.sub(word, _ABBREVIATION.sub(abbreviation, spelled))
    spelled = _HYPHENATED.sub(hyphenated, spelled)
    return spelled.upper() if text.isupper() else spelled


def with_signs(translation: str, source: str) -> str:
    """Return the German translation of a text with its slashes, & and +.

    `spell_out` read them as "or" and "and".

    >>> with_signs("Kreuzen Sie Ja oder Nein an.", "Tick yes/no.")
    'Kreuzen Sie Ja/Nein an.'
    """
    if _AND_OR.fullmatch(source):
        return "Und/oder" if source[0].isupper() else "und/oder"
    slashes = [s for each in _ALTERNATIVES.findall(source) for s in _ALTERNATIVE.findall(each)]
    written = [" und/oder " if _AND_OR.fullmatch(sign) else sign for sign in slashes]
    rest = _ALTERNATIVES.sub("", source)
    translation = _with(written, translation, "oder", bool(re.search(r"\bor\b", rest)))
    joined = _JOINED.findall(source)
    return _with(joined, translation, "und", bool(re.search(r"\band\b", rest)))


def _with(signs: list[str], translation: str, word: str, has_others: bool) -> str:
    """Return a translation with signs in place of a word, if each of them stands for a sign."""
    if not signs or has_others or translation.count(f" {word} ") != len(signs):
        return translation
    rest = iter(signs)
    return re.sub(f" {word} ", lambda _: next(rest), translation)
