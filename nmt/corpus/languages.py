"""Languages: three-letter codes (ISO 639-3; some corpora use them), names, and common words."""

from collections.abc import Sequence

_CODES = """
ar:ara bg:bul ca:cat cs:ces da:dan de:deu el:ell en:eng es:spa et:est eu:eus fa:fas fi:fin fr:fra
ga:gle gl:glg he:heb hi:hin hr:hrv hu:hun id:ind is:isl it:ita ja:jpn ko:kor lt:lit lv:lav mk:mkd
mt:mlt nb:nob nl:nld no:nor pl:pol pt:por ro:ron ru:rus sk:slk sl:slv sq:sqi sr:srp sv:swe th:tha
tr:tur uk:ukr ur:urd vi:vie zh:zho
"""
_THREE_LETTERS = {code[:2]: code[3:] for code in _CODES.split()}
_NAMES = {
    "de": ("german", "deutsch"),
    "en": ("english", "englisch"),
    "es": ("spanish",),
    "fr": ("french",),
    "it": ("italian",),
}

_FREQUENT = {  # no word is listed for more than one language
    "de": frozenset({"der", "das", "und", "ist", "nicht", "ich", "sie", "ein", "zu", "mit", "wir"}),
    "en": frozenset({"the", "of", "and", "to", "is", "you", "that", "it", "he", "this", "have"}),
    "es": frozenset({"el", "los", "las", "una", "y", "por", "con", "lo", "su"}),
    "fr": frozenset({"le", "les", "des", "une", "et", "est", "pas", "je", "vous", "dans", "qui"}),
}


def three_letters(code: str) -> str:
    """Return the three-letter code; unknown codes are returned unchanged."""
    return _THREE_LETTERS.get(code, code)


def column_names(code: str) -> set[str]:
    """Return possible names, in lower case, of a column in this language: its codes and names."""
    return {code, three_letters(code), *_NAMES.get(code, ())}


ALL_COLUMN_NAMES = frozenset(name for code in _NAMES for name in column_names(code))
"""Column names for the languages in `_NAMES`; codes of others may be words (`no`, `is`)."""


def seem_swapped(
    sources: Sequence[str], targets: Sequence[str], languages: tuple[str, str]
) -> bool:
    """Return whether each side has more common words of the other's language than of its own.

    languages: of the sources and the targets; False if either has no word list
    """
    if not set(languages) <= _FREQUENT.keys():
        return False
    (source, source_other), (target, target_other) = (
        [_count(lines, language) for language in languages] for lines in (sources, targets)
    )
    return source < source_other and target > target_other


def _count(lines: Sequence[str], language: str) -> int:
    words = _FREQUENT[language]
    return sum(word in words for line in lines for word in line.lower().split())
