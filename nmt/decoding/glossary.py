"""Glossaries: terms of the source that have prescribed translations.

A term is found in any of its inflected forms, and its translation may be written in any of its own.
"""

import csv
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import chain, islice, pairwise
from pathlib import Path

from nmt.config.languages import base_language, column_names, is_code, two_letters
from nmt.corpus.sources.columns import SIDE_NAMES, find_names
from nmt.corpus.sources.readers import read_lines
from nmt.decoding.inflection import (
    english_forms,
    english_lemma,
    english_number,
    german_forms,
    separated_forms,
)
from nmt.decoding.noun_table import Number
from nmt.errors import UserError
from nmt.files.xml_files import read_xml

_TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
_KEEP = "="
_FORBIDDEN = "!"
# What makes a noun in the singular a single thing; without it, as in "they give advice", German may
# have the plural.
_DETERMINERS = frozenset(
    {
        *("a", "an", "the", "this", "that", "my", "your", "his", "her", "its", "our", "their"),
        *("whose", "each", "every", "one", "another", "either"),
    }
)
_GENITIVE = (("'", "s"), ("’", "s"))  # as in "Anna's bill"
# The last word of verbs such as "log in", of which the first word is inflected.
_PARTICLES = frozenset(
    {
        *("about", "across", "after", "along", "apart", "around", "aside", "away", "back", "by"),
        *("down", "for", "forward", "in", "into", "off", "on", "out", "over", "through", "to"),
        *("together", "up", "with"),
    }
)
_SAMPLE = 20  # lines that show how the cells are separated
_NEAR = 3  # words between which a determiner and its noun may stand
_WITHOUT_UMLAUTS = str.maketrans("äöü", "aou")
_SAME_LETTERS = 3  # with which the forms of a word begin
_STATUS = "administrativeStatus"  # in TBX, of a term
_OBSOLETE = ("deprecated", "superseded")  # how such a status begins
_MOST_TERMS = 1_000_000
_LONGEST = 200  # characters of a term


@dataclass(frozen=True)
class Term:
    """An entry: a source term, and the forms of its translation."""

    source: str
    targets: tuple[str, ...]
    keep: bool = False
    """Whether the source term is kept, as it is written in the text."""
    forbidden: tuple[str, ...] = ()
    """Translations that must not be written; if there are no targets, any other will do."""

    def __str__(self) -> str:
        forbidden = (f"not {word}" for word in self.forbidden)
        return f"{self.source} → {', '.join([*self.targets[:1], *forbidden])}"


@dataclass(frozen=True)
class Match:
    """A term in a text."""

    term: Term
    text: str
    """The term as written there."""
    start: int
    """The place of its first character."""
    number: Number | None = None
    """Singular or plural, of a noun, if known; it is not where the noun may be uncountable."""

    @property
    def end(self) -> int:
        """The place after its last character."""
        return self.start + len(self.text)


