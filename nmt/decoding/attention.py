"""The attention weights of a sentence and its translation."""

from collections.abc import Sequence
from itertools import accumulate

import torch
from torch import Tensor

from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.model.attention import CrossAttention, SelfAttention, record_attention
from nmt.model.transformer import Transformer
from nmt.special_tokens import BOS, TAGS


@torch.inference_mode()
def attention_of(
    model: Transformer,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    layers: Sequence[SelfAttention | CrossAttention],
) -> list[Tensor]:
    """Return each layer's weights for a sentence and its translation: (heads, queries, keys)."""
    device = next(model.parameters()).device
    source = torch.tensor([list(source_ids)], device=device)
    target_in = torch.tensor([[BOS, *target_ids]], device=device)
    with record_attention(*layers) as records:
        model.decoder_output(source, target_in)
    return [record[0][0] for record in records]


def cross_attention(
    model: Transformer, source_ids: Sequence[int], target_ids: Sequence[int]
) -> Tensor:
    """Return attention averaged over layers and heads: (target tokens, source tokens and <eos>)."""
    layers = [layer.cross_attention for layer in model.decoder_layers()]
    weights = attention_of(model, source_ids, target_ids, layers)
    return torch.stack([each.float().mean(0) for each in weights]).mean(0)[:-1]


def words_of_tokens(tokenizer: Tokenizer, tokens: Sequence[str]) -> list[int]:
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


def word_attention(weights: Tensor, source: Sequence[int], target: Sequence[int]) -> Tensor:
    """Return the sums of the weights of words' tokens: (target words, source words and the rest).

    weights: from `cross_attention`; source, target: from `words_of_tokens`. The last column has
    the weights of <eos> and of tags.
    """
    words = max(source) + 1
    columns = torch.tensor([*(word if word >= 0 else words for word in source), words])
    rows = torch.tensor(target, dtype=torch.long).clamp_min(0)
    sums = torch.zeros(max(target, default=-1) + 1, words + 1)
    if len(sums):  # there is visible text
        sums.index_put_(
            (rows[:, None].expand(weights.shape), columns.expand(weights.shape)),
            weights.cpu(),
            accumulate=True,
        )
    return sums


def pair_words(attention: Tensor) -> list[tuple[int, int]]:
    """Return the pairs of each target word and the source word that it attends to most.

    attention: from `word_attention`. A target word that attends to <eos> most has no pair.
    """
    most = attention.argmax(1).tolist() if len(attention) else []
    return [(best, t) for t, best in enumerate(most) if best < attention.shape[1] - 1]
