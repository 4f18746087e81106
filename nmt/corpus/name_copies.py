"""Extra training pairs with invented names, so that a model learns to carry names over.

A small corpus knows a dozen names, and a model trained on it turns every other name into one of
them. Words that translations leave as they are ("Tom", "Boston") show which words are names; a
copy of their pair with an invented name on both sides shows that any name is left as it is
(compare the copied corpora of Currey et al. 2017).
"""

import re
from collections import Counter
from collections.abc import Iterable

import numpy as np

_WORD = re.compile(r"[^\W\d_]+")
_ALWAYS_ALIKE = 0.8


class NameCopier:
    """Finds the names of a training corpus and puts invented ones in their places."""

    def __init__(self, pairs: Iterable[tuple[str, str]], share: float, seed: int):
        self._share = share
        self._generator = np.random.default_rng(seed)
        in_source: Counter[str] = Counter()
        in_target: Counter[str] = Counter()
        in_both: Counter[str] = Counter()
        for source, target in pairs:
            source_words, target_words = _words(source), _words(target)
            in_source.update(source_words)
            in_target.update(target_words)
            in_both.update(source_words & target_words)
        self.names = {
            word
            for word, count in in_both.items()
            if len(word) > 2 and count >= _ALWAYS_ALIKE * max(in_source[word], in_target[word])
        }
        self._known = set(in_source) | set(in_target)
        self._followers = _letter_followers(in_source)
        self._letters = sorted(set("".join(in_source)))

    def copies(self, source: str, target: str) -> Iterable[tuple[str, str]]:
        """Yield copies of a pair with invented names; none if it holds no name."""
        names = sorted(self.names & _words(source) & _words(target))
        if not names:
            return
        whole = int(self._share)
        for _ in range(whole + (self._generator.random() < self._share - whole)):
            invented = {name: self._invent() for name in names}
            yield _replace(source, invented), _replace(target, invented)

    def _invent(self) -> str:
        """Return a pronounceable word that the corpus does not hold."""
        for _ in range(100):
            word = "^^"
            while len(word) < 14:
                letters, weights = self._followers[word[-2:]]
                letter = str(self._generator.choice(letters, p=weights))
                if letter == "$":
                    break
                word += letter
            if len(word) >= 5 and word[2:] not in self._known:
                return word[2:]
        # A corpus of a few words may spell no others.
        word = ""
        while len(word) < 3 or word in self._known:
            word += str(self._generator.choice(self._letters))
        return word


def _words(text: str) -> set[str]:
    return {word.lower() for word in _WORD.findall(text)}


def _replace(text: str, invented: dict[str, str]) -> str:
    def replacement(match: re.Match[str]) -> str:
        word = match.group()
        name = invented.get(word.lower())
        if name is None:
            return word
        if word.isupper():
            return name.upper()
        return name.capitalize() if word[0].isupper() else name

    return _WORD.sub(replacement, text)


def _letter_followers(words: Iterable[str]) -> dict[str, tuple[list[str], np.ndarray]]:
    """Count which letter follows each two letters, words once each; ^ begins and $ ends a word."""
    counts: dict[str, Counter[str]] = {}
    for word in words:
        spelled = f"^^{word}$"
        for i in range(len(spelled) - 2):
            counts.setdefault(spelled[i : i + 2], Counter())[spelled[i + 2]] += 1
    return {
        context: (sorted(follow), np.array([follow[x] for x in sorted(follow)]) / follow.total())
        for context, follow in counts.items()
    }
