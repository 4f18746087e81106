"""Computes the gradient of a batch: with threads on a CPU, in one pass elsewhere.

On a CPU, each thread processes a shard of the sentence pairs. See `nmt/ops/threads.py` for why this
is faster than parallel operations, and docs/lab/2026-11-speed.md for how much. On a CUDA GPU, the
pass is replayed if the shape of the batch repeats: see `nmt/ops/graphs.py`.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor, nn

from nmt.config.training import TrainingConfig
from nmt.errors import UserError
from nmt.ops.dropout import drawing_from
from nmt.ops.graphs import ReplayedByShape
from nmt.ops.threads import parallel_map, small_operations
from nmt.training.batches import Batch
from nmt.training.distributed import Worker
from nmt.training.loss import BatchLoss

_LEAST_TOKENS = 256  # per shard; with fewer, the overhead outweighs the gain from a thread
_MOST_TOKENS = 2048  # per shard, with padding; more needs more memory and is no faster
_MOST_ACTIVATIONS = 2**22  # per shard: tokens × d_model × layers, to which its memory is related
_MOST_SHARDS = 8  # in parallel; each needs memory for a full gradient


@dataclass(frozen=True)
class DropoutSeed:
    """Determines the dropout of a batch on a CPU, so that a resumed run reproduces it."""

    seed: int
    update: int
    batch: int

    def generator(self, shard: int) -> torch.Generator:
        """Return the random generator of a shard."""
        sequence = np.random.SeedSequence([self.seed, self.update, self.batch, shard])
        return torch.Generator().manual_seed(int(sequence.generate_state(1, np.uint64)[0]))


def backward(loss: nn.Module, batch: Batch, divisor: Tensor | float) -> Tensor:
    """Add the gradient of the batch's loss, divided by `divisor`, to the parameters' gradients.

    loss: a `BatchLoss` → the sums to report, which it returns second
    """
    reported: Tensor
    total, reported = loss(batch)
    (total / divisor).backward()
    return reported


def replays(settings: TrainingConfig, worker: Worker) -> bool:
    """Return whether `training.graphs` selects `ReplayedBackward`.

    Raises `UserError` if it is required but not possible.
    """
    possible = worker.device.type == "cuda" and worker.size == 1
    if settings.graphs == "always" and not possible:
        raise UserError(
            "training.graphs: always needs a single process on a CUDA GPU; use auto instead"
        )
    return possible and (
        settings.graphs == "always" or (settings.graphs == "auto" and not settings.deterministic)
    )


class ReplayedBackward:
    """Does what `backward` does, replaying it for batches of equal shape on a CUDA GPU.

    The parameters keep their gradients between updates: set them to zero instead of `None`.
    """

    def __init__(self, loss: BatchLoss, device: torch.device):
        self._loss, self._device = loss, device
        self._parameters = [p for p in loss.parameters() if p.requires_grad]
        self._gradients: list[Tensor] = []  # graphs write to these addresses
        self._replayed = ReplayedByShape(self._add_gradients)

    def __call__(self, batch: Batch, divisor: Tensor | float) -> Tensor:
        """Add the gradient and return what `backward` does."""
        if not self._gradients:  # not earlier: restoring a checkpoint may replace the parameters
            self._gradients = [torch.zeros_like(p) for p in self._parameters]
            for parameter, gradient in zip(self._parameters, self._gradients, strict=True):
                parameter.grad = gradient
        moved = batch.to(self._device)
        if not isinstance(divisor, Tensor):
            divisor = torch.full((), divisor, device=self._device)
        return self._replayed(moved.source, moved.target_in, moved.target_out, divisor)

    def _add_gradients(
        self, source: Tensor, target_in: Tensor, target_out: Tensor, divisor: Tensor
    ) -> Tensor:
        # Padding included, so that the batch's shape determines that of every tensor.
        everywhere = torch.arange(target_out.numel(), device=self._device)
        total: Tensor
        reported: Tensor
        total, reported = self._loss(Batch(source, target_in, target_out, everywhere))
        added = torch.autograd.grad(total / divisor, self._parameters)
        torch._foreach_add_(self._gradients, list(added))
        return reported


def backward_in_shards(
    loss: BatchLoss, batch: Batch, divisor: Tensor | float, seed: DropoutSeed
) -> Tensor:
    """Do what `backward` does, on all threads that PyTorch may use on the CPU.

    A large batch takes several rounds; in each round, every thread processes one shard.
    """
    most = min(torch.get_num_threads(), _MOST_SHARDS, len(batch))
    at_once = min(most, max(1, batch.tokens // _LEAST_TOKENS))
    padded = loss.passes * max(batch.source.numel(), batch.target_in.numel())
    model = loss.model.config
    activations = model.d_model * (model.encoder_layers + model.decoder_layers)
    tokens = min(_MOST_TOKENS, max(_LEAST_TOKENS, _MOST_ACTIVATIONS // activations))
    rounds = min(math.ceil(padded / (at_once * tokens)), len(batch) // at_once)
    count = rounds * at_once
    reported = []
    for first in range(0, count, at_once):
        numbers = range(first, first + at_once)
        shards = [batch.shard(number, count) for number in numbers]
        generators = [seed.generator(number) for number in numbers]
        reported.append(_backward_in_parallel(loss, shards, divisor, generators))
    return torch.stack(reported).sum(0)


def _backward_in_parallel(
    loss: BatchLoss,
    shards: Sequence[Batch],
    divisor: Tensor | float,
    generators: Sequence[torch.Generator],
) -> Tensor:
    """Do what `backward` does for several shards, each on a thread.

    generators: random numbers of each shard, so that the result does not depend on the order of
    the threads
    """
    parameters = [p for p in loss.parameters() if p.requires_grad]

    def work(number: int) -> tuple[tuple[Tensor, ...], Tensor]:
        with drawing_from(generators[number]):
            total, reported = loss(shards[number])
            gradients = torch.autograd.grad(total / divisor, parameters)
            return gradients, reported

    found = parallel_map(work, range(len(shards)))
    with small_operations():
        for gradients, _ in found:  # in this order, because floating-point sums depend on it
            for parameter, gradient in zip(parameters, gradients, strict=True):
                if parameter.grad is None:
                    parameter.grad = gradient
                else:
                    parameter.grad += gradient
    return torch.stack([reported for _, reported in found]).sum(0)
