"""Languages: codes of two letters and of three (some corpora use them), names, common words."""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

_CODES = """
af:afr am:amh ar:ara az:aze be:bel bg:bul bn:ben bs:bos ca:cat cs:ces cy:cym da:dan de:deu el:ell
en:eng eo:epo es:spa et:est eu:eus fa:fas fi:fin fr:fra ga:gle gl:glg gu:guj he:heb hi:hin hr:hrv
hu:hun hy:hye id:ind is:isl it:ita ja:jpn ka:kat kk:kaz km:khm kn:kan ko:kor la:lat lb:ltz lo:lao
lt:lit lv:lav mk:mkd ml:mal mn:mon mr:mar ms:msa mt:mlt my:mya nb:nob ne:nep nl:nld nn:nno no:nor
pa:pan pl:pol ps:pus pt:por ro:ron ru:rus si:sin sk:slk sl:slv so:som sq:sqi sr:srp sv:swe sw:swa
ta:tam te:tel tg:tgk th:tha tk:tuk tl:tgl tr:tur uk:ukr ur:urd uz:uzb vi:vie zh:zho zu:zul
"""
_THREE_LETTERS = {code[:2]: code[3:] for code in _CODES.split()}
_TWO_LETTERS = {three: two for two, three in _THREE_LETTERS.items()}
_TWO_LETTERS["cmn"] = "zh"  # Mandarin, as OPUS-MT and Tatoeba name Chinese
_BIBLIOGRAPHIC = """
alb:sq arm:hy baq:eu bur:my chi:zh cze:cs dut:nl fre:fr geo:ka ger:de gre:el ice:is mac:mk may:ms
per:fa rum:ro slo:sk wel:cy
"""
_TWO_LETTERS |= {code[:3]: code[4:] for code in _BIBLIOGRAPHIC.split()}  # ISO 639-2/B
_NAMES = {
    **{"ar": "Arabic", "bg": "Bulgarian", "cs": "Czech", "da": "Danish", "de": "German"},
    **{"el": "Greek", "en": "English", "es": "Spanish", "et": "Estonian", "fa": "Persian"},
    **{"fi": "Finnish", "fr": "French", "ga": "Irish", "he": "Hebrew", "hi": "Hindi"},
    **{"hr": "Croatian", "hu": "Hungarian", "id": "Indonesian", "is": "Icelandic"},
    **{"it": "Italian", "ko": "Korean", "lt": "Lithuanian", "lv": "Latvian", "nl": "Dutch"},
    **{"no": "Norwegian", "pl": "Polish", "pt": "Portuguese", "ro": "Romanian"},
    **{"ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish"},
    **{"tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese"},
}
_WITHOUT_SPACES = {"bo", "dz", "ja", "km", "lo", "my", "th", "yue", "zh"}
_COLUMN_NAMES = {
    "de": ("german", "deutsch"),
    "en": ("english", "englisch"),
    "es": ("spanish",),
    "fr": ("french",),
    "it": ("italian",),
}

_BY_NAME = {
    **{name.lower(): code for code, name in _NAMES.items()},
    **{name: code for code, names in _COLUMN_NAMES.items() for name in names},
    **{"español": "es", "français": "fr", "italiano": "it"},
}
_REGION = re.compile("[-_]")

_FREQUENT = {  # no word is listed for more than one language
    "de": frozenset({"der", "das", "und", "ist", "nicht", "ich", "sie", "ein", "zu", "mit", "wir"}),
    "en": frozenset({"the", "of", "and", "to", "is", "you", "that", "it", "he", "this", "have"}),
    "es": frozenset({"el", "los", "las", "una", "y", "por", "con", "lo", "su"}),
    "fr": frozenset({"le", "les", "une", "et", "est", "pas", "je", "vous", "dans", "qui"}),
}
_LANGUAGE_OF = {word: code for code, words in _FREQUENT.items() for word in words}
LISTED = tuple(_FREQUENT)
"""The languages that `seem_to_be_in` can tell apart."""


def language_name(code: str) -> str:
    """Return a language's English name, or its code."""
    return _NAMES.get(code, code)


def three_letters(code: str) -> str:
    """Return the three-letter code; unknown codes are returned unchanged."""
    return _THREE_LETTERS.get(code, code)


def two_letters(code: str) -> str:
    """Return the two-letter code (ISO 639-1); unknown codes are returned unchanged."""
    return _TWO_LETTERS.get(code, code)


def base_language(name: str) -> str:
    """Return the two-letter code of a language by any code or name, in any case.

    Without the region; what is no known code or name is returned in lower case.

    >>> [base_language(name) for name in ("EN_us", "de-AT", "ger", "English", "xy")]
    ['en', 'de', 'de', 'en', 'xy']
    """
    base = _REGION.split(name.strip().lower())[0]
    return _BY_NAME.get(base) or two_letters(base)


def is_code(text: str) -> bool:
    """Return whether this is the code of a known language, with or without a region."""
    return two_letters(_REGION.split(text.strip().lower())[0]) in _THREE_LETTERS


def writes_no_spaces(code: str) -> bool:
    """Return whether the language puts no spaces between words, as Chinese and Japanese."""
    return base_language(code) in _WITHOUT_SPACES


def codes(code: str) -> tuple[str, ...]:
    """Return the codes of two and of three letters of a language, as names of files have them."""
    short = two_letters(code)
    return short, three_letters(short)


def column_names(code: str) -> set[str]:
    """Return possible names, in lower case, of a column in this language: its codes and names."""
    return {*codes(code), *_COLUMN_NAMES.get(two_letters(code), ())}


ALL_COLUMN_NAMES = frozenset(name for code in _COLUMN_NAMES for name in column_names(code))
"""Column names for the languages in `_COLUMN_NAMES`; codes of others may be words (`no`, `is`)."""


def common_words(lines: Iterable[str]) -> Counter[str]:
    """Count the common words of each language in `LISTED`."""
    words = "\n".join(lines).lower().split()
    return Counter(filter(None, map(_LANGUAGE_OF.get, words)))


def seem_swapped(
    sources: Mapping[str, int], targets: Mapping[str, int], languages: tuple[str, str]
) -> bool:
    """Return whether each side has more common words of the other's language than of its own.

    sources, targets: their `common_words`; languages: theirs; see `seem_to_be_in`
    """
    source, target = languages
    return seem_to_be_in(target, sources, source) and seem_to_be_in(source, targets, target)


def seem_to_be_in(language: str, words: Mapping[str, int], other: str, share: float = 0.5) -> bool:
    """Return whether more than a share of the common words of two languages are of the first.

    words: the `common_words` of a text. False if either language has no word list
    """
    language, other = two_letters(language), two_letters(other)
    count, rest = words.get(language, 0), words.get(other, 0)
    return {language, other} <= _FREQUENT.keys() and count > share * (count + rest)
