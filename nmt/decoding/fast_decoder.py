"""One step of decoding written out for speed: the twin of `Transformer.step`, without modules.

A step is so small that calling modules, and making masks ready in every layer, takes longer than
the products themselves. Here are the same weights and the same operations, in the same order.
"""

from collections.abc import Callable

from torch import Tensor, nn
from torch.nn import functional

from nmt.decoding.neighbours import Neighbours
from nmt.model.attention import CrossAttention, KeyValueCache, SelfAttention, scaled_dot_product
from nmt.model.layers import DecoderLayer, FeedForward, PreNorm
from nmt.model.masks import added_to_scores
from nmt.model.positions import rotate
from nmt.model.transformer import DecoderState, Transformer
from nmt.ops.linear import linear

_Map = Callable[[Tensor], Tensor]


class FastDecoder:
    """To a search, the model: decodes as it does, faster, without dropout.

    Follows the model's weights when they change in place. neighbours: what is mixed in, if anything
    """

    def __init__(self, model: Transformer, neighbours: Neighbours | None = None):
        self._model = model
        self._neighbours = neighbours
        embedding = model.target_embedding
        self._embedding, self._scale = embedding.tokens.weight, embedding.scale
        self._positions, self._rotations = embedding.positions.forward, embedding.rotations
        self._layers = [_Layer(layer) for layer in model.decoder_layers()]
        self._norm = _norm(model.decoder_norm)
        self._output = model.output.forward

    def start(self, source: Tensor) -> DecoderState:
        """See `Transformer.start`."""
        return self._model.start(source)

    def step(self, tokens: Tensor, state: DecoderState) -> Tensor:
        """Decode one more position: (batch * hypotheses,) → (batch * hypotheses, target_size)."""
        x = functional.embedding(tokens, self._embedding) * self._scale
        rotations = self._rotations(state.length, 1)
        if rotations is None:
            x = x + self._positions(state.length, 1)  # (batch * hypotheses, d_model)
        mask = added_to_scores(state.advance(len(x) // len(state.source_mask)))
        source_mask = added_to_scores(state.source_mask)
        for layer, cache, source in zip(self._layers, state.caches, state.source, strict=True):
            x = layer.step(x, mask, source, source_mask, cache, rotations)
        hidden = self._norm(x)
        logits = self._output(hidden)
        return self._neighbours.mix(hidden, logits) if self._neighbours else logits


class _Layer:
    """`DecoderLayer.forward` for one position of every hypothesis; x: (rows, d_model)."""

    def __init__(self, layer: DecoderLayer):
        residuals = layer.self_residual, layer.cross_residual, layer.feed_forward_residual
        self._pre_norm = isinstance(layer.self_residual, PreNorm)
        self._norms = [_norm(residual.norm) for residual in residuals]
        self._past = _SelfAttention(layer.self_attention)
        self._source = _CrossAttention(layer.cross_attention)
        self._feed_forward = _feed_forward(layer.feed_forward)

    def step(
        self,
        x: Tensor,
        mask: Tensor | None,
        source: tuple[Tensor, Tensor],
        source_mask: Tensor | None,
        cache: KeyValueCache,
        rotations: Tensor | None,
    ) -> Tensor:
        first, second, third = self._norms
        batch = len(source[0])
        if self._pre_norm:
            x = x + self._past.attend(first(x), batch, mask, cache, rotations)
            x = x + self._source.attend(second(x), batch, source_mask, source)
            return x + self._feed_forward(third(x))
        x = first(x + self._past.attend(x, batch, mask, cache, rotations))
        x = second(x + self._source.attend(x, batch, source_mask, source))
        return third(x + self._feed_forward(x))


class _SelfAttention:
    def __init__(self, attention: SelfAttention):
        self._heads, self._scale, self._widths = attention.heads, attention.scale, attention.widths
        self._query_key_value = _linear(attention.query_key_value)
        self._output = _linear(attention.output)

    def attend(
        self,
        x: Tensor,
        batch: int,
        mask: Tensor | None,
        cache: KeyValueCache,
        rotations: Tensor | None,
    ) -> Tensor:
        parts = self._query_key_value(x).split_with_sizes(self._widths, 1)
        query, key, value = (_split_heads(part, batch, self._heads) for part in parts)
        if rotations is not None:
            query, key = rotate(query, rotations), rotate(key, rotations)
        key, value = cache.append(key, value)
        return self._output(_join_heads(query, key, value, mask, self._scale))


class _CrossAttention:
    def __init__(self, attention: CrossAttention):
        self._heads, self._scale = attention.heads, attention.scale
        self._query = _linear(attention.query)
        self._output = _linear(attention.output)

    def attend(
        self, x: Tensor, batch: int, mask: Tensor | None, source: tuple[Tensor, Tensor]
    ) -> Tensor:
        query = _split_heads(self._query(x), batch, self._heads)
        return self._output(_join_heads(query, *source, mask, self._scale))


def _split_heads(x: Tensor, batch: int, heads: int) -> Tensor:
    """(batch * hypotheses, heads * d) → (batch, heads, hypotheses, d)."""
    return x.view(batch, -1, heads, x.shape[1] // heads).transpose(1, 2)


def _join_heads(
    query: Tensor, key: Tensor, value: Tensor, mask: Tensor | None, scale: float
) -> Tensor:
    """Attend → (batch * hypotheses, heads * d_value)."""
    heads = scaled_dot_product(query, key, value, mask, scale=scale)
    return heads.transpose(1, 2).flatten(2).flatten(0, 1)


def _feed_forward(module: FeedForward) -> _Map:
    inner, outer = _linear(module.inner), _linear(module.outer)
    activation = module.activation.forward
    return lambda x: outer(activation(inner(x)))


def _linear(module: nn.Linear) -> _Map:
    weight, bias = module.weight, module.bias
    return lambda x: linear(x, weight, bias)


def _norm(module: nn.Module) -> _Map:
    if not isinstance(module, nn.LayerNorm):
        return module.forward
    shape, weight, bias, epsilon = module.normalized_shape, module.weight, module.bias, module.eps
    return lambda x: functional.layer_norm(x, shape, weight, bias, epsilon)