@dataclass(frozen=True)
class Glossary:
    """The terms of a glossary."""

    terms: tuple[Term, ...]
    languages: tuple[str, str]
    """Language codes of source and target."""
    _forms: dict[tuple[Term, Number | None, frozenset[str]], list[str]] = field(
        default_factory=dict, repr=False, compare=False
    )

    @classmethod
    def read(cls, path: Path, languages: tuple[str, str]) -> "Glossary":
        """Read a file: TBX, CSV, or text with tabs.

        Columns: source term, target term, further forms of it, also separated by |. A further
        column without | is a comment, unless it has as many words as the target term and begins
        like it. The first line may name the columns, as in `location,source,target`. Raises
        `UserError` for faulty lines and for contradictions, with their numbers.
        """
        if not path.is_file():
            raise UserError(
                f"{path}: no such file; give a glossary: SOURCE TAB TARGET on each line"
            )
        if path.name.lower().endswith((".tbx", ".xml")):
            return cls.of(_tbx_rows(path, languages), languages, str(path), "entry")
        return cls.of(_rows(path, languages), languages, str(path))

    @classmethod
    def of(
        cls,
        rows: Iterable[tuple[int, list[str]]],
        languages: tuple[str, str],
        name: str,
        numbered: str = "line",
    ) -> "Glossary":
        """Make a glossary of numbered rows; for messages: `name`, and what is numbered."""
        found: dict[str, tuple[int, Term]] = {}
        for number, row in rows:
            term = _term([" ".join(cell.split()) for cell in row], f"{name}: {numbered} {number}")
            key = term.source if _has_capitals_inside(term.source) else term.source.lower()
            line, earlier = found.setdefault(key, (number, term))
            if earlier.targets and term.targets and earlier.targets[0] != term.targets[0]:
                raise UserError(
                    f"{name}: {numbered} {number} translates {term.source} as {term.targets[0]}, "
                    f"but {numbered} {line} as {earlier.targets[0]}; remove one of them"
                )
            merged = tuple(dict.fromkeys(earlier.targets + term.targets))
            forbidden = tuple(dict.fromkeys(earlier.forbidden + term.forbidden))
            if both := [form for form in merged if form in forbidden]:
                places = " and ".join(f"{numbered} {x}" for x in dict.fromkeys([line, number]))
                raise UserError(
                    f"{name}: {both[0]} is both allowed and forbidden for {term.source} "
                    f"({places}); remove one of them"
                )
            keep = earlier.keep or term.keep
            found[key] = line, Term(earlier.source, merged, keep, forbidden)
            if len(found) > _MOST_TERMS:
                raise UserError(f"{name}: has more than {_MOST_TERMS:,} terms; divide it")
        if not found:
            raise UserError(f"{name}: has no terms; write SOURCE TAB TARGET on each line")
        return cls(tuple(term for _, term in found.values()), languages)

    # --------------------------------------------------------------------------------- matching

    def find(self, text: str) -> list[Match]:
        """Return the terms in a text from left to right; of overlapping ones, the longer."""
        tokens = list(_TOKEN.finditer(text))
        words = [token.group().lower() for token in tokens]
        found = []
        place = 0
        while place < len(words):
            for key in self._keys(words, place):
                length = len(key)
                start, last = tokens[place].start(), tokens[min(place + length, len(tokens)) - 1]
                written = text[start : last.end()]
                term = self._index.get(key)
                if term and _agrees(term, written):
                    number = self._number(words[place + length - 1], term)
                    if number == "singular" and not _is_determined(
                        words[max(0, place - _NEAR) : place]
                    ):
                        number = None
                    found.append(Match(term, written, start, number))
                    place += length
                    break
            else:
                place += 1
        return found

    def _keys(self, words: list[str], place: int) -> Iterator[tuple[str, ...]]:
        """Yield what may be a term at a place of a text, the longest first."""
        firsts = [words[place]]
        if self._verbs and (lemma := english_lemma(words[place])) in self._verbs:
            firsts.append(lemma)
        for first in dict.fromkeys(firsts):
            for length in self._lengths.get(first, ()):
                yield (first, *words[place + 1 : place + length])

    @cached_property
    def _index(self) -> dict[tuple[str, ...], Term]:
        """Each term by its words in lower case, and by those of its inflected forms."""
        index: dict[tuple[str, ...], Term] = {}
        inflected: dict[tuple[str, ...], Term] = {}
        for term in self.terms:
            words = _words(term)
            index[words] = term
            for form in self._source_forms(words[-1], term):
                inflected.setdefault((*words[:-1], form), term)
            if _has_particle(words) and self._is_verb(term):
                for form in self._source_forms(words[0], term):
                    inflected.setdefault((form, *words[1:]), term)
        return inflected | index

    @cached_property
    def _verbs(self) -> frozenset[str]:
        """The first words of English verbs, whose irregular forms are found, too."""
        terms = ((term, _words(term)) for term in self.terms if self._is_verb(term))
        return frozenset(
            words[0]
            for term, words in terms
            # Infinitives end in n; "good" (gut) is none, of which "better" is a form.
            if _target(term).endswith("n") and (len(words) == 1 or _has_particle(words))
        )

    @cached_property
    def _lengths(self) -> dict[str, list[int]]:
        """The lengths in words of the terms that begin with a word, longest first."""
        lengths: dict[str, set[int]] = {}
        for words in self._index:
            lengths.setdefault(words[0], set()).add(len(words))
        return {word: sorted(found, reverse=True) for word, found in lengths.items()}

    def _source_forms(self, word: str, term: Term) -> list[str]:
        if two_letters(self.languages[0]) != "en" or not word.isalpha() or term.source.isupper():
            return []
        return english_forms(word, self._is_verb(term))

    def _is_verb(self, term: Term) -> bool:
        # What German writes with a capital is a noun, which has no -ing and -ed forms.
        is_german = [*map(two_letters, self.languages)] == ["en", "de"]
        return is_german and _target(term).split(" ")[-1][0].islower()

    def _number(self, word: str, term: Term) -> Number | None:
        if two_letters(self.languages[0]) != "en":
            return None
        return english_number(word, _words(term)[-1])

    # --------------------------------------------------------------------------------- forms

    def forms(
        self, match: Match, number: Number | None = None, words: frozenset[str] = frozenset()
    ) -> list[str]:
        """Return what the translation of a term may be; nothing if only others are forbidden.

        number: only forms of this number, and given ones whose number is unknown; words: of the
        training text, in lower case, see `german_forms`
        """
        term = match.term
        if term.keep:
            return list(dict.fromkeys([match.text, term.source]))
        key = term, number, words
        if key not in self._forms:
            forms = self._of_number(term, number, words) if term.targets else []
            self._forms[key] = _with_capitals(forms)
        return self._forms[key]

    def forbidden(self, match: Match, words: frozenset[str] = frozenset()) -> list[str]:
        """Return what must not be written for a term, without what it may be."""
        found = [
            form
            for target in match.term.forbidden
            for form in (target, *self._inflected(target, None, words))
        ]
        allowed = self.forms(match, words=words) if found else []
        return [form for form in _with_capitals(found) if form not in allowed]

    def separated(self, match: Match, words: frozenset[str] = frozenset()) -> list[tuple[str, str]]:
        """Return the separated forms, such as ("holt", "ab"), of translations that are verbs."""
        if two_letters(self.languages[1]) != "de" or match.term.keep:
            return []
        return [pair for target in match.term.targets for pair in separated_forms(target, words)]

    def _of_number(self, term: Term, number: Number | None, words: frozenset[str]) -> list[str]:
        inflected = self._inflected(term.targets[0], None, words)
        if number is None:
            return [*term.targets, *inflected]
        fitting = self._inflected(term.targets[0], number, words)
        given = [form for form in term.targets if form not in inflected]
        return [*fitting, *given] or [*term.targets]

    def _inflected(self, target: str, number: Number | None, words: frozenset[str]) -> list[str]:
        language = two_letters(self.languages[1])
        *first, head = target.split(" ")
        if language == "en" and head.islower():
            return [" ".join([*first, form]) for form in english_forms(head, verb=False)]
        return german_forms(target, number, words) if language == "de" else []


