"""One training step, `TrainingState.update`, and the state that it changes."""

import math
from collections.abc import Iterator
from contextlib import contextmanager

import torch
from torch import Tensor, nn

from nmt.config.config import Config
from nmt.device import be_deterministic, product_dtype
from nmt.errors import UserError
from nmt.model.transformer import Transformer
from nmt.ops.compiled import compile_training
from nmt.ops.memory import bound_kernels, keep_memory, return_memory
from nmt.ops.threads import small_operations
from nmt.runs.folder import RunFolder
from nmt.special_tokens import UNK
from nmt.training.backward import (
    DropoutSeed,
    ReplayedBackward,
    backward,
    backward_in_shards,
    replays,
)
from nmt.training.batches import Batch
from nmt.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from nmt.training.distributed import Worker
from nmt.training.fine_tuning import freeze, load_initial
from nmt.training.loss import BatchLoss
from nmt.training.optimizers import LossScaler, WeightAverage, make_optimizer
from nmt.training.resuming import saved_settings
from nmt.training.schedules import learning_rate
from nmt.training.sharding import shard, unshard

_RETURN_UPDATES = 10  # updates between returns of unused memory to the system


class TrainingState:
    """A model in training; `update` is one optimizer step.

    resume: whether `restore` follows, so that `training.initial_weights` need not be read

    Set `final_update`, at which the cosine schedule reaches zero, before the first update.
    """

    def __init__(
        self,
        config: Config,
        source_size: int,
        target_size: int,
        worker: Worker,
        resume: bool = False,
    ):
        self.settings, self.worker = config.training, worker
        self._saved_settings = saved_settings(config)
        self.final_update = 1
        if worker.device.type == "cpu":
            bound_kernels()
            keep_memory()
        elif self.settings.deterministic:
            be_deterministic()
        torch.manual_seed(self.settings.seed)
        self.model = Transformer(config.model, source_size, target_size)
        if not resume:
            load_initial(self.model, config)
        self.model.to(worker.device)
        freeze(self.model, self.settings.freeze)
        if self.settings.compile and worker.device.type == "cuda":
            for layer in (*self.model.encoder, *self.model.decoder):
                compile_training(layer)
        self._batch_loss = BatchLoss(self.model, self.settings, worker.device)
        self._loss_of: nn.Module = self._batch_loss
        if self.settings.shard and (mesh := worker.mesh):
            shard(self._batch_loss, mesh)
        else:
            self._loss_of = worker.replicate(self._batch_loss)
        # Several workers already divide the batch.
        self._by_threads = worker.device.type == "cpu" and worker.size == 1
        if worker.size > 1:
            self._settle_order()
            torch.manual_seed(self.settings.seed + worker.rank)  # different dropout in each worker
        self._parameters = list(self.model.parameters())  # finding them takes time
        self._replayed = (
            ReplayedBackward(self._batch_loss, worker.device)
            if replays(self.settings, worker)
            else None
        )
        self.optimizer = make_optimizer(self.model, self.settings)
        dtype = product_dtype(worker.device, self.settings.precision)
        self.loss_scaler = LossScaler(worker.device, dtype)
        decay = self.settings.average_decay
        self.average = WeightAverage(self.model, decay) if decay else None
        self.progress = Progress()
        # Summed on the device: reading these at each update would synchronize a GPU.
        self._sums = torch.zeros(2, device=worker.device)  # cross-entropy, correct predictions
        self._skipped_tokens = torch.zeros((), dtype=torch.int64, device=worker.device)

    def _settle_order(self) -> None:
        """Run a pass on a pair without labels, whose gradients are zero.

        `DistributedDataParallel` changes its order of summation after the first pass, which affects
        the last bits. With this extra pass, a resumed run sums in the same order as an
        uninterrupted one.
        """
        backward(self._loss_of, Batch.from_ids([[UNK]], [[UNK]]).without_labels(), 1)
        self.model.zero_grad()

    def update(self, batches: list[Batch]) -> Tensor:
        """Take one step on the mean loss over all target tokens of the batches.

        Returns their mean cross-entropy, which is the loss without label smoothing and R-Drop. With
        several workers, it is this worker's part of the mean; the parts add up to the mean.

        All losses are divided by the tokens of all batches together, so that four quarters
        of a batch give the same gradient as the whole. Likewise with several workers: `batches` are
        this worker's shards, and the loss is summed over workers.
        """
        if not self.model.training:  # check first: setting the mode of every module takes 0.2 ms
            self.model.train()
        tokens = int(*self.worker.sum(sum(batch.tokens for batch in batches)))
        # DistributedDataParallel averages gradients over workers, but they should be summed.
        divisor = self.loss_scaler.divisor(tokens / self.worker.size)
        sums = torch.zeros_like(self._sums)
        for number, batch in enumerate(batches, 1):
            with self.worker.averaging(self._loss_of, now=number == len(batches)):
                sums += self._forward_and_backward(batch, number, divisor)
        self.progress.updates += 1
        for group in self.optimizer.param_groups:
            group["lr"] = self.learning_rate
        with small_operations():
            self.loss_scaler.unscale(self.optimizer)
            if self.settings.clip_norm:
                nn.utils.clip_grad_norm_(self._parameters, self.settings.clip_norm)
            # Steps the optimizer, unless float16 overflows.
            skipped = self.loss_scaler.step_optimizer(self.optimizer)
            self.optimizer.zero_grad(set_to_none=self._replayed is None)
            if self.average:
                self.average.update(self.progress.updates)
        self._count(tokens, sums, skipped)
        return sums[0] / tokens

    def _forward_and_backward(self, batch: Batch, number: int, divisor: Tensor | float) -> Tensor:
        """Add the gradient of a batch's loss divided by `divisor`; return the sums to report.

        number: of the batch in this update, for the seed of its dropout
        """
        if self._by_threads:
            seed = DropoutSeed(self.settings.seed, self.progress.updates, number)
            return backward_in_shards(self._batch_loss, batch, divisor, seed)
        if self._replayed:
            return self._replayed(batch, divisor)
        return backward(self._loss_of, batch, divisor)

    def _count(self, tokens: int, sums: Tensor, skipped: Tensor | None) -> None:
        """Add an update to the progress and to the sums behind `mean_loss` and `accuracy`."""
        self.progress.tokens += tokens
        self.progress.loss_tokens += tokens
        if skipped is None:
            self._sums += sums
        else:  # the loss of a skipped update may be infinite
            self._sums += sums.where(~skipped, 0)
            self._skipped_tokens += skipped * tokens
        if self.worker.device.type == "cpu" and self.progress.updates % _RETURN_UPDATES == 0:
            return_memory()

    @property
    def learning_rate(self) -> float:
        """The rate of the latest update."""
        return learning_rate(self.settings, self.progress.updates, self.final_update)

    def mean_loss(self) -> float:
        """Return the mean loss per token since `forget_loss`, with dropout, without smoothing.

        Skipped updates do not count; NaN if there were no others.
        """
        return self._mean(0)

    def accuracy(self) -> float:
        """Return the share of tokens that were predicted correctly, otherwise like `mean_loss`."""
        return self._mean(1)

    def _mean(self, number: int) -> float:
        [total] = self.worker.sum(self._sums[number].item())
        self._leave_out_skipped()
        return total / self.progress.loss_tokens if self.progress.loss_tokens else math.nan

    def forget_loss(self) -> None:
        """Reset the mean loss and the accuracy."""
        self._sums.zero_()
        self.progress.loss_tokens = 0

    def _leave_out_skipped(self) -> None:
        self.progress.loss_tokens -= int(self._skipped_tokens)
        self._skipped_tokens.zero_()

    @contextmanager
    def averaged_weights(self) -> Iterator[None]:
        """Use the moving average of the weights, if there is one, within the context."""
        if self.average:
            self.average.swap()
        try:
            yield
        finally:
            if self.average:
                self.average.swap()

    def save(self, run: RunFolder) -> None:
        """Write the run's checkpoint; raises `UserError` if training has diverged."""
        self.require_finite_weights()
        self.progress.loss = self.require_finite(self._sums[0])
        self.progress.correct = float(self._sums[1])
        self._leave_out_skipped()
        save_checkpoint(run, *self._saved_parts(), self.progress, self._saved_settings, self.worker)

    def restore(self, run: RunFolder) -> None:
        """Restore the run's checkpoint; raises `UserError` if it does not match."""
        self.progress = load_checkpoint(
            run, *self._saved_parts(), self._saved_settings, self.worker
        )
        self._sums.copy_(torch.tensor([self.progress.loss, self.progress.correct]))

    def _saved_parts(
        self,
    ) -> tuple[Transformer, torch.optim.Optimizer, LossScaler, WeightAverage | None]:
        return self.model, self.optimizer, self.loss_scaler, self.average

    def require_finite_weights(self) -> None:
        """Raise `UserError` if training has diverged."""
        self.require_finite(unshard(sum(p.detach().sum() for p in self.model.parameters())))
        if self.loss_scaler.is_exhausted:
            raise self._diverged("gradients overflow float16 however small the loss is scaled")

    def require_finite(self, number: Tensor | float) -> float:
        """Return the number; raise `UserError` if it is not finite, as training has diverged."""
        if not math.isfinite(value := float(number)):
            raise self._diverged(f"loss or weights became {value}")
        return value

    def _diverged(self, cause: str) -> UserError:
        return UserError(
            f"training diverged before update {self.progress.updates} ({cause}); this state was "
            "not saved; train again with a lower training.learning_rate or more "
            "training.warmup_updates"
        )
