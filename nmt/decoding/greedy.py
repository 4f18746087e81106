"""Greedy search: the most probable piece at every step."""

import torch
from torch import Tensor

from nmt.decoding.hypothesis import Hypothesis, finish
from nmt.decoding.next_pieces import best_pieces
from nmt.decoding.stepwise import S, Stepwise
from nmt.special_tokens import EOS, SOS


@torch.inference_mode()
def greedy_search(
    model: Stepwise[S], source: Tensor, limits: Tensor, alpha: float = 0.0
) -> list[Hypothesis]:
    """Translate a batch.

    source: (batch, source) ids; limits: (batch,), most pieces of each output; alpha: the length
    penalty, which changes the reported score alone. Rows leave the batch when they end.
    """
    state = model.start(source)
    most = limits.tolist()
    first_limit = min(most)
    active = list(range(len(most)))
    tokens = source.new_full((len(most),), SOS)
    sums = source.new_zeros(len(most), dtype=torch.float)
    written: list[list[int]] = [[] for _ in most]
    found: dict[int, Hypothesis] = {}
    while active:
        must_end = state.length >= limits if state.length >= first_limit else None
        best, pieces = best_pieces(model.step(tokens, state), 1, must_end)
        sums, tokens = sums + best[:, 0], pieces[:, 0]
        alive = []
        for i, token, total in zip(active, tokens.tolist(), sums.tolist(), strict=True):
            if token == EOS:
                found[i] = finish(written[i], total, alpha, len(written[i]) < most[i])
            else:
                written[i].append(token)
                alive.append(i)
        if len(alive) < len(active):
            kept = (tokens != EOS).nonzero().squeeze(1)
            state.select(kept[:, None])
            tokens, sums, limits = tokens[kept], sums[kept], limits[kept]
            active = alive
    return [found[i] for i in range(len(most))]
