"""Three-letter language codes (ISO 639-3), which some corpora use."""

_CODES = """
ar:ara bg:bul ca:cat cs:ces da:dan de:deu el:ell en:eng es:spa et:est eu:eus fa:fas fi:fin fr:fra
ga:gle gl:glg he:heb hi:hin hr:hrv hu:hun id:ind is:isl it:ita ja:jpn ko:kor lt:lit lv:lav mk:mkd
mt:mlt nb:nob nl:nld no:nor pl:pol pt:por ro:ron ru:rus sk:slk sl:slv sq:sqi sr:srp sv:swe th:tha
tr:tur uk:ukr ur:urd vi:vie zh:zho
"""
_THREE_LETTERS = {code[:2]: code[3:] for code in _CODES.split()}


def three_letters(code: str) -> str:
    """Return the three-letter code; unknown codes are returned unchanged."""
    return _THREE_LETTERS.get(code, code)
