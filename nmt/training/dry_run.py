"""Estimates whether a training run will fit into memory, and how long it will take.

>>> from nmt.config.yaml_files import load_config
>>> from nmt.training.dry_run import dry_run
>>> print(dry_run(load_config("sample.yaml")))
"""

import os
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import psutil
import torch

from nmt.config.config import Config
from nmt.corpus.preparing.prepare import prepare
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.translator import Translator
from nmt.device import choose_device
from nmt.model.transformer import count_parameters
from nmt.runs.folder import RunFolder
from nmt.training.batches import Batch
from nmt.training.console import duration
from nmt.training.distributed import Worker
from nmt.training.fill_datastore import require_room
from nmt.training.limits import ends_early
from nmt.training.loop import Trainer, require_possible

_UPDATES, _SECONDS = 100, 15.0  # measured in each of two epochs, at most
_VALIDATED = 1000  # pairs, at most
_BLOCKS = 2  # of measured updates in each epoch; their speeds give the range
_BUSY = 0.3  # processors used by other programs; above this, the estimate is unreliable


@dataclass(frozen=True)
class DryRun:
    """Measurements of a few updates and one translation, and estimates for the whole run."""

    parameters: int
    device: str
    batch: tuple[int, int, int]
    """(pairs, source, target), the shape of the largest batch."""
    accumulate: int
    tokens: int
    """Labels in an update on it."""
    update_seconds: float
    """Time of the second such update (the first is a warm-up)."""
    speeds: tuple[float, float]
    """Lowest and highest, in labels per second."""
    busy: float
    """Processors used by other processes at the same time."""
    peak_memory: int | None
    """In bytes, None on systems that do not report it."""
    decode_seconds: float
    """For one sentence up to its length limit, which an untrained model usually reaches."""
    updates: tuple[int, int]
    """An estimate for the whole run, excluding validation, as (lowest, highest)."""
    minutes: tuple[float, float]
    """An estimate for the whole run, excluding validation, as (lowest, highest)."""
    limit: str
    """The field that ends it."""
    ends_early: bool
    """Whether validation may end it earlier."""

    def __str__(self) -> str:
        pairs, source, target = self.batch
        shape = f"{pairs:,} pairs × {source} source × {target} target tokens"
        if self.accumulate > 1:
            shape += f", {self.accumulate} times per update"
        earlier = ", or earlier if validation stops it" if self.ends_early else ""
        memory = "unknown on this system"
        if self.peak_memory is not None:
            place = "of the GPU" if self.device.startswith("cuda") else "resident"
            memory = f"{self.peak_memory / 2**20:,.0f} MiB {place}"
        updates = _range([f"{number:,}" for number in self.updates])
        time_ = _range([duration(minutes) for minutes in self.minutes])
        warning = ""
        if self.busy >= _BUSY:
            warning = (
                f"\nbusy             other processes use {self.busy:.1f} of {os.cpu_count()} "
                "processors; training will be faster without them"
            )
        return (
            f"parameters       {self.parameters:,}\n"
            f"device           {self.device}\n"
            f"largest batch    {shape}\n"
            f"one update       {self.tokens:,} tokens in {self.update_seconds:.3g} s\n"
            f"speed            {_range([f'{speed:,.0f}' for speed in self.speeds])} tokens/s\n"
            f"peak memory      {memory}\n"
            f"one sentence     {self.decode_seconds:.3g} s to decode, up to its length limit\n"
            f"whole run        {updates} updates, about {time_} (excluding validation); ends at "
            f"{self.limit}{earlier}{warning}"
        )


def _range(ends: list[str]) -> str:
    return " to ".join(dict.fromkeys(ends))


