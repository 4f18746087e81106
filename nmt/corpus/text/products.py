"""Names of products with their versions: Windows 11, iPhone 15 Pro, Ubuntu 22.04 LTS.

Needs only the standard library, because `nmt export` copies this file beside translate.py.
"""

import re
from collections.abc import Callable

from nmt.corpus.text.acronyms import FUNCTION_WORDS
from nmt.corpus.text.dates import ALL_MONTHS, DAYS

_INNER_CAPITAL = "(?!Mc)[A-Z]?[a-z]+[A-Z][A-Za-z]*"  # iPhone
SOFTWARE = "Windows|Android|Python|Java|PHP|Ubuntu|Debian|Linux|USB|HDMI|Bluetooth|Galaxy|Pixel"
_OFFICE = r"(?:Word|Excel|Outlook|Office)(?= (?:365|(?:19|20)\d\d)\b)"
_EDITION = r"(?: (?:Pro|Max|Plus|Mini|Air|Ultra|SE|LTS|PRO|MAX|PLUS)(?!\w))"
_COUNTED = r"times|years?|months?|weeks?|days?|hours?|minutes?|people|percent|million|[ap]\.?m"
_VERSION = (  # 11, 3.12, S24+, 16e
    r"(?: [A-Z]?\d+(?:\.\d+)*(?:[a-z]|\+)?"
    rf"(?![\w%€°/+-]|[.,:]\d| (?:[%€]|(?:{_COUNTED})\b)))"
)
PRODUCT = (  # iPad Pro, iPhone 15 Pro, Windows 11
    rf"(?<![\w.@#-])(?:{_INNER_CAPITAL}{_EDITION}+{_VERSION}?"
    rf"|(?:{_INNER_CAPITAL}|{SOFTWARE}|{_OFFICE}){_VERSION}{_EDITION}*)(?![\w-])"
)
_WITH_EDITION = rf"{_VERSION}{_EDITION}+"
_WITH_DOTS = rf"(?=( \d+(?:\.\d+)+)){_VERSION}(?! (?!(?:{FUNCTION_WORDS})\b)[a-z])"
_VERSION_OF = re.compile(rf"(?<![\w.-])([A-Z]\w+)(?:{_WITH_EDITION}|{_WITH_DOTS})")
# What has numbers of parts
_REFERENCES = frozenset(
    (
        *("Appendix", "Article", "Chapter", "Exercise", "Figure", "Page", "Part", "Section"),
        *("Table", "Version", *DAYS, *ALL_MONTHS),
    )
)


def hide_versions(
    text: str, language: str, is_known: Callable[[str], bool], hide: Callable[[str], str]
) -> str:
    """Replace a name and its version with what `hide` returns, or a model may divide them.

    These are unknown names, and before a version with dots also other words with a capital
    within an English sentence.

    language: the text's code; is_known: whether training has a word, in lower case
    """

    def replacement(match: re.Match[str]) -> str:
        word, has_dots = match[1], match[2]
        if has_dots and (word in _REFERENCES or (word.isupper() and len(word) == 3)):
            return match[0]  # EUR 3.50
        if has_dots and re.fullmatch(r" \d{1,2}\.\d\d", has_dots):
            return match[0]  # Tom 3.50, Berlin 10.15
        within = re.search(r"[a-z,] $", text[max(0, match.start() - 2) : match.start()])
        is_name = not is_known(word.lower()) or (has_dots and language == "en" and within)
        return hide(match[0]) if is_name else match[0]

    return _VERSION_OF.sub(replacement, text)
