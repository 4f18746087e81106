"""Multi-head attention (Vaswani et al. 2017, section 3.2)."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from nmt.config.model import ModelConfig
from nmt.model.cache import KeyValueCache
from nmt.model.masks import boolean, causal_mask
from nmt.model.positions import rotate
from nmt.ops.attention import fused_attention, fused_is_better
from nmt.ops.dropout import Dropout
from nmt.ops.linear import Linear
from nmt.ops.softmax import softmax


def attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scale: float,
    dropout: Callable[[Tensor], Tensor],
) -> Tensor:
    """Attention(Q, K, V) = softmax(Q Kᵀ / √d_key) V   (equation 1).

    query: (batch, heads, queries, d_key); key: (batch, heads, keys, d_key);
    value: (batch, heads, keys, d_value); mask and scale: as for `attention_weights`;
    dropout: applied to the weights → (batch, heads, queries, d_value)
    """
    return dropout(attention_weights(query, key, mask, scale)) @ value


def attention_weights(query: Tensor, key: Tensor, mask: Tensor | None, scale: float) -> Tensor:
    """Return softmax(Q Kᵀ / √d_key): how much each query attends to each key.

    mask: broadcasts to (batch, heads, queries, keys), True = may attend; scale: 1 / √d_key in the
    paper
    → (batch, heads, queries, keys), where rows sum to one
    """
    scores = query @ key.transpose(-2, -1) * scale
    if mask is not None:
        scores = scores.masked_fill(~mask, torch.finfo(scores.dtype).min)
    return softmax(scores)


class MultiHeadAttention(nn.Module):
    """Base class of self- and cross-attention: heads, attention, output projection."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.heads, self.groups = config.heads, config.groups
        self.d_key, self.d_value = config.key_size, config.value_size
        self.dropout = Dropout(config.attention_dropout)
        widths = {"d_key": self.d_key, "d_model": config.d_model, "learned": 1}
        self.scale = 1 / math.sqrt(widths[config.score_scale])
        learned = config.score_scale == "learned"
        self.learned_scale = nn.Parameter(torch.ones(1)) if learned else None
        self.output = Linear(self.heads * self.d_value, config.d_model, bias=config.attention_bias)
        self.recorded: list[Tensor] | None = None

    def _split_heads(self, projected: Tensor, d: int) -> Tensor:
        """(batch, length, heads * d) → (batch, heads, length, d)."""
        batch, length, width = projected.shape
        return projected.view(batch, length, width // d, d).transpose(1, 2)

    def _attend(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        mask: Tensor | None,
        is_causal: bool = False,
    ) -> Tensor:
        """MultiHead(Q, K, V) = Concat(head₁, …, head_h) Wᴼ   (section 3.2.2).

        key, value: (batch, groups, keys, d_key or d_value); each serves heads / groups queries
        """
        if self.learned_scale is not None:
            query = query * self.learned_scale
        if self.groups < self.heads:
            times = self.heads // self.groups
            key, value = (x.repeat_interleave(times, dim=1) for x in (key, value))
        fused = fused_is_better(query.device, self.training)
        if is_causal and not (fused and self.recorded is None):
            mask, is_causal = causal_mask(query.shape[2], query.device), False
        if self.recorded is not None:
            may_attend = None if mask is None else boolean(mask)
            self.recorded.append(attention_weights(query, key, may_attend, self.scale))
        if fused:
            rate = self.dropout.rate if self.training else 0.0
            heads = fused_attention(query, key, value, mask, self.scale, rate, is_causal)
        else:
            heads = attention(query, key, value, mask, self.scale, self.dropout)
        # (batch, heads, queries, d_value) → (batch, queries, heads * d_value)
        return self.output(heads.transpose(1, 2).flatten(2))


class SelfAttention(MultiHeadAttention):
    """Self-attention; Wᵠ, Wᴷ and Wⱽ of all heads are applied in a single matrix product."""

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.widths = [(self.heads + self.groups) * self.d_key, self.groups * self.d_value]
        self.query_key_value = Linear(config.d_model, sum(self.widths), bias=config.attention_bias)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        cache: KeyValueCache | None = None,
        rotations: Tensor | None = None,
        is_causal: bool = False,
    ) -> Tensor:
        """Attend within x, and to preceding cached positions.

        x: (batch, length, d_model); mask: broadcasts to (batch, 1, length, cached + length), None:
        no restriction other than `is_causal`; rotations: of queries and keys, from
        `RotaryPositions`; is_causal: each position attends only to itself and those before it; then
        mask and cache must be None → (batch, length, d_model)
        """
        queries_keys, values = self.query_key_value(x).split(self.widths, dim=-1)
        both = self._split_heads(queries_keys, self.d_key)
        value = self._split_heads(values, self.d_value)
        if rotations is not None:
            both = rotate(both, rotations)  # together, which takes half the operations
        query, key = torch.split(both, [self.heads, self.groups], dim=1)
        if cache is not None:
            key, value = cache.append(key, value)
        return self._attend(query, key, value, mask, is_causal)


class CrossAttention(MultiHeadAttention):
    """Cross-attention: from the decoder to the output of the encoder."""

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.widths = [self.groups * self.d_key, self.groups * self.d_value]
        query_width = self.heads * self.d_key
        self.query = Linear(config.d_model, query_width, bias=config.attention_bias)
        self.key_value = Linear(config.d_model, sum(self.widths), bias=config.attention_bias)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Project the output of the encoder, once for all decoding steps.

        memory: (batch, source, d_model)
        → (batch, groups, source, d_key) and (batch, groups, source, d_value)
        """
        key, value = self.key_value(memory).split(self.widths, dim=-1)
        return self._split_heads(key, self.d_key), self._split_heads(value, self.d_value)

    def forward(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        """Attend from x to the source.

        x: (batch, target, d_model); mask: (batch, 1, 1, source) → (batch, target, d_model)
        """
        return self._attend(self._split_heads(self.query(x), self.d_key), *keys_values, mask)


@contextmanager
def record_attention(*layers: SelfAttention | CrossAttention) -> Iterator[list[list[Tensor]]]:
    """Record the weights of these attention layers within the context.

    Yields one list per layer; every forward pass appends (batch, heads, queries, keys) to it.
    """
    records: list[list[Tensor]] = [[] for _ in layers]
    for layer, record in zip(layers, records, strict=True):
        layer.recorded = record
    try:
        yield records
    finally:
        for layer in layers:
            layer.recorded = None
