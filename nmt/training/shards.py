"""A batch's gradient by several threads, each of which works on some of its sentences.

A thread has a share of the batch, a shard, and random numbers of its own, so that the same seed
gives the same gradient whichever thread ends first. `nmt/threads.py` says why whole passes share
out better than operations, docs/performance.md by how much.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from nmt.ops.dropout import drawing_from
from nmt.ops.threads import side_by_side
from nmt.training.batches import Batch

_LEAST_TOKENS = 256  # a shard with fewer costs more in overhead than its thread gains
_MOST = 8  # each holds a whole gradient

Learn = Callable[[Batch], tuple[Tensor, Tensor]]


@dataclass(frozen=True)
class Seed:
    """What a batch's random numbers follow from, so that a resumed training draws the same."""

    seed: int
    update: int
    batch: int

    def generator(self, shard: int) -> torch.Generator:
        """Return a shard's own source of random numbers."""
        sequence = np.random.SeedSequence([self.seed, self.update, self.batch, shard])
        return torch.Generator().manual_seed(int(sequence.generate_state(1, np.uint64)[0]))


class Shards:
    """Learns from a batch on a CPU, by as many threads as PyTorch has been given."""

    def __init__(self, module: nn.Module, learn: Learn):
        """`learn` gives the summed losses of a batch, to learn from and to show."""
        self._parameters = [p for p in module.parameters() if p.requires_grad]
        self._learn = learn

    def backward(self, batch: Batch, tokens: float, seed: Seed) -> tuple[Tensor, Tensor]:
        """Add the gradient of the loss, divided by `tokens`, to the parameters' gradients.

        Returns the summed losses of the whole batch.
        """
        most = min(torch.get_num_threads(), _MOST, len(batch))
        count = min(most, max(1, batch.tokens // _LEAST_TOKENS))

        def work(shard: int) -> tuple[tuple[Tensor, ...], Tensor, Tensor]:
            with drawing_from(seed.generator(shard)):
                loss, plain = self._learn(batch.share(shard, count))
                return torch.autograd.grad(loss / tokens, self._parameters), loss.detach(), plain

        found = side_by_side(work, range(count))
        for gradients, _, _ in found:  # in their order, since sums of floats depend on it
            for parameter, gradient in zip(self._parameters, gradients, strict=True):
                if parameter.grad is None:
                    parameter.grad = gradient
                else:
                    parameter.grad += gradient
        _, losses, plains = zip(*found, strict=True)
        return torch.stack(losses).sum(), torch.stack(plains).sum()
