"""Sampling: draws each next token at random."""

from collections import defaultdict
from collections.abc import Sequence
from itertools import count

import numpy as np
import torch
from torch import Tensor

from nmt.config.decoding import DecodingConfig
from nmt.device import to_device
from nmt.special_tokens import SUPPRESSED


def count_earlier(sources: Sequence[Sequence[int]]) -> list[int]:
    """Return, for each source, how many equal ones precede it."""
    counts: defaultdict[tuple[int, ...], count[int]] = defaultdict(count)
    return [next(counts[tuple(source)]) for source in sources]


class Sampler:
    """Draws the next token of each row from the model's probabilities.

    With `decoding.temperature` T, p(y) ∝ p_model(y)^(1/T), restricted to the `top_k` most probable
    tokens (Fan et al. 2018) and the smallest set with total probability `top_p` (Holtzman et al.
    2020).

    sources: the ids of each row; numbers: one per row, to distinguish rows of the same source. The
    random numbers of a row depend on these and on `decoding.seed`, but not on the batch. The engine
    numbers the rows of each call from 0, so equal sources in two calls draw the same numbers.
    """

    def __init__(
        self, decoding: DecodingConfig, sources: Sequence[Sequence[int]], numbers: Sequence[int]
    ):
        self._decoding = decoding
        self._generators = [
            np.random.default_rng([decoding.seed, number, *source])
            for source, number in zip(sources, numbers, strict=True)
        ]

    def draw(self, logits: Tensor, rows: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Return one token per row, and its log-probability under the model.

        logits: (rows, target_size); rows: their indices among the sources → (rows, 1) each
        """
        logits = logits.float()
        scores = logits.clone()
        for token in SUPPRESSED:
            scores[:, token] = float("-inf")
        # Relative to the highest, which stays finite even at very low temperatures.
        temperature = max(self._decoding.temperature, torch.finfo(torch.float32).tiny)
        scores = (scores - scores.amax(1, keepdim=True)) / temperature
        probabilities, order = scores.softmax(1).sort(1, descending=True)
        sums = self._truncate(probabilities).cumsum(1)
        numbers = torch.tensor([[self._generators[row].random()] for row in rows])
        drawn = to_device(numbers, sums.device) * sums[:, -1:]
        ranks = torch.searchsorted(sums, drawn, right=True)
        # A number that was rounded up to 1 selects the last token that can be drawn.
        ranks = torch.minimum(ranks, (sums < sums[:, -1:]).sum(1, keepdim=True))
        tokens = order.gather(1, ranks)
        return logits.log_softmax(1).gather(1, tokens), tokens

    def _truncate(self, probabilities: Tensor) -> Tensor:
        """Zero the tokens that may not be drawn; probabilities: (rows, tokens), descending."""
        top_k, top_p = self._decoding.top_k, self._decoding.top_p
        if top_k:
            probabilities[:, top_k:] = 0
        if top_p < 1:
            before = probabilities.cumsum(1) - probabilities
            cut = before >= top_p * probabilities.sum(1, keepdim=True)
            probabilities = probabilities.masked_fill(cut, 0)
        return probabilities
