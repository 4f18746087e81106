"""Placeholders in training text, and the known words, which need none when translating.

A small corpus contains only a few names, and a model trained on it turns any new name into one of
those. Therefore a source word that did not occur in training is replaced with a placeholder. The
model has learned where to put placeholders in the translation, and the word is filled in afterwards
(the copyable model of Luong et al. 2015, https://arxiv.org/abs/1410.8206).

In training, words that are identical on both sides ("Tom", "Boston") are taken to be names, and are
replaced with placeholders in half of the pairs that contain any. Rare names, which a model would
confuse with each other, are replaced wherever they occur, in translation too. Numbers in figures,
addresses and codes are replaced in all pairs whose sides agree, since a translation never spells
them.
"""

import re
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

import numpy as np

from nmt.corpus.text.names import WORD
from nmt.corpus.text.placeholders import (
    PlaceholderRules,
    PlaceholderText,
    replace_codes,
    replace_in_target,
    replace_numbers,
)
from nmt.files.json_files import FailFastList, read_json, write_json
from nmt.special_tokens import NUMBERS, PLACEHOLDERS

KNOWN_WORDS = "known_words.json"
RARE_NAMES = "rare_names.json"
_OWNER = re.compile(r"(?<![^\W\d_])[^\W\d_]+(?=['’][sS]\b)")
_MOSTLY = 0.8
# Of the source pairs of a rare name; the others may have another form, such as the apostle Petrus,
# and the target may have the word with another meaning, such as Bauer.
_OFTEN = 0.5
_RARE = 20  # training pairs with a name, below which it is always replaced
FEWEST_NUMBERS = 100  # training pairs, for placeholders of numbers to be learned


class KnownWords:
    """The lower-cased source words of the training split; placeholders replace all other words.

    only_names: replace capitalized words only; names: rare ones of the training split, as the
    target writes them, which are replaced too
    """

    def __init__(self, words: Iterable[str], only_names: bool, names: Iterable[str] = ()):
        self.words = frozenset(words)
        self.only_names = only_names
        self.names = frozenset(names)

    def extended_by(self, other: "KnownWords") -> "KnownWords":
        """Return the words of both; a name that is rare in one may be known by the other."""
        words = self.words | other.words
        names = {name for name in self.names | other.names if name.lower() not in words}
        return KnownWords(words, self.only_names, names)

    def save(self, folder: Path) -> None:
        """Write the words and the names as two JSON lists."""
        write_json(folder / KNOWN_WORDS, sorted(self.words))
        write_json(folder / RARE_NAMES, sorted(self.names))

    @classmethod
    def load(cls, folder: Path, only_names: bool) -> "KnownWords":
        """Read what `save` wrote; raises `UserError` for anything else."""
        words, names = (folder / name for name in (KNOWN_WORDS, RARE_NAMES))
        rare = read_json(names, FailFastList[str]) if names.exists() else ()  # not in older runs
        return cls(read_json(words, FailFastList[str]), only_names, rare)


def list_words(text: str) -> list[str]:
    """Return the lower-cased words of a text, in order."""
    return [word.lower() for word in WORD.findall(text)]


def words_of(text: str) -> set[str]:
    """Return the distinct words of a text, in lower case."""
    return set(list_words(text))


def insert_in_pair(rules: PlaceholderRules, source: str, target: str) -> tuple[str, str]:
    """Replace what the model does not translate in the source, and the same in the target."""
    replaced = rules.insert(source)
    target, found = replace_in_target(target, _without_words(replaced))
    words = {replaced.words[mark]: mark for mark in replaced.words if mark not in found}
    return replaced.text, _replace(target, words)


def _without_words(replaced: PlaceholderText) -> PlaceholderText:
    """Return only numbers, addresses and codes; words may have other case or an ending."""
    written = {m: text for m, text in replaced.written.items() if not WORD.fullmatch(text)}
    return PlaceholderText(replaced.text, replaced.words, written)


