"""Copies words that did not occur in training into the translation, using placeholders.

A small corpus contains only a few names, and a model trained on it turns any new name into one of
those. Therefore a source word that did not occur in training is replaced with a placeholder. The
model has learned where to put placeholders in the translation, and the word is filled in afterwards
(the copyable model of Luong et al. 2015, https://arxiv.org/abs/1410.8206).

In training, words that are identical on both sides ("Tom", "Boston") are taken to be names, and are
replaced with placeholders in half of the pairs that contain any.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from nmt.corpus.text.normalization import WORD, hide
from nmt.files.json_files import FailFastList, read_json, write_json
from nmt.special_tokens import PLACEHOLDERS

KNOWN_WORDS = "known_words.json"
_MOSTLY = 0.8


class KnownWords:
    """The lower-cased source words of the training split; hides all other words.

    only_names: hide capitalized words only
    """

    def __init__(self, words: Iterable[str], only_names: bool):
        self.words = frozenset(words)
        self._only_names = only_names

    def hide(self, text: str) -> tuple[str, list[str]]:
        """Replace unknown words with placeholders; see `normalization.hide`."""
        return hide(text, self.words, self._only_names)

    def hide_pair(self, source: str, target: str) -> tuple[str, str]:
        """Hide the unknown words of the source, and their occurrences in the target."""
        source, hidden = self.hide(source)
        return source, _replace(target, dict(zip(hidden, PLACEHOLDERS, strict=False)))

    def save(self, path: Path) -> None:
        """Write the words as a JSON list."""
        write_json(path, sorted(self.words))

    @classmethod
    def load(cls, path: Path, only_names: bool) -> "KnownWords":
        """Read what `save` wrote; raises `UserError` for anything else."""
        return cls(read_json(path, FailFastList[str]), only_names)


def list_words(text: str) -> list[str]:
    """Return the lower-cased words of a text, in order."""
    return [word.lower() for word in WORD.findall(text)]


def words_of(text: str) -> set[str]:
    """Return the distinct words of a text, in lower case."""
    return set(list_words(text))


class NameHider:
    """Finds the names in a training corpus and hides them in half of the pairs.

    only_names: of the words that occur on both sides, ignore those that are not mostly capitalized
    """

    def __init__(self, pairs: Iterable[tuple[str, str]], only_names: bool, seed: int):
        self._generator = np.random.default_rng(seed)
        in_source: Counter[str] = Counter()
        in_target: Counter[str] = Counter()
        in_both: Counter[str] = Counter()
        capitals: Counter[str] = Counter()
        for source, target in pairs:
            source_words, target_words = words_of(source), words_of(target)
            in_source.update(source_words)
            in_target.update(target_words)
            in_both.update(source_words & target_words)
            if only_names:
                capitals.update({w.lower() for w in WORD.findall(source) if w[0].isupper()})
        self.names = {
            word
            for word, count in in_both.items()
            if len(word) > 2
            and count >= _MOSTLY * max(in_source[word], in_target[word])
            and (not only_names or capitals[word] >= _MOSTLY * in_source[word])
        }

    def hide(self, source: str, target: str) -> tuple[str, str]:
        """Return the pair; half of the time, its names are replaced with placeholders.

        Placeholders are drawn at random, so that the model learns all of them equally well.
        """
        in_target = words_of(target)
        in_target |= {word.removesuffix("s") for word in in_target}
        names = sorted(self.names & words_of(source) & in_target)
        if not names or self._generator.random() < 0.5:
            return source, target
        drawn = self._generator.permutation(len(PLACEHOLDERS)).tolist()
        placeholders = {name: PLACEHOLDERS[i] for name, i in zip(names, drawn, strict=False)}
        return _replace(source, placeholders), _replace(target, placeholders)


def _replace(text: str, placeholders: dict[str, str]) -> str:
    """Replace words, ignoring case, also in the German genitive ("Toms")."""
    placeholders = {word.lower(): placeholder for word, placeholder in placeholders.items()}

    def replacement(match: re.Match[str]) -> str:
        word = match.group().lower()
        if word in placeholders:
            return placeholders[word]
        stem = word.removesuffix("s")
        return placeholders[stem] + match.group()[-1] if stem in placeholders else match.group()

    return WORD.sub(replacement, text)
