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
_SHORT_NAME = re.compile(
    rf"\b({_any_of(_SHORT_NAMES)})"
    r"(?:\.(?=,?\s(?:\d|[a-z]))|(?=\s\d{1,2}\b|,\s\d{1,2}\b(?!,)))"  # Jan, 30, is a name
    rf"|(?<=\d\s)({_any_of(_SHORT_MONTHS)})\b(?:\.(?=\s\S))?"
    rf"|(?<!\b[Tt]he )\b({_any_of(_SHORT_DAYS)})(?:\.(?=[,;)]|\s?[–/-])|(?=\.$))"  # Mon to Fri.
    r"|\A(Mon|Tue|Wed|Thu|Fri)\Z"
)
_WHOLE_DAYS = {name: name for name in DAYS} | _SHORT_DAYS
_DAYS_FROM_TO = re.compile(rf"\b({_any_of(_WHOLE_DAYS)})\.?{_TO}({_any_of(_WHOLE_DAYS)})\b\.?(?!-)")
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
    text = _SHORT_NAME.sub(date, _DAYS_FROM_TO.sub(days, text))
    return _MONTH_FIRST.sub(_day_first, _DATE_TO_DATE.sub(_ranges, text))


def _all_known(names: Iterable[str], is_known: Callable[[str], bool]) -> bool:
    return all(is_known(name.lower()) for name in names)


def _ranges(match: re.Match[str]) -> str:
    year_follows = match[0].endswith(" ")
    return f"{match[2]} {match[1]} - {match[4]} {match[3]}" + " " * year_follows


def _day_first(match: re.Match[str]) -> str:
    """Return an American date with the day first, if it has a year or is a range."""
    month, day, until, year = match.groups()
    if not until and not year:
        return match[0]
    days = f"{day.rstrip(_LETTERS)}-{until.rstrip(_LETTERS)}" if until else day
    time_follows = re.match(r" \d\d?:\d\d", match.string[match.end() :])
    return " ".join(filter(None, (days, month, year))) + "," * bool(time_follows)
