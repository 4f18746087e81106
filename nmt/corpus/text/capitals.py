"""Restores capitalization in translations if the model outputs lower case.

Lower-casing the targets makes the vocabulary smaller and leaves fewer rare words. Capitalization is
restored by rules learned from the training targets (truecasing, Lita et al. 2003,
https://aclanthology.org/P03-1020).
"""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from nmt.corpus.text.names import WORD
from nmt.corpus.text.normalization import restore_capitals, sentence_starts
from nmt.files.json_files import read_json, unreadable, write_json

CASING = "casing.json"


@dataclass(frozen=True)
class _Stored:
    words: dict[str, str]
    after: dict[str, str]
    sentence_capital: bool


class Casing:
    """How words are capitalized within sentences, and whether sentences start with a capital.

    words: the usual form of each lower-cased word; after: the form after a given preceding word, by
    "BEFORE WORD" in lower case, where it differs from `words`
    """

    def __init__(self, words: dict[str, str], after: dict[str, str], sentence_capital: bool):
        self._words, self._after, self._sentence_capital = words, after, sentence_capital

    @classmethod
    def learn(cls, read: Callable[[], Iterable[str]]) -> "Casing":
        """Count the forms of all words; `read` returns the lines; it is called twice."""
        forms: defaultdict[str, Counter[str]] = defaultdict(Counter)
        starts: Counter[bool] = Counter()
        for _, word, at_start in _words_of_all(read()):
            if at_start:
                starts[word[0].isupper()] += 1
            else:
                forms[word.lower()][word] += 1
        words = {word: _most_common(counts) for word, counts in forms.items()}
        # The preceding word can disambiguate ("das Essen", "wir essen"): count it for words with
        # several forms.
        open_to_choice = {word for word, counts in forms.items() if len(counts) > 1}
        contexts: defaultdict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for before, word, at_start in _words_of_all(read()):
            if not at_start and word.lower() in open_to_choice:
                contexts[before, word.lower()][word] += 1
        after = {
            f"{before} {word}": form
            for (before, word), counts in contexts.items()
            if (form := _most_common(counts)) != words[word]
        }
        return cls(words, after, starts[True] > starts[False])

    def extended_by(self, other: "Casing") -> "Casing":
        """Return a copy with the words of both; those of `self` take precedence."""
        words = {**other._words, **self._words}
        return Casing(words, {**other._after, **self._after}, self._sentence_capital)

    def restore(self, text: str) -> str:
        """Return lower-cased text with its capitals restored."""
        return restore_capitals(text, self._words, self._after, self._sentence_capital)

    def save(self, path: Path) -> None:
        """Write as JSON."""
        words, after = (dict(sorted(forms.items())) for forms in (self._words, self._after))
        write_json(path, asdict(_Stored(words, after, self._sentence_capital)))

    @classmethod
    def load(cls, path: Path) -> "Casing":
        """Read what `save` wrote; raises `UserError` for anything else."""
        stored = read_json(path, _Stored)
        if not all(
            form and form.lower() == key.rpartition(" ")[2]
            for forms in (stored.words, stored.after)
            for key, form in forms.items()
        ):
            raise unreadable(path, "damaged")
        return cls(stored.words, stored.after, stored.sentence_capital)


def _words_of_all(lines: Iterable[str]) -> Iterator[tuple[str, str, bool]]:
    """Yield the preceding word in lower case, the word, and whether it starts a sentence."""
    for line in lines:
        before, starts = "", sentence_starts(line)
        for match in WORD.finditer(line):
            word = match.group()
            yield before, word, match.start() in starts
            before = word.lower()


def _most_common(counts: Counter[str]) -> str:
    """Return the most frequent form; ties are broken alphabetically."""
    return min(counts, key=lambda form: (-counts[form], form))
