"""Computes the gradient of a batch with several threads, each on a shard of the batch.

Equivalent to: `(sum(loss(shard) for shard in shards) / divisor).backward()`. See
`nmt/ops/threads.py` for why this is faster than parallel operations, and
docs/lab/2026-11-speed.md for how much.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from nmt.ops.dropout import drawing_from
from nmt.ops.threads import parallel_map

T = TypeVar("T")


def backward_by_threads(
    loss_of: Callable[[T], tuple[Tensor, Tensor]],
    shards: Sequence[T],
    generators: Sequence[torch.Generator],
    parameters: Sequence[Tensor],
    divisor: Tensor | float,
) -> tuple[Tensor, Tensor]:
    """Add the gradient of the summed loss, divided by `divisor`, to the parameters' gradients.

    loss_of: returns the summed loss of a shard, and a second sum, for reporting; generators: random
    numbers of each shard, so that the result does not depend on the order of the threads
    → both sums over all shards
    """

    def work(number: int) -> tuple[tuple[Tensor, ...], Tensor, Tensor]:
        with drawing_from(generators[number]):
            loss, reported = loss_of(shards[number])
            return torch.autograd.grad(loss / divisor, parameters), loss.detach(), reported

    found = parallel_map(work, range(len(shards)))
    for gradients, _, _ in found:  # in this order, because floating-point sums depend on it
        for parameter, gradient in zip(parameters, gradients, strict=True):
            if parameter.grad is None:
                parameter.grad = gradient
            else:
                parameter.grad += gradient
    _, losses, reported = zip(*found, strict=True)
    return torch.stack(losses).sum(), torch.stack(reported).sum()