def _words(term: Term) -> tuple[str, ...]:
    return tuple(word.lower() for word in _TOKEN.findall(term.source))


def _target(term: Term) -> str:
    return (term.targets or term.forbidden)[0]


def _has_particle(words: tuple[str, ...]) -> bool:
    """Return whether this may be a verb such as "log in"."""
    return len(words) > 1 and words[-1] in _PARTICLES and all(map(str.isalpha, words))


def _is_determined(before: list[str]) -> bool:
    """Return whether the words just before a noun say that it is a single thing."""
    has_genitive = any(pair in _GENITIVE for pair in pairwise(before))
    return has_genitive or not _DETERMINERS.isdisjoint(before)


def _with_capitals(forms: list[str]) -> list[str]:
    """Return the forms, also with a capital: a sentence may begin with them."""
    return list(dict.fromkeys([*forms, *(form[0].upper() + form[1:] for form in forms)]))


def _agrees(term: Term, written: str) -> bool:
    """Return whether capitals agree, for terms that have some inside."""
    return not _has_capitals_inside(term.source) or _capitals(term.source) == _capitals(written)


def _capitals(text: str) -> list[list[int]]:
    """Return the places of capitals in each word; inflection leaves them where they are."""
    return [[i for i, x in enumerate(word) if x.isupper()] for word in _TOKEN.findall(text)]


def _has_capitals_inside(source: str) -> bool:
    return any(word[1:] != word[1:].lower() for word in source.split())


# ----------------------------------------------------------------------------------------- files


def _term(row: list[str], place: str) -> Term:
    cells = [cell.strip() for cell in row]
    if len(cells) < 2 or not cells[0] or not cells[1]:
        raise UserError(f"{place} lacks a source or a target term; write SOURCE TAB TARGET")
    source, first = cells[:2]
    if max(map(len, cells[:2])) > _LONGEST:
        raise UserError(f"{place} has more than {_LONGEST} characters; a glossary holds terms")
    if not _TOKEN.search(source):
        raise UserError(f"{place} has no source term; write SOURCE TAB TARGET")
    if first == _KEEP:
        return Term(source, (source,), keep=True)
    given = _divided(first)
    targets = [form for form in given if not form.startswith(_FORBIDDEN)]
    further = [form for cell in cells[2:] for form in _divided(cell)]
    marked = (x[1:].strip() for x in (*given, *further) if x.startswith(_FORBIDDEN))
    forbidden = tuple(filter(None, marked))
    if not targets and forbidden:
        return Term(source, (), forbidden=forbidden)
    if not targets:
        raise UserError(f"{place} has no target term; write SOURCE TAB TARGET")
    columns = [cell for cell in cells[2:] if _has_forms(cell, targets[0])]
    forms = [form for cell in columns for form in _divided(cell) if form[0] != _FORBIDDEN]
    return Term(source, (*targets, *forms), forbidden=forbidden)


def _divided(cell: str) -> list[str]:
    return [form.strip() for form in cell.split("|") if form.strip()]


