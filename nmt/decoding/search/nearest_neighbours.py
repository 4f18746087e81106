"""Nearest-neighbour translation (Khandelwal et al. 2021)."""

from dataclasses import dataclass

import torch
from torch import Tensor

from nmt.decoding.search.datastore import Datastore
from nmt.model.transformer import DecoderState, Transformer

_LEAST = torch.finfo(torch.float32).tiny  # avoids log 0


@dataclass(frozen=True)
class Neighbours:
    """Interpolates a model's probabilities with those of the nearest training positions.

    p(y) = (1 - λ) p_model(y) + λ Σᵢ [yᵢ = y] exp(-dᵢ / T) / Σᵢ exp(-dᵢ / T)
    (Khandelwal et al. 2021, equations 2 and 3), over the `count` nearest positions, where
    dᵢ is the squared distance to the key of position i, and yᵢ its value
    """

    datastore: Datastore
    count: int
    share: float
    """The interpolation weight λ of the equation."""
    temperature: float
    """The temperature T of the equation."""

    def mix(self, hidden: Tensor, logits: Tensor) -> Tensor:
        """Return log p, which a log-softmax would not change.

        hidden: (rows, d_model), the input of the output layer; logits: (rows, target_size)
        """
        distances, tokens = self.datastore.nearest(hidden.float(), self.count)
        weights = (-distances / self.temperature).softmax(1) * self.share
        probabilities = logits.float().softmax(1) * (1 - self.share)
        mixed = probabilities.scatter_add_(1, tokens, weights)
        return mixed.clamp_min(_LEAST).log()


class WithNeighbours:
    """A model whose probabilities are interpolated with those of its neighbours.

    See `Stepwise`.
    """

    def __init__(self, model: Transformer, neighbours: Neighbours):
        self._model, self._neighbours = model, neighbours

    def init_state(self, source: Tensor) -> DecoderState:
        """Encode sources."""
        return self._model.init_state(source)

    def step(self, tokens: Tensor, state: DecoderState) -> Tensor:
        """Return log-probabilities of the next tokens: the model's mixed with the neighbours'."""
        hidden = self._model.step_output(tokens, state)
        return self._neighbours.mix(hidden, self._model.logits(hidden))
