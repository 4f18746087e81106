"""Decoding on a CPU in compiled loops: the faster twin of `FastDecoder`."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor, nn

from nmt import kernels
from nmt.decoding.neighbours import Neighbours
from nmt.kernels import Attentions, Floats, Ids, Layers, Norms, Products, Shape
from nmt.model.layers import DecoderLayer, EncoderLayer
from nmt.model.transformer import Embedding, Transformer
from nmt.ops.linear import linear
from nmt.special_tokens import EOS, PAD, SOS

_FEW = 32  # rows; from so many on a library's product is no slower than the loops here


def best_pieces(
    logits: Tensor, count: int, must_end: Tensor | None = None, goes_on: Tensor | None = None
) -> tuple[Tensor, Tensor]:
    """See `nmt.decoding.next_pieces.best_pieces`; of equals the first piece comes first."""
    rows, columns = logits.shape
    none = torch.zeros(rows, dtype=torch.bool)
    must_end, goes_on = (none if mask is None else mask for mask in (must_end, goes_on))
    log_probabilities = np.empty((rows, min(count, columns)), np.float32)
    pieces = np.empty(log_probabilities.shape, np.int64)
    kernels.best_pieces(
        logits.numpy(), must_end.numpy(), goes_on.numpy(), log_probabilities, pieces
    )
    return torch.from_numpy(log_probabilities), torch.from_numpy(pieces)


class CompiledState:
    """What decoding remembers of a batch between steps.

    Keys and values stay where they were written, one place a hypothesis and position; what moves
    is the list of a hypothesis's places. So hypotheses are repeated, reordered and given up without
    copying what they attend to.

    source: (layers, tokens, …), keys and values of all sources; spans: where each source's begin
    and end; sentences: (rows,), the source of each row; past: (layers, room, …), keys and values of
    what was written; places: (rows, room), where each row has its own; length: positions decoded
    """

    ragged = True

    def __init__(self, source: Floats, spans: Ids):
        self.source = source
        self.spans = spans
        self.sentences = np.arange(len(spans) - 1)
        self.past = np.empty(
            (source.shape[0], 8 * len(self.sentences), source.shape[2]), np.float32
        )
        self.places = np.empty((len(self.sentences), 8), np.int64)
        self.length = 0
        self._used = 0

    def advance(self) -> None:
        """Begin a step: give each row a place for its next position."""
        rows, room = self.places.shape
        if self.length == room:
            self.places = np.concatenate([self.places, np.empty_like(self.places)], axis=1)
        if self._used + rows > self.past.shape[1]:
            layers, had, width = self.past.shape
            grown = np.empty((layers, 2 * (had + rows), width), np.float32)
            grown[:, : self._used] = self.past[:, : self._used]
            self.past = grown
        self.places[:, self.length] = np.arange(self._used, self._used + rows)
        self._used += rows
        self.length += 1

    def select(self, rows: Tensor) -> None:
        """Keep, repeat or reorder rows; rows: (new rows,), or as `DecoderState.select`."""
        chosen = rows.flatten().numpy()
        self.places = self.places[chosen]
        self.sentences = self.sentences[chosen]


class CompiledDecoder:
    """To a search, the model: decodes as it does, without dropout, on a CPU and in float32.

    Takes a copy of the weights. neighbours: what is mixed in, if anything
    """

    def __init__(self, model: Transformer, neighbours: Neighbours | None = None):
        self._neighbours = neighbours
        max_length = model.config.max_length
        self._source = _Embedding(model.source_embedding, max_length)
        self._target = _Embedding(model.target_embedding, max_length)
        self._encoder, self._decoder = _encoder_layers(model), _decoder_layers(model)
        readers = [layer.cross_attention for layer in model.decoder_layers()]
        self._keys_values = _products([reader.key_value for reader in readers])
        self._shape = _shape(model)
        self._weight, bias = model.output.rows.detach().clone(), model.output.bias
        self._bias = torch.zeros(len(self._weight)) if bias is None else bias.detach().clone()

    def start(self, source: Tensor) -> CompiledState:
        """Encode sources, (batch, source), for decoding: one row each."""
        inside = source != PAD
        lengths = inside.sum(1).numpy()
        spans = np.concatenate([[0], lengths.cumsum()])
        positions = np.arange(spans[-1]) - spans[:-1].repeat(lengths)
        x, rotations = self._source.look_up(source[inside].numpy(), positions)
        memory = kernels.encode(x, spans, rotations, self._encoder, self._shape)
        return CompiledState(kernels.project(memory, self._keys_values), spans)

    def step(self, tokens: Tensor, state: CompiledState) -> Tensor:
        """Decode one more position: (rows,) last tokens → logits (rows, target_size)."""
        hidden = self._hidden(tokens, state)
        logits = self._logits(hidden)
        return self._neighbours.mix(hidden, logits) if self._neighbours else logits

    def _hidden(self, tokens: Tensor, state: CompiledState) -> Tensor:
        """Return the decoder's last layer: (rows, d_model)."""
        x, rotations = self._target.look_up(tokens.numpy(), np.array([state.length]))
        state.advance()
        hidden = kernels.decode(
            x,
            state.places,
            state.length,
            state.past,
            state.source,
            state.spans,
            state.sentences,
            rotations,
            self._decoder,
            self._shape,
        )
        return torch.from_numpy(hidden)

    def _logits(self, hidden: Tensor) -> Tensor:
        if len(hidden) >= _FEW:
            return linear(hidden, self._weight, self._bias)
        logits = hidden.new_empty(len(hidden), len(self._weight))
        arrays = (each.numpy() for each in (hidden, self._weight, self._bias, logits))
        kernels.product(*arrays)
        return logits

    def warm_up(self) -> None:
        """Compile the loops, or load those that were compiled before."""
        state = self.start(torch.tensor([[EOS]]))
        best_pieces(self._logits(self._hidden(torch.tensor([SOS]), state)), 1)


