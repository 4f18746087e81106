"""Acronyms that are ordinary words in small letters: US, IT, WHO.

Needs only the standard library, because `nmt export` copies this file beside translate.py.
"""

import re
from collections.abc import Callable

# The full names of what is an ordinary word in small letters, alone and before a noun
_FULL_NAMES = {
    **dict.fromkeys(("US", "USA"), ("USA", "American")),
    **{"UK": ("United Kingdom", "British"), "UN": ("United Nations", "United Nations")},
}
_KEPT = ("IT", "WHO", "AIDS", "PIN", "RAM", "SIM")
_ACRONYM = re.compile(rf"(?<![\w'’/&-])(?:{'|'.join((*_FULL_NAMES, *_KEPT))})(?![\w’/&-]|'\w)")
ABBREVIATION = re.compile(
    r"\w|[^AEIOUYÄÖÜ]+|A[ADI]|(?<!\bI )AM|A[BK]C|ATM|CEO|EU|FAQ|I[DPQT]|LED|OK|PIN|RAM|SIM|SOS|SUV|"
    r"U[KNS]|USA|USB|UFO|VAT|WHO"
)
"""Matches abbreviations in capitals, not words such as NO or NEW; AM is a word in I AM."""
FUNCTION_WORDS = (
    "also|and|are|as|at|because|but|by|can|could|did|do|does|for|from|had|has|have|if|in|is|may|"
    "might|must|nor|not|of|on|or|should|since|so|than|that|the|to|under|until|vs|was|were|when|"
    "where|which|while|who|will|with|would"
)
# After US and UK; none of them is a verb, as works is in "the US works". Others remain a country's
# name, since adverbs and prepositions follow it more often: in the US now, in the US during the war
_NOUNS = (
    "air|ambassador|armed|army|bank|border|budget|businesses|cit(?:y|ies)|citizens?|"
    "compan(?:y|ies)|congress|court|customs|dollars?|econom(?:y|ic)|elections?|embassy|federal|"
    "firm|flag|foreign|government|history|laws?|market|military|navy|officials?|parliament|"
    "passports?|police|policy|politicians?|politics|pounds?|presidents?|presidential|prime|prison|"
    "products?|senate|senators?|soldiers?|supreme|tax|team|territory|treasury|troops|visas?"
)
_BEFORE_NOUN = re.compile(rf" (?i:{_NOUNS})(?![\w'’-])")
_BEFORE_LIKELY_NOUN = re.compile(
    r" [A-Za-z]{3,}(?:ation|ency|ism|ity|ment|ness|ship|[st]ion)(?![\w'’-])"
)
_BEFORE_WORD = re.compile(rf" (?!(?:{FUNCTION_WORDS}|[a-z]+ly)\b)[A-Za-z]{{3}}")
_DETERMINER = re.compile(r"\b(?i:her|his|its|my|our|that|the|their|this|your) $")
_DETERMINER_OF_NO_COUNTRY = re.compile(r"\b(?i:an?|another|each|every|many|several|these|those) $")
_ARTICLE = re.compile(r"\b([Aa])(?= American\b)")
_SHOUTED = re.compile(r"\b(?:[A-Z]{4,}|ALL|AND|ARE|HER|HIM|ME|MY|NO|NOT|NOW|THE|TO|YOU)\b")

# WHO did it; I know WHO won; You and WHO else
_ASKS = re.compile(
    r" (?:are|can|could|did|do|does|else|had|has|have|is|should|was|were|will|would)\b"
)
_BEFORE_QUESTION = re.compile(
    r"\b(?i:ask|guess|idea|knew|know|knows|me|remember|say|see|sure|tell|wonder)\s$"
)
_BEFORE_OBJECT = re.compile(  # Give US the money; Do IT now
    r"(?:\b(?i:ask|asked|believe|bring|brought|call|called|did|do|follow|gave|get|give|gives|got|hate|"
    r"have|hear|heard|help|helped|is|join|knew|know|let|like|liked|love|loved|made|make|need|please|"
    r"save|saw|say|see|send|sent|show|showed|take|tell|told|took|trust|want|wanted|was|watch)|['’]s)\s$"
)
_AFTER_OBJECT = re.compile(
    r" (?:a|again|all|alone|always|an|another|any\w*|back|her|here|his|how|just|more|my|now|one|"
    r"our|out|please|some\w*|their|there|these|this|those|today|too|two|what|why|your)\b"
)


def _is_emphasis(text: str, match: re.Match[str]) -> bool:
    """Return whether a word is who, us, or it in capitals: Give US the money!"""
    before, end = text[max(0, match.start() - 12) : match.start()], match.end()
    if match[0] == "WHO" and not before.lower().endswith("the "):
        return bool(_ASKS.match(text, end) or _BEFORE_QUESTION.search(before))
    if match[0] not in ("US", "IT") or not _BEFORE_OBJECT.search(before):
        return False
    return not _BEFORE_WORD.match(text, end) or bool(_AFTER_OBJECT.match(text, end))


def with_acronyms(text: str, is_known: Callable[[str], bool], hide: Callable[[str], str]) -> str:
    """Return an English text in which US, IT and others are read as names.

    A model reads small letters, in which they are us and it. They stay where other known words
    are in capitals: emphasis.

    is_known: whether training has a word, in lower case; hide: returns a placeholder for a word
    """
    if _ACRONYM.fullmatch(text):  # a cell or a line
        name = _FULL_NAMES.get(text, ("",))[0]
        return name if name.isupper() and is_known(name.lower()) else hide(text)
    if text.isupper() or not _ACRONYM.search(text):
        return text
    if any(
        is_known(word.lower()) and not _ACRONYM.fullmatch(word) for word in _SHOUTED.findall(text)
    ):
        return text

    def replacement(match: re.Match[str]) -> str:
        if _is_emphasis(text, match):
            return match[0]
        names = _FULL_NAMES.get(match[0])
        name = names[_is_adjective(text, match)] if names else ""
        words = name.lower().split()
        return name if words and all(map(is_known, words)) else hide(match[0])

    return _ARTICLE.sub(r"\1n", _ACRONYM.sub(replacement, text))


def _is_adjective(text: str, match: re.Match[str]) -> bool:
    """Return whether US stands before its noun: the US president, not the US wants, the US now."""
    before = text[max(0, match.start() - 8) : match.start()]
    return bool(
        _BEFORE_NOUN.match(text, match.end())
        or (_DETERMINER.search(before) and _BEFORE_LIKELY_NOUN.match(text, match.end()))
        or (_DETERMINER_OF_NO_COUNTRY.search(before) and _BEFORE_WORD.match(text, match.end()))
    )
