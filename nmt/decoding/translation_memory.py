"""Translation memories: earlier translations, which are used again word for word."""

import re
import unicodedata
from dataclasses import dataclass
from pathlib import Path

from nmt.corpus.sources.registry import open_pairs
from nmt.corpus.text.punctuation import SENTENCE_ENDS

_END = re.compile(rf"[\s{SENTENCE_ENDS}]*$")


@dataclass(frozen=True)
class Memory:
    """The units of a translation memory: exact sources, and sources as `_key` unifies them."""

    exact: dict[str, str]
    similar: dict[str, tuple[str, str]]

    @classmethod
    def read(cls, path: Path, languages: tuple[str, str]) -> "Memory":
        """Read a TMX, XLIFF or PO file, or one with tabs; of equal sources, the last counts.

        Raises `UserError` for a faulty file.
        """
        exact: dict[str, str] = {}
        similar: dict[str, tuple[str, str]] = {}
        for first, second in open_pairs(path, languages).pairs("train"):
            unit = _plain(first), _plain(second)
            if all(unit):
                exact[unit[0]] = unit[1]
                similar[_key(unit[0])] = unit
        return cls(exact, similar)

    def find(self, line: str) -> str | None:
        """Return the translation of a line, whose case and final punctuation may differ."""
        line = _plain(line)
        key = _key(line)
        found = self.similar.get(key) if key else None  # not for mere punctuation
        if line in self.exact or not found:
            return self.exact.get(line)
        source, target = found
        ending, known = _END.search(line), _END.search(source)
        assert ending
        assert known
        if ending.group() == known.group():
            return target
        return _END.sub("", target, count=1) + ending.group()


def _plain(text: str) -> str:
    return " ".join(unicodedata.normalize("NFC", text).split())


def _key(text: str) -> str:
    return _END.sub("", text.casefold(), count=1)
