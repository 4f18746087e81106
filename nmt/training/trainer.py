"""The stage `train`: teacher forcing on prepared data until a limit is reached.

>>> from nmt.config_files import load_config
>>> from nmt.training.trainer import train
>>> run = train(load_config("sample.yaml"), Path("runs/sample"))
"""

import math
import shlex
import signal
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from types import FrameType

import torch
from torch import nn
from tqdm import tqdm

from nmt.config import CORPUS_PATHS, Config
from nmt.corpus.prepare import default_folder, prepare
from nmt.corpus.prepared import PreparedData, open_prepared
from nmt.decoding.translator import Translator
from nmt.device import autocast, choose_device
from nmt.errors import UserError
from nmt.evaluation import corpus_bleu
from nmt.model.transformer import Transformer, count_parameters
from nmt.model.weights import save_weights
from nmt.ops.memory import keep_memory
from nmt.run_folder import (
    RunFolder,
    Sample,
    Validation,
    Weights,
    create_run,
    discard_beginning,
    open_run,
    replacing,
    require_free,
    require_same_data,
)
from nmt.special_tokens import UNK
from nmt.training.batches import Batch, BatchPlan, batches_of
from nmt.training.checkpoint import Progress, load_checkpoint, save_checkpoint
from nmt.training.fill_datastore import fill_datastore, require_room
from nmt.training.loss import BatchLoss, score_batch
from nmt.training.optimization import WeightAverage, learning_rate, make_optimizer
from nmt.training.processes import Processes
from nmt.training.shards import Seed, Shards
from nmt.training.tensorboard import TensorBoard, require_tensorboard

_FIXED_WHEN_RESUMING = (
    "seed",
    "best",
    "accumulate",
    "batch_tokens",
    "batch_sentences",
    "optimizer",
    "betas",
    "epsilon",
    "weight_decay",
    "average_decay",
)
_SAMPLES = 3  # validation sentences shown at each validation
_SECONDS_A_REPORT = 0.5


def train(
    config: Config, folder: Path, resume: bool = False, processes: Processes | None = None
) -> RunFolder:
    """Train a model into a run folder; with `resume`, go on where the folder's checkpoint stands.

    Prepares the data first where needed. Raises `UserError` when the folder is in use, or, on
    resuming, when the corpus has changed or a field that the saved state depends on; other fields,
    such as limits and the learning rate, may change and are kept in the folder.

    Raises `KeyboardInterrupt` after a Ctrl-C or SIGTERM, with a checkpoint written; there is no
    datastore for `decoding.neighbours` then.

    `processes`: those that `joined` has joined, which all call this alike; by default this one
    alone, on the best device there is.
    """
    processes = processes or Processes(choose_device())
    if config.training.tensorboard:
        require_tensorboard()
    if not resume:
        if processes.is_main:
            require_free(folder)
        run = RunFolder(folder)
        prepared = _prepare(config, processes)
        trainer = Trainer(config, prepared, run, processes)
    else:
        run = open_run(folder)
        _refuse_other_settings(run.config, config)
        prepared = _prepare(config, processes)
        require_same_data(run, prepared)
    if config.decoding.neighbours:
        require_room(prepared, config.model.d_model)
    with run.held() if processes.is_main else nullcontext():
        if resume:
            trainer = Trainer(config, prepared, run, processes, resume=True)
            if processes.is_main:
                run.write_config(config)
        elif processes.is_main:
            create_run(folder, config, prepared)
        try:
            went_on = trainer.run()
        except BaseException:
            if processes.is_main:
                discard_beginning(run)
            raise
        wanted = config.decoding.neighbours and (went_on or not run.datastore.exists())
        if wanted and processes.is_main:
            fill_datastore(run, prepared, "best", processes.device)
    return run


def _prepare(config: Config, processes: Processes) -> PreparedData:
    """Prepare in the main process; the others open what it has prepared."""
    sections = config.data, config.tokenizer
    return processes.main_first(
        main=lambda: prepare(config),
        others=lambda: open_prepared(default_folder(config), *sections),
    )


