"""What may follow the words of a translation that have been settled."""

from collections.abc import Callable, Sequence

import torch
from torch import Tensor

from nmt.decoding.search.next_tokens import best_tokens
from nmt.decoding.search.stepwise import S, Stepwise
from nmt.special_tokens import BOS, EOS

_LEAST = 1e-3  # probability of a first token; label smoothing gives some to every token


@torch.inference_mode()
def continuations(
    model: Stepwise[S],
    source: Tensor,
    written: Sequence[int],
    count: int,
    limit: int,
    ended: Callable[[list[int]], bool],
) -> list[list[int]]:
    """Return what may follow the tokens `written`: up to `count` continuations, best first.

    Each of the most probable next tokens is followed by the most probable ones until `ended` is
    true of the continuation, the sentence ends, or it has `limit` tokens.

    source: (1, source) ids → continuations without <eos>
    """
    state = model.init_state(source)
    for token in [BOS, *written]:
        logits = model.step(source.new_tensor([token]), state)
    log_probabilities, best = best_tokens(logits, count)
    tokens = best[0, log_probabilities[0].exp() >= _LEAST]
    found = [[token] for token in tokens.tolist()]
    state.select(source.new_zeros((1, len(found))))
    going = list(range(len(found)))
    while going := [i for i in going if found[i][-1] != EOS and not ended(found[i])]:
        if state.length >= limit:
            break
        tokens = best_tokens(model.step(tokens, state), 1)[1][:, 0]
        for i in going:
            found[i].append(int(tokens[i]))
    return [[token for token in ids if token != EOS] for ids in found]
