"""The training loop: update, validate, write checkpoints, until a limit is reached.

Its parts are in `batches.py`, `step.py` (the update), `validation.py`,
`limits.py`, `checkpoint.py`, `log.py` and `console.py`. `train.py` is the stage that calls it.
"""

import math
import time
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, closing, nullcontext
from itertools import islice
from typing import TypeVar

from torch import Tensor

from nmt.config.choices import Weights
from nmt.config.config import Config
from nmt.config.languages import writes_no_spaces
from nmt.corpus.prepared import PreparedData
from nmt.decoding.loading import choose_engine
from nmt.echo import echo
from nmt.errors import UserError
from nmt.files.output_files import replacing
from nmt.model.transformer import Transformer, count_parameters
from nmt.ops.threads import prefetch
from nmt.runs.folder import RunFolder, Validation, add_validation
from nmt.runs.weights import named_weights, save_weights, write_tensors
from nmt.training.batches import Batch, BatchPlan, Epoch
from nmt.training.checkpoint import Progress
from nmt.training.console import ProgressBar, show_validation
from nmt.training.distributed import Worker
from nmt.training.interruption import Interruption, catching_signals
from nmt.training.limits import (
    checkpoint_is_due,
    final_update,
    reached_limit,
    updates_per_epoch,
    validation_is_due,
)
from nmt.training.log import POINT_UPDATES, TrainingLog, opened_log
from nmt.training.resuming import resuming_command
from nmt.training.schedules import learning_rate
from nmt.training.sharding import unshard, unsharded_model
from nmt.training.step import TrainingState
from nmt.training.tensorboard import require_tensorboard
from nmt.training.validation import Validator

T = TypeVar("T")
_PREFETCHED_BATCHES = 8


def require_possible(config: Config) -> None:
    """Raise `UserError`, before preparing, for an engine or a log that is not available."""
    choose_engine(config)
    if config.training.tensorboard:
        require_tensorboard()
    if config.training.target_bleu and writes_no_spaces(config.data.target_language):
        raise UserError(
            "training.target_bleu: BLEU in validation needs spaces between words, which "
            f"{config.data.target_language} lacks; set training.patience instead"
        )


