"""Formatting of translations: each word gets the format of the source word that it comes from.

A formatted text is a list of pieces, each with formats around it, such as HTML tags. The pieces of
a translation are parts: texts with the index of the source piece whose formats they get. A part
without text adds formats to the next part: those of its own piece.
"""

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from nmt.corpus.text.placeholders import TEMPLATE_FIELD
from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.corpus.text.sentences import SplitText
    from nmt.decoding.translator import Translation

Part = tuple[str, int]  # text, and the index of the piece whose formats it gets
Formats = tuple[Any, ...]  # around a piece, outermost first; hashable
Span = tuple[int, int]  # first character, and the one after the last
_MOST_LINKS = 1_000_000
_LINE_BREAK = re.compile(r"[\n\r\f]")
_SYMBOL = re.compile(r"[A-Z][a-z]?(?![^\W\d_])")  # of a chemical element
_METRE = re.compile(r"(?<![^\W\d_])[kcdm]?m$")
_ORDINAL = re.compile(r"\d(st|nd|rd|th)")
_FORMULA = re.compile(  # such as H2O, and the m2 of 80m2; takes linear time
    r"(?:(?<!\w)(?!\d+[kcdm]?m[23]\b)|(?<=\d)(?=[kcdm]?m[23]\b))[^\W\d]*\d\w*"
)
_FIELD = re.compile(TEMPLATE_FIELD)
_WORD = re.compile(r"[^\W\d_]+|\d+|[.,;:!?…]+|[^\w\s.,;:!?…]+|_+")
_PUNCTUATION = re.compile(r"[.,;:!?…]+(?!\d)")  # but not that of 15.99


@dataclass(frozen=True)
class Links:
    """How strongly the words of a translation belong to the words of its source."""

    sources: list[Span]
    """Spans of the words of the source."""
    targets: list[Span]
    """Spans of the words of the translation."""
    weights: NDArray[np.float32]
    """Strength of each link, (targets, sources); larger is stronger."""


class Formatted:
    """A text that consists of pieces with different formats.

    pieces: the texts of all pieces; marks: indices of pieces that are not translated, but stay
    directly after the word before them, such as the numbers of footnotes; endings: indices of
    pieces that get the format of the piece before them; text: the text to translate, which is all
    other pieces and the spaces around the marks; owners: for each character of `text`, the index of
    its piece; has_lines: whether a line break ends a sentence, unlike in HTML, where it is a space;
    formats: those of each piece, by default one of its own; links: the formats that are never lost,
    and cannot be nested; nests: whether a word may get formats of several pieces
    """

    def __init__(
        self,
        pieces: Sequence[str],
        marks: Collection[int] = (),
        endings: Collection[int] = (),
        has_lines: bool = False,
        formats: Sequence[Formats] | None = None,
        links: Collection[Hashable] = (),
        nests: bool = True,
    ):
        self.pieces, self.nests = pieces, nests
        self.formats = [(i,) for i in range(len(pieces))] if formats is None else formats
        self.links = frozenset(links)
        self._has_lines = has_lines
        self.owners: list[int] = []
        self._marks: list[tuple[int, int]] = []  # places in `text`, and indices
        texts = []
        for i, piece in enumerate(pieces):
            if i in marks:
                before = piece[: len(piece) - len(piece.lstrip())]
                self._marks.append((len(self.owners) + len(before), i))
                piece = before + piece[len(piece.rstrip()) :]
            texts.append(piece)
            self.owners += [self.owners[-1] if i in endings else i] * len(piece)
        self.text = "".join(texts)

    @property
    def spaced(self) -> str:
        """The text, with a space for each line break that does not end a sentence."""
        return self.text if self._has_lines else _LINE_BREAK.sub(" ", self.text)

    def with_formats(self, parts: Sequence[Part]) -> Iterator[tuple[str, int, Formats]]:
        """Yield each part that has text, with the formats around it.

        Links that no part has come last, as in the source.
        """
        present = {form for text, number in parts if text for form in self.formats[number]}
        added: dict[Hashable, None] = {}
        for text, number in parts:
            if text:
                yield text, number, (*self.formats[number], *added)
                added = {}
            else:
                added |= dict.fromkeys(x for x in self.formats[number] if x not in present)
                present.update(added)
        last: frozenset[Hashable] = frozenset()
        for number, (text, formats) in enumerate(zip(self.pieces, self.formats, strict=True)):
            if text.strip() and (lost := self.links.intersection(formats) - present):
                if lost != last:
                    yield " ", number, ()
                yield text, number, formats
                last = lost

    def marks_at_start(self, start: int) -> list[Part]:
        """Return the marks in front of the text, which begins at `start`."""
        return [(self.pieces[mark].strip(), mark) for at, mark in self._marks if at <= start]

    def marks_within(self, start: int, end: int) -> list[tuple[int, int]]:
        """Return (place - start, index) of each mark after a character of text[start:end]."""
        first, last = (bisect_right(self._marks, (at, len(self.pieces))) for at in (start, end))
        return [(place - start, mark) for place, mark in self._marks[first:last]]

    def copy(self, start: int, end: int) -> list[Part]:
        """Return characters of `text` unchanged, each with the marks that follow it."""
        characters = list(zip(self.text[start:end], self.owners[start:end], strict=True))
        parts: list[Part] = []
        before = 0
        for place, mark in self.marks_within(start, end):
            parts += [*characters[before:place], (self.pieces[mark].strip(), mark)]
            before = place
        return parts + characters[before:]


