"""What stands around a sentence and is not translated: list signs, brackets, quotation marks.

Needs only the standard library, because `nmt export` copies this file beside translate.py.
"""

import re
import unicodedata

from nmt.corpus.text.mnemonics import find_mnemonic
from nmt.corpus.text.placeholders import EMOJI, EMOTICON, KEYCAP, UNITS, has_text
from nmt.corpus.text.punctuation import DOUBLE, SINGLE, STOPS
from nmt.special_tokens import NUMBERS, PLACEHOLDERS

_BRACKETS = {"(": ")", "[": "]"}
LIST_SIGN = re.compile(
    r"^(?:(?:[-–—*•·▪●◦‣⁃※→►>#+|]{1,6}|\[(?:[ xX]|\d{1,3})?\]"
    r"|\(?(?:\d{1,3}\.?|[A-Za-z]|[ivxIVX]{1,4})\))\s+(?=\S)"
    r"|\d{1,2}(?:\.\d{1,2}){2,4}\.?\s+(?=[A-ZÄÖÜ])"
    r"|(?:[a-z]|[ivx]{2,5})\.\s+(?=[A-ZÄÖÜ])"  # a. The, iii. The
    r"|[A-Z]:\s+(?=\w)"  # of a speaker
    # Before other words, it may be an initial: A. Smith
    r"|[A-Z]\.\s+(?=(?:The|An?|It|This|These|There|He|She|We|They|You|My|Your|Our|All|Only|If|What|"
    r"Where|When|Which|Who|Why|How|Is|Are|Do|Does|Please|Der|Die|Das|Eine?|Es|Er|Sie|Wir|Ich|Alle|"
    r"Nur|Wenn|Was|Wo|Wann|Wer|Warum|Wie|Ist|Sind|Bitte)\b))"
)
# In German also an ordinal or a time: 3. Mai, 7.30 Uhr
_LIST_NUMBER = re.compile(
    r"\d{1,3}\.\s+(?=\S)|\d{1,2}\.\d{1,2}\s+(?=[A-Z])(?![MBT]\w*illion)"
    rf"(?!(?:{UNITS})(?!\w))"
)
# An emoji that is a word of the sentence: 👍 is great; but not 👍 is it?
_EMOJI_AS_WORD = re.compile(
    rf"(?:{EMOJI}\s)+(?:(?:and|or)\b|(?:are|has|have|is|means|was|were|will)\b"
    r"(?! (?:he|I|it|she|there|they|this|we|you)\b)[^?]*$)"
)
_ARROW = re.compile(r"(?:\s?[←-⇿➔-➾]+|\s[»›>]+|(?<=\w)›+|\s[-=]{1,2}>+)$")  # Read more→
_ARROW_BEFORE = re.compile(r"(?:[←-⇿➔-➾]+|[«‹<]+(?=\s)|<+[-=]{1,2}(?=\s))")
_REPEATED = re.compile(r"(?<=[^\s.…])\s*(?:\.{2,}|…)[.…!?]*$|(?<=[!?])[!?.…]+$|\s+(?:…|[.!?]{2,})$")
_LAUGH = r"(?i:lol|rofl|lmao|omg|xd|(?:ha){2,9}h?|(?:he){2,9}|(?:hi){2,9})"
_EMOTICON = re.compile(rf"\s+{EMOTICON}$|\s*{KEYCAP}$|(?<![\s,])[\s,]+{_LAUGH}$")
_EMOTICON_BEFORE = re.compile(rf"(?:{EMOTICON}|{KEYCAP})(?=\s)|{_LAUGH}[,.!]*(?=\s)")
_NOTE = re.compile(  # the number of a footnote, but not c²
    r"\s*(?:\[\d{1,3}\])+$|(?:(?<=[^\W\d_]{3})|(?<=[^\w\s]))[¹²³⁴-⁹]+$"
)
_CUT_OFF = re.compile(r"(?<![\s–—―-])\s*(?:-{2,}|[–—―]+)[.!?]*$|(?<=\S)\s-$")
_NEW_SPEAKER = re.compile(r"(?:-{1,2}|[–—―])(?=[\"“„‘'(¿¡]?[^\W\d_a-z])")  # not an option, --help
_BLANK = re.compile(r"\s*[._=~*-]{3,}$")  # a field to fill in
ESCAPES = re.compile(r"(?<=\S)(?:\\[nrt])+$")  # line feeds and tabs, as program text has them
_ESCAPES_BEFORE = re.compile(r"(?:\\[nrt])+(?![a-z])")
# Of mail, with the German form where it differs
_HEADERS = {
    **{"From": "Von", "To": "An", "Sent": "Gesendet", "Subject": "Betreff", "Date": "Datum"},
    **{"Attn": "z. Hd."},
    **{name: name for name in ("Re", "RE", "Fwd", "FWD", "FW", "Fw", "Cc", "CC", "Bcc", "BCC")},
}
_HEADER = re.compile(rf"({'|'.join(_HEADERS)}):\s+(?=\S)")
_HEADER_NAME = re.compile(rf"\b(?:{'|'.join(_HEADERS)})(?=:\s)")
_TAG = re.compile("<([A-Za-z]+)>")
_EMPHASIS = re.compile(r"\*{1,3}|_{1,3}|~~")
_MOST_STEPS = 20
_FEWEST_ENDED = 3  # words; shorter texts are often names or labels
_AUXILIARY = (
    r"(?:am|are|aren't|can|can't|could|did|didn't|do|does|doesn't|don't|had|has|have|is|isn't|may|"
    r"might|must|shall|should|was|wasn't|were|will|won't|would)\b"
)
# Not: What a day, Where to eat, How nice of you, When I was young, Have a nice day, Will Smith is
_ENGLISH_QUESTION = re.compile(
    r"(?:how|what|when|where|who)'s\b|(?:what|where)\b(?! (?:an?|to)\b)"
    rf"|(?:which|who|whose|why)\b(?! to\b)|(?:how|when) {_AUXILIARY}"
    r"|how (?:about|come|far|fast|long|many|much|often|old|soon)\b"
    rf"|(?!do\b|don't|had\b|have\b|may\b|will\b){_AUXILIARY}"
    r"|(?:do|don't|had|have|may|will) (?:he|I|it|she|that|the|there|these|they|this|we|you)\b",
    re.IGNORECASE,
)