class Trainer:
    """The training of a run: the constructor sets everything up, `run` trains."""

    def __init__(
        self,
        config: Config,
        prepared: PreparedData,
        folder: RunFolder,
        worker: Worker,
        resume: bool = False,
    ):
        self.config, self.settings = config, config.training
        self.prepared, self.folder, self.worker = prepared, folder, worker
        self.plan = BatchPlan(prepared, self.settings, config.model.max_length)
        self.validator = Validator(config, prepared, worker)
        sizes = prepared.tokenizers.source.size, prepared.tokenizers.target.size
        self.state = TrainingState(config, *sizes, worker, resume)
        if resume:
            self.state.restore(folder)
        self._begin_epoch(self.plan.epoch(self._epoch))
        self._started = time.monotonic() - 60 * self.progress.minutes
        self._saved = self.progress.updates, self.progress.minutes
        self._log: TrainingLog | None = None
        self._interruption = Interruption()
        self._interrupted = False  # agreed on by all workers

    @property
    def progress(self) -> Progress:
        """The progress of training."""
        return self.state.progress

    @property
    def final_update(self) -> int:
        """The number of the last update, an estimate until the last epoch."""
        return self.state.final_update

    @property
    def updates_in_epoch(self) -> int:
        """Number of updates in the current epoch."""
        return updates_per_epoch(self.settings, self.batches_in_epoch)

    @property
    def is_complete(self) -> bool:
        """Whether nothing is left to train."""
        return self.progress.finished and bool(self._limit())

    # --------------------------------------------------------------------------------- the loop

    def run(self) -> bool:
        """Train until a limit is reached; raise `KeyboardInterrupt` after a signal to stop.

        Returns whether anything was left to train.
        """
        if self.is_complete:
            echo(f"{self.folder.path} is already trained: {self._limit()}")
            return False
        self.progress.finished = False
        self._announce()
        resume = resuming_command(self.folder, self.worker)
        self.worker.when_lost = f"continue from the last checkpoint with {resume}"
        with (
            catching_signals(self.worker.at_second_signal) as self._interruption,
            closing(self._updates()) as updates,  # closed after saving: may wait for a new epoch
        ):
            if not self.progress.updates:
                self._save()  # from now on the run can be resumed
            self._save_best()  # a killed process may have saved only the checkpoint
            with self._opened_log() as self._log:
                self._train_until_stopped(updates)
                if not self._interrupted and self.progress.validated != self.progress.updates:
                    self._validate()
            self.progress.finished = not self._interrupted
            self._save()
        if self._interrupted:
            echo(f"interrupted after update {self.progress.updates}; continue with", f"  {resume}")
        else:
            echo(f"finished: {self._limit()}")
        # A signal may have arrived while the last checkpoint was saved.
        [requested] = self.worker.largest(self._interruption.requested)
        if requested:
            raise KeyboardInterrupt
        return True

    def _train_until_stopped(self, updates: Iterator[list[Batch]]) -> None:
        with ProgressBar(self.settings, self.progress, self.final_update) as bar:
            # Checked before each update: a resumed run may already be at its limit.
            while not (self._interrupted or self._limit()):
                batches = next(updates, None)
                if batches is None:
                    return
                bar.expect(self.final_update)
                loss = self.state.update(batches)
                self._tick()
                bar.advance(self.progress)
                if bar.wants_report(self.progress) or self._adds_point:
                    self._report(loss, bar)
                before = self.progress.minutes
                validated = validation_is_due(self.settings, self.progress, self.batches_in_epoch)
                if validated:
                    self._validate()
                due = checkpoint_is_due(self.settings, self.progress, *self._saved)
                if due:
                    self._save()
                if validated or due:
                    self._tick()
                    bar.exclude(self.progress.minutes - before)
                if validated and not self._limit():
                    bar.print_time_left(self.progress)

    def _report(self, loss: Tensor, bar: ProgressBar) -> None:
        """Read the loss, which synchronizes a GPU; show it, and log it every few updates."""
        [value] = self.worker.sum(loss.item())
        if not math.isfinite(value) and self.state.loss_scaler.skips_overflow:
            return
        self.state.require_finite(value)
        bar.report(self.progress, self._epoch, value)
        if self._log and self._adds_point:
            rate = self.state.learning_rate
            self._log.write_point(
                {"update": self.progress.updates, "loss": value, "learning_rate": rate}
            )

    @property
    def _adds_point(self) -> bool:
        """Whether this update is a point of the training curve: every tenth, and the last one."""
        return self._interrupted or self.progress.updates % POINT_UPDATES == 0

    def _updates(self) -> Generator[list[Batch], None, None]:
        """Yield the batches of each update, epoch by epoch, starting where `progress` left off."""
        epochs = range(self.progress.epoch, self.settings.epochs + 1)
        for epoch in self._prefetched(map(self.plan.epoch, epochs), 1):
            self._begin_epoch(epoch)
            worker = self.worker
            batches = epoch.batches(self.progress.batch, worker.rank, worker.size)
            batches = self._prefetched(batches, _PREFETCHED_BATCHES)
            while group := list(islice(batches, self.settings.accumulate)):
                self.progress.batch += len(group)
                yield group
            self.progress.epoch += 1
            self.progress.batch = 0

    def _begin_epoch(self, epoch: Epoch) -> None:
        self.batches_in_epoch = len(epoch.order)
        self.state.final_update = final_update(self.settings, self.batches_in_epoch, self.progress)

    def _prefetched(self, items: Iterator[T], count: int) -> Iterator[T]:
        """Prefetch items in a thread when training on a GPU; a CPU has no time to spare."""
        return items if self.worker.device.type == "cpu" else prefetch(items, count)

    @property
    def _epoch(self) -> int:
        """The number of the current epoch, or of the last one at the end."""
        return min(self.progress.epoch, self.settings.epochs)

    def _limit(self) -> str:
        return reached_limit(self.settings, self.progress)

    def _tick(self) -> None:
        """Synchronize time and interruptions, so that all workers make the same decisions."""
        minutes, interrupted = self.worker.largest(
            (time.monotonic() - self._started) / 60, self._interruption.requested
        )
        self.progress.minutes, self._interrupted = minutes, bool(interrupted)

    def _announce(self) -> None:
        pairs = self.prepared.report["pairs"]["train"]
        several = f" with {self.worker.size} processes" if self.worker.size > 1 else ""
        echo(
            f"{self.folder.path}: {count_parameters(self.state.model):,} parameters, {pairs:,} "
            f"pairs, up to {self.final_update:,} updates on {self.worker.device}{several}"
        )
        if self.settings.target_bleu:
            echo(f"ends when validation reaches {self.settings.target_bleu:g} BLEU")
        if writes_no_spaces(self.config.data.target_language):
            echo(
                f"BLEU in validation needs spaces between words, which "
                f"{self.config.data.target_language} lacks: chrF selects the best weights instead"
            )
        if self.plan.too_long:
            echo(
                f"skipped: {self.plan.too_long:,} training pairs longer than model.max_length "
                f"{self.config.model.max_length}"
            )
        if self.validator.too_long:
            echo(
                f"{self.validator.too_long:,} validation pairs are longer than model.max_length, "
                "so they count for BLEU only"
            )
        if 1 < self.final_update <= self.settings.warmup_updates:
            reached = learning_rate(self.settings, self.final_update, self.final_update)
            echo(
                f"warm-up ({self.settings.warmup_updates:,} updates) takes up all of training: the "
                f"learning rate reaches {reached:.2g} and never falls; lower "
                "training.warmup_updates"
            )

    # ----------------------------------------------------------------- validations and checkpoints

    def _validate(self) -> None:
        """Validate, and keep the weights if they are the best so far."""
        self.state.require_finite_weights()
        with self.state.averaged_weights(), unsharded_model(self.state.model) as model:
            line = self._measure(model)
            self._note(line)
            if self.state.average:
                self._save_weights(model, "ema")
            self._keep_validated(model)
        if self._log:
            self._log.write(line)
        self._save()
        self._save_best()
        best = self.progress.best_update == line["update"]
        show_validation(line, best, self.config.data)
        if skipped := self.state.loss_scaler.skipped:
            echo(f"  {skipped:,} updates skipped so far due to float16 overflow")

    def _keep_validated(self, model: Transformer) -> None:
        if not self.worker.is_main:
            return
        kept = self.settings.keep_validated
        if kept:
            path = self.folder.validated_weights(self.progress.updates)
            path.parent.mkdir(exist_ok=True)
            with replacing(path) as partial:
                save_weights(model, partial)
        stored = self.folder.validated()
        for old in stored[: max(0, len(stored) - kept)]:
            old.unlink()

    def _measure(self, model: Transformer) -> Validation:
        measures = self.validator.measure(model)
        self.state.require_finite(measures["loss"])
        self._tick()
        return {
            "update": self.progress.updates,
            "epoch": self._epoch,
            "minutes": round(self.progress.minutes, 3),
            "learning_rate": self.state.learning_rate,
            "train_loss": self.state.mean_loss(),
            "train_accuracy": self.state.accuracy(),
            **measures,
        }

    def _note(self, line: Validation) -> None:
        """Record a validation: it may be the best so far."""
        progress = self.progress
        progress.validated, progress.bleu = progress.updates, line["bleu"]
        self.state.forget_loss()
        add_validation(progress, line, self.settings.best)

    def _save(self) -> None:
        self.state.save(self.folder)
        self._save_weights(self.state.model, "last")
        self._saved = self.progress.updates, self.progress.minutes

    def _save_best(self) -> None:
        """Write the best weights if they are the current ones.

        Called after the checkpoint is written: a run that resumes from an earlier checkpoint may
        take another course.
        """
        if 0 < self.progress.best_update == self.progress.updates:
            with self.state.averaged_weights():
                self._save_weights(self.state.model, "best")

    def _save_weights(self, model: Transformer, which: Weights) -> None:
        """Write the weights; if they are sharded, all workers must call this."""
        weights = unshard(named_weights(model), keep=self.worker.is_main)
        if self.worker.is_main:
            with replacing(self.folder.weights(which)) as partial:
                write_tensors(weights, partial)

    def _opened_log(self) -> AbstractContextManager[TrainingLog | None]:
        if not self.worker.is_main:
            return nullcontext()
        return opened_log(self.folder, self.progress.updates, self.settings.tensorboard)