def dry_run(config: Config, device: torch.device | None = None) -> DryRun:
    """Measure updates, a validation and the decoding of a sentence; create no run folder.

    The first two updates are on the largest batch. Prepares the data first if necessary, and keeps
    it. Without CUDA, memory is that of the whole process, including preparation.
    """
    device = device or choose_device()
    require_possible(config)
    prepared = prepare(config)
    if config.decoding.knn_k:
        require_room(prepared, config.model.d_model)
    run = RunFolder(Path("dry-run"))  # nothing is written
    trainer = Trainer(_with_short_validation(config), prepared, run, Worker(device))
    state = trainer.state
    batch = trainer.plan.largest()
    labels = trainer.plan.epoch(1).tokens
    accumulate = min(config.training.accumulate, trainer.batches_in_epoch)
    _, seconds = (_update_seconds(trainer, [batch] * accumulate) for _ in range(2))
    state.require_finite_weights()
    with _watching_others() as busy:
        speeds = []
        for epoch in (1, 2):  # memory use keeps growing until a second validation
            speeds += _speeds(trainer, epoch)
            with state.averaged_weights():
                trainer.validator.measure(state.model)
    example = prepared.examples("validation")[0]
    engine = PyTorchEngine([state.model])
    translator = Translator(engine, prepared.tokenizers, config.data, config.decoding)
    decode_seconds = _seconds(lambda: translator.translate([example.source]))
    slow, fast = min(speeds), max(speeds)
    fewest, most = _estimate(trainer, labels, slow), _estimate(trainer, labels, fast)
    return DryRun(
        parameters=count_parameters(state.model),
        device=str(device),
        batch=(*batch.source.shape, batch.target_in.shape[1]),
        accumulate=accumulate,
        tokens=accumulate * batch.tokens,
        update_seconds=seconds,
        speeds=(slow, fast),
        busy=busy[0],
        peak_memory=_peak_memory(device),
        decode_seconds=decode_seconds,
        updates=(fewest[0], most[0]),
        minutes=(most[1], fewest[1]),
        limit=fewest[2],
        ends_early=ends_early(config.training),
    )


def _with_short_validation(config: Config) -> Config:
    """Limit the number of validation pairs, and translations to the length of their sources.

    Those of a trained model are about that long; an untrained one would run on to the usual limit.
    """
    pairs = min(_VALIDATED, config.training.validate_pairs or _VALIDATED)
    training = config.training.model_copy(update={"validate_pairs": pairs})
    limits = {"max_length_factor": 1.0, "max_length_extra": 1}
    decoding = config.decoding.model_copy(update=limits)
    return config.model_copy(update={"training": training, "decoding": decoding})


def _speeds(trainer: Trainer, epoch: int) -> list[float]:
    """Return the speeds of a few blocks of updates in an epoch, in labels per second.

    Batches have different shapes, as in training, so that peak memory is realistic, too.
    """
    batches = trainer.plan.epoch(epoch).batches()
    measured: list[tuple[int, float]] = []  # labels and seconds
    end = time.monotonic() + _SECONDS
    while len(measured) < _UPDATES and time.monotonic() < end:
        group = list(islice(batches, trainer.settings.accumulate))
        if not group:
            break
        measured.append((sum(each.tokens for each in group), _update_seconds(trainer, group)))
    size = -(-len(measured) // _BLOCKS)
    blocks = (measured[start : start + size] for start in range(0, len(measured), size))
    return [sum(labels for labels, _ in b) / sum(seconds for _, seconds in b) for b in blocks]


def _update_seconds(trainer: Trainer, batches: list[Batch]) -> float:
    # Reading the loss waits for the GPU.
    return _seconds(lambda: trainer.state.update(batches).item())


@contextmanager
def _watching_others() -> Iterator[list[float]]:
    """Yield a list; on exit, append how many processors other processes used meanwhile."""
    found: list[float] = []
    start, before, own = time.monotonic(), psutil.cpu_times(), time.process_time()
    yield found
    after = psutil.cpu_times()
    used = _busy_seconds(after) - _busy_seconds(before)
    own = time.process_time() - own
    found.append(max(0.0, used - own) / max(time.monotonic() - start, 1e-3))


def _busy_seconds(times: Any) -> float:
    # Linux counts the time of guests in `user` and `nice`, too.
    counted_twice = ("guest", "guest_nice")
    return float(sum(times) - sum(getattr(times, x, 0) for x in ("idle", "iowait", *counted_twice)))


def _seconds(work: Callable[[], object]) -> float:
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def _peak_memory(device: torch.device) -> int | None:
    """Return the peak memory in bytes: of tensors on a CUDA device, otherwise of the process."""
    if device.type == "cuda":
        return torch.cuda.max_memory_allocated(device)
    try:
        import resource
    except ImportError:  # Windows
        return None
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak if sys.platform == "darwin" else 1024 * peak


def _estimate(trainer: Trainer, labels: int, tokens_per_second: float) -> tuple[int, float, str]:
    """Return updates and minutes of the whole run, and the field that ends it.

    labels: number of labels in an epoch
    """
    settings, updates = trainer.settings, trainer.final_update
    tokens_an_update = labels / trainer.updates_in_epoch
    updates_a_minute = 60 * tokens_per_second / tokens_an_update
    minutes = updates / updates_a_minute
    if settings.max_minutes and settings.max_minutes < minutes:
        reached = max(1, int(settings.max_minutes * updates_a_minute))
        return reached, settings.max_minutes, "training.max_minutes"
    field = "max_updates" if updates == settings.max_updates else "epochs"
    return updates, minutes, f"training.{field}"
