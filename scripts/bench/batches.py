"""Identical batches for nmt and its peers, and their FLOP count."""

import time
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from nmt.model.transformer import Transformer
from nmt.training.batches import Batch, Epoch
from nmt.training.loop import Trainer


def beginning(trainer: Trainer, count: int) -> Epoch:
    """Return the first epoch with its first `count` batches only."""
    epoch = trainer.plan.epoch(1)
    return replace(epoch, order=epoch.order[:count])


def write_batches(epoch: Epoch, path: Path) -> None:
    """Store the batches: source{i}, with <eos>; target{i}, with <sos> and <eos>."""
    arrays = {}
    for i, batch in enumerate(epoch.batches()):
        arrays[f"source{i}"] = batch.source.numpy()
        arrays[f"target{i}"] = whole_target(batch).numpy()
    np.savez(path, **arrays)  # type: ignore[arg-type]


def whole_target(batch: Batch) -> torch.Tensor:
    """Return the targets with <sos> and <eos>: (batch, target + 1)."""
    return torch.cat([batch.target_in[:, :1], batch.target_out], 1)


def update(trainer: Trainer, epoch: Epoch) -> float:
    """Return target tokens per second of whole updates: loading, forward, backward, optimizer."""
    start = time.perf_counter()
    tokens = trainer.progress.tokens
    for batch in epoch.batches():
        loss = trainer.state.update([batch])
    loss.item()  # waits for a GPU
    return (trainer.progress.tokens - tokens) / (time.perf_counter() - start)


def flops(model: Transformer, batches: Sequence[Batch]) -> float:
    """Return the floating-point operations of matrix products per target token of these batches.

    Six per weight and token that it multiplies: two in the forward and four in the backward pass.
    The products within attention, Q Kᵀ and that with V, are not counted.
    """
    per_source = sum(p.numel() for p in model.encoder.parameters() if p.dim() > 1)
    per_target = sum(p.numel() for p in model.decoder.parameters() if p.dim() > 1)
    for layer in model.decoder_layers():  # keys and values are computed from the source
        per_source += layer.cross_attention.key_value.weight.numel()
        per_target -= layer.cross_attention.key_value.weight.numel()
    sources = sum(int((b.source != 0).sum()) for b in batches)
    targets = sum(b.tokens for b in batches)
    output = model.output.target_weight.numel()
    return 6 * (per_source * sources / targets + per_target + output)