def peel(text: str, languages: tuple[str, str]) -> tuple[str, str, str]:
    """Return what stands before a sentence, the sentence, and what stands after it.

    languages: codes of the text's language and of the target; only German has names for the
    headers of English mail

    >>> peel("- (Ben reads.)", ("en", "de"))
    ('- (', 'Ben reads.', ')')
    """
    start, end = 0, len(text)
    for _ in range(_MOST_STEPS):
        first, last = _step(text[start:end], languages)
        if not (first or last):
            break
        start, end = start + first, end - last
    inner = text[start:end]
    if not has_text(inner) and not _HEADER.match(text):
        return "", text, ""
    start += len(inner) - len(inner.lstrip())
    end -= len(inner) - len(inner.rstrip())
    return text[:start], text[start:end], text[end:]


def lacks_final_mark(text: str) -> bool:
    """Return whether a text of three words and more ends in a word, a number or a placeholder."""
    if len(text.split()) < _FEWEST_ENDED:
        return False
    return text[-1].isalnum() or text[-1] in PLACEHOLDERS + NUMBERS


def with_final_mark(text: str, language: str) -> str:
    """Return a text with the full stop or question mark that it lacks.

    >>> with_final_mark("where is the station", "en")
    'where is the station?'
    """
    if not lacks_final_mark(text):
        return text
    return text + ("?" if language == "en" and _ENGLISH_QUESTION.match(text) else ".")


def with_german_headers(before: str) -> str:
    """Return what stands before an English sentence with the German names of mail headers.

    >>> with_german_headers("From: ")
    'Von: '
    """
    return _HEADER_NAME.sub(lambda match: _HEADERS[match[0]], before)


