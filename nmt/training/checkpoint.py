"""Saves and restores the complete training state, so that resuming is exact."""

import errno
import json
import pickle
import zipfile
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import FiniteFloat, NonNegativeFloat, NonNegativeInt, PositiveInt, TypeAdapter
from torch import Tensor

from nmt.echo import echo
from nmt.errors import UserError, is_out_of_memory, one_line
from nmt.files.output_files import replacing
from nmt.model.transformer import Transformer
from nmt.runs.folder import RunFolder
from nmt.runs.selection import Selection
from nmt.training.distributed import Worker
from nmt.training.optimizers import LossScaler, WeightAverage, restore_moments
from nmt.training.resuming import require_saved_settings
from nmt.training.sharding import shard_like, unshard

FORMAT = 3
# Error numbers that a damaged archive causes: impossible offsets, invalid compressed data. Others
# point to the disk, the network or permissions, and the file may be sound.
_ERRNOS_OF_DAMAGE = {errno.EINVAL, None}


@dataclass
class Progress(Selection):
    """The progress of a training run."""

    epoch: PositiveInt = 1
    """Counted from 1."""
    batch: NonNegativeInt = 0
    """Number of batches done in this epoch."""
    updates: NonNegativeInt = 0
    tokens: NonNegativeInt = 0
    minutes: NonNegativeFloat = 0.0
    bleu: NonNegativeFloat = 0.0
    """That of the last validation."""
    validated: NonNegativeInt = 0
    """Update of the last validation."""
    loss: FiniteFloat = 0.0
    """Summed in this process since then, without label smoothing."""
    correct: NonNegativeFloat = 0.0
    """Correct predictions in this process since then."""
    loss_tokens: NonNegativeInt = 0
    """Labels since then, in all processes."""
    finished: bool = False


def save_checkpoint(
    run: RunFolder,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    loss_scaler: LossScaler,
    average: WeightAverage | None,
    progress: Progress,
    settings: dict[str, Any],
    worker: Worker,
) -> None:
    """Atomically write everything that the next update depends on; keep the previous checkpoint.

    settings: from `saved_settings`
    With several processes, all must call this; only the main one writes.
    """
    sums = {"loss": progress.loss, "correct": progress.correct}
    own = worker.gather((sums, _generator_states(worker.device)))
    tensors = {
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "average": average.average if average else None,
    }
    tensors = unshard(tensors, keep=worker.is_main)
    if not worker.is_main:
        return
    state = {
        "format": FORMAT,
        **tensors,
        "loss scale": loss_scaler.saved(),
        "progress": asdict(progress),
        "settings": settings,
        "of each process": own,
    }
    keep = run.previous_checkpoint
    with replacing(run.checkpoint, previous=keep) as partial, partial.open("wb") as file:
        try:
            torch.save(state, file)
        except RuntimeError as error:  # PyTorch's error for a full disk
            if isinstance(error.__context__, OSError):
                raise error.__context__ from None
            raise


def load_checkpoint(
    run: RunFolder,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    loss_scaler: LossScaler,
    average: WeightAverage | None,
    settings: dict[str, Any],
    worker: Worker,
) -> Progress:
    """Restore a checkpoint, or the previous one if it is damaged.

    Raises `UserError` if both are damaged, if reading fails, if the settings differ from the saved
    ones, or if the number of processes does, because each process has its own random state.
    """
    current, previous = run.checkpoint, run.previous_checkpoint
    restored = model, optimizer, loss_scaler, average, settings, worker
    try:
        return _load(current, *restored)
    except _DamagedError as error:
        if not previous.exists():
            raise
        progress = _load(previous, *restored)
        worker.gather(None)  # now all processes have read it
        if worker.is_main:
            previous.replace(current)  # so that the next save does not keep the damaged one
            echo(
                error.cause,
                f"continuing from the previous checkpoint, update {progress.updates}; best, last "
                "and averaged weights are untouched",
            )
        return progress


class _DamagedError(UserError):
    """The checkpoint is missing or cannot be read; cause: without the remedy."""

    def __init__(self, cause: str):
        super().__init__(
            f"{cause}; the run's weights can still be used to translate; train again with another "
            "--run"
        )
        self.cause = cause


def _load(
    path: Path,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    loss_scaler: LossScaler,
    average: WeightAverage | None,
    settings: dict[str, Any],
    worker: Worker,
) -> Progress:
    try:
        _verify_checksums(path)
        # Mapped: read tensor by tensor as they are restored, never as a whole.
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True, mmap=True)
        if state["format"] != FORMAT:
            raise UserError(
                f"{path}: checkpoint format {state['format']}, expected {FORMAT}; resume with the "
                "nmt that wrote it, or train again with another --run"
            )
        require_saved_settings(state.get("settings", {}), settings)  # earlier versions saved none
        own = state["of each process"]
        if len(own) != worker.size:
            raise UserError(
                f"{path}: number of processes: this run used {len(own)}, not {worker.size}; "
                f"resume it with torchrun --nproc-per-node={len(own)} -m nmt -- …"
            )
        parts = model.state_dict()
        model.load_state_dict({n: shard_like(x, parts.get(n)) for n, x in state["model"].items()})
        restore_moments(optimizer, state["optimizer"]["state"])
        loss_scaler.restore(state["loss scale"])
        if average is not None:
            average.load(state["average"])
        sums, generators = own[worker.rank]
        if not isinstance(sums, dict):
            sums = {"loss": sums}  # of earlier versions
        _restore_generators(generators, worker.device)
        progress = json.dumps({**state["progress"], **sums})
        return TypeAdapter(Progress).validate_json(progress)
    except UserError:
        raise
    except FileNotFoundError:
        raise _DamagedError(f"{path}: no checkpoint to resume from") from None
    except Exception as error:  # torch.load raises many types of errors for damaged files
        if is_out_of_memory(error):
            raise
        if isinstance(error, OSError) and error.errno not in _ERRNOS_OF_DAMAGE:
            raise UserError(
                f"{path}: cannot be read ({error.strerror}); check its disk and permissions, or "
                "move it away to continue from the previous checkpoint"
            ) from None
        reason = one_line(error)[:200]
        # PyTorch's message suggests trusting the file.
        if isinstance(error, pickle.UnpicklingError):
            reason = "it holds more than tensors and numbers"
        raise _DamagedError(f"{path}: checkpoint cannot be read: {reason}") from None


def _verify_checksums(path: Path) -> None:
    """Raise `BadZipFile` if the archive's checksums do not match; PyTorch does not verify them."""
    with zipfile.ZipFile(path) as archive:
        damaged = archive.testzip()
    if damaged is not None:
        raise zipfile.BadZipFile("its bytes have changed since it was written")


def _generator_states(device: torch.device) -> dict[str, Tensor]:
    states = {"cpu": torch.get_rng_state()}
    if device.type == "cuda":
        states["cuda"] = torch.cuda.get_rng_state(device)
    if device.type == "mps":
        states["mps"] = torch.mps.get_rng_state()
    return states


def _restore_generators(states: dict[str, Tensor], device: torch.device) -> None:
    torch.set_rng_state(states["cpu"])
    if device.type == "cuda" and "cuda" in states:
        torch.cuda.set_rng_state(states["cuda"], device)
    if device.type == "mps" and "mps" in states:
        torch.mps.set_rng_state(states["mps"])
