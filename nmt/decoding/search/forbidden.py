"""Translations without forbidden phrases."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Generic

from torch import Tensor

from nmt.decoding.search.stepwise import S, Stepwise


@dataclass
class ForbiddenPhrasesState(Generic[S]):
    """The state of the model, and for each row, the forbidden phrases and the tokens written."""

    inner: S
    forbidden: list[list[list[int]]]
    written: list[list[int]] = field(default_factory=list)

    @property
    def length(self) -> int:
        """Number of target positions decoded so far."""
        return self.inner.length

    def select(self, rows: Tensor) -> None:
        """Continue with these rows, (remaining sources, hypotheses)."""
        self.inner.select(rows)
        numbers = rows.flatten().tolist()
        self.forbidden = [self.forbidden[row] for row in numbers]
        self.written = [self.written[row] for row in numbers]


class WithoutForbiddenPhrases(Generic[S]):
    """A model that does not write forbidden phrases, nor words that begin with them.

    See `Stepwise`. forbidden: for each source, phrases of at least one token
    """

    def __init__(self, model: Stepwise[S], forbidden: Sequence[list[list[int]]]):
        self._model, self._forbidden = model, forbidden

    def init_state(self, source: Tensor) -> ForbiddenPhrasesState[S]:
        """Encode sources."""
        state = self._model.init_state(source)
        return ForbiddenPhrasesState(state, list(self._forbidden), [[] for _ in self._forbidden])

    def step(self, tokens: Tensor, state: ForbiddenPhrasesState[S]) -> Tensor:
        """Return logits, -∞ for the tokens that would complete a phrase."""
        logits = self._model.step(tokens, state.inner)
        state.written = [
            [*written, token] for written, token in zip(state.written, tokens.tolist(), strict=True)
        ]
        for row, (phrases, written) in enumerate(zip(state.forbidden, state.written, strict=True)):
            for *first, last in phrases:
                if written[len(written) - len(first) :] == first:
                    logits[row, last] = float("-inf")
        return logits
