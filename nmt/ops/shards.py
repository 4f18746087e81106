"""A batch's gradient by several threads, each of which works on a part of the batch, a shard.

In plain form: `(sum(loss(shard) for shard in shards) / divisor).backward()`. `nmt/ops/threads.py`
says why whole passes split better than single operations, docs/lab/2026-11-speed.md by how much.
"""

from collections.abc import Callable, Sequence
from typing import TypeVar

import torch
from torch import Tensor

from nmt.ops.dropout import drawing_from
from nmt.ops.threads import side_by_side

T = TypeVar("T")


def backward_by_threads(
    loss_of: Callable[[T], tuple[Tensor, Tensor]],
    shards: Sequence[T],
    generators: Sequence[torch.Generator],
    parameters: Sequence[Tensor],
    divisor: Tensor | float,
) -> tuple[Tensor, Tensor]:
    """Add the gradient of the summed loss, divided by `divisor`, to the parameters' gradients.

    loss_of: returns a shard's summed loss, and a second sum that is only reported; generators:
    each shard's random numbers, so that the result does not depend on which thread ends first
    → both sums over all shards
    """

    def work(number: int) -> tuple[tuple[Tensor, ...], Tensor, Tensor]:
        with drawing_from(generators[number]):
            loss, reported = loss_of(shards[number])
            return torch.autograd.grad(loss / divisor, parameters), loss.detach(), reported

    found = side_by_side(work, range(len(shards)))
    for gradients, _, _ in found:  # in this order, since sums of floats depend on it
        for parameter, gradient in zip(parameters, gradients, strict=True):
            if parameter.grad is None:
                parameter.grad = gradient
            else:
                parameter.grad += gradient
    _, losses, reported = zip(*found, strict=True)
    return torch.stack(losses).sum(), torch.stack(reported).sum()
