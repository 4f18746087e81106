"""Placeholders for unknown words, numbers, addresses, codes and template fields.

Each is replaced with one placeholder before the model, and filled in afterwards.
Needs only the standard library, because `nmt export` copies this file beside translate.py.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from nmt.corpus.text.abbreviations import spell_out
from nmt.corpus.text.acronyms import FUNCTION_WORDS, with_acronyms
from nmt.corpus.text.codes import CODES, WAYS
from nmt.corpus.text.dates import ALL_MONTHS
from nmt.corpus.text.names import TITLES, WORD, NameRules, hisses, is_after_title, with_genitives
from nmt.corpus.text.products import PRODUCT, SOFTWARE, hide_versions
from nmt.corpus.text.punctuation import with_usual_spaces, without_primes
from nmt.special_tokens import NUMBERS, PLACEHOLDERS

# Skips the endings of contractions and genitives ("Zora'll", "Zora's"), and what precedes "n't":
# "mightn" is not a word. Matches start only where words do, since trying each letter of a long one
# would take quadratic time.
_REPLACEABLE = re.compile(
    r"(?<![^\W\d_])(?!(?<=\w['’])(?i:s|t|re|ve|ll|d|m)\b)[^\W\d_]+(?![^\W\d_])"
    r"(?!(?<=[nN])['’][tT]\b)"
)
_PLACEHOLDER = re.compile(rf"([{PLACEHOLDERS}{NUMBERS}])([sS](?![^\W\d_]))?")
_SEPARATE = re.compile(
    rf"(?<![^\W\d_])[{PLACEHOLDERS}](?=s?(?![^\W\d_]|[{PLACEHOLDERS}]))|[{NUMBERS}]"
)

# ------------------------------------------------------------------------------ what to replace

_EMOJI = (
    "\u203c\u2049\u2122\u2139\u2190-\u21ff\u2300-\u23ff\u2460-\u24ff\u25a0-\u27bf\u2900-\u297f"
    "\u2b00-\u2bff\u3030\u303d\u3297\u3299\U0001f000-\U0001faff"
)
KEYCAP = r"[\d#*]\ufe0f?\u20e3"  # 1️⃣
EMOJI = (
    rf"(?:{KEYCAP}|[{_EMOJI}\u00a9\u00ae])"
    f"[{_EMOJI}\u00a9\u00ae\u200d\ufe0e\ufe0f\u20e3\U000e0020-\U000e007f]*"
)
_ONLY_EMOJI = re.compile(EMOJI)
_IN_FACE = r"[^\w\s()]|_|[\u3040-\u30ff]"
EMOTICON = (  # :-) <3 ^_^ ¯\_(ツ)_/¯
    r"(?<!\S)(?:>?[:;=]['’]?[-^]?(?:[)(\[\]DPp|*]+|[/\\Oo3])|(?:<3+)+|\^\.?\^|[-^<>;*=]_+[-^<>;*=]"
    rf"|(?:{_IN_FACE}){{0,9}}\((?:{_IN_FACE}){{1,9}}\)(?:{_IN_FACE}){{0,9}})(?![^\s.,!?])"
)
_FILE_ENDINGS = (
    "txt|pdf|docx?|xlsx?|pptx?|csv|tsv|json|xml|ya?ml|html?|css|js|ts|py|ipynb|sh|bat|exe|zip|gz|"
    "tar|jpe?g|png|gif|svg|mp3|mp4|wav|mov|avi|md|log|ini|cfg|conf|toml|sql|db|odt|epub|srt|iso|"
    "java|cpp|php|rb|go|rs|com|org|net|edu|gov|info|eu|io|de|fr|ch|uk|app|dev|shop|blog|biz|xyz"
)
_SIGNS = "$£¥\u20a0-\u20c0"  # of currencies
_CURRENCIES = "EUR|USD|GBP|CHF|JPY|CNY|INR|CAD|AUD|NZD|SEK|NOK|DKK|PLN|CZK|HUF|BRL|ZAR"
# Those that need no translation, and are no abbreviation of million.
UNITS = (
    "km/h|m/s|[kcm]m[²³23]?|m[²³23]|(?:ft|in|yd|mi)[²³]|[km]g|ml|[kM]?Wh?|[kMG]?Hz|[kKMGT]B|"
    f"[MG]bit/s|[km]?V|mAh?|kJ|hPa|dB|px|{_CURRENCIES}"
)
_UNIT = re.compile(UNITS)
_END_OF_URL = r"[^\s<>\"“”„.,;:!?()\]}'’]"
_URL_TEXT = rf"(?:[^\s<>\"“”„()]|\([^\s()]*\))*(?:{_END_OF_URL}|\([^\s()]*\))"
# Marks on both sides of the name of a field
_FIELD_MARKS = ("%", "__", "##?", "@@?", r"\$\$", "~")
_BRACED = r"\{[^{}\n]{0,200}\}"
for _ in range(3):  # pairs of braces within one another: {{{name}}}, {n, plural, one {# day}}
    _BRACED = rf"\{{[^{{}}\n]{{0,200}}(?:{_BRACED}[^{{}}\n]{{0,200}}){{0,30}}\}}"
# What programs fill in: {{ user }}, {name}, ${HOME}, %{count}, messages of ICU, $t(key), as in
# printf, and what marks surround: %NAME%, __NAME__, <<name>>
TEMPLATE_FIELD = (
    rf"(?<!\w)[vV](?=\{{){_BRACED}|%{_BRACED}(?:[ds](?!\w))?|[$#]?{_BRACED}|\$t\([^()\n]{{0,200}}\)"
    r"|(?<!\d)%(?:\(\w{1,40}\)|\d{1,2}\$)?[-+#0]*(?![-+#0])\d*(?:\.\d+)?(?:hh?|ll?|[jztL])?"
    r"[diouxXeEfgGcsp@](?:%%)?(?!\w)"
    + "".join(rf"|(?<![\w&%#@$~]){mark}[A-Za-z]\w{{0,40}}?{mark}(?!\w)" for mark in _FIELD_MARKS)
    + r"|<<[\w.-]{1,40}>>|\*\|[^|\n]{1,60}\|\*|\[%[^\[\]\n]{0,200}%\]"
)
_BEFORE_NUMERAL = "|".join(
    rf"(?<=\b{word} )" for word in ("Act", "Chapter", "Episode", "Part", "Volume", "War")
)
_BEFORE_VERB = (
    r" (?!(?:a|an|and|are|as|at|begins?|began|by|ends?|ended|for|from|has|he|in|is|it|of|on|or|she|"
    r"starts?|the|they|to|was|we|were|will|with|you)\b)[a-z]"
)
_LETTER = (  # vitamin C, sizes S, M and L; type A, but not A at the start
    r"(?:(?<=[a-z] )|(?<=[a-z][,:] )|(?<=\s[A-Z], ))[B-HJ-Z]"
    r"(?![\w'’&+#/-]|\.\w|\.? [^\W\d_a-z])"
    rf"|(?<=[a-z] )A(?=[,;:!?)]|\.?\Z| (?:{FUNCTION_WORDS})\b)"
)
_SIZE = "(?:X{0,3}[SL]|[A-Z])"  # in S / M / XL
_CODE = r"[A-Z]{1,6}-?\d[A-Z\d-]{0,20}"
_IN_CODE = r"\w.:/+^×-"
_NAMELIKE = re.compile(
    "|".join(
        (
            r"</?[A-Za-z][^<>\n]{0,200}>",  # a tag
            TEMPLATE_FIELD,
            *CODES,
            r"<%[^<>\n]{0,200}%>|<\?(?:[^?\n]|\?(?!>)){0,200}\?>|\[\[[^\[\]\n]{1,80}\]\]",
            r"(?!\A\S*\Z)\[[A-Z][A-Z\d_]+\]",  # [DATE], unless it is the whole text
            r"(?<=\w )\[[A-Z][A-Z\d]+(?: [A-Z\d]+){1,3}\]",  # [FIRST NAME]
            r"(?<![\w$])\$(?:[a-z_]\w{2,}|[A-Z_]{4,})|(?<!\S):[a-z_]\w{2,}:?",  # $name, :name
            r"`[^`\n]{1,200}`|&(?:[A-Za-z]{2,8}|#\d{1,7});",
            rf"(?<!\w)(?i:(?:https?|ftp|file)://|mailto:|tel:|(?<!\.)www\.){_URL_TEXT}",
            r"(?<![\w.+-])(?:[\w.+-]|(?<=\w)['’](?=\w)){1,64}(?:@(?=[A-Za-z])|[(\[](?:at|AT)[)\]])"
            r"[\w-]{1,63}(?:\.[\w-]{1,63})*",
            rf"(?<![\w.@/-])\w[\w-]{{0,63}}(?:\.[a-z]{{2,24}}){{1,4}}/{_URL_TEXT}",  # bit.ly/3xYz
            # "C:\My Files", "/home/My Files"
            r"(?<=[\"“„'‘])(?:[A-Za-z]:\\|\\\\\w|~?/[\w.]+/)[^\"“”'’\n]{1,200}(?=[\"“”'’])",
            r"(?<=\()(?:[A-Za-z]:\\|\\\\\w)[^()\n]{1,200}(?=\))",
            rf"(?<!\S)[A-Za-z]:(?:\\[^\\/:*?\"<>|\n]{{1,60}}){{1,12}}?\.(?:{_FILE_ENDINGS})(?!\w)"
            r"|(?<!\S)[A-Za-z]:\\\S*\w|(?<!\S)(?:~|\.{1,2})?/\.?\w(?:[^\s,;:!?]*\w)?",  # a path
            r"(?<!\S)\\\\\w\S*\w|(?<!\S)--[a-z][\w-]*\w",  # \\server\share, --help
            r"(?<!\S)\w[\w.-]*(?:/[\w.-]+)*/[\w-]+\.[A-Za-z]{1,5}(?!\w)",  # src/main.rs
            rf"(?<![\w.-])\w[\w.-]{{0,100}}(?: ?\(\d{{1,3}}\))?\.(?:{_FILE_ENDINGS})"
            rf"(?::\d{{2,5}}(?!\d))?(?:/{_URL_TEXT}|(?![\w-]|\.\w))",
            r"(?<![\w+])C\+\+(?!\w)|(?<!\w)[CF]#(?!\w)|(?<!\S)\.NET(?!\w)",
            r"(?<!\w)(?:Ctrl|Strg|Alt|Shift|Cmd|Win)(?:\+\w{1,12}|-[A-Z\d]{1,3}(?!\w))+",
            r"(?<![\w-])[\da-fA-F]{8}(?:-[\da-fA-F]{4}){3}-[\da-fA-F]{12}(?![\w-])",  # a UUID
            # A password: small and capital letters, a digit, and a sign between them
            r"(?<!\S)(?![A-Z]{1,3}\$\d)(?=\S{0,60}[a-z])(?=\S{0,60}[A-Z])(?=\S{0,60}\d)"
            r"(?=\S{0,60}\w[$#%^&*~@]\w)[\w!$#%^&*~?@+=-]{5,60}(?<!\?)(?![\w/:\\])",
            r"(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?::\d{1,5}|/\d\d?)?(?!\w|\.\d)",  # an IP address
            r"(?<![\w.,-])\d+(?:\.\d+){2,}-[a-z]\w*(?:\.\d+)*",  # 1.2.3-beta
            r"(?<![\w-])(?:\+?1-|0)\d{3}(?:-[A-Z]{3,})+(?![\w-])",  # 0800-FLOWERS
            r"(?<![\w.,])\d+(?:\.\d+)?[eE][-+]?\d+(?![\w-])",  # 1.5e-3
            r"(?<!\S)(?:\\[nrt])+(?!\S)",
            rf"(?<!/ )(?<!\w){_SIZE}(?: / {_SIZE})+(?!\w| /)",
            rf"(?<![\w/-])(?:{_CODE}/){{1,3}}{_CODE}(?![\w/])"  # A-1/B-2X
            r"|(?<!\S)\[[xX]\](?!\w)",  # a box that is checked
            # #A-12/3, AB/123, 12-34/5B, but not the "-related" of AB/123-related
            r"(?<![\w&/-])(?:#[A-Z]{1,6}[-/]|[A-Z]{2,6}/|\d+-(?=\d+/\d+[A-Z]))"
            r"\d(?:[\w/]|-(?![a-z]{3}))*(?<![/-])",
            r"(?<![\w&])(?:#[A-Za-z_]\w*|@[A-Za-z_]\w*(?:[.-][a-z_]\w*)*)",
            r"(?<!\w)[A-Za-z]\w*_\w+|(?<![\w.])[A-Za-z_]\w*\(\)",  # an identifier
            r"(?<![\w-])[A-Z]{2}\d\d(?: ?[A-Z\d]{4}){3,7}(?: ?[A-Z\d]{1,3})?(?!\w)",  # IBAN
            r"(?<!\w)(?:[A-Z]{2} (?=0\d\d)|ISBN:? )\d(?:[\d-]*[\dX])?(?!\w)",  # BA 0295
            r"(?:(?<=\b[Ff]light )[A-Z][A-Z\d]|(?<!\w)(?:ICE|IC|EC|RE|RB)) \d{1,4}(?!\w)",
            r"(?<![\w-])(?:X{1,3}(?:IX|IV|V?I{0,3})|IX|IV|VI{1,3}|II{1,2})(?![\w-])",  # Henry VIII
            # World War I, but not the Part I like
            rf"(?:{_BEFORE_NUMERAL})(?:(?<=War )I|I(?!{_BEFORE_VERB})|[VX])(?![\w'’-])",
            PRODUCT,
            # A run with a digit, and later another after a letter, ^ or ::, such as 1Z99 or 10^6,
            # but no measures, such as 5m2 or 2x5kg
            rf"(?<![{_IN_CODE}])(?!(?!0x)[\d.]+(?:x\d|[kcm]?m[23]\b))#?[A-Za-z]*\d[{_IN_CODE}]*"
            rf"(?:[A-Za-z][.:]?|\^-?|::)\d"
            rf"(?:(?:(?!-[a-z]{{3,}}(?![\w-]))[{_IN_CODE}])*\w)?",
            # A code, but not the "-related" of COVID-19-related
            r"(?<![\w-])(?!(?<=\d )[kcm]?m[23]\b)[A-Za-z]{1,6}\d"
            r"(?:\w|-(?![a-z]{3}))*(?:\.\d+)*(?<!-)(?:\+(?![\w+]))?",
            r"(?<![\w-])[A-Z][A-Za-z]*-\d(?:\w|-(?![a-z]{3}))*(?<!-)",
            rf"(?:(?<![^\s(])[~≈<>≤≥])?(?<![\w.,:$€£¥-])\d+(?!(?:[AP]M|{UNITS})\b)"  # 3D, 5k
            r"(?:[A-Z]{1,2}\d*|[a-fkpx])(?!\w|\.\s?m\b)",
            r"(?<![\w.])(?!(?:[AP]\.M|U\.[SK]|E\.G|I\.E)\.)(?:[A-Z][a-z]?\.){2,}(?!\w)",  # Ph.D.
            r"(?<![\w&])[A-Z]{1,3}&[A-Z]{1,3}(?![\w&])",  # Q&A
            # N/A, A/B, but neither w/o nor 5 m/s
            r"(?<![\w'’.&@/-])(?<!\d )(?![wy]/o\b)[A-Za-z](?:/[A-Za-z])+(?![\w'’/-])",
            _LETTER,
            r"[._=*~-]{4,}|…{2,}",  # a field to fill in
            EMOTICON,
            EMOJI,
        )
    )
)
_BRACKETED_OR_LETTER = re.compile(r"\([^()\n]*\)|(?<![^\s/])[a-h]\)(?![^\s/.,;:!?])")  # if a), b)
# Every match of _NAMELIKE contains a match of this one, which is faster to search for.
_UNLIKE_WORDS = re.compile(
    r"[^A-Za-zÀ-ſ ,?!'\".:;-]|[.:;][^ \"]|-[A-Z-]|(?<!\S)-[a-z]|'n'|a'a"
    rf"|[a-z][A-Z]|[IVX]{{2}}|\b[B-HJ-Z]\b|[a-z] A\b|(?:{_BEFORE_NUMERAL})I| (?:{WAYS})\b"
)
_ZONE = "(?:[ECMP][SD]T|CES?T|BST|GMT|UTC|MES?Z)"
_NUMBER = re.compile(
    r"(?<![\w.,:/])(?:(?<![^\s(])(?:[-−±~≈#]|[<>≤≥]\s?))?"
    rf"(?P<currency>(?:(?:US|A|C)?\$|[{_SIGNS}]|(?:{_CURRENCIES})\b)\s?)?(?P<figures>"
    r"(?:\d{4}-\d\d-\d\d )?\d\d?:\d\d(?::\d\d(?:\.\d+)?)?"
    r"\s?(?:Z|(?:UTC|GMT)(?:[+-]\d\d?(?::\d\d)?)?|[+-]\d\d:?\d\d)(?!\w)"
    rf"|\d\d?(?::\d\d)?(?:\s?[aApP]\.?[mM]\.?)?\s{_ZONE}(?!\w)"  # 7:00 p.m. EST
    r"|\d{4}-\d\d-\d\d \d\d:\d\d(?::\d\d)?|"
    r"(?:\+\d{1,3} ?)?\(0\) ?\d+(?:[ /-]\d+)+|"
    r"(?:\+\d{1,3}|\(?0\d{1,6}\)?)(?:[ /-]\(?\d+\)?)+|\(\d{3}\) ?\d{3}-\d{4}"  # telephone
    r"|\d+(?:[ -]\d{3,4}){2,}(?: \d{1,2})?(?!\d)"
    r"|\d{1,3} [1-9]/[2-9](?![\w/])"  # 2 1/2
    r"|\d+[′″](?: ?(?:[x×] ?)?\d+[′″])*"  # feet and inches
    r"|\+?\d+(?:(?:[.,:/x×–—'-]|[–—-](?P=currency)| [x×] )\d+)*[½¼¾]?|(?<![^\s(])\.\d+|[½¼¾])"
    r"(?(currency)|(?P<unit>"  # m after a currency is no metre
    rf"\s?[%‰€]|\s?[¢{_SIGNS}](?!\d)|\s?°(?:\s?[CF]\b)?|[\s-]?(?:{UNITS})(?![\w²³])|\s[mglL](?!\w)"
    r"|\s?s(?!\w)"  # seconds
    r"|\sA(?!\w|\.\s?\w))?)"  # amperes, but no a.m.
    r"(?P<more>\+(?![\w+])|(?<='\d)\"|(?<='\d\d)\")?"  # 50+, 6'2"
)
_FIGURE = re.compile(r"[\d½¼¾]")  # every match of _NUMBER contains one
_COMMON_PUNCTUATION = ".,;:!?'\"()[]-"  # part of the sentence, not a thing in it
_SHORT = re.compile(r"\d{1,4}|\d\d?:\d\d")
_MAGNITUDE = re.compile(r"\s?(?:(thousand|million|billion|trillion)s?\b|([kKmMbB])n?\b)")
_MAGNITUDES = {
    **{"k": "Tsd.", "m": "Mio.", "b": "Mrd."},
    **{"thousand": "Tsd.", "million": "Mio.", "billion": "Mrd.", "trillion": "Bio."},
}
_PER = {  # 20 €/month
    **dict.fromkeys(("h", "hr", "hour"), "Stunde"),
    **dict.fromkeys(("item", "pc", "piece"), "Stück"),
    **{"day": "Tag", "month": "Monat", "week": "Woche", "year": "Jahr", "night": "Nacht"},
    **{"person": "Person", "child": "Kind", "user": "Nutzer", "room": "Zimmer", "page": "Seite"},
    **{unit: unit for unit in ("g", "kg", "km", "l", "m", "m²", "min", "t")},
}
_RATE = re.compile(rf"\s?/\s?({'|'.join(sorted(_PER, key=len, reverse=True))})(?![\w²³])")
_NO_CENTS = re.compile(r"[.,][-–—](?!\w)")  # CHF 120.-
_UNTIL_AND_HALF_OF_DAY = re.compile(
    r"(?:\s?(?:-|–|to|and|or)\s?(\d{1,2}(?:[:.]\d\d)?))?\s?([aApP])\.?[mM]\b"
)
_TIME = re.compile(r"(\d{1,2})(?:[:.](\d\d))?")
_SINCE = re.compile(  # the beginning of a range: 9 to 12 a.m.
    r"(?<![\d.,:])(\d{1,2}(?:[:.]\d\d)?)\s(?:[-–]|to|until|till|and(?<=between \d and)|"
    r"and(?<=between \d\d and))\s$"
)
_HALF_PAST = {"en": re.compile(r"\b(?i:half past|at half) $"), "de": re.compile(r"\b[Hh]alb $")}
_DATE_IN_FIGURES = re.compile(r"(\d\d?)/(\d\d?)/(\d{4}|\d\d)")
_BEFORE_MONTH = re.compile(rf"(?:st|nd|rd|th)? (?:of )?(?:{'|'.join(ALL_MONTHS)})\b")
_ZONED_TIME = re.compile(rf"([\d:]+)(?:\s?([apAP])\.?[mM]\.?)?\s({_ZONE})")
_UNTIL = re.compile("([-–—]| ?[x×] ?)")
# Before numbers that are no decimals: Python, iOS, Article
_BEFORE_VERSION = re.compile(
    r"(?:\w[^\w]*\s[A-Z]\w*|\b[a-z]+[A-Z]\w*|\b(?:"
    rf"{SOFTWARE})|\b(?i:(?:version|release|chapter|section|figure|article|paragraph|clause|"
    r"page)s?|nos?\.|v))\s*$"
)
# The 70s and 80s, her early 30s, '90s
_BEFORE_DECADE = re.compile(
    r"(?:['’]|\b(?:the|early|mid|late|my|your|his|her|our|their|size|two|three)[ -]"
    r"(?:\d{2,4}s,? (?:and |or |to )?)*)$"
)
_BEFORE_CURRENCY = re.compile(  # Tom 3.50 and Anna 2.50 euros
    r"(?:,? (?:and )?[A-Z]\w+ \d+\.\d\d){0,9} (?:cents?|dollars?|euros?|pounds?)\b"
)
_DOTTED_TIME = re.compile(r"(?:[01]?\d|2[0-3])\.[0-5]\d")
_BEFORE_TIME = re.compile(r"\b(?i:at|until|till|between(?: \d\d?\.\d\d and)?)\s$")
_AFTER_TIME = re.compile(
    r"\s?(?:[.,;:!?)]|$)|\s(?:and|or|to|until|till|in|on|for|with|if|when|because|but|sharp|every|"
    r"this|today|tomorrow|tonight)\b"
)
_THOUSAND = re.compile(r"[1-9]\d{0,2}[.,]000")  # rather than decimals, in either language
_DECIMAL = {"en": ".", "de": ","}
_GROUPS = {"en": ",", "de": "."}


@dataclass(frozen=True)
class Number:
    """A number in figures, with the currency or unit that belongs to it."""

    start: int
    end: int
    """It is the text from `start` to before `end`."""
    written: str
    """How the target language writes it."""


def numbers_of(text: str, source: str, target: str) -> Iterator[Number]:
    """Yield the numbers of a text; source, target: language codes."""
    for match in _NUMBER.finditer(text) if _FIGURE.search(text) else ():
        before, after = text[: match.start()], text[match.end() :]
        if source == "de" and re.match(r"\s?Uhr\b", after):
            continue  # 20 Uhr is 8 p.m.
        start, currency, unit = match.start(), match["currency"] or "", match["unit"] or ""
        if unit.strip() == "s" and _is_no_second(before[-60:], match["figures"]):
            unit = ""  # of the 1990s, the '90s
        end = match.end() if unit or not match["unit"] else match.start("unit")
        sign = text[start : match.start("currency") if currency else match.start("figures")]
        magnitude = _MAGNITUDE.match(after) if currency else None
        figures = match["figures"].replace(currency, "") if currency else match["figures"]  # £5-£10
        if magnitude and (source, target) == ("en", "de"):  # $5m, $1.5-2 million
            unit = f"{_MAGNITUDES[magnitude[1] or magnitude[2].lower()]} {currency.strip()}"
            figures = _with_separators(figures, source, target)
            yield Number(start, match.end() + magnitude.end(), f"{sign}{figures} {unit}")
            continue
        if magnitude:  # the target language's word for million follows
            start, currency, sign = match.start("figures"), "", ""
        if (source, target) not in (("en", "de"), ("de", "en")):
            yield Number(start, end, text[start:end])
            continue
        is_bare = not unit and not currency
        if is_bare and _HALF_PAST[source].search(before[-10:]):
            figures = _half_hour(figures, source)
        elif is_bare and source == "en" and (special := _date_or_zoned_time(figures, after)):
            figures = special
        elif is_bare and source == "en" and (half := _UNTIL_AND_HALF_OF_DAY.match(after)):
            since = _SINCE.search(before[-20:])
            figures = _in_24_hours(figures, half[1] or "", half[2], since[1] if since else "")
        elif unit or match["currency"] or not _is_no_decimal(before[-60:], figures, after):
            figures = _with_separators(figures, source, target)
        more = match["more"] or ""
        figures, more = (figures, more) if unit else (figures + more, "")  # 10 %+, 50+ $
        written = sign + _with_unit(figures, currency, unit, target) + more
        if currency and (no_cents := _NO_CENTS.match(text, end)):
            end = no_cents.end()
        if target == "de" and (unit or currency) and (rate := _RATE.match(text, end)):
            end, written = rate.end(), f"{written}/{_PER[rate[1]]}"
        yield Number(start, end, written)


def _half_hour(figures: str, source: str) -> str:
    """Return the hour with which the target says half past: half past 10 is halb 11 in German."""
    if not re.fullmatch(r"\d\d?", figures) or not 1 <= int(figures) <= 12:
        return figures
    return str(int(figures) % 12 + 1 if source == "en" else (int(figures) - 2) % 12 + 1)


def _date_or_zoned_time(figures: str, after: str) -> str | None:
    """Return a date whose parts are certain, days before a month, or a time with a zone."""
    if date := _DATE_IN_FIGURES.fullmatch(figures):
        first, second = int(date[1]), int(date[2])
        if 0 < first <= 12 < second <= 31:  # March 14, written 3/14
            return f"{date[2]}.{date[1]}.{date[3]}"
        return f"{date[1]}.{date[2]}.{date[3]}" if 0 < second <= 12 < first <= 31 else None
    if re.fullmatch(r"\d\d?[-–]\d\d?", figures) and _BEFORE_MONTH.match(after):
        return ".–".join(re.split("[-–]", figures))
    if zoned := _ZONED_TIME.fullmatch(figures):
        time = _in_24_hours(zoned[1], "", zoned[2]) if zoned[2] else zoned[1]
        return f"{time} {zoned[3]}"
    return None


def _is_no_second(before: str, figures: str) -> bool:
    """Return whether figures before an s are a decade or things (two 5s), not seconds."""
    if re.search(r"\d[.,]\d", figures):
        return False
    is_year = len(figures) == 4 and figures.endswith("0")
    return is_year or bool(_BEFORE_DECADE.search(before)) or before[-1:] not in ("", " ", "(")


def _in_24_hours(figures: str, until: str, half: str, since: str = "") -> str:
    """Return a time, or one and another after a dash.

    until, since: a later and an earlier time of the same half
    """
    if len(times := _UNTIL.split(figures)) == 3:
        begin = _in_24_hours(times[0], times[2], half)
        return begin + times[1] + _in_24_hours(times[2], "", half, times[0])
    time = _TIME.fullmatch(figures)
    if not time or not 1 <= int(time[1]) <= 12:
        return figures
    start = _TIME.fullmatch(since)
    is_noon = time[1] == "12" and start and 1 <= int(start[1]) < 12  # 10-12 a.m.
    hour = int(time[1]) % 12 + (12 if half in "pP" or is_noon else 0)
    end = _TIME.fullmatch(_in_24_hours(until, "", half)) if until else None
    if end and int(end[1]) < hour:  # 9 to 5 p.m.
        hour = int(time[1])
    return f"{hour}:{time[2]}" if time[2] else str(hour)


def _is_no_decimal(before: str, figures: str, after: str) -> bool:
    """Return whether figures are a version, a reference, or, in a range possibly, times."""
    if _BEFORE_CURRENCY.match(after):
        return False
    if _BEFORE_VERSION.search(before):
        return True
    times = _UNTIL.split(figures)[::2]
    if not all(map(_DOTTED_TIME.fullmatch, times)):
        return False
    return len(times) > 1 or bool(_BEFORE_TIME.search(before) and _AFTER_TIME.match(after))


def _with_separators(figures: str, source: str, target: str) -> str:
    """Swap the marks of decimals and thousands, if it is certain which ones these are."""
    if len(ends := _UNTIL.split(figures)) == 3:
        written = [_with_separators(end, source, target) for end in ends[::2]]
        sure = all(
            (new != end or end.isdecimal()) and not re.match(r"0\d", end)  # as in 01.05.
            for end, new in zip(ends[::2], written, strict=True)
        )
        return ends[1].join(written) if sure else figures
    if _THOUSAND.fullmatch(figures) and _DECIMAL[source] in figures:
        return figures
    if figures.startswith(".") and _DECIMAL[source] == ".":  # .5
        figures = f"0{figures}"
    groups, decimal = map(re.escape, (_GROUPS[source], _DECIMAL[source]))
    if not re.fullmatch(
        rf"\d{{1,3}}(?:{groups}\d{{3}})+(?:{decimal}\d+)?|\d+{decimal}\d+", figures
    ):
        return figures
    marks = {_GROUPS[source]: _GROUPS[target], _DECIMAL[source]: _DECIMAL[target]}
    return "".join(marks.get(character, character) for character in figures)


def _with_unit(figures: str, currency: str, unit: str, target: str) -> str:
    currency, unit = currency.strip(), unit.strip(" -")
    if target == "de":
        return " ".join(filter(None, (figures, unit or currency)))
    if re.fullmatch(f"[{_SIGNS}]", unit):
        return f"{unit}{figures}"
    currency += " " * currency[-1:].isalpha()
    return f"{currency}{figures} {unit}" if unit[:1].isalpha() else f"{currency}{figures}{unit}"


def has_text(text: str) -> bool:
    """Return whether there is anything to translate besides numbers, symbols, codes and addresses.

    >>> [has_text(text) for text in ("Hi!", "50 %", "https://example.org", "A4")]
    [True, False, False, False]
    """
    if _UNIT.fullmatch(text.strip()):
        return False
    return any(map(str.isalpha, text)) and any(map(str.isalpha, _replace_namelike("", text)))


def _replace_namelike(replacement: str | Callable[[re.Match[str]], str], text: str) -> str:
    return _NAMELIKE.sub(replacement, text) if _UNLIKE_WORDS.search(text) else text


def cover_codes(text: str) -> str:
    """Return the text with letters in place of addresses and codes, of the same length.

    Their punctuation does not end sentences.
    """
    return _replace_namelike(lambda match: "x" * len(match.group()), text)


def cover(text: str) -> str:
    """Do the same for numbers, too; in German, their full stops matter to sentences (3. Mai)."""
    return _NUMBER.sub(lambda match: "x" * len(match.group()), cover_codes(text))


# ----------------------------------------------------------------------- inserting and filling in


@dataclass
class PlaceholderText:
    """Text with placeholders, and what they stand for."""

    text: str
    words: dict[str, str] = field(default_factory=dict)
    """The source text behind each placeholder."""
    written: dict[str, str] = field(default_factory=dict)
    """What the translation writes for each placeholder."""

    def placeholder(self, word: str, written: str, among: Sequence[str]) -> str:
        """Return the placeholder for a word; the word itself if all are used."""
        for mark in among:
            if self.words.get(mark, word) == word and self.written.get(mark, written) == written:
                self.words[mark], self.written[mark] = word, written
                return mark
        return word


@dataclass(frozen=True)
class PlaceholderRules:
    """Decides what is replaced with placeholders."""

    known: frozenset[str]
    """Lower-cased words that are kept."""
    only_names: bool
    """Whether to replace only capitalized words."""
    languages: tuple[str, str]
    """The codes of source and target."""
    knows: Callable[[str], bool] | None = None
    """Whether the vocabulary can spell a text; None: all."""
    names: frozenset[str] = frozenset()
    """Unknown words that the target writes so, whatever the case in the source."""
    target_words: frozenset[str] = frozenset()
    """Lower-cased words of the target text; those of both languages are mostly names."""

    @cached_property
    def _written(self) -> dict[str, str]:
        return {name.lower(): name for name in self.names}

    @cached_property
    def _names(self) -> NameRules:
        return NameRules(self._is_known, self.target_words, self.languages[0])

    def insert(self, text: str) -> PlaceholderText:
        """Replace addresses, codes, numbers and unknown words with placeholders.

        Primes are read as signs of feet and inches, and written as quotation marks.
        """
        replaced = replace_codes(text)
        language = self.languages[0]
        if language in ("en", "de"):
            replaced.text = with_usual_spaces(replaced.text)
        replaced.text = spell_out(replaced.text, self.languages, self._is_known)

        def hide(name: str) -> str:
            return replaced.placeholder(name, name, PLACEHOLDERS)

        replaced.text = hide_versions(replaced.text, language, self._is_known, hide)
        learned_numbers = self.knows is not None and self.knows(NUMBERS[0])
        replaced = replace_numbers(
            replaced,
            self.languages,
            NUMBERS if learned_numbers else PLACEHOLDERS,
            lambda number: learned_numbers or not self._reads(number),
        )

        def replacement(match: re.Match[str]) -> str:
            word, before = match.group(), match.string[max(0, match.start() - 6) : match.start()]
            if before.endswith(TITLES) and is_after_title(word):
                return hide(word)
            if self._is_known(word.lower()) or (self.only_names and not word[0].isupper()):
                return word
            return replaced.placeholder(word, self._in_target(word), PLACEHOLDERS)

        if language == "en":
            replaced.text = with_acronyms(replaced.text, self._is_known, hide)
        replaced.text = self._names.hide_whole_names(replaced.text, hide)
        replaced.text = _REPLACEABLE.sub(replacement, replaced.text)
        if language == "en":
            replaced.text = with_genitives(replaced.text, replaced.words)
        if self.knows:
            replaced.text = self._without_unknown_symbols(replaced)
        # Of feet and inches, which the caller has marked
        for words in (replaced.words, replaced.written):
            words.update((mark, without_primes(word)) for mark, word in words.items())
        replaced.text = without_primes(replaced.text)
        return replaced

    def _in_target(self, word: str) -> str:
        """Return a name as the target writes it, in capitals if it is typed so."""
        name = self._written.get(word.lower(), word)
        return name.upper() if word.isupper() and len(word) > 1 else name

    def _reads(self, number: str) -> bool:
        """Return whether a model that was trained without `NUMBERS` may translate a number.

        Such models translate short numbers and times well, and the nouns that follow them.
        """
        return bool(_SHORT.fullmatch(number)) and (self.knows is None or self.knows(number))

    def _is_known(self, word: str) -> bool:
        # In lower case, the Turkish İ has a combining dot, at which training text is split.
        return word in self.known or self.known.issuperset(WORD.findall(word))

    def _without_unknown_symbols(self, replaced: PlaceholderText) -> str:
        assert self.knows
        unknown = {
            character
            for character in set(replaced.text)
            if unicodedata.category(character)[0] in "PS"
            and character not in _COMMON_PUNCTUATION
            and not self.knows(character)
        }
        if not unknown:
            return replaced.text
        runs = re.compile(f"[{re.escape(''.join(sorted(unknown)))}]+")
        return runs.sub(
            lambda run: replaced.placeholder(run[0], run[0], PLACEHOLDERS), replaced.text
        )


def replace_codes(text: str, among: Sequence[str] = PLACEHOLDERS) -> PlaceholderText:
    """Replace addresses, template fields, codes and emoji with one placeholder each.

    Spaces separate emoji from words: within a word, the model loses both.
    """
    replaced = PlaceholderText(text)

    def hide(match: re.Match[str]) -> str:
        mark = replaced.placeholder(match[0], match[0], among)
        if not _ONLY_EMOJI.fullmatch(match[0]):
            return mark
        before = match.string[max(match.start() - 1, 0) : match.start()]
        after = match.string[match.end() : match.end() + 1]
        return " " * before.isalpha() + mark + " " * after.isalpha()

    replaced.text = _replace_namelike(hide, text)
    replaced.text = _BRACKETED_OR_LETTER.sub(
        lambda match: match[0] if match[0].startswith("(") else hide(match), replaced.text
    )
    return replaced


def replace_numbers(
    replaced: PlaceholderText,
    languages: tuple[str, str],
    among: Sequence[str],
    wanted: Callable[[str], bool] = lambda number: True,
) -> PlaceholderText:
    """Replace numbers in figures, too; wanted: whether to replace a number."""
    parts, place = [], 0
    for number in numbers_of(replaced.text, *languages):
        word = replaced.text[number.start : number.end]
        if wanted(word):
            parts += [
                replaced.text[place : number.start],
                replaced.placeholder(word, number.written, among),
            ]
            place = number.end
    replaced.text = "".join(parts) + replaced.text[place:]
    return replaced


def replace_in_target(text: str, replaced: PlaceholderText) -> tuple[str, set[str]]:
    """Replace in a translation what was replaced in its source; return the placeholders used."""
    found: set[str] = set()
    for mark, written in sorted(replaced.written.items(), key=lambda item: -len(item[1])):
        form = re.escape(written).replace(r"\ ", r"\s?")
        if WORD.fullmatch(written):
            form = rf"(?<!\w){form}(?!\w)"
        pattern = rf"(?<![\w.,:/]){form}(?!\d|[.,:/]\d)" if mark in NUMBERS else form
        text, count = re.subn(pattern, mark, text)
        if count:
            found.add(mark)
    return text, found


def count_missing_placeholders(text: str, marks: Mapping[str, str], source: str) -> int:
    """Count the placeholders that a translation lacks, repeats, or attaches to other words.

    source: its source, in which some may occur several times; numbers must do so in the translation

    The genitive's s may be attached ("Toms"). In training, nothing else is: only words that are the
    same on both sides are replaced.
    """
    kept = _SEPARATE.findall(text)
    fewest = {mark: source.count(mark) if mark in NUMBERS else 1 for mark in marks}
    return sum(not fewest[mark] <= kept.count(mark) <= max(1, source.count(mark)) for mark in marks)


_GERMAN_ORDINAL = re.compile(r"\d{1,2}(?:[-–]\d{1,2})?|\d{1,2}\.–\d{1,2}|\d{3}")
_HOUR = r"(?:[01]?\d|2[0-4])(?:[:.]\d\d){0,2}"
_HOURS = re.compile(rf"[~≈]?{_HOUR}(?:\s?[-–]\s?{_HOUR})?")
_AFTER_NUMBER = re.compile(rf"([{NUMBERS}])(?:\.(?= [a-zäöü(])| Uhr\b)")


def without_misplaced(text: str, written: Mapping[str, str], source: str) -> str:
    """Return a German translation without stops after what is no ordinal, and Uhr after no time.

    written: what is written for each placeholder; source: with placeholders
    """

    def replacement(match: re.Match[str]) -> str:
        form = _GERMAN_ORDINAL if match[0].endswith(".") else _HOURS
        fits = form.fullmatch(written.get(match[1], "")) and not (
            form is _HOURS and text.endswith(("halb ", "Halb "), 0, match.start())
        )
        return match[0] if fits or match[0] in source else match[1]

    return _AFTER_NUMBER.sub(replacement, text)


def fill_placeholders(text: str, words: Mapping[str, str]) -> str:
    """Put words in place of placeholders; a placeholder without a word is removed.

    The genitive's s becomes an apostrophe after a name such as James.
    """

    def replacement(match: re.Match[str]) -> str:
        word = words.get(match[1], "")
        if match[2] and WORD.fullmatch(word[-2:]) and hisses(word):
            return word + "'"
        return word + (match[2] or "")

    return " ".join(_PLACEHOLDER.sub(replacement, text).split())
