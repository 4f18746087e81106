"""Forms of punctuation: the plain one that a model reads, and the one of the target language.

Needs only the standard library, because `nmt export` copies this file beside translate.py.
"""

import re
import string
import unicodedata
from collections.abc import Callable

from nmt.special_tokens import NUMBERS

DOUBLE = '"“”„‟«»″〝〞＂'
SINGLE = "'‘’‚‛‹›"
SENTENCE_ENDS = ".!?…"
STOPS = SENTENCE_ENDS + ",;:"
_LANGUAGE_QUOTES = {"de": ("„", "“", "‚", "‘")}
_STRAIGHT_QUOTES = ('"', '"', "'", "'")

# Compatibility forms of letters, which people paste: ligatures, full width, bold and italics.
_STYLED = [*range(0xFB00, 0xFB07), *range(0xFF01, 0xFF5F), *range(0x1D400, 0x1D800)]
_PLAIN: dict[int, str] = {
    **{code: unicodedata.normalize("NFKC", chr(code)) for code in _STYLED},
    **dict.fromkeys(map(ord, DOUBLE), '"'),
    **dict.fromkeys(map(ord, SINGLE + "ʼʹ′"), "'"),
    **dict.fromkeys(map(ord, "‐‑‒−"), "-"),
    ord("…"): "...",
    **{ord(mark): form for mark, form in zip("‽⁉⁈‼。", ("?!", "?!", "?!", "!!", "."), strict=True)},
}
_ASCII = dict.fromkeys(map(ord, string.punctuation))
_ESCAPED_QUOTE = re.compile(r"\\([\"'])")  # as in program text
_ACCENT = re.compile(r"(?<=[^\W\d_])[´`](?=[^\W\d_])")  # typed instead of an apostrophe
# Between digits, a dash means a range; within words it joins them, but — separates them.
_BREAK = re.compile(r"(?<=\w)[—―](?=\w)(?<!\d.)|(?<=\w)[—―](?=[^\W\d_])")
# Two hyphens; a dash before a word that begins a clause, so that it is not that of mother–child.
_TWO_HYPHENS = re.compile(r"(?<=[^\W\d_][^\W\d_])--(?=[^\W\d_])")
_BREAK_BEFORE_CLAUSE = re.compile(
    r"(?<=[^\W\d_][^\W\d_])–(?=(?:I|he|she|it|we|they|you|and|but|or|so|very|not|that|this|what|"
    r"which|who|how|because|ich|er|sie|es|wir|ihr|und|aber|oder|sehr|nicht|das|was|wie|weil)\b)"
)
_DASH = re.compile(r"(?<!\d)[–—―]|[–—―](?!\d)")
_OPENS_QUOTATION = re.compile(r"(?:^|(?<=[\s(\[{–—-]))\"(?=\S)")
# Single quotation marks around words; further apostrophes between them are within words.
_ELIDED = rf"[{NUMBERS}]|(?i:\d\ds?|twas|tis|em|cause|til|bout)\b"  # '68, 'twas
_SINGLE_QUOTED = re.compile(
    rf"(?<![^\s(\[{{\"„“–—-])'(?=[^\s'])(?!n'|{_ELIDED})((?:[^']|(?<=\w)'(?=\w))+)"
    r"(?<=[^\s'])'(?![\w'])"
)
_QUOTE = re.compile(r'(?<!\d)"|"(?=\w)')  # not inches
_ALTERNATED = str.maketrans("„“‚‘", "‚‘„“")
_INCHES = re.compile(r"(?<=\d)\"(?!\w)")  # of text without quotations
_FEET = re.compile(
    r"(?<=\d)'(?= ?\d+″| [x×] \d| (?:tall|long|wide|high|deep)\b|(?<= [x×] \d')|(?<= [x×] \d\d'))"
)
_CLOSES_QUOTATION = rf'(?<![\d{NUMBERS}])"'  # not inches
DASHED = (  # The man -a doctor- left
    r"(?<=\w )-(?=[a-z])(?:[^-\n]|(?<=\w)-(?=\w)){1,80}(?<=\w)-(?= (?!and\b|or\b)|[.,;:!?]|$)"
)
_COMMA_WITHOUT_SPACE = re.compile(r"(?<=[^\W\d_]) ?,(?=[^\W\d_])|(?<=[^\W\d_]{2}) ?,(?=\d)")
_SPACE_BEFORE_MARK = re.compile(r"(?<=\w) (?=[?!,;:.](?: |$))")
_SPACED_HYPHEN = re.compile(rf"(?<=\S) - (?=[^\W\d_])|(?<=[^\W\d_]) - (?=[{NUMBERS}])")


def plain(text: str) -> str:
    """Return the text with straight quotes and apostrophes, hyphens as dashes, and plain letters.

    >>> plain("“I don’t know” – he said…")
    '"I don\\'t know" - he said...'
    """
    text = _TWO_HYPHENS.sub(" - ", text)
    if "\\" in text:
        text = _ESCAPED_QUOTE.sub(r"\1", text)
    if text.isascii() and "`" not in text:
        return text
    text = _BREAK_BEFORE_CLAUSE.sub(" - ", text)
    text = _ACCENT.sub("'", text)
    text = _DASH.sub("-", _BREAK.sub(" - ", text))
    return text.translate(_PLAIN)


