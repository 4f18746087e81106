"""Leftovers of other programs in the text of a corpus, which a model would learn to write."""

import re
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import unescape

from nmt.config.data import DataConfig
from nmt.corpus.sources.readers import Pair

_FEWEST_JUDGED = 100  # pairs
_SOME = 0.01
_MOST = 0.5

_ENTITY = re.compile(r"&(?:#[xX]?)?\w{1,31};")
# The characters that Windows-1252 or Latin-1 shows for the bytes of a character in UTF-8
_FOLLOWING = f"[\x80-\xbf{bytes(range(0x80, 0xA0)).decode('cp1252', 'ignore')}]"
_MISREAD = re.compile(
    f"[\xc2-\xdf]{_FOLLOWING}|[\xe0-\xef]{_FOLLOWING}{{2}}|[\xf0-\xf4]{_FOLLOWING}{{3}}"
)
_QUOTED = re.compile(r'\s*".*"\s*', re.DOTALL)
_MARKED_UP = re.compile(r"\s*<([\w:-]+)(?:\s[^<>]*)?>.*</\1>\s*", re.DOTALL)
_TOKENIZED = re.compile(r" (?:[,.]|@-@)(?: |$)")
_NUMBERED = re.compile(r"\s*(?:[(\[]?\d{1,9}[.):\]]|[-–—*•·▪◦‣])\s+\S")


def _has_entity(text: str) -> bool:
    return "&" in text and any(unescape(found) != found for found in _ENTITY.findall(text))


def _is_mojibake(text: str) -> bool:
    """Return whether all characters beyond ASCII look like UTF-8 in the wrong encoding."""
    return not text.isascii() and _MISREAD.sub("", text).isascii()


@dataclass(frozen=True)
class _Leftover:
    is_in: Callable[[str], object]
    """Whether (truthy) it is in the text of a side."""
    most: float
    """The share of pairs with it, on either side, that is not worth a warning."""
    warning: str
    """What the pairs have, and the remedy."""
    dropped_by: str = ""
    """The field of the data section that drops such pairs."""


_LEFTOVERS = (
    _Leftover(
        _has_entity,
        _SOME,
        "have entities of HTML such as &quot; or &#39;; data.decode_entities: true decodes them",
    ),
    _Leftover(
        _is_mojibake,
        _SOME,
        "have characters such as Ã¼, UTF-8 that was read as Windows-1252; convert the file again, "
        "or set data.drop_mojibake: true",
        dropped_by="drop_mojibake",
    ),
    _Leftover(
        _QUOTED.fullmatch,
        _MOST,
        "have quotation marks around the whole text; remove them, or, if a spreadsheet wrote them, "
        "save it as .csv with a header, and set source: table",
    ),
    _Leftover(
        _MARKED_UP.fullmatch,
        _MOST,
        "have tags around the whole text, such as <seg>…</seg>; remove them",
    ),
    _Leftover(
        _TOKENIZED.search,
        _MOST,
        "are tokenized as by Moses, with spaces before commas and full stops; detokenize them, for "
        "instance with sacremoses",
    ),
    _Leftover(
        _NUMBERED.match,
        _MOST,
        "begin with a number or a bullet, such as 1. or •; remove it",
    ),
)


class LeftoverCounts:
    """Counts the pairs of a corpus that have leftovers on either side, in a sample of them."""

    def __init__(self, data: DataConfig):
        self._kinds = [
            each for each in _LEFTOVERS if not (each.dropped_by and getattr(data, each.dropped_by))
        ]
        self._pairs = self._sampled = 0
        self._counts: Counter[_Leftover] = Counter()

    def add(self, sample: Sequence[Pair], pairs: int) -> None:
        """Count the pairs of a sample; pairs: how many it stands for."""
        self._pairs += pairs
        self._sampled += len(sample)
        for leftover in self._kinds:
            self._counts[leftover] += sum(
                bool(leftover.is_in(source) or leftover.is_in(target)) for source, target in sample
            )

    def warnings(self) -> Iterator[str]:
        """Yield what is in so many of the pairs that it should be removed, and how."""
        if self._sampled < _FEWEST_JUDGED:
            return
        pairs = "sampled pairs" if self._sampled < self._pairs else "pairs"
        for leftover, count in self._counts.items():
            if count > leftover.most * self._sampled:
                yield f"{count:,} of {self._sampled:,} {pairs} {leftover.warning}"