class _Embedding:
    """See `Embedding`."""

    def __init__(self, embedding: Embedding, max_length: int):
        self._tokens = embedding.tokens.weight.detach().numpy() * np.float32(embedding.scale)
        rotations = embedding.rotations(0, max_length)
        self._rotary = rotations is not None
        table = embedding.positions(0, max_length) if rotations is None else rotations
        self._table = (torch.view_as_real(table) if self._rotary else table.detach()).numpy().copy()

    def look_up(self, ids: Ids, positions: Ids) -> tuple[Floats, Floats]:
        """Return the embeddings of tokens, and what their queries and keys are rotated by.

        ids: (tokens,); positions: (tokens,), or (1,) of all → (tokens, d_model), and (as many as
        positions, d_key / 2, 2), or none
        """
        x, of_positions = self._tokens[ids], self._table[positions]
        if self._rotary:
            return x, of_positions
        return x + of_positions, np.empty((0, 0, 0), np.float32)


# ------------------------------------------------------------------------- weights, layer by layer


def _shape(model: Transformer) -> Shape:
    attention = model.decoder_layers()[0].self_attention
    return Shape(
        attention.heads,
        attention.d_key,
        attention.d_value,
        np.float32(attention.scale),
        np.float32(model.config.norm_epsilon),
        model.config.norm == "pre",
        model.config.activation == "gelu",
    )


def _encoder_layers(model: Transformer) -> Layers:
    layers = model.encoder_layers()
    itself = Attentions(
        _norms([layer.attention_residual.norm for layer in layers]),
        _products([layer.attention.query_key_value for layer in layers]),
        _products([layer.attention.output for layer in layers]),
    )
    source = Attentions(_norms([]), _products([]), _products([]))
    return Layers(itself, source, *_feed_forward(layers), _norms([model.encoder_norm]))


def _decoder_layers(model: Transformer) -> Layers:
    layers = model.decoder_layers()
    itself = Attentions(
        _norms([layer.self_residual.norm for layer in layers]),
        _products([layer.self_attention.query_key_value for layer in layers]),
        _products([layer.self_attention.output for layer in layers]),
    )
    source = Attentions(
        _norms([layer.cross_residual.norm for layer in layers]),
        _products([layer.cross_attention.query for layer in layers]),
        _products([layer.cross_attention.output for layer in layers]),
    )
    return Layers(itself, source, *_feed_forward(layers), _norms([model.decoder_norm]))


def _feed_forward(
    layers: Sequence[EncoderLayer] | Sequence[DecoderLayer],
) -> tuple[Norms, Products, Products]:
    return (
        _norms([layer.feed_forward_residual.norm for layer in layers]),
        _products([layer.feed_forward.inner for layer in layers]),
        _products([layer.feed_forward.outer for layer in layers]),
    )


def _norms(norms: Sequence[nn.Module]) -> Norms:
    """Stack layer norms; what is none, `nn.Identity`, is left out."""
    found = [norm for norm in norms if isinstance(norm, nn.LayerNorm)]
    return Norms(_stack([n.weight for n in found], 2), _stack([n.bias for n in found], 2))


def _products(products: Sequence[nn.Linear]) -> Products:
    biases = [p.weight.new_zeros(p.out_features) if p.bias is None else p.bias for p in products]
    return Products(_stack([p.weight for p in products], 3), _stack(biases, 2))


def _stack(tensors: Sequence[Tensor], dimensions: int) -> Floats:
    if not tensors:
        return np.empty((0,) * dimensions, np.float32)
    return torch.stack([tensor.detach() for tensor in tensors]).numpy()
