"""The output layer and the cross-entropy in one: the dearest part of a small model's update.

`linear_cross_entropy` is what training calls. On a CPU it never holds the logits of a whole batch:
it takes some rows at a time, small enough to stay in the processor's cache, and makes their
gradient while they are there. `plain_linear_cross_entropy` says the same in three lines.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

_LOGITS_AT_A_TIME = 2**20  # 4 MiB of float32: fewer waste the matrix product, more the cache


def linear_cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, label_smoothing: float
) -> tuple[Tensor, Tensor]:
    """Return the summed loss to learn from, and the one without smoothing, to be shown.

    hidden: (rows, d_model); weight: (vocabulary, d_model); bias: (vocabulary,); labels: (rows,).
    The second carries no gradient.

    With smoothing ε the label keeps 1 - ε, and ε is spread evenly over the whole vocabulary
    (Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4).
    """
    exact = hidden.dtype in (torch.float32, torch.float64) and not torch.is_autocast_enabled("cpu")
    if hidden.device.type == "cpu" and exact and torch.is_grad_enabled():
        return _InRows.apply(hidden, weight, bias, labels, label_smoothing)  # type: ignore[no-untyped-call,no-any-return]
    return plain_linear_cross_entropy(hidden, weight, bias, labels, label_smoothing)


def plain_linear_cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, label_smoothing: float
) -> tuple[Tensor, Tensor]:
    """Return what `linear_cross_entropy` does, as it is written in books."""
    log_probabilities = functional.linear(hidden, weight, bias).float().log_softmax(-1)
    plain = functional.nll_loss(log_probabilities, labels, reduction="sum")  # Σ -log p(label)
    spread = -log_probabilities.sum() / len(weight)  # Σ -Σ_v log p(v) / V
    return (1 - label_smoothing) * plain + label_smoothing * spread, plain.detach()


class _InRows(torch.autograd.Function):
    """Loss and gradient together, some rows at a time."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        label_smoothing: float,
    ) -> tuple[Tensor, Tensor]:
        d_hidden, d_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        d_bias = None if bias is None else torch.zeros_like(bias)
        plain, spread = hidden.new_zeros(()), hidden.new_zeros(())
        step = max(64, _LOGITS_AT_A_TIME // len(weight))
        buffer = hidden.new_empty(min(step, len(hidden)), len(weight))  # allocating takes time too
        for start in range(0, len(hidden), step):
            rows, label = hidden[start : start + step], labels[start : start + step, None]
            logits = torch.mm(rows, weight.T, out=buffer[: len(rows)])  # (rows, vocabulary)
            if bias is not None:
                logits += bias
            # -log p(v) = log Σ exp(logits) - logits(v)
            largest = logits.amax(1, keepdim=True)
            of_label, mean = logits.gather(1, label), logits.mean(1, keepdim=True)
            powers = logits.sub_(largest).exp_()
            total = powers.sum(1, keepdim=True)
            log_total = total.log() + largest
            plain += (log_total - of_label).sum()
            spread += (log_total - mean).sum()
            # d loss / d logits = p - ε / V, less 1 - ε at the label
            d_logits = powers.mul_(1 / total).sub_(label_smoothing / len(weight))
            d_logits.scatter_add_(1, label, torch.full_like(of_label, label_smoothing - 1))
            torch.mm(d_logits, weight, out=d_hidden[start : start + step])
            d_weight.addmm_(d_logits.T, rows)
            if d_bias is not None:
                d_bias += d_logits.sum(0)
        ctx.save_for_backward(d_hidden, d_weight, d_bias)
        ctx.mark_non_differentiable(plain)
        return (1 - label_smoothing) * plain + label_smoothing * spread, plain

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        d_bias = None if d_bias is None else d_bias * d_loss
        return d_hidden * d_loss, d_weight * d_loss, d_bias, None, None
