"""The loss: label-smoothed cross-entropy, summed over the tokens that are not padding."""

from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional

from nmt.model.transformer import Transformer
from nmt.special_tokens import PAD
from nmt.training.batches import Batch


def batch_loss(model: Transformer, batch: Batch, label_smoothing: float) -> tuple[Tensor, Tensor]:
    """Return the summed loss to learn from, and the loss without smoothing, to be shown.

    Divide them by `batch.tokens` for the means. With smoothing ε the label keeps 1 - ε, and ε is
    spread evenly over the whole vocabulary (Szegedy et al. 2016, section 7; Vaswani et al. 2017,
    section 5.4). The second is what validation measures, and carries no gradient.
    """
    hidden = model.hidden(batch.source, batch.target_in)
    # The output layer is the dearest part of the model: padding need not go through it.
    counts = batch.target_out != PAD
    log_probabilities = model.logits(hidden[counts]).float().log_softmax(-1)
    # Σ over labels of -log p(label), and of -Σ_v log p(v) / V
    plain = functional.nll_loss(log_probabilities, batch.target_out[counts], reduction="sum")
    spread = -log_probabilities.sum() / log_probabilities.shape[-1]
    return (1 - label_smoothing) * plain + label_smoothing * spread, plain.detach()


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
