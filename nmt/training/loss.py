"""The loss: label-smoothed cross-entropy, summed over the tokens that are not padding."""

from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.model.transformer import Transformer
from nmt.ops.cross_entropy import linear_cross_entropy
from nmt.training.batches import Batch

_LOGITS_AT_A_TIME = 2**24  # 64 MiB of float32: validation should not need more than an update


def batch_loss(
    model: Transformer, batch: Batch, label_smoothing: float, r_drop: float = 0.0
) -> tuple[Tensor, Tensor]:
    """Return the summed loss to learn from, and the cross-entropy alone, to be shown.

    Divide them by `batch.tokens` for the means. The second is what validation measures.

    With `r_drop` the model reads the batch twice, each time under dropout of its own, and learns to
    say the same: see `linear_cross_entropy`. The losses are then the means of both passes.
    """
    passes = 2 if r_drop else 1
    hidden, labels = at_labels(model, batch.twice() if r_drop else batch)
    output = model.output
    loss, plain = linear_cross_entropy(
        hidden, output.rows, output.bias, labels, label_smoothing, r_drop
    )
    return loss / passes, plain / passes


class BatchLoss(nn.Module):
    """`batch_loss` as a module, since processes share the gradients of a module's `forward`."""

    def __init__(self, model: Transformer, label_smoothing: float, r_drop: float):
        super().__init__()
        self.model = model
        self._label_smoothing, self._r_drop = label_smoothing, r_drop

    def forward(self, batch: Batch) -> tuple[Tensor, Tensor]:
        """See `batch_loss`."""
        return batch_loss(self.model, batch, self._label_smoothing, self._r_drop)


def at_labels(model: Transformer, batch: Batch) -> tuple[Tensor, Tensor]:
    """Return the decoder's last layer and the labels at the places that are no padding.

    → (tokens, d_model), (tokens,). The output layer is the dearest part of the model: padding need
    not go through it.
    """
    hidden = model.hidden(batch.source, batch.target_in).flatten(0, 1)
    return hidden.index_select(0, batch.places), batch.target_out.flatten()[batch.places]


@dataclass(frozen=True)
class Scores:
    """Sums over validation tokens."""

    loss: float
    correct: int
    tokens: int


@torch.no_grad()
def score_batch(model: Transformer, batch: Batch) -> Scores:
    """Return the unsmoothed loss and how many next tokens the model guesses (teacher forcing)."""
    hidden, labels = at_labels(model, batch)
    loss, correct = hidden.new_zeros((), dtype=torch.float), labels.new_zeros(())
    rows = max(1, _LOGITS_AT_A_TIME // model.output.out_features)
    for some, label in zip(*(torch.split(each, rows) for each in (hidden, labels)), strict=True):
        logits = model.logits(some).float()
        loss += functional.cross_entropy(logits, label, reduction="sum")
        correct += (logits.argmax(-1) == label).sum()
    return Scores(loss.item(), int(correct), batch.tokens)
