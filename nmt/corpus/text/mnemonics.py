"""Mnemonics: letters of menu items and buttons that the keyboard reaches.

They are marked by a sign: "&Save" (Qt, Windows), "_Save" (GTK), "~Save" (LibreOffice).
"""

import re

_LONGEST = 200  # characters of a text with a mnemonic
_MOST_WORDS = 3  # of a text in which _ or ~ marks a small letter at the start of a word
_DOUBLED = "&&"  # stands for the sign itself
_MARKED = re.compile(
    # At the start of a word, but not in an entity or a parameter of an address ...
    r"(?<![^\s(\[\"'“„«>])(?:&(?!\w+[;=])|[_~])(?=[^\W\d_])"
    # ... or within a word that begins with a capital, such as "E_xit", but not "Q&a".
    r"|(?<=[a-zäöüß])[&_](?=[a-zäöüß]+\b)|(?<=\b[A-ZÄÖÜ])[&_](?=[a-zäöüß]{2,}\b)"
)
_CAPITALIZED = re.compile(r"(?:^|.*[^\w])[A-ZÄÖÜ][a-zäöüß]*", re.DOTALL)
_WORD_START = re.compile(r"(?<!\w)[^\W_]")


def find_mnemonic(text: str) -> int | None:
    """Return the place of the sign that marks a letter; None if there are none, or several.

    >>> find_mnemonic("Save &As"), find_mnemonic("R&D"), find_mnemonic("E_xit")
    (5, None, 1)
    """
    if len(text) > _LONGEST:
        return None
    found = [
        match.start()
        for match in _MARKED.finditer(text.replace(_DOUBLED, "  "))
        if _is_mnemonic(text, match.start())
    ]
    if len(found) != 1 or text.replace(_DOUBLED, "").count(text[found[0]]) > 1:
        return None
    return found[0]


def _is_mnemonic(text: str, place: int) -> bool:
    if text[place - 1 : place].isalpha():
        return bool(_CAPITALIZED.fullmatch(text[:place]))
    # In sentences also an identifier, such as _timeout, or "about", as in ~ten.
    return text[place] == "&" or text[place + 1].isupper() or len(text.split()) <= _MOST_WORDS


def place_for_mnemonic(translation: str, letter: str) -> int | None:
    """Return where to mark a letter of a translation; None if nothing can or need be marked.

    Before a word with the same letter at its start, or else before the first word.

    >>> place_for_mnemonic("Datei sichern", "s"), place_for_mnemonic("Datei sichern", "f")
    (6, 0)
    """
    if find_mnemonic(translation) is not None:  # as in a translation memory
        return None
    starts = [match.start() for match in _WORD_START.finditer(translation)]
    same = [place for place in starts if translation[place].casefold() == letter.casefold()]
    return next(iter([*same, *starts]), None)
