"""Corpora of any size: the sentence pairs of the built-in sample, repeated with changes.

In each pair, one word per side is replaced by a word of another sentence, or sometimes by a word
that the corpus does not contain: a number, or two words joined into one, as in German compounds.
Therefore new words keep appearing, as in real corpora, and a few pairs occur twice. The
translations are wrong, but that does not matter to a tokenizer.
"""

import random
from collections.abc import Iterator

from nmt.config.data import DataConfig
from nmt.corpus.sources.registry import open_corpus

UNCHANGED = 0.02
NUMBER = 0.05
COMPOUND = 0.10


def repeated(count: int, seed: int = 1) -> Iterator[tuple[str, str]]:
    """Yield `count` pairs; deterministic for a given seed."""
    dice = random.Random(seed)
    pairs = list(open_corpus(DataConfig(source="sample")).pairs("train"))
    sides = [[side.split() for side in column] for column in zip(*pairs, strict=True)]
    words = [[word for sentence in sentences for word in sentence] for sentences in sides]
    for _ in range(count):
        number = dice.randrange(len(pairs))
        if dice.random() < UNCHANGED:
            yield pairs[number]
        else:
            source, target = (
                _changed(sentences[number], of_side, dice)
                for sentences, of_side in zip(sides, words, strict=True)
            )
            yield source, target


def _changed(sentence: list[str], words: list[str], dice: random.Random) -> str:
    kind = dice.random()
    word = dice.choice(words)
    if kind < NUMBER:
        word = str(dice.randrange(100_000))
    elif kind < NUMBER + COMPOUND:
        word += dice.choice(words).lower()
    place = dice.randrange(len(sentence))
    return " ".join([*sentence[:place], word, *sentence[place + 1 :]])
