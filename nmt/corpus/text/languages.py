"""Languages: codes of two letters and of three (some corpora use them), names, common words."""

from collections.abc import Sequence

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

_FREQUENT = {  # no word is listed for more than one language
    "de": frozenset({"der", "das", "und", "ist", "nicht", "ich", "sie", "ein", "zu", "mit", "wir"}),
    "en": frozenset({"the", "of", "and", "to", "is", "you", "that", "it", "he", "this", "have"}),
    "es": frozenset({"el", "los", "las", "una", "y", "por", "con", "lo", "su"}),
    "fr": frozenset({"le", "les", "des", "une", "et", "est", "pas", "je", "vous", "dans", "qui"}),
}
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


def writes_no_spaces(code: str) -> bool:
    """Return whether the language puts no spaces between words, as Chinese and Japanese."""
    return two_letters(code.replace("_", "-").partition("-")[0].lower()) in _WITHOUT_SPACES


def column_names(code: str) -> set[str]:
    """Return possible names, in lower case, of a column in this language: its codes and names."""
    short = two_letters(code)
    return {short, three_letters(short), *_COLUMN_NAMES.get(short, ())}


ALL_COLUMN_NAMES = frozenset(name for code in _COLUMN_NAMES for name in column_names(code))
"""Column names for the languages in `_COLUMN_NAMES`; codes of others may be words (`no`, `is`)."""


def seem_swapped(
    sources: Sequence[str], targets: Sequence[str], languages: tuple[str, str]
) -> bool:
    """Return whether each side has more common words of the other's language than of its own.

    languages: of the sources and the targets; see `seem_to_be_in`
    """
    source, target = languages
    return seem_to_be_in(target, sources, source) and seem_to_be_in(source, targets, target)


def seem_to_be_in(language: str, lines: Sequence[str], other: str) -> bool:
    """Return whether the lines have more common words of one language than of another.

    False if either language has no word list
    """
    codes = [two_letters(code) for code in (language, other)]
    if not set(codes) <= _FREQUENT.keys():
        return False
    words = [word for line in lines for word in line.lower().split()]
    own, others = (sum(word in _FREQUENT[code] for word in words) for code in codes)
    return own > others
