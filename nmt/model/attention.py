"""Multi-head attention (Vaswani et al. 2017, section 3.2), with a cache for decoding."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.config import ModelConfig
from nmt.model.positions import rotate
from nmt.ops.dropout import Dropout
from nmt.ops.linear import Linear

_VECTOR = 16  # numbers of 32 bits


def scaled_dot_product(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    dropout: float = 0.0,
    scale: float | None = None,
) -> Tensor:
    """Attention(Q, K, V) = softmax(Q Kᵀ / √d_key) V   (equation 1).

    query: (batch, heads, queries, d_key); key: (batch, heads, keys, d_key);
    value: (batch, heads, keys, d_value); mask: broadcasts to (batch, heads, queries, keys),
    True = may attend, or numbers that are added to the scores; a query that may attend to nothing
    gets zeros; scale: what the scores are multiplied by, 1 / √d_key if None.
    → (batch, heads, queries, d_value)
    """
    return functional.scaled_dot_product_attention(query, key, value, mask, dropout, scale=scale)


def attention_weights(
    query: Tensor, key: Tensor, mask: Tensor | None, scale: float | None = None
) -> Tensor:
    """softmax(Q Kᵀ / √d_key), the weights that `scaled_dot_product` keeps to itself.

    → (batch, heads, queries, keys); rows sum to one, or are zero where nothing may be attended to
    """
    scores = query @ key.transpose(-2, -1) * (scale or 1 / math.sqrt(query.shape[-1]))
    if mask is not None:
        scores = scores.masked_fill(~mask, float("-inf"))
    weights = _softmax(scores)
    return weights if mask is None or mask.any(-1).all() else weights.nan_to_num(0.0)


def _softmax(scores: Tensor) -> Tensor:
    """Return `scores.softmax(-1)`, of few keys on a CPU in a tenth of its time.

    Its softmax takes the keys of a vector at once, fewer one by one, and is slow in 16 bits too.
    """
    keys = scores.shape[-1]
    filled = functional.pad(scores, (0, max(0, _VECTOR - keys)), value=float("-inf"))
    exact = torch.promote_types(scores.dtype, torch.float32)
    return filled.softmax(-1, dtype=exact)[..., :keys].to(scores.dtype)


class KeyValueCache:
    """Keys and values of one layer's past positions, in buffers that double when they are full.

    keys: (batch, heads, positions, d_key); values: (batch, heads, positions, d_value)
    """

    def __init__(self) -> None:
        self.length = 0
        self._keys: Tensor | None = None
        self._values: Tensor | None = None

    def append(self, key: Tensor, value: Tensor) -> tuple[Tensor, Tensor]:
        """Add new positions; return all keys and values so far."""
        start, self.length = self.length, self.length + key.shape[2]
        self._keys = _write(self._keys, key, start)
        self._values = _write(self._values, value, start)
        return self._keys.narrow(2, 0, self.length), self._values.narrow(2, 0, self.length)

    def select(self, rows: Tensor) -> None:
        """Keep, repeat or reorder the rows of the batch; rows: (new batch,)."""
        if self._keys is not None and self._values is not None:
            self._keys = self._keys.index_select(0, rows)
            self._values = self._values.index_select(0, rows)


def _write(buffer: Tensor | None, new: Tensor, start: int) -> Tensor:
    """Write positions from `start` on into the buffer, or into one with room for them.

    buffer: (batch, heads, positions, d); new: (batch, heads, new positions, d)
    """
    end = start + new.shape[2]
    if buffer is None or buffer.shape[2] < end:
        full = buffer
        buffer = new.new_empty(*new.shape[:2], 2 * end, new.shape[3])
        if full is not None:
            buffer[:, :, :start] = full[:, :, :start]
    buffer.narrow(2, start, new.shape[2]).copy_(new)
    return buffer


class _Attention(nn.Module):
    """What self- and cross-attention share: heads, the product, the output projection."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.heads = config.heads
        self.d_key, self.d_value = config.key_size, config.value_size
        self.dropout = Dropout(config.attention_dropout)
        widths = {"d_key": self.d_key, "d_model": config.d_model}
        self.scale = 1 / math.sqrt(widths[config.score_scale])
        self.output = Linear(self.heads * self.d_value, config.d_model, bias=config.attention_bias)
        self.recorded: list[Tensor] | None = None

    def _split_heads(self, projected: Tensor) -> Tensor:
        """(batch, length, heads * d) → (batch, heads, length, d)."""
        batch, length, width = projected.shape
        return projected.view(batch, length, self.heads, width // self.heads).transpose(1, 2)

    def _attend(self, query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None) -> Tensor:
        """MultiHead(Q, K, V) = Concat(head₁, …, head_h) Wᴼ   (section 3.2.2)."""
        if self.recorded is not None:
            self.recorded.append(attention_weights(query, key, mask, self.scale))
        if self.training and query.device.type == "cpu":
            # PyTorch's kernel takes no random numbers of a thread's own there, goes back slowly in
            # bfloat16, and is no faster in float32.
            heads = self.dropout(attention_weights(query, key, mask, self.scale)) @ value
        else:
            dropout = self.dropout.rate if self.training else 0.0
            heads = scaled_dot_product(query, key, value, mask, dropout, self.scale)
        # (batch, heads, queries, d_value) → (batch, queries, heads * d_value)
        return self.output(heads.transpose(1, 2).flatten(2))


class SelfAttention(_Attention):
    """Attention of a sequence to itself; Wᵠ, Wᴷ and Wⱽ of all heads are one matrix product."""

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.widths = [self.heads * self.d_key] * 2 + [self.heads * self.d_value]
        self.query_key_value = Linear(config.d_model, sum(self.widths), bias=config.attention_bias)

    def forward(
        self,
        x: Tensor,
        mask: Tensor | None,
        cache: KeyValueCache | None = None,
        rotations: Tensor | None = None,
    ) -> Tensor:
        """Attend within x, and to the cached positions before it.

        x: (batch, length, d_model); mask: broadcasts to (batch, 1, length, past + length);
        rotations: what `RotaryPositions` rotate queries and keys by → (batch, length, d_model)
        """
        projected = self.query_key_value(x).split(self.widths, dim=-1)
        query, key, value = (self._split_heads(part) for part in projected)
        if rotations is not None:
            query, key = rotate(query, rotations), rotate(key, rotations)
        if cache is not None:
            key, value = cache.append(key, value)
        return self._attend(query, key, value, mask)


class CrossAttention(_Attention):
    """Attention of the decoder to the encoder's output."""

    def __init__(self, config: ModelConfig):
        super().__init__(config)
        self.widths = [self.heads * self.d_key, self.heads * self.d_value]
        self.query = Linear(config.d_model, self.widths[0], bias=config.attention_bias)
        self.key_value = Linear(config.d_model, sum(self.widths), bias=config.attention_bias)

    def keys_values(self, memory: Tensor) -> tuple[Tensor, Tensor]:
        """Project the encoder's output, once for all decoding steps.

        memory: (batch, source, d_model)
        → (batch, heads, source, d_key) and (batch, heads, source, d_value)
        """
        key, value = self.key_value(memory).split(self.widths, dim=-1)
        return self._split_heads(key), self._split_heads(value)

    def forward(self, x: Tensor, keys_values: tuple[Tensor, Tensor], mask: Tensor | None) -> Tensor:
        """Attend from x to the source.

        x: (batch, target, d_model); mask: (batch, 1, 1, source) → (batch, target, d_model)
        """
        return self._attend(self._split_heads(self.query(x)), *keys_values, mask)


@contextmanager
def record_attention(*layers: SelfAttention | CrossAttention) -> Iterator[list[list[Tensor]]]:
    """Collect the weights of these attention layers while the context lasts.

    Yields one list a layer; every forward pass appends (batch, heads, queries, keys) to it.
    """
    records: list[list[Tensor]] = [[] for _ in layers]
    for layer, record in zip(layers, records, strict=True):
        layer.recorded = record
    try:
        yield records
    finally:
        for layer in layers:
            layer.recorded = None