def _step(text: str, languages: tuple[str, str]) -> tuple[int, int]:
    """Return how many characters at the start and at the end do not belong to the sentence."""
    before = len(text) - len(text.lstrip())
    after = len(text) - len(text.rstrip())
    if before or after or not text:
        return before, after
    sign = LIST_SIGN.match(text) or (languages[0] != "de" and _LIST_NUMBER.match(text))
    if sign := sign or _NEW_SPEAKER.match(text) or _EMOTICON_BEFORE.match(text):
        return sign.end(), 0
    if languages == ("en", "de") and (header := _HEADER.match(text)):
        return header.end(), 0
    if find_mnemonic(text) == 0:
        return 1, 0
    if found := _EMOTICON.search(text):
        return 0, len(text) - found.start()
    if languages[0] != "en" or not _EMOJI_AS_WORD.match(text):
        while before < len(text) and _is_symbol(text[before]):
            before += 1
    while after < len(text) - before and _is_symbol(text[-1 - after]) and text[-1 - after] != "…":
        after += 1
    if before or after:
        return before, after
    if found := _ARROW_BEFORE.match(text) or _ESCAPES_BEFORE.match(text):
        return found.end(), 0
    for pattern in (_ARROW, _REPEATED, _NOTE, _CUT_OFF, _BLANK, ESCAPES):
        if found := pattern.search(text):
            return 0, len(text) - found.start()
    return _around(text)


def _is_symbol(character: str) -> bool:
    return (
        unicodedata.category(character) == "So"
        or character in "\ufe0e\ufe0f\u200d\u20e3¿¡…|•"
        or "\U0001f3fb" <= character <= "\U0001f3ff"
        or "\U000e0020" <= character <= "\U000e007f"  # of a flag, as of England
    )


def _around(text: str) -> tuple[int, int]:
    """Return the lengths of the brackets or quotation marks around a text."""
    if tag := _TAG.match(text):
        closing = f"</{tag[1]}>"
        ends = text.endswith(closing) and text.count(closing) == 1
        return (tag.end(), len(closing)) if ends else (0, 0)
    first = text[0]
    body = text.rstrip(STOPS)  # of (Ben reads.). without the last full stop
    tail = len(text) - len(body)
    if first in _BRACKETS:
        partner = _partner(text)
        if partner is None:
            return 1, 0
        return (1, 1 + tail) if partner == len(body) - 1 else (0, 0)
    if found := _EMPHASIS.match(text):
        mark = found[0]
        if body.endswith(mark) and mark not in text[len(mark) : len(body) - len(mark)]:
            return len(mark), len(mark) + tail
        return (0, 0) if mark in text[len(mark) :] else (len(mark), 0)  # as before a footnote
    if body.endswith("*") and body.count("*") == 1:
        return 0, 1 + tail
    for quotes in (DOUBLE, SINGLE):
        if first in quotes:
            others = [i for i in range(1, len(text)) if text[i] in quotes and _quotes(text, i)]
            if not others:
                return (0, 0) if first in "'’" else (1, 0)
            return (1, 1 + tail) if others == [len(body) - 1] else (0, 0)
    if body:
        last = body[-1]
        if last in _BRACKETS.values():
            opening = next(o for o, c in _BRACKETS.items() if c == last)
            is_sign = re.search(r"\s[a-h]\)$", body)  # option b)
            if body.count(opening) < body.count(last) and not is_sign:
                return 0, 1 + tail
        if last in DOUBLE and sum(body.count(each) for each in DOUBLE) == 1:
            return 0, 0 if last in '"″' and body[-2:-1].isdigit() else 1 + tail
    return 0, 0


def _quotes(text: str, place: int) -> bool:
    """Return whether a mark is a quotation mark and not an apostrophe within a word."""
    if text[place] not in "'’":
        return True
    return not (text[place - 1].isalpha() and text[place + 1 : place + 2].isalpha())


def _partner(text: str) -> int | None:
    """Return the place of the bracket that closes the first one."""
    opening, closing, depth = text[0], _BRACKETS[text[0]], 0
    for place, character in enumerate(text):
        depth += (character == opening) - (character == closing)
        if not depth:
            return place
    return None
