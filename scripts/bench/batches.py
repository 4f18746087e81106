"""Identical batches for nmt and its peers, and their FLOP count."""

import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import torch
from measuring import Batches, tokens_per_second

from nmt.config.config import Config
from nmt.corpus.preparing.prepare import prepare
from nmt.model.transformer import Transformer
from nmt.runs.folder import RunFolder
from nmt.training.batches import Batch, Epoch
from nmt.training.distributed import Worker
from nmt.training.loop import Trainer

COMPARED = Path(__file__).with_name("compared.yaml")


def beginning(
    config: Config, count: int, device: torch.device | None = None
) -> tuple[Trainer, Epoch]:
    """Return a trainer, and its first epoch with the first `count` batches only."""
    nowhere = RunFolder(Path(os.devnull))  # nothing is written
    trainer = Trainer(config, prepare(config), nowhere, Worker(device or torch.device("cpu")))
    epoch = trainer.plan.epoch(1)
    return trainer, replace(epoch, order=epoch.order[:count])


def as_tensors(epoch: Epoch) -> Batches:
    """Return the batches for a peer: sources with <eos>, and whole targets."""
    return [(batch.source, whole_target(batch)) for batch in epoch.batches()]


def for_peers(trainer: Trainer, epoch: Epoch) -> dict[str, Any]:
    """Return what a peer needs to train the same model on the same batches."""
    model = trainer.config.model
    sizes = {name: getattr(model, name) for name in ("d_model", "heads", "d_ff", "dropout")}
    size = trainer.prepared.tokenizers.source.size  # the whole vocabulary
    return {
        "batches": as_tensors(epoch),
        "label_smoothing": trainer.config.training.label_smoothing,
        "sizes": {**sizes, "size": size, "layers": model.encoder_layers},
    }


def whole_target(batch: Batch) -> torch.Tensor:
    """Return the targets with <sos> and <eos>: (batch, target + 1)."""
    return torch.cat([batch.target_in[:, :1], batch.target_out], 1)


def speed(trainer: Trainer, epoch: Epoch) -> float:
    """Return target tokens per second of whole updates: loading, forward, backward, optimizer."""
    tokens = sum(batch.tokens for batch in epoch.batches())
    batches = ([[batch]] for batch in epoch.batches())
    return tokens_per_second(trainer.state.update, batches, tokens)


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
