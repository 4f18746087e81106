"""Where to divide what is too long to translate as a whole.

Needs only the standard library, because `nmt export` copies this file beside translate.py.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import chain, pairwise

from nmt.corpus.text.placeholders import cover
from nmt.corpus.text.quotations import cover_quotations

_CONJUNCTIONS = {
    "en": "and|or|but|because|although|while|when|if|that|which|who|so|before|after|until",
    "de": "und|oder|aber|weil|obwohl|während|wenn|dass|denn|sondern|bevor|nachdem|bis|damit",
}
# What sentences and clauses begin with, and what they do not end with.
_OPENERS = {
    "en": (
        r"(?:I|he|she|we|they|you)(?:['’]\w+)?|(?:it|there|that|what|who|let)['’]s|there|"
        r"(?:do|did|does|can|could|would|may|shall|is|are|has|have) "
        r"(?:I|you|he|she|it|we|they|there|the|this|that|your|my|any\w+)|don['’]t|please|thank|"
        "what|how|why|where|when|which|who|my|your|our|his|her|the|this|unfortunately|nobody|"
        "but|if|so|although|because|while"
    ),
    "de": (
        "aber|bist|bitte|danke|darf|dass|deshalb|falls|hast|kannst|könnten|könntest|lass|leider|"
        "obwohl|sobald|warum|was|weil|welche[rs]?|wenn|wer|wie|wieso|wo|wohin|woher|wann|würdest"
    ),
}
_NOT_LAST = {
    "en": (
        "a about after all although an and any are aren't as at be because been believe bring but "
        "by can can't could couldn't did didn't do does doesn't don't even every find for from "
        "gave give got had has have he her his hope how i i'd i'll i'm i've if in into is isn't it "
        "its just keep know let make many more much must my never nobody not of on only or our put "
        "says she should since so some still tell than that the their then there's these they "
        "think this to told too until used very was we were what when where whether while who "
        "will wish with without would you you're your"
    ),
    "de": (
        "aber als am auch auf aus bei bevor bis da damit das dass dein deine dem den der des die "
        "diese diesem diesen dieser dieses drei durch ein eine einem einen einer er es für gegen "
        "ganze ganzen gerade im in ins je kein keine keinen man mein meine meinem meinen meiner "
        "mit nach nicht noch nur ob obwohl oder ohne sehr sein seine seit sie so um und unser "
        "unsere unter viele vom von vor wann warum was weil welche wenn wer wie wir wo zu zum zur "
        "zwei über"
    ),
}
_SEPARATOR = re.compile(r"(?<=\w)\s+(?=[|•·>]\s+\w)|(?<=\s[|•·>])\s+(?=\w)")
_SLASH_BEFORE_CLAUSE = re.compile(r"(?<=[^\W\d_])\s+(?=/\s+(?:I|[Aa])\b)")  # not tea / coffee
_SLASH = re.compile(  # but not S / M / L
    rf"(?<=[^\W\d_]{{2}})\s+(?=/\s+[^\W\d_]{{2}})|{_SLASH_BEFORE_CLAUSE.pattern}"
)
_LIST_SIGN = re.compile(r"(?<!\S)(\(?)([a-h]|\d)\) +(?=\w)")
# WARNING: in capitals, unlike the rest, or [Draft] before a sentence
_LABEL = re.compile(
    r"[A-ZÄÖÜ]{4,}:(?= .*[a-zäöüß])"
    r"|\[(?=[^\[\]]*?[^\W\d_]{2})[^\[\]]{2,80}\](?= +[A-ZÄÖÜ])"
)
_WORD_BEFORE = re.compile(r"[\w'’-]+$")
_PUNCTUATION = re.compile(r"[.!?;:,…](?:\s|['\"”“’)]*$)")


def _covered(text: str) -> str:
    """Return a text of the same length, with letters in place of what is never divided."""
    return cover_quotations(cover(text))


def halves(text: str, language: str) -> list[str]:
    """Divide a sentence near its middle: at punctuation, before a clause, or else between words.

    language: code of the text's language
    """
    covered = _covered(text)
    conjunctions = rf" (?=(?:{_CONJUNCTIONS.get(language, '(?!)')})\b)"
    for pattern in (r"(?<=[;:]) ", r"(?<=,) "):
        places = _inside(text, (m.start() for m in re.finditer(pattern, covered)))
        if places:
            return _divided(text, places)
    clauses = (m.start() for m in re.finditer(conjunctions, covered))
    places = _inside(text, chain(_openings(covered, language), clauses))
    if not places:
        places = [m.start() for m in re.finditer(" ", covered)]
    if not places:  # no spaces, or only within what stays whole
        places = [m.start() for m in re.finditer(" ", text)] or [len(text) // 2]
    return _divided(text, places)


def items(text: str, language: str) -> list[str]:
    """Return the items of a row, such as a menu or a list within a line, or the text itself.

    language: code of the text's language

    >>> items("stay | go", "en"), items("a) stay, b) go", "en")
    (['stay', '|', 'go'], ['a) stay,', 'b) go'])
    """
    if label := _LABEL.match(text):
        return [label[0], text[label.end() :].strip()]
    covered = _covered(text)
    places = [match.end() for match in _SEPARATOR.finditer(covered)]
    several = len(_SLASH.findall(covered)) > 1
    slashes = _SLASH if several else _SLASH_BEFORE_CLAUSE
    for match in slashes.finditer(covered):
        places += [match.end(), match.end() + 1]
    places += _list_signs(text) + _after_dots(text, language)
    ends = [0, *sorted(set(places)), len(text)]
    return [text[start:end].strip() for start, end in pairwise(ends) if text[start:end].strip()]


def _list_signs(text: str) -> list[int]:
    """Return the places of the signs a), b) or (1), (2), if they are in order.

    The first may have been taken off already; then punctuation is before the second.
    """
    found = list(_LIST_SIGN.finditer(text))
    if len({match[1] for match in found}) != 1:
        return []
    signs = "".join(match[2] for match in found)
    whole = len(signs) > 1 and ("abcdefgh".startswith(signs) or "123456789".startswith(signs))
    rest = "bcdefgh".startswith(signs) or "23456789".startswith(signs)
    is_rest = rest and text[: found[0].start()].rstrip().endswith((";", ",", "."))
    return [match.start() for match in found] if whole or is_rest else []


def _after_dots(text: str, language: str) -> list[int]:
    """Return the places after dots where another clause begins: I like cats ... I like birds."""
    if "..." not in text or language not in _OPENERS:
        return []
    openers = rf"(?<![\w'’-])([\w'’-]+) \.{{3}} (?=(?:{_OPENERS[language]})\b(?!['’-]))"
    not_last = _NOT_LAST[language].split()
    return [
        match.end()
        for match in re.finditer(openers, text, re.IGNORECASE)
        if match[1].lower().replace("’", "'") not in not_last
    ]


def run_on_sentences(text: str, language: str, longest: int) -> list[str]:
    """Divide a text without punctuation where other sentences seem to begin, or not at all.

    longest: length in characters above which it is divided

    >>> run_on_sentences("we missed the train where is the bus stop", "en", 30)
    ['we missed the train', 'where is the bus stop']
    """
    if len(text) <= longest or _PUNCTUATION.search(text):
        return [text]
    places = _inside(text, _openings(_covered(text), language))
    if not places:
        return [text]
    halves = _divided(text, places)
    return [part for half in halves for part in run_on_sentences(half, language, longest)]


def _openings(text: str, language: str) -> Iterator[int]:
    """Yield the places before words with which a sentence may begin."""
    if language not in _OPENERS:
        return
    not_last = _NOT_LAST[language].split()
    for match in re.finditer(rf" (?=(?:{_OPENERS[language]})\b(?!['’-]))", text, re.IGNORECASE):
        before = _WORD_BEFORE.search(text, max(0, match.start() - 30), match.start())
        if before and before[0].lower().replace("’", "'") not in not_last:
            yield match.start()


def _inside(text: str, places: Iterable[int]) -> list[int]:
    """Return the places that are not close to an edge."""
    edge = len(text) // 5
    return [place for place in places if edge <= place < len(text) - edge]


def _divided(text: str, places: list[int]) -> list[str]:
    place = min(places, key=lambda each: abs(2 * each - len(text)))
    return [half for half in (text[:place].strip(), text[place:].strip()) if half]
