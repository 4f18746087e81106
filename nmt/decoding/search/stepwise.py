"""The interface between search and models: decode a batch position by position."""

from typing import Protocol, TypeVar

from torch import Tensor


class State(Protocol):
    """The state of decoding between steps; see `DecoderState`."""

    @property
    def length(self) -> int:
        """Number of target positions decoded so far."""

    def select(self, rows: Tensor) -> None:
        """Continue with these rows, (remaining sources, hypotheses); see `DecoderState.select`."""


S = TypeVar("S", bound=State)


class Stepwise(Protocol[S]):
    """A `Transformer`, one with neighbours (`WithNeighbours`), or an `Ensemble` of them."""

    def init_state(self, source: Tensor) -> S:
        """Encode sources, (batch, source), for decoding with one row each."""

    def step(self, tokens: Tensor, state: S) -> Tensor:
        """Decode one more position: (rows,) last tokens → logits (rows, target_size)."""
