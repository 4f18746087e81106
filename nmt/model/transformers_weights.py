"""The weights of a model as the library `transformers` names and orders them.

Its Marian has the norms after the residual connections, its Pegasus before the sublayers. The
sinusoids of both have all sines before all cosines, so the columns of everything that is d_model
wide are reordered: the same numbers in another order.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nmt.config.model import ModelConfig
from nmt.model.sinusoids import sinusoid_table

Array = NDArray[np.float32]
Take = Callable[[str], NDArray[Any]]


def named_weights(
    model: ModelConfig, take: Take, source_size: int, target_size: int
) -> Iterator[tuple[str, NDArray[Any]]]:
    """Yield all weights with their names in transformers.

    take: returns a weight of nmt by its name, or an array of the same shape that stands for it
    """
    yield from _Weights(model, take).named(source_size, target_size)


def shares_embeddings(model: ModelConfig) -> bool:
    """Return whether source and target tokens have one embedding matrix."""
    return model.tie in ("inputs", "all")


class _Weights:
    def __init__(self, model: ModelConfig, take: Take):
        self._model, self._take = model, take
        columns = np.arange(model.d_model)
        self._order = np.concatenate([columns[0::2], columns[1::2]])

    def named(self, source_size: int, target_size: int) -> Iterator[tuple[str, Array]]:
        """Yield all weights with their names in transformers."""
        model = self._model
        yield from self._embeddings(source_size, target_size)
        if model.norm_position == "pre":  # in Marian, the library computes them
            yield from self._positions_and_final_norms()
        for i in range(model.encoder_layers):
            yield from self._layer(f"encoder.{i}.", f"model.encoder.layers.{i}.", "attention")
        for i in range(model.decoder_layers):
            there = f"model.decoder.layers.{i}."
            yield from self._layer(f"decoder.{i}.", there, "self_attention")
            yield from self._cross_attention(f"decoder.{i}.", there)

    def _embeddings(self, source_size: int, target_size: int) -> Iterator[tuple[str, Array]]:
        """Yield the embeddings and the output layer.

        If all tokens share embeddings, source-only tokens have an output there too; a bias of -∞
        excludes them.
        """
        model = self._model
        embeddings = self._take("source_embedding.tokens.weight")
        outputs = target_size
        if shares_embeddings(model):
            yield "model.shared.weight", self._columns(embeddings)
            outputs = source_size
            if model.tie == "inputs":  # transformers ties them only together with the output
                for side in ("encoder", "decoder"):
                    yield f"model.{side}.embed_tokens.weight", self._columns(embeddings)
        else:
            yield "model.encoder.embed_tokens.weight", self._columns(embeddings)
            embeddings = self._take("target_embedding.tokens.weight")
            yield "model.decoder.embed_tokens.weight", self._columns(embeddings)
        rest = outputs - target_size
        if model.tie not in ("target", "all"):
            output = self._columns(self._take("output.weight"))
            yield "lm_head.weight", np.pad(output, ((0, rest), (0, 0)))
        bias = self._output_bias(target_size)
        if rest:
            bias = np.concatenate([bias, np.full(rest, -np.inf, np.float32)])
        yield "final_logits_bias", bias[None]

    def _positions_and_final_norms(self) -> Iterator[tuple[str, Array]]:
        table = self._columns(sinusoid_table(self._model.max_length, self._model.d_model))
        for stack in ("encoder", "decoder"):
            yield f"model.{stack}.embed_positions.weight", table
            yield from self._norm(f"{stack}_norm", f"model.{stack}.layer_norm")

    def _output_bias(self, size: int) -> Array:
        if not self._model.output_bias:
            return np.zeros(size, np.float32)
        return self._take("output.bias")

    def _layer(self, here: str, there: str, attention: str) -> Iterator[tuple[str, Array]]:
        """Yield self-attention and feed-forward with their norms."""
        own = f"{here}{attention}."
        yield from self._projections(own, "query_key_value", f"{there}self_attn.", "qkv")
        yield from self._output(own + "output", f"{there}self_attn.out_proj")
        norm = {"attention": "attention_residual", "self_attention": "self_residual"}[attention]
        yield from self._norm(f"{here}{norm}.norm", f"{there}self_attn_layer_norm")
        inner = f"{here}feed_forward.inner"
        yield f"{there}fc1.weight", self._columns(self._take(f"{inner}.weight"))
        yield f"{there}fc1.bias", self._take(f"{inner}.bias")
        yield from self._output(f"{here}feed_forward.outer", f"{there}fc2")
        yield from self._norm(f"{here}feed_forward_residual.norm", f"{there}final_layer_norm")

    def _cross_attention(self, here: str, there: str) -> Iterator[tuple[str, Array]]:
        own, other = f"{here}cross_attention.", f"{there}encoder_attn."
        yield from self._projections(own, "query", other, "q")
        yield from self._projections(own, "key_value", other, "kv")
        yield from self._output(f"{own}output", f"{other}out_proj")
        yield from self._norm(f"{here}cross_residual.norm", f"{there}encoder_attn_layer_norm")

    def _projections(
        self, here: str, name: str, there: str, kinds: str
    ) -> Iterator[tuple[str, Array]]:
        """Yield the parts of a joint projection; kinds: a letter for each part."""
        weight = self._take(f"{here}{name}.weight")
        bias = self._bias(f"{here}{name}.bias", len(weight))
        parts = zip(kinds, np.split(weight, len(kinds)), np.split(bias, len(kinds)), strict=True)
        for kind, rows, offsets in parts:
            yield f"{there}{kind}_proj.weight", self._columns(rows)
            yield f"{there}{kind}_proj.bias", np.ascontiguousarray(offsets)

    def _output(self, here: str, there: str) -> Iterator[tuple[str, Array]]:
        """Yield a layer whose output is d_model wide."""
        yield f"{there}.weight", self._take(f"{here}.weight")[self._order]
        yield f"{there}.bias", self._bias(f"{here}.bias", self._model.d_model)[self._order]

    def _norm(self, here: str, there: str) -> Iterator[tuple[str, Array]]:
        for kind in ("weight", "bias"):
            yield f"{there}.{kind}", self._take(f"{here}.{kind}")[self._order]

    def _bias(self, name: str, size: int) -> Array:
        """Return a bias: zeros where attention has none."""
        if "attention" in name and not self._model.attention_bias:
            return np.zeros(size, np.float32)
        return self._take(name)

    def _columns(self, weight: Array) -> Array:
        return np.ascontiguousarray(weight[:, self._order])