def with_superscripts(
    pieces: Sequence[str],
    raised: Collection[int],
    references: Collection[int] = (),
    formats: Sequence[Formats] | None = None,
    links: Collection[Hashable] = (),
    nests: bool = True,
) -> Formatted:
    """Return a text whose superscripts may be marks, or the endings of ordinals, as in 20th.

    raised: indices of superscripts; references: those of marks that the document names as such;
    formats, links, nests: as for `Formatted`
    """
    endings = {i for i in raised if i and _ORDINAL.fullmatch(pieces[i - 1][-1:] + pieces[i])}
    marks = {*references, *(i for i in raised if i + 1 not in endings and is_mark(pieces, i))}
    return Formatted(pieces, marks, endings, formats=formats, links=links, nests=nests)


def has_letters(text: str) -> bool:
    """Return whether there is anything to translate; a model may change numbers and symbols."""
    return any(map(str.isalpha, text))


def is_mark(pieces: Sequence[str], number: int) -> bool:
    """Return whether a superscript is a mark: not text, a numerator, an isotope's number or m²."""
    piece = pieces[number]
    if not piece.strip() or has_letters(piece):
        return False
    earlier = (pieces[i] for i in range(number - 1, -1, -1))
    later = (pieces[i] for i in range(number + 1, len(pieces)))
    before = next(filter(None, earlier), "")[-1:]
    after = "".join(islice(filter(None, later), 3))[:3]
    if piece in ("2", "3") and _METRE.search("".join(pieces[max(0, number - 2) : number])):
        return False
    isotope = before and not before.isalpha() and _SYMBOL.match(after)
    return not (after[:1] in ("/", "⁄") or isotope)


def words(text: str, cuts: Collection[int] = ()) -> list[Span]:
    """Return the spans of the words of a text, its numbers, and the punctuation between them.

    cuts: places at which a word ends even if letters follow
    """
    found = []
    for match in _WORD.finditer(text):
        start, end = match.span()
        ends = [*(place for place in range(start + 1, end) if place in cuts), end]
        found += list(zip([start, *ends], ends, strict=False))
    return found


def cuts_between(owners: Sequence[int]) -> set[int]:
    """Return the places at which a text passes from one piece to another."""
    return {i for i in range(1, len(owners)) if owners[i] != owners[i - 1]}


def link_by_position(source: str, translation: str, cuts: Collection[int]) -> Links:
    """Link words by their relative positions, where there is no attention.

    Very long texts count as one word each.
    """
    sources, targets = words(source, cuts), words(translation)
    if len(sources) * len(targets) > _MOST_LINKS:
        sources, targets = [(0, len(source))], [(0, len(translation))]
    columns, rows = ((np.arange(len(x)) + 0.5) / max(1, len(x)) for x in (sources, targets))
    return Links(sources, targets, -np.abs(rows[:, None] - columns).astype(np.float32))


@dataclass(frozen=True)
class FormattedSentence:
    """A sentence of a formatted text."""

    text: str
    """The sentence, with the tag in front of it if there is one."""
    start: int
    end: int
    """It is the text from `start` to before `end`, without the tag."""
    owners: list[int]
    marks: list[tuple[int, int]]
    """`owners` and `marks` are as `format_words` takes them."""

    @property
    def is_plain(self) -> bool:
        """Whether all of it has one format, and there are no marks."""
        return not self.marks and len(set(self.owners)) == 1