class Trainer:
    """One training: the model, its optimizer, and how far they have come."""

    def __init__(
        self,
        config: Config,
        prepared: PreparedData,
        folder: RunFolder,
        processes: Processes,
        resume: bool = False,
    ):
        self.config, self.settings = config, config.training
        self.prepared, self.folder = prepared, folder
        self.processes, self.device = processes, processes.device
        if self.device.type == "cpu":
            keep_memory()
        torch.manual_seed(self.settings.seed)
        sizes = prepared.tokenizers.source.size, prepared.tokenizers.target.size
        self.model = Transformer(config.model, *sizes).to(self.device)
        loss = BatchLoss(self.model, self.settings.label_smoothing, self.settings.r_drop)
        self.learner = processes.replicate(loss)
        # Several processes share a batch out already.
        by_threads = self.device.type == "cpu" and processes.size == 1
        self.shards = Shards(self.model, self._learn) if by_threads else None
        if processes.size > 1:
            self._settle_order()
            torch.manual_seed(self.settings.seed + processes.rank)  # each drops others
        self.optimizer = make_optimizer(self.model, self.settings)
        decay = self.settings.average_decay
        self.average = WeightAverage(self.model, decay) if decay else None
        self.plan = BatchPlan(prepared, self.settings, config.model.max_length)
        if not len(self.plan.usable):
            raise UserError("model.max_length: every training pair is longer; raise it")
        self.validation = batches_of("validation", prepared, self.settings, config.model.max_length)
        if not self.validation:
            raise UserError("model.max_length: every validation pair is longer; raise it")
        self.examples = prepared.examples("validation")
        self.progress = Progress()
        if resume:
            self.progress = load_checkpoint(
                folder.checkpoint, self.model, self.optimizer, self.average, processes
            )
            self._forget_metrics_after(self.progress.updates)
        batches = len(self.plan.order(1))
        self.updates_an_epoch = math.ceil(batches / self.settings.accumulate)
        self.last_update = self._last_update()
        # Summed where the model is: reading it at each update would make a GPU wait.
        self._loss = torch.tensor(self.progress.loss, device=self.device)
        self._seconds = 60 * self.progress.minutes
        self._started = time.monotonic() - self._seconds
        self._saved = (self._seconds, self.progress.updates)
        self._batches_in_epoch = 0
        self._signalled = False  # this process; _interrupted: all know
        self._interrupted = False
        self._board: TensorBoard | None = None

    def _settle_order(self) -> None:
        """Pass a pair without labels, whose gradients are zero.

        After its first pass `DistributedDataParallel` changes the order in which it sums, and so
        the last bits; with the first pass out of the way, a resumed training sums as it did.
        """
        loss, _ = self._learn(Batch.from_ids([[UNK]], [[UNK]]).without_labels())
        loss.backward()  # type: ignore[no-untyped-call]
        self.model.zero_grad()

    # --------------------------------------------------------------------------------- the loop

    def run(self) -> bool:
        """Train until a limit is reached, patience ends, or the user interrupts.

        Returns whether there was anything left to train.
        """
        if self.progress.finished and self._why_finished():
            tqdm.write(f"{self.folder.path} is trained already: {self._why_finished()}")
            return False
        self.progress.finished = False
        self._announce()
        resume = (
            f"{self.processes.command} train --resume --run {shlex.quote(str(self.folder.path))}"
        )
        self.processes.when_lost = f"go on from the last checkpoint with {resume}"
        with self._catching_signals():
            if not self.progress.updates:
                self._save()  # from now on there is something to go on from
            with self._writing_tensorboard():
                with self._progress_bar() as bar:
                    self._train_until_stopped(bar)
                if not self._interrupted and self.progress.validated != self.progress.updates:
                    self._validate()
            self.progress.finished = not self._interrupted
            self._save()
        if self._interrupted:
            tqdm.write(f"interrupted after update {self.progress.updates}; go on with\n  {resume}")
            raise KeyboardInterrupt
        tqdm.write(f"finished: {self._why_finished()}")
        return True

    def _train_until_stopped(self, bar: "tqdm[None]") -> None:
        updates = self._updates()
        # Before each update, since a resumed run may stand at its limit already.
        while not (self._interrupted or self._why_finished()):
            batches = next(updates, None)
            if batches is None:
                return
            loss = self.update(batches)
            self._tick()
            self._report(bar, loss)
            if self._validation_due():
                self._validate()
            if self._checkpoint_due():
                self._save()

    def _updates(self) -> Iterator[list[Batch]]:
        """Yield the batches of each update, epoch after epoch, from where the progress stands."""
        while self.progress.epoch <= self.settings.epochs:
            order = self.plan.order(self.progress.epoch)
            self._batches_in_epoch = len(order)
            batches = self.plan.load(
                order,
                self.progress.epoch,
                skip=self.progress.batch,
                rank=self.processes.rank,
                size=self.processes.size,
            )
            while group := list(islice(batches, self.settings.accumulate)):
                self.progress.batch += len(group)
                yield group
            self.progress.epoch += 1
            self.progress.batch = 0

    @property
    def _epoch(self) -> int:
        """The number of the present epoch, or of the last when all are over."""
        return min(self.progress.epoch, self.settings.epochs)

    def _tick(self) -> None:
        """Let the processes agree on the time and on signals, so that all decide alike."""
        seconds, signalled = self.processes.largest(
            time.monotonic() - self._started, self._signalled
        )
        self._seconds, self._interrupted = seconds, bool(signalled)

    def update(self, batches: list[Batch]) -> torch.Tensor:
        """Take one step on the mean loss over all target tokens of the batches; return the loss.

        Dividing by the tokens of all batches, not each by its own, makes four quarter batches give
        the gradient of the whole. So it does for several processes, where `batches` are the shares
        of this one, and the sum of what they return is the loss.
        """
        if not self.model.training:  # asking first: telling every module takes 0.2 ms
            self.model.train()
        tokens = int(*self.processes.sum(sum(batch.tokens for batch in batches)))
        mean_tokens = tokens / self.processes.size  # since gradients are averaged over processes
        total = torch.zeros((), device=self.device)
        for number, batch in enumerate(batches, 1):
            with self.processes.averaging(self.learner, now=number == len(batches)):
                loss, plain = self._backward(batch, mean_tokens, number)
            total += loss
            self._loss += plain
        self.progress.updates += 1
        self.progress.tokens += tokens
        self.progress.loss_tokens += tokens
        rate = self._learning_rate()
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        if self.settings.clip_norm:
            nn.utils.clip_grad_norm_(self.model.parameters(), self.settings.clip_norm)
        self.optimizer.step()
        self.optimizer.zero_grad()
        if self.average:
            self.average.update(self.progress.updates)
        return total / tokens

    def _backward(
        self, batch: Batch, tokens: float, number: int
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """Add the gradient of a batch's loss / `tokens`; return the loss, and as it is shown."""
        if self.shards:
            seed = Seed(self.settings.seed, self.progress.updates, number)
            return self.shards.backward(batch, tokens, seed)
        loss, plain = self._learn(batch)
        (loss / tokens).backward()  # type: ignore[no-untyped-call]
        return loss.detach(), plain

    def _learn(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the batch's summed losses, see `batch_loss`."""
        with autocast(self.device, self.settings.precision):
            return self.learner(batch.to(self.device))  # type: ignore[no-any-return]

    def _learning_rate(self) -> float:
        return learning_rate(self.settings, self.progress.updates, self.last_update)

    # ------------------------------------------------------------------------------- validation

    def _validate(self) -> None:
        """Score the model on the validation split, keep it if it is the best so far."""
        self.require_finite_weights()
        with self._averaged_weights():
            line = self._scores()
            self.progress.validated = self.progress.updates
            measure = line["bleu"] if self.settings.best == "bleu" else -line["loss"]
            if self.progress.best is None or measure > self.progress.best:
                self.progress.best, self.progress.best_update = measure, self.progress.updates
                self.progress.stale = 0
                self._save_weights("best")
            else:
                self.progress.stale += 1
            if self.average:
                self._save_weights("averaged")
        self._loss.zero_()
        self.progress.loss_tokens = 0
        if self.processes.is_main:
            self.folder.write_metrics([*self.folder.read_metrics(), line])
        if self._board:
            self._board.write(line)
        self._save()
        self._show(line)

    def _scores(self) -> Validation:
        loss, correct, tokens = self._score_batches()
        texts = self._translations()
        self._tick()
        return {
            "update": self.progress.updates,
            "epoch": self._epoch,
            "minutes": round(self._minutes(), 3),
            "learning_rate": self._learning_rate(),
            "train_loss": self._train_loss(),
            "loss": loss / tokens,
            "perplexity": math.exp(min(loss / tokens, 100)),
            "accuracy": correct / tokens,
            "bleu": corpus_bleu(texts, [e.reference for e in self.examples]),
            "samples": self._samples(texts),
        }

    def _samples(self, texts: list[str]) -> list[Sample]:
        """Return the translations of the first few different sources."""
        samples: dict[str, Sample] = {}
        for e, text in zip(self.examples, texts, strict=True):
            samples.setdefault(
                e.source, {"source": e.source, "reference": e.reference, "translation": text}
            )
        return list(samples.values())[:_SAMPLES]

    def _score_batches(self) -> tuple[float, ...]:
        """Return loss, right guesses and tokens, each summed over all validation batches."""
        self.model.eval()
        share = self.validation[self.processes.rank :: self.processes.size]
        with autocast(self.device, self.settings.precision):
            scores = [score_batch(self.model, batch.to(self.device)) for batch in share]
        return self.processes.sum(
            sum(score.loss for score in scores),
            sum(score.correct for score in scores),
            sum(score.tokens for score in scores),
        )

    def _translations(self) -> list[str]:
        """Translate the validation sources greedily, shared among the processes."""
        greedy = self.config.decoding.model_copy(update={"beam_size": 1})
        longest = self.prepared.report["lengths"]["source"]["longest"]
        tokenizers = self.prepared.tokenizers
        translator = Translator(self.model, tokenizers, self.config.data, greedy, longest)
        share = self.examples[self.processes.rank :: self.processes.size]
        found = translator.stream([example.source for example in share])
        bar = tqdm(found, "validating", len(share), delay=2, leave=False)
        texts = [""] * len(self.examples)
        for rank, part in enumerate(self.processes.gather([each[0].text for each in bar])):
            texts[rank :: self.processes.size] = part
        return texts

    def _train_loss(self) -> float:
        """Return the mean loss a token since the last validation, without label smoothing.

        With dropout, as trained.
        """
        [loss] = self.processes.sum(self._loss.item())
        return loss / self.progress.loss_tokens

    @contextmanager
    def _writing_tensorboard(self) -> Iterator[None]:
        """Let validations be written for TensorBoard too while the context lasts, if so set."""
        if self.settings.tensorboard and self.processes.is_main:
            self._board = TensorBoard(
                self.folder.path / "tensorboard", self.progress.updates, self.folder.read_metrics()
            )
        try:
            yield
        finally:
            if self._board:
                self._board.close()

    @contextmanager
    def _averaged_weights(self) -> Iterator[None]:
        """Put the moving average in the model's place, if there is one."""
        if self.average:
            self.average.swap()
        try:
            yield
        finally:
            if self.average:
                self.average.swap()

    # ----------------------------------------------------------------------------- what is saved

    def _save(self) -> None:
        self.require_finite_weights()
        self.progress.minutes = self._minutes()
        self.progress.loss = self._loss.item()
        save_checkpoint(
            self.folder.checkpoint,
            self.model,
            self.optimizer,
            self.average,
            self.progress,
            self.processes,
        )
        self._save_weights("last")
        self._saved = (self._seconds, self.progress.updates)

    def _save_weights(self, which: Weights) -> None:
        if not self.processes.is_main:
            return
        with replacing(self.folder.weights(which)) as partial:
            save_weights(self.model, partial)

    def _forget_metrics_after(self, update: int) -> None:
        """Drop validations that came after the checkpoint: they will be made again."""
        if not self.processes.is_main:
            return
        lines = self.folder.read_metrics()
        self.folder.write_metrics([line for line in lines if line["update"] <= update])

    # ------------------------------------------------------------------------------------ limits

    def _last_update(self) -> int:
        updates = self.settings.epochs * self.updates_an_epoch
        return min(updates, self.settings.max_updates or updates)

    def _why_finished(self) -> str:
        settings, progress = self.settings, self.progress
        if settings.max_updates and progress.updates >= settings.max_updates:
            return f"training.max_updates {settings.max_updates} is reached"
        if settings.max_minutes and self._minutes() >= settings.max_minutes:
            return f"training.max_minutes {settings.max_minutes:g} is reached"
        if settings.patience and progress.stale >= settings.patience:
            return f"no better validation in {progress.stale}, training.patience is reached"
        if progress.epoch > settings.epochs:
            return f"training.epochs {settings.epochs} is reached"
        return ""

    def _validation_due(self) -> bool:
        if self.settings.validate_updates:
            return self.progress.updates % self.settings.validate_updates == 0
        return self.progress.batch >= self._batches_in_epoch

    def _checkpoint_due(self) -> bool:
        saved_at, saved_update = self._saved
        every = self.settings.checkpoint_updates
        if every and self.progress.updates - saved_update >= every:
            return True
        return self._seconds - saved_at >= 60 * self.settings.checkpoint_minutes

    def _minutes(self) -> float:
        return self._seconds / 60

    # -------------------------------------------------------------------------- what people see

    def _announce(self) -> None:
        prepared = self.prepared.report["pairs"]["train"]
        several = f" by {self.processes.size} processes" if self.processes.size > 1 else ""
        tqdm.write(
            f"{self.folder.path}: {count_parameters(self.model):,} parameters, {prepared:,} pairs, "
            f"up to {self.last_update:,} updates on {self.device}{several}"
        )
        if self.plan.too_long:
            tqdm.write(
                f"left out: {self.plan.too_long:,} training pairs longer than model.max_length "
                f"{self.config.model.max_length}"
            )

    def _progress_bar(self) -> "tqdm[None]":
        self._reported = (self._seconds, self.progress.tokens)
        return tqdm(  # type: ignore[return-value]
            total=self.last_update,
            initial=self.progress.updates,
            desc="training",
            unit=" updates",
            mininterval=0.5 if sys.stderr.isatty() else 30,  # a log file needs no animation
        )

    def _report(self, bar: "tqdm[None]", loss: torch.Tensor) -> None:
        """Move the bar; read the loss now and then only, since a GPU has to be waited for."""
        if self.settings.max_minutes:  # the time left follows from the speed so far
            reachable = self.progress.updates * self.settings.max_minutes / self._minutes()
            bar.total = min(self.last_update, math.ceil(reachable))
        bar.update()
        then, tokens = self._reported
        if self._seconds - then < _SECONDS_A_REPORT and not self._validation_due():
            return
        value = self._require_finite(*self.processes.sum(loss.item()))
        speed = (self.progress.tokens - tokens) / max(self._seconds - then, 1e-9)
        bar.set_postfix_str(
            f"epoch {self._epoch}, loss {value:.3f}, {speed:,.0f} tokens/s", refresh=False
        )
        self._reported = (self._seconds, self.progress.tokens)

    def require_finite_weights(self) -> None:
        """Raise `UserError` where the training has diverged."""
        self._require_finite(sum(p.detach().sum() for p in self.model.parameters()))

    def _require_finite(self, number: torch.Tensor | float) -> float:
        """Return the number; refuse to go on, and to save, when training has diverged."""
        if not math.isfinite(value := float(number)):
            raise UserError(
                f"the training diverged before update {self.progress.updates} (loss or weights "
                f"became {value}) and was not saved; train anew with a lower "
                "training.learning_rate or more training.warmup_updates"
            )
        return value

    def _show(self, line: Validation) -> None:
        best = " (best)" if self.progress.best_update == line["update"] else ""
        tqdm.write(
            f"update {line['update']:,}, epoch {line['epoch']}, {line['minutes']:.1f} min: "
            f"training loss {line['train_loss']:.3f}, validation loss {line['loss']:.3f}, "
            f"perplexity {line['perplexity']:.2f}, accuracy {line['accuracy']:.1%}, "
            f"BLEU {line['bleu']:.2f}{best}"
        )
        for sample in line["samples"]:
            tqdm.write(f"  {sample['source']}  →  {sample['translation']}")

    @contextmanager
    def _catching_signals(self) -> Iterator[None]:
        """Finish the update at hand before Ctrl-C or a scheduler's SIGTERM stops the training."""

        def stop(number: int, frame: FrameType | None) -> None:
            self._signalled = True
            signal.signal(number, self.processes.at_second_signal)

        signals = (signal.SIGINT, signal.SIGTERM)
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = [signal.signal(number, stop) for number in signals]
        try:
            yield
        finally:
            for number, handler in zip(signals, before, strict=True):
                signal.signal(number, handler)


def _refuse_other_settings(before: Config, now: Config) -> None:
    """Refuse to resume with fields changed on which the weights or the batches depend."""
    fixed = {f"model.{name}" for name in type(before.model).model_fields}
    fixed |= {f"data.{name}" for name in type(before.data).model_fields if name not in CORPUS_PATHS}
    fixed |= {f"tokenizer.{name}" for name in type(before.tokenizer).model_fields}
    fixed |= {f"training.{name}" for name in _FIXED_WHEN_RESUMING}
    for field in sorted(fixed):
        section, name = field.split(".")
        old, new = (getattr(getattr(config, section), name) for config in (before, now))
        if old != new:
            raise UserError(f"{field}: {new} is not the {old} of this run; start a new run for it")
