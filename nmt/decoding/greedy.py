"""Greedy search: the most probable piece at every step."""

import torch
from torch import Tensor

from nmt.decoding.hypothesis import Hypothesis, finish
from nmt.decoding.stepwise import S, Stepwise
from nmt.special_tokens import EOS, PAD, SOS

NEVER_WRITTEN = (PAD, SOS)


def next_log_probabilities(
    model: Stepwise[S], tokens: Tensor, state: S, must_end: Tensor
) -> Tensor:
    """Decode one step: (rows,) last tokens → (rows, target_size) log-probabilities.

    <pad> and <sos> are never written; rows of `must_end`, (rows,) boolean, may write <eos> only.
    """
    logits = model.step(tokens, state).float()
    log_probabilities = logits.log_softmax(-1)
    for token in NEVER_WRITTEN:
        log_probabilities[:, token] = float("-inf")
    if must_end.any():  # seldom: a pass over the vocabulary less
        ending = log_probabilities[:, EOS].clone()
        log_probabilities.masked_fill_(must_end[:, None], float("-inf"))
        log_probabilities[:, EOS] = ending
    return log_probabilities


@torch.inference_mode()
def greedy_search(
    model: Stepwise[S], source: Tensor, limits: Tensor, alpha: float = 0.0
) -> list[Hypothesis]:
    """Translate a batch.

    source: (batch, source) ids; limits: (batch,), most pieces of each output; alpha: the length
    penalty, which changes the reported score alone. Rows leave the batch when they end.
    """
    batch = source.shape[0]
    state = model.start(source)
    rows = torch.arange(batch, device=source.device)
    tokens = torch.full_like(rows, SOS)
    sums = torch.zeros(batch, device=source.device)
    written: list[list[int]] = [[] for _ in range(batch)]
    found: dict[int, Hypothesis] = {}
    while len(rows):
        must_end = state.length >= limits
        steps = next_log_probabilities(model, tokens, state, must_end)
        best, tokens = steps.max(-1)
        sums = sums + best
        ended = tokens == EOS
        for row, token, total, forced in zip(
            rows.tolist(), tokens.tolist(), sums.tolist(), must_end.tolist(), strict=True
        ):
            if token == EOS:
                found[row] = finish(written[row], total, alpha, not forced)
            else:
                written[row].append(token)
        if ended.any():
            kept = (~ended).nonzero().squeeze(1)
            state.select(kept[:, None])
            rows, tokens, sums, limits = rows[kept], tokens[kept], sums[kept], limits[kept]
    return [found[row] for row in range(batch)]