def sentences_of(formatted: Formatted, cut: "SplitText", tag: int) -> list[FormattedSentence]:
    """Return the sentences of a text; tag: the length of the tag that each begins with, or 0."""
    found = []
    place = tag + len(cut.gaps[0])
    for text, gap in zip(cut.sentences, cut.gaps[1:], strict=True):
        end = place + len(text) - tag
        owners = [formatted.owners[place]] * tag + formatted.owners[place:end]
        marks = [(at + tag, mark) for at, mark in formatted.marks_within(place, end)]
        found.append(FormattedSentence(text, place, end, owners, marks))
        place = end + len(gap)
    return found


def join_sentences(
    formatted: Formatted,
    tag: int,
    sentences: Sequence[FormattedSentence],
    translations: Sequence[list[Part] | None],
) -> list[Part]:
    """Return the translation of a text; None: of a sentence that stays as it is."""
    parts = formatted.marks_at_start(tag)
    place = tag
    for sentence, translation in zip(sentences, translations, strict=True):
        parts += formatted.copy(place, sentence.start)
        kept = translation is None
        parts += formatted.copy(sentence.start, sentence.end) if kept else translation or []
        place = sentence.end
    return merge([*parts, *formatted.copy(place, len(formatted.text))])


def format_by(
    link: "Callable[[str, Translation, Collection[int]], Links | None]",
    sentence: FormattedSentence,
    translation: "Translation",
    formatted: Formatted,
) -> list[Part]:
    """Format a sentence's translation by attention, or else by the positions of words.

    link: links words by attention, and raises `UserError` where it is unavailable: for long
    sentences, with several models, without PyTorch, and if the run has been trained further
    """
    if sentence.is_plain:
        return [(translation.text, sentence.owners[0])] if translation.text else []
    cuts = cuts_between(sentence.owners)
    links = None
    with suppress(UserError):
        links = link(sentence.text, translation, cuts)
    links = links or link_by_position(sentence.text, translation.text, cuts)
    links = _with_copies(links, sentence, translation.text)
    return format_words(translation.text, links, sentence.owners, formatted, sentence.marks)


def _with_copies(links: Links, sentence: FormattedSentence, translation: str) -> Links:
    """Link the parts of formulas and template fields to those of their copies in the translation.

    Some parts of a formula may be subscripts.
    """
    weights = links.weights.copy()
    columns = {start: i for i, (start, _) in enumerate(links.sources)}
    places: dict[str, int] = {}  # where the next copy may begin
    fields = _FIELD.finditer(sentence.text)
    formulas = _FORMULA.finditer(sentence.text)
    mixed = (each for each in formulas if len(set(sentence.owners[slice(*each.span())])) > 1)
    for found in (*fields, *mixed):
        place = translation.find(found[0], places.get(found[0], 0))
        if place < 0:
            continue
        end = places[found[0]] = place + len(found[0])
        for row, (first, last) in enumerate(links.targets):
            column = columns.get(first - place + found.start())
            if place <= first and last <= end and column is not None:
                weights[row, column] = np.inf
    return Links(links.sources, links.targets, weights)


def format_words(
    translation: str,
    links: Links,
    owners: Sequence[int],
    formatted: Formatted,
    marks: Sequence[tuple[int, int]] = (),
) -> list[Part]:
    """Give each word of a translation the formats of the source word with the strongest link to it.

    owners: for each character of the source, the index of its piece; marks: places in the source,
    with the indices of the marks to insert there
    """
    targets = [translation[start:end] for start, end in links.targets]
    pieces = formatted.pieces
    chosen, added = _choose(links, owners, formatted, targets)
    chosen = _with_punctuation(targets, chosen, owners, pieces)
    behind: dict[int, list[int]] = {}  # the word that a mark follows → marks
    ends = [end for _, end in links.sources]
    for place, mark in marks:
        words_before = bisect_right(ends, place)
        last = words_before in (0, len(ends)) or not chosen
        row = len(chosen) - 1 if last else int(links.weights[:, words_before - 1].argmax())
        behind.setdefault(row, []).append(mark)
    parts: list[Part] = []
    end = 0
    for row, ((start, stop), owner) in enumerate(zip(links.targets, chosen, strict=True)):
        if start > end:
            before = chosen[row - 1] if row else owner
            parts.append((translation[end:start], _between(before, owner, formatted)))
        parts += [("", piece) for piece in added.get(row, [])]
        parts.append((translation[start:stop], owner))
        parts += [(pieces[mark].strip(), mark) for mark in behind.get(row, [])]
        end = stop
    if end < len(translation):  # also a translation without words
        parts.append((translation[end:], chosen[-1] if chosen else owners[0]))
    return parts + [(pieces[mark].strip(), mark) for mark in behind.get(-1, [])]


