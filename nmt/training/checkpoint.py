"""The whole state of a training, saved and restored so that nothing shows the interruption."""

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from nmt.errors import UserError, one_line
from nmt.model.transformer import Transformer
from nmt.run_folder import replacing
from nmt.training.optimization import WeightAverage
from nmt.training.processes import Processes

FORMAT = 2


@dataclass
class Progress:
    """How far a training has come.

    epoch counts from 1, batch is how many of its batches are done; stale counts validations since
    the best; validated is the update of the last validation; loss is the sum over the loss_tokens
    trained on since then, without label smoothing
    """

    epoch: int = 1
    batch: int = 0
    updates: int = 0
    tokens: int = 0
    minutes: float = 0.0
    best: float | None = None
    best_update: int = 0
    stale: int = 0
    validated: int = 0
    loss: float = 0.0
    loss_tokens: int = 0
    finished: bool = False


def save_checkpoint(
    path: Path,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    average: WeightAverage | None,
    progress: Progress,
    processes: Processes,
) -> None:
    """Write everything that the next update depends on, whole or not at all.

    Of several processes the main one writes, and all have to call this.
    """
    generators = processes.gather(_generator_states(processes.device))
    if not processes.is_main:
        return
    state = {
        "format": FORMAT,
        "model": model.state_dict(),
        "optimizer": optimizer.state_dict(),
        "average": average.average if average else None,
        "progress": asdict(progress),
        "generators": generators,
    }
    with replacing(path) as partial:
        try:
            torch.save(state, partial)
        except RuntimeError as error:  # PyTorch's word for a full disk or a folder that is gone
            raise OSError(one_line(error)[:200]) from None


def load_checkpoint(
    path: Path,
    model: Transformer,
    optimizer: torch.optim.Optimizer,
    average: WeightAverage | None,
    processes: Processes,
) -> Progress:
    """Restore what `save_checkpoint` wrote; raises `UserError` for anything else.

    As for one that so many other processes wrote: each goes on with its own random numbers.
    """
    try:
        state: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
        if state["format"] != FORMAT:
            raise UserError(f"{path}: checkpoint format {state['format']}, expected {FORMAT}")
        generators = state["generators"]
        if len(generators) != processes.size:
            raise UserError(
                f"{path}: number of processes: {processes.size} is not the {len(generators)} of "
                f"this run; resume it with torchrun --nproc-per-node={len(generators)} -m nmt -- …"
            )
        model.load_state_dict(state["model"])
        optimizer.load_state_dict(state["optimizer"])
        if average is not None:
            average.load(state["average"])
        _restore_generators(generators[processes.rank], processes.device)
        return Progress(**state["progress"])
    except UserError:
        raise
    except FileNotFoundError:
        raise UserError(
            f"{path}: no checkpoint to resume from; delete the folder and train anew"
        ) from None
    except Exception as error:  # torch.load raises a dozen kinds for damaged files
        reason = one_line(error)[:200]
        raise UserError(f"{path}: checkpoint cannot be read: {reason}") from None


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
