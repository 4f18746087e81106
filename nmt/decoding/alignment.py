"""Word alignment between source and translation, from the cross-attention."""

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor

from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.decoding.attention import attention_of
from nmt.decoding.translator import Trace, Translation, Translator
from nmt.model.transformer import Transformer
from nmt.special_tokens import TAGS


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
        sides = _words(source, trace.source[:-1]), _words(target, trace.target)
        counts = [max(side, default=-1) + 1 for side in sides]
        around = [len(f"{text}x".split()) - 1 for text in (trace.before, trace.after[::-1])]
        first = [n + around[0] + skipped.get(number, 0) for n in first]
        if number in touching:  # the first words of this part continue the last ones
            first = [n - bool(a and b) for n, a, b in zip(first, before, counts, strict=True)]
        weights = _cross_attention(translator.pytorch.models[0], trace)
        pairs |= {(s + first[0], t + first[1]) for s, t in _pairs(weights, *sides)}
        first = [n + count + around[1] for n, count in zip(first, counts, strict=True)]
        before = counts
    return sorted(pairs)


def _touching(translator: Translator, line: str) -> set[int]:
    """Return which parts of a line follow the part before them without a space."""
    split, found, number = translator.split(line), set(), 0
    for sentence, gap in zip(split.sentences[:-1], split.gaps[1:], strict=False):
        number += len(translator.segments(sentence))
        if not gap:
            found.add(number)
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


def _words(tokenizer: Tokenizer, tokens: Sequence[str]) -> list[int]:
    """Return the index of the word of each token; -1 for a tag in front of the words.

    A token without text, such as a space or the first byte of a character, belongs to the token
    after it.
    """
    texts = [tokenizer.join(start).split() for start in accumulate([token] for token in tokens)]
    words = [sum(word not in TAGS for word in text) - 1 for text in texts]
    for i in reversed(range(len(words) - 1)):
        if texts[i] == (texts[i - 1] if i else []):
            words[i] = words[i + 1]
    return words


def _cross_attention(model: Transformer, trace: Trace) -> Tensor:
    """Return attention averaged over layers and heads: (target tokens, source tokens and <eos>)."""
    layers = [layer.cross_attention for layer in model.decoder_layers()]
    weights = attention_of(model, trace.source_ids, trace.hypothesis.ids, layers)
    return torch.stack([each.float().mean(0) for each in weights]).mean(0)[:-1]


def _pairs(weights: Tensor, source: Sequence[int], target: Sequence[int]) -> list[tuple[int, int]]:
    """Return pairs of a source and a target word; source, target: the word of each token."""
    if max(target, default=-1) < 0:  # no visible text
        return []
    words = max(source) + 1
    columns = torch.tensor([*(word if word >= 0 else words for word in source), words])
    rows = torch.tensor(target, dtype=torch.long).clamp_min(0)
    # Sum over the tokens of words; the last column collects <eos> and tags.
    sums = torch.zeros(max(target) + 1, words + 1)
    sums.index_put_(
        (rows[:, None].expand(weights.shape), columns.expand(weights.shape)),
        weights.cpu(),
        accumulate=True,
    )
    return [(best, t) for t, best in enumerate(sums.argmax(1).tolist()) if best < words]