def _choose(
    links: Links, owners: Sequence[int], formatted: Formatted, targets: Sequence[str]
) -> tuple[list[int], dict[int, list[int]]]:
    """Return a source piece for each target word, and those whose formats a word gets as well.

    A format left without a target word gets the word most strongly linked to its source words. That
    word keeps its own formats as well, unless each of them has other words.
    """
    if not links.sources:
        return [owners[0]] * len(links.targets), {}
    own = [owners[start] for start, _ in links.sources]
    chosen = [own[i] for i in links.weights.argmax(1)] if links.targets else []
    added: dict[int, list[int]] = {}
    formats = formatted.formats
    columns_of: dict[Hashable, list[int]] = {}
    for column, owner in enumerate(own):
        for form in formats[owner]:
            columns_of.setdefault(form, []).append(column)
    pairs = [x for x in zip(targets, chosen, strict=True) if not _PUNCTUATION.fullmatch(x[0])]
    counts = Counter(form for _, owner in pairs for form in formats[owner])
    copied = [np.isposinf(row).any() for row in links.weights]
    for form, columns in columns_of.items():
        if counts[form]:
            continue
        is_word = any(any(map(str.isalnum, formatted.pieces[i])) for i in {own[i] for i in columns})
        if not (is_word or form in formatted.links):
            continue
        weights = links.weights[:, columns]
        for row in (-weights.max(1)).argsort(kind="stable").tolist():
            if copied[row] or (is_word and not any(map(str.isalnum, targets[row]))):
                continue
            piece = own[columns[weights[row].argmax()]]
            around = {x for each in (chosen[row], *added.get(row, [])) for x in formats[each]}
            if row not in added and all(x in formats[piece] or counts[x] > 1 for x in around):
                counts.subtract(around)
                chosen[row] = piece
            elif formatted.links.intersection(around) - {*formats[piece]} and (
                formatted.links.intersection(formats[piece]) - around
            ):
                continue  # a link cannot be within another
            elif not formatted.nests:
                continue
            else:
                added.setdefault(row, []).append(piece)
            counts.update(formats[piece])
            break
    return chosen, added


def _with_punctuation(
    targets: Sequence[str], chosen: Sequence[int], owners: Sequence[int], pieces: Sequence[str]
) -> list[int]:
    """Return the source pieces of target words, with punctuation not in a format that has none.

    At the end, it gets the format of the end of the source; else, of a word beside it.
    """
    found = list(chosen)
    used = {*chosen, *owners[-1:]}
    punctuated = {owner for owner in used if _PUNCTUATION.search(pieces[owner])}
    loose = {owner for owner in used if pieces[owner] != pieces[owner].strip()}
    for row, word in enumerate(targets):
        if not _PUNCTUATION.fullmatch(word):
            continue
        is_last = row + 1 == len(targets)
        beside = [*found[max(0, row - 1) : row], *found[row + 1 : row + 2]]
        beside += owners[-1:] if is_last else []
        having = [owner for owner in beside if owner in punctuated]
        spaced = [owner for owner in beside if owner in loose]
        if is_last and having:
            found[row] = having[-1]
        elif beside and found[row] not in having:
            found[row] = (having or spaced or beside)[0]
    return found


def _between(before: int, after: int, formatted: Formatted) -> int:
    """Return the piece for the space between two words: one with space at its edges.

    If possible, it has no formats but those that both words have.
    """
    if before == after:
        return before
    pieces, formats = formatted.pieces, formatted.formats
    first, last = sorted((before, after))
    shared = {*formats[before]}.intersection(formats[after])
    spaced = [i for i in (*range(first + 1, last), before, after) if pieces[i] != pieces[i].strip()]
    order = {i: (not shared.issuperset(formats[i]), bool(pieces[i].strip())) for i in spaced}
    return min(spaced, key=order.__getitem__, default=before)


def merge(parts: Sequence[Part]) -> list[Part]:
    """Join adjacent parts of the same piece, except with one that gets more formats."""
    groups: list[tuple[list[str], int]] = []
    joins = False  # whether another part may be joined to the last one
    for text, owner in parts:
        if joins and text and groups[-1][1] == owner:
            groups[-1][0].append(text)
            continue
        joins = bool(text) and (not groups or groups[-1][0] != [""])
        groups.append(([text], owner))
    return [("".join(texts), owner) for texts, owner in groups]
