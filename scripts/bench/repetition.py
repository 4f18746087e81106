"""Corpora of any size: the sentence pairs of a small corpus, repeated with changes.

In each pair, one word per side is replaced by a word of another sentence, or sometimes by a word
that the corpus does not contain: a number, or two words joined into one, as in German compounds.
Therefore new words keep appearing, as in real corpora, and a few pairs occur twice. The
translations are wrong, but that does not matter to a tokenizer.
"""

import random
from collections.abc import Iterator, Sequence
from pathlib import Path

UNCHANGED = 0.02
NUMBER = 0.05
COMPOUND = 0.10
Pair = tuple[str, str]


def repeated(pairs: Sequence[Pair], count: int, seed: int = 1) -> Iterator[Pair]:
    """Yield `count` pairs made from `pairs`; deterministic for a given seed."""
    dice = random.Random(seed)
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


def write(pairs: Iterator[Pair], stem: Path) -> tuple[Path, Path]:
    """Write pairs as the parallel files STEM.en and STEM.de; return their paths."""
    paths = Path(f"{stem}.en"), Path(f"{stem}.de")
    with paths[0].open("w", encoding="utf-8") as english, paths[1].open("w", encoding="utf-8") as g:
        for source, target in pairs:
            english.write(source + "\n")
            g.write(target + "\n")
    return paths