def _has_forms(cell: str, target: str) -> bool:
    """Return whether a further column holds forms of the target, instead of a comment."""
    form, own = (text.lower().translate(_WITHOUT_UMLAUTS) for text in (cell, target))
    return "|" in cell or (
        form.count(" ") == own.count(" ") and form.startswith(own[:_SAME_LETTERS])
    )


def _rows(path: Path, languages: tuple[str, str]) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file with their numbers, without comments, header and blank lines.

    The header may name the columns of both languages. If they are not the first two, others are
    left out.
    """
    lines = read_lines(path)
    is_csv = path.name.lower().endswith(".csv")
    first = list(islice(lines, _SAMPLE))
    lines = chain(first, lines)
    reader = csv.reader((f"{line}\n" for line in lines), delimiter=_separator(first))
    rows = reader if is_csv else (line.split("\t") for line in lines)
    columns: tuple[int, int] | None = None
    try:
        for place, row in enumerate(rows, start=1):
            number = reader.line_num if is_csv else place  # a cell may have several lines
            if place == 1 and (columns := _named_columns(row, languages)):
                continue
            if any(map(str.strip, row)) and not row[0].startswith("#"):
                if columns and columns != (0, 1):
                    row = [row[i] if i < len(row) else "" for i in columns]
                named = f"{path}: line {number}"
                yield number, _without_languages(row, languages, named) if is_csv else row
    except csv.Error as error:
        raise UserError(
            f"{path}: line {reader.line_num} is not valid CSV: {error}; repair it"
        ) from None


def _without_languages(row: list[str], languages: tuple[str, str], place: str) -> list[str]:
    """Return a row of a CSV file without the languages that DeepL writes in columns 3 and 4."""
    if len(row) != 4 or not all(map(is_code, row[2:])):
        return row
    if [*map(base_language, row[2:])] != [*map(two_letters, languages)]:
        raise UserError(
            f"{place} translates from {row[2]} to {row[3]}, but the glossary is from "
            f"{languages[0]} to {languages[1]}; remove the line"
        )
    return row[:2]


def _separator(lines: Sequence[str]) -> str:
    """Return what separates the cells of CSV: in most lines, commas, semicolons or tabs.

    Spreadsheets write semicolons where the comma separates decimals.
    """
    unquoted = [re.sub(r'"[^"]*"', "", line) for line in lines if not line.startswith("#")]
    return max(",;\t", key=lambda each: sum(each in line for line in unquoted))


def _named_columns(row: list[str], languages: tuple[str, str]) -> tuple[int, int] | None:
    """Return the places of the source and target terms if a row holds the names of columns."""
    names = [cell.strip().lower().removesuffix(" term") for cell in row]
    known = [column_names(two_letters(language)) for language in languages]
    has_codes = len(row) == 4 and all(map(is_code, row[2:]))  # behind a term, as DeepL writes them
    return find_names(names, SIDE_NAMES) or (None if has_codes else find_names(names, known))


def _tbx_rows(path: Path, languages: tuple[str, str]) -> Iterator[tuple[int, list[str]]]:
    """Yield source and target terms of each concept of a TBX file, with the concept's number."""
    wanted = [two_letters(code) for code in languages]
    terms: tuple[list[str], list[str]] = ([], [])
    number = 0
    side: int | None = None
    text: list[str] | None = None
    for event in read_xml(path):
        name = event.value.rpartition(":")[2] if event.kind != "text" else ""
        if event.kind == "text":
            if text is not None:
                text.append(event.value)
        elif event.kind == "start":
            if name in ("termEntry", "conceptEntry"):
                terms, number = ([], []), number + 1
            elif name in ("langSet", "langSec"):
                code = event.attributes.get("xml:lang") or event.attributes.get("lang") or ""
                base = base_language(code)
                side = wanted.index(base) if base in wanted else None
            elif name == "term" or _STATUS in (name, event.attributes.get("type")):
                text = []
        elif text is not None and name in ("term", "termNote", _STATUS):
            read, text = " ".join("".join(text).split()), None
            if name == "term" and side is not None and read:
                terms[side].append(read)
            elif side == 1 and terms[1] and read.startswith(_OBSOLETE):
                terms[1][-1] = f"{_FORBIDDEN}{terms[1][-1]}"
        elif name in ("termEntry", "conceptEntry") and all(terms):
            for source in terms[0]:
                yield number, [source, "|".join(term.replace("|", " ") for term in terms[1])]


def parse_glossary(text: str, languages: tuple[str, str], name: str = "glossary") -> Glossary:
    """Make a glossary of text with tabs, such as a request contains."""
    rows = enumerate((line.split("\t") for line in text.splitlines()), start=1)
    return Glossary.of(((n, row) for n, row in rows if any(map(str.strip, row))), languages, name)
