"""Dates and times in English text, in the form that training has.

"7pm" is read as "7 p.m.", "Mon-Fri" as "Monday to Friday", "June 3-7, 2025" as "3-7 June 2025".
Needs only the standard library, because `nmt export` copies this file beside translate.py.
"""

import re
from collections.abc import Callable, Iterable

MONTHS = (
    *("January", "February", "March", "April", "June", "July", "August"),
    *("September", "October", "November", "December"),
)
"""Without May, which is a word, too."""
ALL_MONTHS = (*MONTHS, "May")
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SHORT_MONTHS = {name[:3]: name for name in MONTHS} | {"Sept": "September"}
_SHORT_DAYS = {name[:3]: name for name in DAYS} | {
    **{"Tues": "Tuesday", "Thur": "Thursday", "Thurs": "Thursday"}
}
_SHORT_NAMES = _SHORT_MONTHS | _SHORT_DAYS
DAY_ABBREVIATIONS = tuple(_SHORT_DAYS)


def _any_of(names: dict[str, str]) -> str:
    return "|".join(sorted(names, key=len, reverse=True))


_HALF_OF_DAY = re.compile(r"(?<=\d)\s?([ap])\.?\s?m\b(?!(?<=\sam)\s+I\b)\.?", re.IGNORECASE)
_TO = r"\s?[–-]\s?"
_TIME_TO = re.compile(rf"(?<=m\.){_TO}(?=\d)")
_BETWEEN = re.compile(rf"(\b[Bb]etween [$€£]?\d[\d.,:]*(?: [ap]\.m\.)?){_TO}(?=[$€£]?\d)")
_BEFORE_DAY = "|".join(
    rf"(?<=\b{word} )"
    for word in (
        *("by", "except", "from", "is", "last", "next", "not", "on", "On", "since", "this"),
        *("till", "until", "Until", "was", "every", "Every"),
    )
)
_SHORT_NAME = re.compile(
    rf"\b({_any_of(_SHORT_NAMES)})\.(?=,?\s(?:\d|[a-z]))|\b({_any_of(_SHORT_DAYS)})(?=,?\s\d{{1,2}}\b)"
    # Jan saw it 3 times; I met Jan 2 years ago
    rf"|\b(?!Jan\s\d+ (?!(?:has|is|was)\b)[a-z]+s\b)({_any_of(_SHORT_MONTHS)})(?=\s\d{{1,2}}\b)"
    rf"|(?<=\d\s)({_any_of(_SHORT_MONTHS)})\b(?:\.(?=\s\S))?"
    rf"|(?<!\b[Tt]he )\b({_any_of(_SHORT_DAYS)})(?:\.(?=[,;)]|\s?[–/-])|(?=\.$))"  # Mon to Fri.
    rf"|\A({_any_of(_SHORT_DAYS)})\Z"
    rf"|(?:{_BEFORE_DAY})({_any_of(_SHORT_DAYS)})\b(?![.’'-]| [A-Z])"
)
_WHOLE_DAYS = {name: name for name in DAYS} | _SHORT_DAYS
_DAYS_FROM_TO = re.compile(rf"\b({_any_of(_WHOLE_DAYS)})\.?{_TO}({_any_of(_WHOLE_DAYS)})\b\.?(?!-)")
_DAYS_IN_ROW = re.compile(  # Fri, Sat or Sun; Tue/Thu
    rf"\b(?:{_any_of(_WHOLE_DAYS)})\b"
    rf"(?:(?:\.?,? (?:and|or|&) |\.?, |\.? ?/ ?)(?:{_any_of(_WHOLE_DAYS)})\b(?!['’]))+"
)
_DAY_NAME = re.compile(rf"\b({_any_of(_SHORT_DAYS)})\b(?:\.(?!$))?")
_MONTH_NAME = rf"({'|'.join(ALL_MONTHS)})"
_LETTERS = "dhnrst"
_DAY_OF_MONTH = r"\d{1,2}(?:st|nd|rd|th)?"
_DATE_TO_DATE = re.compile(
    rf"\b{_MONTH_NAME} ({_DAY_OF_MONTH}){_TO}{_MONTH_NAME} ({_DAY_OF_MONTH})\b(?:, (?=\d{{4}}\b))?"
)
_MONTH_FIRST = re.compile(  # March 3, 2025; June 3-7
    rf"\b{_MONTH_NAME} ({_DAY_OF_MONTH})(?:{_TO}({_DAY_OF_MONTH}))?\b(?:,? ((?:1[5-9]|20)\d\d)\b)?"
    r"(?![:–-]?\d)"
)
# Rather than before a noun: In May 10-12 people came
_AFTER_DATES = re.compile(
    r"\s?(?:[^\w\s]|$)| (?:[A-Z]|(?:a|after|and|are|as|at|because|before|but|by|during|each|every|"
    r"for|from|he|her|his|if|in|is|it|my|of|on|or|our|she|so|the|their|there|they|this|to|until|was|"
    r"we|were|when|while|will|with|you|your)\b)"
)


def spell_out_dates(text: str, is_known: Callable[[str], bool]) -> str:
    """Return an English text with its dates and times in full, as far as training has the words.

    is_known: whether training has a word, in lower case
    """

    def days(match: re.Match[str]) -> str:
        names = _WHOLE_DAYS[match[1]], _WHOLE_DAYS[match[2]]
        return " to ".join(names) if _all_known(names, is_known) else match[0]

    def date(match: re.Match[str]) -> str:
        name = _SHORT_NAMES[next(filter(None, match.groups()))]
        return name if _all_known([name], is_known) else match[0]

    has_dots = is_known("p") and is_known("m") and not is_known("pm")
    end = ".m." if has_dots else "m"
    text = _HALF_OF_DAY.sub(lambda half: f" {half[1].lower()}{end}", text)
    text = _TIME_TO.sub(" to ", _BETWEEN.sub(r"\1 and ", text))
    text = _DAYS_IN_ROW.sub(
        lambda row: _DAY_NAME.sub(date, row[0]).replace(" & ", " and "),
        _DAYS_FROM_TO.sub(days, text),
    )
    text = _SHORT_NAME.sub(date, text)
    return _MONTH_FIRST.sub(_day_first, _DATE_TO_DATE.sub(_ranges, text))


def _all_known(names: Iterable[str], is_known: Callable[[str], bool]) -> bool:
    return all(is_known(name.lower()) for name in names)


def _ranges(match: re.Match[str]) -> str:
    year_follows = match[0].endswith(" ")
    return f"{match[2]} {match[1]} - {match[4]} {match[3]}" + " " * year_follows


def _day_first(match: re.Match[str]) -> str:
    """Return an American date with the day first, if it is one: not "In May 10 people came"."""
    month, day, until, year = match.groups()
    if not year and not _AFTER_DATES.match(match.string, match.end()):
        return match[0]
    days = f"{day.rstrip(_LETTERS)}-{until.rstrip(_LETTERS)}" if until else day
    time_follows = re.match(r" \d\d?:\d\d", match.string[match.end() :])
    return " ".join(filter(None, (days, month, year))) + "," * bool(time_follows)
