"""Translations that begin as prescribed (prefix-constrained search, Knowles and Koehn 2016)."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Generic

import torch
from torch import Tensor

from nmt.decoding.search.stepwise import S, Stepwise


@dataclass
class BegunState(Generic[S]):
    """The state of the model, and what each row still has to write of its beginning."""

    inner: S
    missing: list[bytes]

    @property
    def length(self) -> int:
        """Number of target positions decoded so far."""
        return self.inner.length

    def select(self, rows: Tensor) -> None:
        """Continue with these rows, (remaining sources, hypotheses)."""
        self.inner.select(rows)
        self.missing = [self.missing[row] for row in rows.flatten().tolist()]


class WithBeginnings(Generic[S]):
    """A model that can write only what begins as prescribed; see `Stepwise`.

    beginnings: one per source, in UTF-8, empty if any translation will do; spellings: what each
    token writes, empty for special tokens. A beginning may end within a word, and within a token.
    """

    def __init__(self, model: Stepwise[S], beginnings: Sequence[bytes], spellings: Sequence[bytes]):
        self._model, self._beginnings, self._spellings = model, beginnings, spellings
        self._others = cache(self._find_others)

    def init_state(self, source: Tensor) -> BegunState[S]:
        """Encode sources."""
        return BegunState(self._model.init_state(source), list(self._beginnings))

    def step(self, tokens: Tensor, state: BegunState[S]) -> Tensor:
        """Return logits, -∞ for the tokens that do not continue the beginning."""
        first = state.length == 0
        logits = self._model.step(tokens, state.inner)
        for row, token in enumerate(tokens.tolist()):
            if not first:
                state.missing[row] = state.missing[row][len(self._spellings[token]) :]
            if missing := state.missing[row]:
                logits[row, self._others(missing).to(logits.device)] = float("-inf")
        return logits

    def _find_others(self, missing: bytes) -> Tensor:
        """Return the tokens that may not be written next; none if no token may."""
        others = [
            number
            for number, text in enumerate(self._spellings)
            if not text or not (text.startswith(missing) or missing.startswith(text))
        ]
        if len(others) == len(self._spellings):
            others = []
        return torch.tensor(others, dtype=torch.long)
