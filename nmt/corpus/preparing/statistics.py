"""Facts about the training text that a run folder keeps: words, and hashes of targets.

The training text itself is not part of a run folder. Words missing from the list of frequent words
are rare or new; an 8-byte hash per sentence identifies training targets.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.corpus.preparing.manifest import require_undamaged
from nmt.corpus.preparing.splitting import has_key, sentence_key
from nmt.corpus.text.target_words import TARGET_WORDS, TargetWords
from nmt.corpus.text.training_placeholders import list_words
from nmt.files.json_files import FailFastList, read_json, unreadable, write_json
from nmt.files.text_files import read_chunks
from nmt.progress import with_progress

FREQUENT_WORDS = "frequent_words.json"
TARGET_KEYS = "train.target.keys"
FREQUENT = 5  # minimum number of occurrences
_MOST_TARGET_WORDS = 300_000  # the most frequent ones, for `TargetWords`
_KEY = np.dtype("<i8")
_MOST_DIFFERENT = 2**18  # distinct space-separated strings counted at once


@dataclass(frozen=True)
class _FrequentWords:
    source: FailFastList[str]
    target: FailFastList[str]


def write_statistics(
    texts: tuple[Path, Path], target_keys: NDArray[np.int64], folder: Path
) -> None:
    """Write the frequent words of each side, the words of the targets, and the targets' hashes.

    texts: the cleaned training text, one file per side; target_keys: the hashes, in any order
    """
    source, target = map(_count_words, texts)
    frequent = _FrequentWords(_frequent(source), _frequent(target))
    write_json(folder / FREQUENT_WORDS, asdict(frequent))
    most_common = [word for word, _ in target.most_common(_MOST_TARGET_WORDS)]
    write_target_words(most_common, folder)
    (folder / TARGET_KEYS).write_bytes(np.unique(target_keys).astype(_KEY).data)


def write_target_words(words: Iterable[str], folder: Path) -> None:
    """Write the lower-cased words of the training targets."""
    write_json(folder / TARGET_WORDS, sorted(words))


def read_target_words(folder: Path) -> TargetWords | None:
    """Read them; None if they are not known, as in runs of earlier versions or of `nmt import`."""
    path = folder / TARGET_WORDS
    require_undamaged([path])
    if not path.exists():
        return None
    words = read_json(path, FailFastList[str])
    return TargetWords(words) if words else None


def _count_words(text: Path) -> Counter[str]:
    # Count space-separated strings first, which is fast; find words in the distinct ones only.
    counts: Counter[str] = Counter()
    between_spaces: Counter[str] = Counter()
    for chunk in with_progress(read_chunks(text), "counting words"):
        between_spaces.update(" ".join(chunk).split())
        if len(between_spaces) > _MOST_DIFFERENT:
            _move_words(between_spaces, counts)
    _move_words(between_spaces, counts)
    return counts


def _frequent(counts: Counter[str]) -> list[str]:
    return sorted(word for word, count in counts.items() if count >= FREQUENT)


def _move_words(between_spaces: Counter[str], counts: Counter[str]) -> None:
    """Add the lower-cased words of the strings to `counts`, and clear the strings."""
    for text, count in between_spaces.items():
        for word in list_words(text):
            counts[word] += count
    between_spaces.clear()


@dataclass(frozen=True)
class TrainingStatistics:
    """Facts about the training text."""

    source_words: frozenset[str]
    """Source words with at least `FREQUENT` occurrences, in lower case."""
    target_words: frozenset[str]
    """Target words with at least `FREQUENT` occurrences, in lower case."""
    target_keys: NDArray[np.int64]
    """The sorted hashes of the targets, computed with `seed`."""
    seed: int

    def has_rare_word(self, source: str, target: str) -> bool:
        """Return whether either text has a word with fewer than `FREQUENT` occurrences."""
        return not (
            self.source_words.issuperset(list_words(source))
            and self.target_words.issuperset(list_words(target))
        )

    def is_target(self, text: str) -> bool:
        """Return whether a cleaned text is a training target."""
        return has_key(self.target_keys, sentence_key(text, self.seed))


def read_statistics(folder: Path, seed: int) -> TrainingStatistics:
    """Read what `write_statistics` wrote; raises `UserError` if it is missing or damaged."""
    words, keys = folder / FREQUENT_WORDS, folder / TARGET_KEYS
    require_undamaged([words, keys])
    frequent = read_json(words, _FrequentWords)
    try:
        hashes = np.fromfile(keys, _KEY)
    except OSError as error:
        raise unreadable(keys, error.strerror or "damaged") from None
    return TrainingStatistics(frozenset(frequent.source), frozenset(frequent.target), hashes, seed)
