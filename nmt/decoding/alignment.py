"""Word alignment between source and translation, from the cross-attention."""

from collections.abc import Sequence
from itertools import pairwise

from nmt.decoding.attention import cross_attention, pair_words, word_attention, words_of_tokens
from nmt.decoding.translator import Translation, Translator


def align(translator: Translator, line: str, translation: Translation) -> list[tuple[int, int]]:
    """Return the pairs of aligned words of a line and its translation, sorted.

    A pair has the index of a source word and of a target word, both from 0; words are separated by
    spaces. A target word is aligned to the source word that its tokens attend to most, averaged
    over layers and heads, or to none if that is <eos>.
    """
    source, target = translator.tokenizers.source, translator.tokenizers.target
    touching, skipped = _touching(translator, line), _skipped(translator, line)
    pairs: set[tuple[int, int]] = set()
    first, before = [0, 0], [0, 0]  # number of words so far, and in the part before
    for number, trace in enumerate(translator.traces(translation)):
        sides = (
            words_of_tokens(source, trace.source[:-1]),
            words_of_tokens(target, trace.target),
        )
        counts = [max(side, default=-1) + 1 for side in sides]
        around = [len(f"{text}x".split()) - 1 for text in (trace.before, trace.after[::-1])]
        first = [n + around[0] + skipped.get(number, 0) for n in first]
        joined = touching.get(number, (False, False))  # the first word continues the last one
        first = [
            n - bool(a and b and touches)
            for n, a, b, touches in zip(first, before, counts, joined, strict=True)
        ]
        weights = cross_attention(
            translator.pytorch.models[0], trace.source_ids, trace.hypothesis.ids
        )
        pairs |= {
            (s + first[0], t + first[1]) for s, t in pair_words(word_attention(weights, *sides))
        }
        first = [n + count + around[1] for n, count in zip(first, counts, strict=True)]
        before = counts
    return sorted(pairs)


def _touching(translator: Translator, line: str) -> dict[int, tuple[bool, bool]]:
    """Return which parts of a line follow the part before them without a space.

    → for the number of a part, whether they do in the source and in the translation
    """
    split, number = translator.split(line), 0
    found: dict[int, tuple[bool, bool]] = {}
    for (sentence, after), gap in zip(pairwise(split.sentences), split.gaps[1:], strict=False):
        number += len(translator.segments(sentence))
        found[number] = not gap or sentence + after in line, not gap
    return found


def _skipped(translator: Translator, line: str) -> dict[int, int]:
    """Return how many words without text precede a part, by the number of the part."""
    found: dict[int, int] = {}
    number = 0
    for sentence in translator.split(line).sentences:
        parts = len(translator.segments(sentence))
        if not parts:
            found[number] = found.get(number, 0) + len(sentence.split())
        number += parts
    return found


def format_pairs(pairs: Sequence[tuple[int, int]]) -> str:
    """Return pairs in Pharaoh format: "0-0 1-2"."""
    return " ".join(f"{source}-{target}" for source, target in pairs)
