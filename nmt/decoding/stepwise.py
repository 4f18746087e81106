"""What a search asks of a model: to decode a batch of sources one position after another."""

from typing import Protocol, TypeVar

from torch import Tensor


class State(Protocol):
    """What decoding remembers of a batch between steps; see `DecoderState`."""

    @property
    def length(self) -> int:
        """Number of target positions decoded so far."""

    def select(self, rows: Tensor, same_source: bool = False) -> None:
        """Keep, repeat or reorder rows of the batch; rows: (new batch,)."""


S = TypeVar("S", bound=State)


class Stepwise(Protocol[S]):
    """A `Transformer`, or an `Ensemble` of them."""

    def start(self, source: Tensor, capacity: int) -> S:
        """Encode sources, (batch, source), for decoding up to `capacity` target positions."""

    def step(self, tokens: Tensor, state: S) -> Tensor:
        """Decode one more position: (batch,) last tokens → logits (batch, target_size)."""
