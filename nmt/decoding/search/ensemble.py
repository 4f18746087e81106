"""Ensembles: several models translate together."""

import math
from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from nmt.decoding.search.stepwise import State, Stepwise


class EnsembleState:
    """The decoding state of each member."""

    def __init__(self, members: Sequence[State]):
        self.members = members

    @property
    def length(self) -> int:
        """Number of target positions decoded so far, by every member."""
        return self.members[0].length

    def select(self, rows: Tensor) -> None:
        """Keep these rows in the states of all members."""
        for member in self.members:
            member.select(rows)


class Ensemble:
    """Acts as one model whose probabilities at each step are the mean over its members.

    p(yₜ | y₁ … yₜ₋₁, x) = 1/n Σₘ pₘ(yₜ | y₁ … yₜ₋₁, x)   (the linear opinion pool, Stone 1961; for
    translation, Sutskever et al. 2014, table 1)

    models: with the same vocabularies, on one device; their sizes may differ
    """

    def __init__(self, models: Sequence[Stepwise[Any]]):
        self.models = models

    def init_state(self, source: Tensor) -> EnsembleState:
        """Encode sources with every member."""
        return EnsembleState([model.init_state(source) for model in self.models])

    def step(self, tokens: Tensor, state: EnsembleState) -> Tensor:
        """Decode one more position from the members' caches.

        tokens: (rows,), the last token of each → log p (rows, target_size), which a
        log-softmax would not change
        """
        steps = [
            model.step(tokens, member).float().log_softmax(-1)
            for model, member in zip(self.models, state.members, strict=True)
        ]
        return torch.stack(steps).logsumexp(0) - math.log(len(steps))
