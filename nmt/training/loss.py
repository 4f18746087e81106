"""The loss: label-smoothed cross-entropy, summed over the tokens that are not padding.

Its equation is in `nmt/ops/cross_entropy.py`.
"""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.config.training import TrainingConfig
from nmt.device import autocast
from nmt.model.transformer import Transformer
from nmt.ops.cross_entropy import linear_cross_entropy
from nmt.special_tokens import PAD
from nmt.training.batches import Batch

# 64 MiB of float32, so that validation needs no more memory than an update.
_LOGITS_AT_A_TIME = 2**24


def batch_loss(
    model: Transformer, batch: Batch, label_smoothing: float, r_drop: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return the training loss, and the plain cross-entropy and the number of correct predictions.

    → scalar; (2,). Divide these sums over the labels by `batch.tokens` for the means.

    With `r_drop`, the model processes the batch twice with different dropout, and disagreement is
    penalized: see `linear_cross_entropy`. All results are then means over the two passes.
    """
    passes = 2 if r_drop else 1
    hidden, labels = at_labels(model, batch.duplicated() if r_drop else batch)
    output = model.output
    # Labels include padding only in `ReplayedBackward`, and masking takes time on a CPU.
    ignored = PAD if hidden.is_cuda else None
    loss, reported = linear_cross_entropy(
        hidden, output.target_weight, output.bias, labels, label_smoothing, r_drop, ignored
    )
    return loss / passes, reported / passes


class BatchLoss(nn.Module):
    """`batch_loss` in the configured precision, on the model's device.

    A module, because `DistributedDataParallel` averages the gradients of a module's `forward`.
    """

    def __init__(self, model: Transformer, settings: TrainingConfig, device: torch.device):
        super().__init__()
        self.model = model
        self.passes = 2 if settings.r_drop else 1  # over each batch
        self._settings, self._device = settings, device

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """Return what `batch_loss` does."""
        settings = self._settings
        with autocast(self._device, settings.precision):
            return batch_loss(
                self.model, batch.to(self._device), settings.label_smoothing, settings.r_drop
            )


def at_labels(model: Transformer, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the decoder's output and the labels, both without padding.

    → (tokens, d_model), (tokens,). The output layer is the most expensive part of the model, so it
    skips padding.
    """
    hidden = model.decoder_output(batch.source, batch.target_in).flatten(0, 1)
    return hidden.index_select(0, batch.label_indices), batch.target_out.flatten()[
        batch.label_indices
    ]


@dataclass(frozen=True)
class Scores:
    """Sums over validation tokens."""

    loss: float
    correct: int
    tokens: int


@torch.no_grad()
def score_batch(model: Transformer, batch: Batch) -> Scores:
    """Return the unsmoothed loss and the number of correct predictions (teacher forcing)."""
    hidden, labels = at_labels(model, batch)
    loss, correct = hidden.new_zeros((), dtype=torch.float), labels.new_zeros(())
    rows = max(1, _LOGITS_AT_A_TIME // model.output.out_features)
    for some, label in zip(*(torch.split(each, rows) for each in (hidden, labels)), strict=True):
        logits = model.logits(some).float()
        loss += functional.cross_entropy(logits, label, reduction="sum")
        correct += (logits.argmax(-1) == label).sum()
    return Scores(loss.item(), int(correct), batch.tokens)
