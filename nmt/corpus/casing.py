"""Restores capitalization in translations if the model outputs lower case.

Lower-casing the targets makes the vocabulary smaller and leaves fewer rare words. Capitalization is
restored by rules learned from the training targets (truecasing, Lita et al. 2003,
https://aclanthology.org/P03-1020).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

from nmt.corpus.json_files import read_json, unreadable, write_json
from nmt.corpus.placeholders import WORD
from nmt.special_tokens import PLACEHOLDERS

CASING = "casing.json"
# A sentence boundary: the start of the line, perhaps with a dash, or punctuation and a space. Group
# 1 is any opening punctuation that follows; the first word starts where it ends. A placeholder is a
# word itself.
_SENTENCE_START = re.compile(rf"(?:^(?:[–—-]\s)?|[.!?:]\s)(?=([^\w\s{PLACEHOLDERS}]*))")
_SHORTEST_ENDING = 3


@dataclass(frozen=True)
class _Stored:
    words: dict[str, str]
    after: dict[str, str]
    sentence_capital: bool


class Casing:
    """How words are capitalized within sentences, and whether sentences start with a capital.

    words: the usual form of each lower-cased word; after: the form after a given preceding word,
    for keys "PRECEDING WORD" whose form differs from `words`
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
        starts = _sentence_starts(text) if self._sentence_capital else set()
        before = ""

        def replacement(match: re.Match[str]) -> str:
            nonlocal before
            word = match.group()
            if match.start() and text[match.start() - 1] in PLACEHOLDERS:
                return word  # an ending, such as the genitive's s
            form = self._after.get(f"{before} {word}") or self._words.get(word)
            form = form or self._by_ending(word)
            before = word
            if match.start() in starts and form.islower():  # not "iPhone"
                return form[0].upper() + form[1:]
            return form

        return WORD.sub(replacement, text)

    def _by_ending(self, word: str) -> str:
        """Capitalize an unknown word like the longest known word it ends in (a compound's head)."""
        for start in range(1, len(word) - _SHORTEST_ENDING + 1):
            if form := self._words.get(word[start:]):
                return word[0].upper() + word[1:] if form[0].isupper() else word
        return word

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
        before, starts = "", _sentence_starts(line)
        for match in WORD.finditer(line):
            word = match.group()
            yield before, word, match.start() in starts
            before = word.lower()


def _sentence_starts(text: str) -> set[int]:
    """Return the positions at which first words of sentences can start."""
    return {match.end(1) for match in _SENTENCE_START.finditer(text)}


def _most_common(counts: Counter[str]) -> str:
    """Return the most frequent form; ties are broken alphabetically."""
    return min(counts, key=lambda form: (-counts[form], form))
