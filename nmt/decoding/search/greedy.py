"""Greedy search and sampling: one hypothesis per sentence."""

import torch
from torch import Tensor

from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.search.length_penalty import scored_hypothesis
from nmt.decoding.search.next_tokens import best_tokens
from nmt.decoding.search.sampling import Sampler
from nmt.decoding.search.stepwise import S, Stepwise
from nmt.device import to_device
from nmt.special_tokens import BOS, EOS


@torch.inference_mode()
def greedy_search(
    model: Stepwise[S],
    source: Tensor,
    limits: Tensor,
    alpha: float = 0.0,
    sampler: Sampler | None = None,
    offset: float = 5.0,
) -> list[Hypothesis]:
    """Translate a batch.

    source: (batch, source) ids; limits: (batch,), on the CPU, longest output, including <eos>;
    alpha, offset: length penalty, which affects only the reported score; sampler: draws the tokens
    instead of taking the most probable ones. Rows leave the batch when they end.
    """
    state = model.init_state(source)
    most = limits.tolist()
    active = list(range(len(most)))
    tokens = source.new_full((len(most),), BOS)
    sums = source.new_zeros(len(most), dtype=torch.float)
    written: list[list[int]] = [[] for _ in most]
    found: dict[int, Hypothesis] = {}
    while active:
        logits = model.step(tokens, state)
        log_probabilities, best = (
            sampler.draw(logits, active) if sampler else best_tokens(logits, 1)
        )
        sums, tokens = sums + log_probabilities[:, 0], best[:, 0]
        alive = []
        # The only values of this step that the CPU waits for.
        fetched = torch.stack([tokens.int(), sums.view(torch.int32)]).cpu()
        for place, (i, token, total) in enumerate(
            zip(active, fetched[0].tolist(), fetched[1].view(torch.float).tolist(), strict=True)
        ):
            if token != EOS:
                written[i].append(token)
            if token == EOS or len(written[i]) >= most[i]:
                found[i] = scored_hypothesis(written[i], total, alpha, token == EOS, offset)
            else:
                alive.append(place)
        if len(alive) < len(active):
            kept = to_device(torch.tensor(alive, dtype=torch.long), source.device)
            state.select(kept[:, None])
            tokens, sums = tokens.index_select(0, kept), sums.index_select(0, kept)
            active = [active[place] for place in alive]
    return [found[i] for i in range(len(most))]
