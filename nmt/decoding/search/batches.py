"""Batches for decoding: sentences of similar length, batches of similar cost."""

from bisect import bisect_left
from collections.abc import Sequence

_WORTH_A_BATCH = 1000  # tokens; with fewer, splitting a batch gains nothing


def make_batches(tokens: Sequence[int], limit: int, workers: int = 1) -> list[list[int]]:
    """Group sentences into batches of similar cost, the same number for each worker.

    tokens: of each sentence, times its hypotheses; limit: maximum padded tokens of a batch;
    workers: number of batches searched in parallel → the sentence indices of each batch, longest
    sentences first, so that no worker is left with a long batch at the end.
    """
    order = sorted(range(len(tokens)), key=tokens.__getitem__)
    at_once = max(1, min(workers, sum(tokens) // _WORTH_A_BATCH))
    count = len(_fill(order, tokens, limit))
    count += -count % at_once
    # The lowest limit with the same number of batches makes them most similar.
    lowest = bisect_left(
        range(limit), True, key=lambda lower: len(_fill(order, tokens, lower)) <= count
    )
    return _fill(order, tokens, lowest)[::-1]


def _fill(order: Sequence[int], tokens: Sequence[int], limit: int) -> list[list[int]]:
    """Fill batches one after another; order: sentence indices by ascending tokens."""
    batches: list[list[int]] = []
    for i in order:
        if not batches or tokens[i] * (len(batches[-1]) + 1) > limit:
            batches.append([])
        batches[-1].append(i)
    return batches
