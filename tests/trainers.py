"""Trainers of small runs, for tests that look into training."""

from pathlib import Path

import torch

from nmt.config.config import Config
from nmt.corpus.preparing.prepare import prepare
from nmt.runs.lifecycle import create_run
from nmt.training.distributed import Worker
from nmt.training.loop import Trainer


def make_trainer(config: Config, folder: str = "run") -> Trainer:
    """Return the trainer of a new run in this folder, on the CPU."""
    prepared = prepare(config)
    run = create_run(Path(folder), config, prepared)
    return Trainer(config, prepared, run, Worker(torch.device("cpu")))


def resumed(trainer: Trainer) -> Trainer:
    """Return a trainer that continues the run from its last checkpoint."""
    return Trainer(trainer.config, trainer.prepared, trainer.folder, trainer.worker, resume=True)
