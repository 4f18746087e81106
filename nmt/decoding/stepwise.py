"""What a search asks of a model: to decode a batch of sources one position after another."""

from typing import Protocol, TypeVar

from torch import Tensor


class State(Protocol):
    """What decoding remembers of a batch between steps; see `DecoderState`."""

    @property
    def length(self) -> int:
        """Number of target positions decoded so far."""

    def select(self, rows: Tensor) -> None:
        """Keep, repeat or reorder rows: (new batch, hypotheses), each line of one source."""


S = TypeVar("S", bound=State)


class Stepwise(Protocol[S]):
    """A `Transformer`, one with neighbours (`WithNeighbours`), or an `Ensemble` of either."""

    def start(self, source: Tensor) -> S:
        """Encode sources, (batch, source), for decoding: one row each."""

    def step(self, tokens: Tensor, state: S) -> Tensor:
        """Decode one more position: (rows,) last tokens → logits (rows, target_size)."""