def double_outside(text: str, cover: Callable[[str], str] = str) -> str:
    """Return plain text whose outer quotation marks are double ones, those within them single.

    cover: replaces what is kept as typed with text of the same length

    >>> double_outside("'I've seen \"Jaws\",' he said")
    '"I\'ve seen \'Jaws\'," he said'
    """
    if "'" not in text:
        return text
    text = text.replace("``", '"').replace("''", '"')  # as LaTeX writes them
    pieces, place, doubles = [], 0, 0
    covered = cover(text)
    for match in _SINGLE_QUOTED.finditer(covered):
        before = text[place : match.start()]
        doubles += len(_QUOTE.findall(covered, place, match.start()))
        inner = text[match.start() : match.end()]
        if doubles % 2 == len(_QUOTE.findall(match[1])) % 2 == 0:  # not within double ones
            inner = f'"{_QUOTE.sub(chr(39), inner[1:-1])}"'
        pieces += [before, inner]
        place = match.end()
    return "".join(pieces) + text[place:]


def with_primes(text: str) -> str:
    """Return plain text with primes in place of the signs of feet and inches.

    >>> with_primes("5' 11\" tall, a 27\" screen")
    '5′ 11″ tall, a 27″ screen'
    """
    if "'" not in text and '"' not in text:
        return text
    return _FEET.sub("′", _INCHES.sub("″", text))


def without_primes(text: str) -> str:
    """Undo `with_primes`."""
    return text.replace("′", "'").replace("″", '"')


def with_usual_spaces(text: str) -> str:
    """Return English or German text with spaces after commas, around dashes, not before marks.

    >>> with_usual_spaces("Hello,where are you ?")
    'Hello, where are you?'
    """
    text = re.sub(DASHED, lambda match: f"- {match[0][1:-1]} -", text)
    return _SPACE_BEFORE_MARK.sub("", _COMMA_WITHOUT_SPACE.sub(", ", text))


def strip_punctuation(text: str) -> str:
    """Return the text without ASCII punctuation, as Keras' `TextVectorization` does by default.

    Words that an apostrophe or a hyphen divides become one. Line feeds are kept.

    >>> strip_punctuation("Well - that's well-known!")
    'Well thats wellknown'
    """
    lines = text.translate(_ASCII).split("\n")
    return "\n".join([" ".join(line.split()) for line in lines])


def to_known(text: str, knows: Callable[[str], bool]) -> str:
    """Return the text with plain forms of those characters that a vocabulary does not know.

    knows: whether the vocabulary can spell a text without unknown tokens or bytes
    """
    if text.isascii() and "`" not in text:
        return text
    for character in sorted(set(text)):
        if not character.isalnum() or ord(character) in _PLAIN:
            form = plain(f"a{character}a" if character in "´`" else character).strip("a")
            if form != character and not knows(character) and knows(form):
                text = text.replace(character, form)
    return text


def typeset(text: str, language: str) -> str:
    """Return plain text with the quotation marks and dashes of a language.

    >>> typeset('Er sagt: "Ja" - und geht.', "de")
    'Er sagt: „Ja“ – und geht.'
    """
    if language not in _LANGUAGE_QUOTES:
        return text
    opening, closing, *singles = _LANGUAGE_QUOTES[language]
    text = _SINGLE_QUOTED.sub(r"\1".join(singles), text)
    if text.count('"') > 1:  # a single one may mean inches
        closes = _CLOSES_QUOTATION if text.count('"') % 2 else '"'
        text = re.sub(closes, closing, _OPENS_QUOTATION.sub(opening, text))
    return _SPACED_HYPHEN.sub(" – ", text)


def within_quotes(text: str, before: str, after: str) -> str:
    """Return typeset text with the other quotation marks if it stands within such marks.

    >>> within_quotes("Er rief: „Halt!“", "„", "")
    'Er rief: ‚Halt!‘'
    """
    return text.translate(_ALTERNATED) if "„" in before or "“" in after else text


_SPACED_QUOTE = re.compile(r"[«‹]\s|\s[»›]")


def quotes_of(language: str, before: str, after: str) -> tuple[str, str]:
    """Return what stands around a sentence, with the quotation marks of a language."""
    if bool(_SPACED_QUOTE.search(before)) != bool(_SPACED_QUOTE.search(after)):
        return before, after  # arrows, as in "Read more »"
    opening, closing, opening_single, closing_single = _LANGUAGE_QUOTES.get(
        language, _STRAIGHT_QUOTES
    )
    starts = dict.fromkeys(map(ord, DOUBLE), opening) | dict.fromkeys(
        map(ord, SINGLE), opening_single
    )
    ends = dict.fromkeys(map(ord, DOUBLE), closing) | dict.fromkeys(
        map(ord, SINGLE), closing_single
    )
    return before.translate(starts), after.translate(ends)
