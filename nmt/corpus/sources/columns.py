"""Which two columns of a tab-separated file hold the sentences."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from nmt.config.languages import ALL_COLUMN_NAMES, column_names, common_words, seem_to_be_in

SIDE_NAMES = (frozenset({"source", "src"}), frozenset({"target", "tgt"}))
"""Possible names, in lower case, of the source and target columns."""
_NAMES = ALL_COLUMN_NAMES.union(*SIDE_NAMES)
_NO_TEXT = re.compile(r"(?:https?://|www\.)\S+|\S*[\w.]@\S+|\S*\d\S*|[A-Za-z_./-]+\.\w{2,4}")
_MOSTLY = 0.7  # of the rows
_REPEATED = 0.1  # of the rows, such as the headers of files that were joined


@dataclass(frozen=True)
class Columns:
    """The places of both sides among the fields of a line."""

    first: int = 0
    second: int = 1
    named: bool = False
    """Whether line 1 holds the names of the columns."""
    width: int = 2
    """The usual number of fields."""

    @property
    def are_first(self) -> bool:
        """Whether they are the first two, as usual."""
        return (self.first, self.second) == (0, 1)


def find_columns(
    rows: Sequence[Sequence[str]], languages: tuple[str, str], sides: Sequence[frozenset[str]]
) -> Columns | None:
    """Return the columns of the two languages; None if there are others, but it is unclear which.

    rows: the first of the file; sides: further names of the two columns
    """
    width = Counter(map(len, rows)).most_common(1)[0][0] if rows else 2
    if width < 3:
        return Columns(width=width)
    names = names_in(rows[0])
    known = [column_names(each) | side for each, side in zip(languages, sides, strict=True)]
    if places := find_names(names, known):
        first, second = places
        pairs = [(row[first], row[second]) for row in rows if len(row) > max(first, second)]
        if has_header(pairs, known):
            return Columns(first, second, True, width)
    columns = list(zip(*(row for row in rows if len(row) == width), strict=True))
    is_text = [_is_text(column) and not _are_codes(column, known) for column in columns]
    texts = [i for i, each in enumerate(is_text) if each]
    if len(texts) > 2:
        texts = _by_language(columns, texts, languages) or texts
    if len(texts) > 2 and texts[:2] != [0, 1]:
        return None
    return Columns(texts[0], texts[1], False, width) if len(texts) > 1 else None


def has_header(rows: Sequence[Sequence[str]], known: Iterable[Collection[str]] = ()) -> bool:
    """Return whether the first two fields of line 1 name languages or sides, as most others do not.

    Codes of languages beside the sentences are in many lines, unlike the names of columns.

    known: further names
    """
    first, *others = (names_in(row[:2]) for row in rows)
    names = _NAMES.union(*known)
    is_rare = others.count(first) <= _REPEATED * len(others)
    return len(set(first)) == 2 and names.issuperset(first) and is_rare


def find_names(names: Sequence[str], known: Sequence[Collection[str]]) -> tuple[int, int] | None:
    """Return the places of the two columns; None unless each is named once.

    known: possible names of the first and of the second
    """
    first, second = ([i for i, name in enumerate(names) if name in its] for its in known)
    if len(first) == len(second) == 1 and first != second:
        return first[0], second[0]
    return None


def names_in(fields: Sequence[str]) -> list[str]:
    """Return fields in the form of the names of columns: in lower case, without quotes."""
    return [field.strip().strip('"').lower() for field in fields]


def _are_codes(column: Sequence[str], known: Iterable[Collection[str]]) -> bool:
    """Return whether most fields below line 1 are codes or names of languages, or of sides."""
    names, fields = _NAMES.union(*known), names_in(column[1:])
    return bool(fields) and sum(field in names for field in fields) >= _MOSTLY * len(fields)


def _is_text(column: Sequence[str]) -> bool:
    """Return whether most fields are text: not numbers, addresses, or always the same."""
    fields = [field.strip() for field in column if field.strip()]
    text = [field for field in fields if any(map(str.isalpha, field))]
    text = [field for field in text if not _NO_TEXT.fullmatch(field)]
    same = len(set(fields)) == 1 and len(fields) > 2
    return bool(fields) and len(text) >= _MOSTLY * len(fields) and not same


def _by_language(
    columns: Sequence[Sequence[str]], texts: list[int], languages: tuple[str, str]
) -> list[int]:
    """Return the column of each language, or nothing if there is not exactly one."""
    first, second = languages
    words = {i: common_words(columns[i]) for i in texts}
    own = [i for i in texts if seem_to_be_in(first, words[i], second)]
    other = [i for i in texts if seem_to_be_in(second, words[i], first)]
    return [*own, *other] if len(own) == len(other) == 1 else []
