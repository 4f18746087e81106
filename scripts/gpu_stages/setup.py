"""Shared by the stages: the configuration, the devices, and the output folder."""

from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from itertools import islice
from pathlib import Path
from typing import Any

import torch

from nmt.config.config import Config
from nmt.corpus.preparing.prepare import prepare
from nmt.runs.folder import RunFolder
from nmt.training.batches import Batch
from nmt.training.distributed import Worker
from nmt.training.loop import Trainer
from nmt.training.train import train

Findings = dict[str, Any]


class Skipped(Exception):  # noqa: N818
    """The stage cannot run on this machine."""


class Setup:
    """own: the configuration unchanged; exact: in float32 and without dropout."""

    def __init__(self, config: Config, pretend: bool, folder: Path):
        self.pretend, self.folder = pretend, folder
        self.device, self.cpu = torch.device("cuda", 0), torch.device("cpu")
        self.own = config
        self.exact = with_fields(config, {"precision": "float32"}, {"dropout": 0.0})
        self.prepared = prepare(config)
        self.updates = 2 if pretend else 20

    def trainer(self, config: Config, device: torch.device) -> Trainer:
        return Trainer(config, self.prepared, RunFolder(self.folder / "none"), Worker(device))

    def batches(self, trainer: Trainer, count: int) -> list[Batch]:
        return list(islice(trainer.plan.epoch(1).batches(), count))

    def briefly(self, config: Config) -> Config:
        """Return the configuration with few updates, and a validation after the last one."""
        return with_fields(config, {"max_updates": self.updates, "validate_updates": self.updates})

    @contextmanager
    def no_waits(self) -> Iterator[None]:
        """Raise an error if the host waits for the GPU within the context."""
        if self.pretend:
            from pretend_cuda.device import waits

            waits.clear()
            yield
            assert not waits, f"the host waits: {dict(waits)}"
            return
        torch.cuda.set_sync_debug_mode("error")
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode("default")


def with_fields(
    config: Config, training: dict[str, Any], model: dict[str, Any] | None = None
) -> Config:
    """Return a copy of the configuration with these fields replaced."""
    sections = {
        "training": config.training.model_copy(update=training),
        "model": config.model.model_copy(update=model or {}),
    }
    return config.model_copy(update=sections)


def train_quietly(
    config: Config, folder: Path, device: torch.device, resume: bool = False
) -> RunFolder:
    with redirect_stdout(StringIO()), redirect_stderr(StringIO()):
        return train(config, folder, resume, Worker(device))
