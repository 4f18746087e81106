"""Multi-head attention (Vaswani et al. 2017, section 3.2)."""

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.config.model import ModelConfig
from nmt.model.cache import KeyValueCache
from nmt.model.masks import boolean, causal_mask
from nmt.model.positions import rotate
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
        self.heads = config.heads
        self.d_key, self.d_value = config.key_size, config.value_size
        self.dropout = Dropout(config.attention_dropout)
        widths = {"d_key": self.d_key, "d_model": config.d_model}
        self.scale = 1 / math.sqrt(widths[config.score_scale])
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
        causal: bool = False,
    ) -> Tensor:
        """MultiHead(Q, K, V) = Concat(head₁, …, head_h) Wᴼ   (section 3.2.2)."""
        device = query.device.type
        if causal and (self.recorded is not None or device != "cuda"):
            mask, causal = causal_mask(query.shape[2], query.device), False
        if self.recorded is not None:
            may_attend = None if mask is None else boolean(mask)
            self.recorded.append(attention_weights(query, key, may_attend, self.scale))
        if device == "mps" or (device == "cpu" and self.training):
            heads = attention(query, key, value, mask, self.scale, self.dropout)
        else:
            heads = self._fused_attention(query, key, value, mask, causal)
        # (batch, heads, queries, d_value) → (batch, queries, heads * d_value)
        return self.output(heads.transpose(1, 2).flatten(2))

    def _fused_attention(
        self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, causal: bool
    ) -> Tensor:
        """Compute `attention` with PyTorch's fused kernel, which never stores the attention matrix.

        When training on a CPU, it is no faster in float32 and slower in bfloat16, and its dropout
        does not use the generator of each thread. On MPS, it gives wrong results in some versions
        of PyTorch (issues 176767 and 195910).
        """
        rate = self.dropout.rate if self.training else 0.0
        if query.device.type == "cuda":
            query, key, value = (_padded(x) for x in (query, key, value))
        heads = functional.scaled_dot_product_attention(
            query, key, value, mask, rate, causal, scale=self.scale
        )
        return heads[..., : self.d_value]


class SelfAttention(MultiHeadAttention):
    """Self-attention; Wᵠ, Wᴷ and Wⱽ of all heads are applied in a single matrix product."""

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.widths = [2 * self.heads * self.d_key, self.heads * self.d_value]
        self.query_key_value = Linear(config.d_model, sum(self.widths), bias=config.attention_bias)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        cache: KeyValueCache | None = None,
        rotations: Tensor | None = None,
    ) -> Tensor:
        """Attend within x, and to preceding cached positions.

        x: (batch, length, d_model); mask: broadcasts to (batch, 1, length, past + length); None:
        each position attends to itself and all before it;
        rotations: of queries and keys, from `RotaryPositions` → (batch, length, d_model)
        """
        queries_keys, values = self.query_key_value(x).split(self.widths, dim=-1)
        both = self._split_heads(queries_keys, self.d_key)
        value = self._split_heads(values, self.d_value)
        if rotations is not None:
            both = rotate(both, rotations)  # together, which takes half the operations
        query, key = both.chunk(2, dim=1)
        if cache is not None:
            key, value = cache.append(key, value)
        return self._attend(query, key, value, mask, causal=mask is None and cache is None)


class CrossAttention(MultiHeadAttention):
    """Cross-attention: from the decoder to the output of the encoder."""

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.widths = [self.heads * self.d_key, self.heads * self.d_value]
        self.query = Linear(config.d_model, self.widths[0], bias=config.attention_bias)
        self.key_value = Linear(config.d_model, sum(self.widths), bias=config.attention_bias)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Project the output of the encoder, once for all decoding steps.

        memory: (batch, source, d_model)
        → (batch, heads, source, d_key) and (batch, heads, source, d_value)
        """
        key, value = self.key_value(memory).split(self.widths, dim=-1)
        return self._split_heads(key, self.d_key), self._split_heads(value, self.d_value)

    def forward(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        """Attend from x to the source.

        x: (batch, target, d_model); mask: (batch, 1, 1, source) → (batch, target, d_model)
        """
        return self._attend(self._split_heads(self.query(x), self.d_key), *keys_values, mask)


def _padded(x: Tensor) -> Tensor:
    """Zero-pad heads to a multiple of 8, which CUDA's fast kernels require."""
    missing = -x.shape[-1] % 8
    return functional.pad(x, (0, missing)) if missing else x


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