class TrainingPlaceholders:
    """Finds the names in a training corpus; replaces them in half of the pairs, rare ones in all.

    only_names: of the words that occur on both sides, ignore those that are not mostly capitalized;
    languages: of source and target, if numbers, addresses and codes are replaced, too; numbers:
    whether the vocabulary has placeholders for numbers; None: if the corpus has enough of them
    """

    def __init__(
        self,
        pairs: Iterable[tuple[str, str]],
        only_names: bool,
        seed: int,
        languages: tuple[str, str] | None = None,
        numbers: bool | None = None,
    ):
        self._generator = np.random.default_rng(seed)
        self._languages, self._only_names = languages, only_names
        with_numbers = 0
        in_source: Counter[str] = Counter()
        in_target: Counter[str] = Counter()
        in_both: Counter[str] = Counter()
        capitals: Counter[str] = Counter()
        titles: Counter[str] = Counter()  # with one capital
        forms: Counter[str] = Counter()  # as the target writes them
        for source, target in pairs:
            source_words, target_forms = words_of(source), set(WORD.findall(target))
            target_forms |= _without_genitive(source, target_forms)
            target_words = {form.lower() for form in target_forms}
            in_source.update(source_words)
            in_target.update(target_words)
            if both := source_words & target_words:
                in_both.update(both)
                forms.update(form for form in target_forms if form.lower() in both)
            if only_names:
                capitals.update({w.lower() for w in WORD.findall(source) if w[0].isupper()})
            titles.update({w.lower() for w in WORD.findall(source) if w.istitle()})
            if languages and numbers is None and with_numbers < FEWEST_NUMBERS:
                replaced = replace_numbers(PlaceholderText(source), languages, NUMBERS)
                with_numbers += bool(replaced.words and replace_in_target(target, replaced)[1])
        self.names = {
            word
            for word, count in in_both.items()
            if len(word) > 2
            and count >= _MOSTLY * max(in_source[word], in_target[word])
            and (not only_names or capitals[word] >= _MOSTLY * in_source[word])
        }
        self.names |= {
            word
            for word, count in in_both.items()
            if len(word) > 2
            and in_source[word] < _RARE
            and count >= _OFTEN * in_source[word]
            and titles[word] >= _MOSTLY * in_source[word]
        }
        most_frequent_last = sorted(forms, key=lambda form: (forms[form], form))
        written = {form.lower(): form for form in most_frequent_last}
        # Words in lower case, such as "relevant", have endings that a placeholder cannot have.
        self._rare = {
            word for word in self.names if in_source[word] < _RARE and not written[word].islower()
        }
        self._written = {written[name] for name in self._rare}
        self._numbers = with_numbers >= FEWEST_NUMBERS if numbers is None else numbers

    def insert(self, source: str, target: str) -> tuple[str, str]:
        """Return the pair with placeholders, for names that are not rare half of the time.

        Placeholders are drawn at random, so that the model learns all of them equally well.
        """
        used: set[str] = set()
        if self._languages:
            source, target, used = self._replace_agreeing(source, target, self._languages)
        names = sorted(self.names & words_of(source))
        if names:
            in_target = words_of(target)
            in_target |= {word.removesuffix("s") for word in in_target}
            names = [name for name in names if name in in_target]
        if names and self._generator.random() < 0.5:
            names = [name for name in names if name in self._rare]
        if not names:
            return source, target
        free = [mark for mark in self._drawn(PLACEHOLDERS) if mark not in used]
        placeholders = dict(zip(names, free, strict=False))
        return _replace(source, placeholders), _replace(target, placeholders)

    def known(self, words: Iterable[str]) -> KnownWords:
        """Return the known words, from those of the source after the replacements."""
        return KnownWords(set(words) - self._rare, self._only_names, self._written)

    def _replace_agreeing(
        self, source: str, target: str, languages: tuple[str, str]
    ) -> tuple[str, str, set[str]]:
        """Replace the numbers, addresses and codes that occur on both sides."""
        replaced = replace_codes(source)
        if self._numbers:
            replaced = replace_numbers(replaced, languages, NUMBERS)
        if not replaced.words:
            return source, target, set()
        target, found = replace_in_target(target, replaced)
        drawn = {old: new for each in (PLACEHOLDERS, NUMBERS) for old, new in self._drawing(each)}
        for mark, word in replaced.words.items():
            if mark not in found:
                replaced.text = replaced.text.replace(mark, word)
        table = str.maketrans(drawn)
        return replaced.text.translate(table), target.translate(table), {drawn[m] for m in found}

    def _drawing(self, marks: str) -> Iterable[tuple[str, str]]:
        return zip(marks, self._drawn(marks), strict=True)

    def _drawn(self, marks: str) -> list[str]:
        return [marks[i] for i in self._generator.permutation(len(marks)).tolist()]


def _without_genitive(source: str, target_forms: set[str]) -> set[str]:
    """Return the names that the target has in the genitive only: Mary's, Marys."""
    owners = {word.lower() for word in _OWNER.findall(source)}
    return {form[:-1] for form in target_forms if form[-1:] == "s" and form[:-1].lower() in owners}


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
