"""Which sentences are searched together: batches of similar length, of similar work."""

from bisect import bisect_left
from collections.abc import Sequence

_WORTH_A_BATCH = 1000  # tokens; fewer take as long in two batches as in one


def share_out(tokens: Sequence[int], limit: int, workers: int = 1) -> list[list[int]]:
    """Share sentences out among batches of like work, the same number of batches to each worker.

    tokens: of each sentence, times its hypotheses; limit: padded tokens of a batch, at most;
    workers: how many batches are searched at once → the numbers of each batch's sentences. The
    longest sentences come first, so that no worker is left with them at the end.
    """
    order = sorted(range(len(tokens)), key=tokens.__getitem__)
    at_once = max(1, min(workers, sum(tokens) // _WORTH_A_BATCH))
    count = len(_fill(order, tokens, limit))
    count += -count % at_once
    # The lowest limit that gives no more batches makes them alike.
    lowest = bisect_left(
        range(limit), True, key=lambda lower: len(_fill(order, tokens, lower)) <= count
    )
    return _fill(order, tokens, lowest)[::-1]


def _fill(order: Sequence[int], tokens: Sequence[int], limit: int) -> list[list[int]]:
    """Fill batches one after another; order: the sentences' numbers, by ascending tokens."""
    batches: list[list[int]] = []
    for i in order:
        if not batches or tokens[i] * (len(batches[-1]) + 1) > limit:
            batches.append([])
        batches[-1].append(i)
    return batches
