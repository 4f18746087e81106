"""The forms of German nouns in Wiktionary, if the package `german-nouns` is installed.

Its dependencies are needed only to make its table: `pip install --no-deps german-nouns`.
"""

import csv
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

Number = Literal["singular", "plural"]


class NounTable:
    """Nouns with their forms.

    path: a table in CSV, sorted by its first column, `lemma`; of the other columns, those with the
    forms are named by case and number, such as `genitiv plural`, with a * if a form is rarer
    """

    def __init__(self, path: Path):
        self._path = path
        self._places: dict[bytes, int] = {}  # the place of each noun's first line in the file
        with path.open("rb") as file:
            place = len(header := file.readline())
            for line in file:
                self._places.setdefault(line[: line.find(b",")], place)
                place += len(line)
        [columns] = csv.reader([header.decode()])
        self._genders = [i for i, x in enumerate(columns) if x.partition(" ")[0] == "genus"]
        self._cases = [(i, x[0]) for i, x in enumerate(columns) if any(_number(x))]
        self._numbers: list[tuple[int, Number]] = sorted(
            ((i, name) for i, x in enumerate(columns) for name in _number(x)),
            key=lambda pair: columns[pair[0]].endswith("*"),
        )

    def __contains__(self, noun: str) -> bool:
        return noun.encode() in self._places

    def forms(self, noun: str, number: Number | None = None) -> list[str]:
        """Return the forms of a noun, the nominative first; number: only these."""
        return list(
            dict.fromkeys(
                row[i]
                for row in self._rows(noun.encode())
                for i, each in self._numbers
                if row[i] and number in (None, each)
            )
        )

    def features(self, noun: str, form: str) -> list[str]:
        """Return what a form of a noun may be: genders, or p for the plural, each with a case.

        These are the first letters of their names, the cases being nominative, accusative, dative
        and genitive.
        """
        numbers = dict(self._numbers)
        return list(
            dict.fromkeys(
                kind + case
                for row in self._rows(noun.encode())
                for i, case in self._cases
                if row[i] == form
                for kind in (
                    ["p"]
                    if numbers[i] == "plural"
                    else filter(None, (row[g] for g in self._genders))
                )
            )
        )

    def _rows(self, noun: bytes) -> Iterator[list[str]]:
        """Yield the lines of a noun; it may have several meanings with different forms."""
        if (place := self._places.get(noun)) is None:
            return
        with self._path.open("rb") as file:
            file.seek(place)
            while (line := file.readline()).startswith(noun + b","):
                yield from csv.reader([line.decode()])


def _number(column: str) -> Iterator[Number]:
    for number in ("singular", "plural"):
        if f" {number}" in column:
            yield number


@cache
def noun_table() -> NounTable | None:
    """Return the table of the package, read on first use; None if it is not installed."""
    package = find_spec("german_nouns")
    if not package or not package.submodule_search_locations:
        return None
    path = Path(package.submodule_search_locations[0]) / "nouns.csv"
    return NounTable(path) if path.is_file() else None
