"""The loss: label-smoothed cross-entropy, summed over the tokens that are not padding."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from nmt.model.transformer import Transformer
from nmt.special_tokens import PAD
from nmt.training.batches import Batch


def batch_loss(model: Transformer, batch: Batch, label_smoothing: float) -> Tensor:
    """Return the summed loss of a batch; divide it by `batch.tokens` for the mean.

    With smoothing ε the label keeps 1 - ε, and ε is spread evenly over the whole vocabulary
    (Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4).
    """
    hidden = model.hidden(batch.source, batch.target_in)
    # The output layer is the dearest part of the model: padding need not go through it.
    counts = batch.target_out != PAD
    logits = model.logits(hidden[counts])
    return functional.cross_entropy(
        logits.float(), batch.target_out[counts], reduction="sum", label_smoothing=label_smoothing
    )


@dataclass(frozen=True)
class Scores:
    """Sums over validation tokens."""

    loss: float
    correct: int
    tokens: int


@torch.no_grad()
def score_batch(model: Transformer, batch: Batch) -> Scores:
    """Return the unsmoothed loss and how many next tokens the model guesses (teacher forcing)."""
    counts = batch.target_out != PAD
    labels = batch.target_out[counts]
    logits = model.logits(model.hidden(batch.source, batch.target_in)[counts]).float()
    loss = functional.cross_entropy(logits, labels, reduction="sum")
    return Scores(loss.item(), int((logits.argmax(-1) == labels).sum()), batch.tokens)
