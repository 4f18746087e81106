"""The same batches for nmt and its peers."""

import time
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from nmt.training.trainer import Trainer

Order = list[NDArray[np.int64]]


def write_batches(trainer: Trainer, order: Order, path: Path) -> None:
    """Store batches of the first epoch: source{i}, with <eos>; target{i}, with <sos> and <eos>."""
    arrays = {}
    for i, batch in enumerate(trainer.plan.load(order, 1)):
        arrays[f"source{i}"] = batch.source.numpy()
        arrays[f"target{i}"] = torch.cat([batch.target_in[:, :1], batch.target_out], 1).numpy()
    np.savez(path, **arrays)  # type: ignore[arg-type]


def update(trainer: Trainer, order: Order) -> float:
    """Return target tokens a second of whole updates: loading, forward, backward, optimizer."""
    start = time.perf_counter()
    tokens = trainer.progress.tokens
    for batch in trainer.plan.load(order, 1):
        trainer.update([batch])
    return (trainer.progress.tokens - tokens) / (time.perf_counter() - start)
