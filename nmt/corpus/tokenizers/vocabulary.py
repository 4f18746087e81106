"""Vocabularies of whole words."""

from collections import Counter
from pathlib import Path

from nmt.files.json_files import FailFastList, read_json, unreadable, write_json
from nmt.special_tokens import SPECIALS, UNK


class Vocabulary:
    """Words and their ids; the first four are `SPECIALS`."""

    def __init__(self, words: list[str]):
        self.words = words
        # Text that looks like a special token must not become one.
        self._ids = {word: i for i, word in enumerate(words) if i >= len(SPECIALS)}

    def __len__(self) -> int:
        return len(self.words)

    def id(self, word: str) -> int:
        """Return the id of a word, or `UNK` if it is unknown."""
        return self._ids.get(word, UNK)

    @classmethod
    def build(cls, counts: Counter[str], max_size: int, min_count: int) -> "Vocabulary":
        """Keep the most frequent words; ties are broken alphabetically."""
        ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
        words = [word for word, count in ranked if count >= min_count]
        return cls([*SPECIALS, *words[: max_size - len(SPECIALS)]])

    def save(self, path: Path) -> None:
        """Write the words as a JSON list."""
        write_json(path, self.words)

    @classmethod
    def load(cls, path: Path) -> "Vocabulary":
        """Read what `save` wrote; raises `UserError` for anything else."""
        words = read_json(path, FailFastList[str])
        if tuple(words[: len(SPECIALS)]) != SPECIALS:
            raise unreadable(path, "not a vocabulary that `nmt prepare` wrote")
        return cls(words)
