"""A look ahead of a long training: does it fit into memory, and how long will it take?

>>> from nmt.config_files import load_config
>>> from nmt.training.dry_run import dry_run
>>> print(dry_run(load_config("sample.yaml")))
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import torch

from nmt.config import Config
from nmt.corpus.prepare import prepare
from nmt.decoding.engines.pytorch import PyTorchSearch
from nmt.decoding.translator import Translator
from nmt.device import choose_device
from nmt.model.transformer import count_parameters
from nmt.run_folder import RunFolder
from nmt.training.console import duration
from nmt.training.distributed import Worker
from nmt.training.limits import ends_early
from nmt.training.trainer import Trainer

_UPDATES, _SECONDS = 20, 20.0  # after the first two, at most


@dataclass(frozen=True)
class DryRun:
    """What one update and one translation took.

    batch: (pairs, source, target), the shape of the largest batch; tokens: labels of an update;
    update_seconds: of the second update, since the first warms up; peak_memory: bytes, None where
    the system does not tell; decode_seconds: of one sentence, which an untrained model makes as
    long as decoding lets it; updates, minutes: of the whole training without its validations;
    limit: the field that ends it; ends_early: whether validations may end it before
    """

    parameters: int
    device: str
    batch: tuple[int, int, int]
    accumulate: int
    tokens: int
    update_seconds: float
    peak_memory: int | None
    decode_seconds: float
    updates: int
    minutes: float
    limit: str
    ends_early: bool

    @property
    def tokens_per_second(self) -> float:
        """Labels that an update learns from in a second."""
        return self.tokens / self.update_seconds

    def __str__(self) -> str:
        pairs, source, target = self.batch
        shape = f"{pairs:,} pairs × {source} source × {target} target pieces"
        if self.accumulate > 1:
            shape += f", {self.accumulate} times an update"
        earlier = " or earlier, as validations say" if self.ends_early else ""
        speed = f"{self.update_seconds:.3g} s, {self.tokens_per_second:,.0f} tokens/s"
        memory = "unknown on this system"
        if self.peak_memory is not None:
            place = "of the GPU" if self.device.startswith("cuda") else "resident"
            memory = f"{self.peak_memory / 2**20:,.0f} MiB {place}"
        return (
            f"parameters       {self.parameters:,}\n"
            f"device           {self.device}\n"
            f"largest batch    {shape}\n"
            f"one update       {self.tokens:,} tokens in {speed}\n"
            f"peak memory      {memory}\n"
            f"one sentence     {self.decode_seconds:.3g} s to decode, up to its length limit\n"
            f"whole training   {self.updates:,} updates, about {duration(self.minutes)}, until "
            f"{self.limit}{earlier}; validations not counted"
        )


def dry_run(config: Config, device: torch.device | None = None) -> DryRun:
    """Take two updates on the largest batch, some more, and decode a sentence; leave no run behind.

    Prepares the data first where needed; that stays. Without CUDA the memory is that of the whole
    process, the preparation counted if there was one.
    """
    device = device or choose_device()
    prepared = prepare(config)
    run = RunFolder(Path("dry-run"))  # nothing is written
    trainer = Trainer(config, prepared, run, Worker(device))
    state = trainer.state
    batch, accumulate = trainer.plan.largest(), config.training.accumulate
    # Reading the loss waits for all that a GPU has been told to do.
    _, seconds = (
        _seconds(lambda: trainer.state.update([batch] * accumulate).item()) for _ in range(2)
    )
    state.require_finite_weights()
    if device.type == "cpu":
        _train_on(trainer)
    example = prepared.examples("validation")[0]
    search = PyTorchSearch([state.model])
    translator = Translator(search, prepared.tokenizers, config.data, config.decoding)
    decode_seconds = _seconds(lambda: translator.translate([example.source]))
    updates, minutes, limit = _estimate(trainer, accumulate * batch.tokens / seconds)
    return DryRun(
        parameters=count_parameters(state.model),
        device=str(device),
        batch=(*batch.source.shape, batch.target_in.shape[1]),
        accumulate=accumulate,
        tokens=accumulate * batch.tokens,
        update_seconds=seconds,
        peak_memory=_peak_memory(device),
        decode_seconds=decode_seconds,
        updates=updates,
        minutes=minutes,
        limit=limit,
        ends_early=ends_early(config.training),
    )


def _train_on(trainer: Trainer) -> None:
    """Take some updates of the first epoch: batches of other sizes leave gaps in memory."""
    batches = trainer.plan.deal(1).batches()
    end = time.monotonic() + _SECONDS
    for _ in range(_UPDATES):
        group = list(islice(batches, trainer.settings.accumulate))
        if not group or time.monotonic() > end:
            return
        trainer.state.update(group)


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _peak_memory(device: torch.device) -> int | None:
    """Return the most bytes held so far: of tensors on a CUDA device, else by the process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _estimate(trainer: Trainer, tokens_per_second: float) -> tuple[int, float, str]:
    """Return updates and minutes of the whole training, and the field that ends it."""
    settings, updates = trainer.settings, trainer.last_update
    tokens_an_update = trainer.plan.tokens / trainer.updates_an_epoch
    updates_a_minute = 60 * tokens_per_second / tokens_an_update
    minutes = updates / updates_a_minute
    if settings.max_minutes and settings.max_minutes < minutes:
        reached = max(1, int(settings.max_minutes * updates_a_minute))
        return reached, settings.max_minutes, "training.max_minutes"
    field = "max_updates" if updates == settings.max_updates else "epochs"
    return updates, minutes, f"training.{field}"
