"""The output layer and the cross-entropy in one: the dearest part of a small model's update.

`linear_cross_entropy` is what training calls. On a CPU it never holds the logits of a whole batch:
it takes some rows at a time, small enough to stay in the processor's cache, and makes their
gradient while they are there. Under autocast its products are of bfloat16, all else of float32.
`plain_linear_cross_entropy` says the same in three lines.
"""

from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

_LOGITS_AT_A_TIME = 2**20  # 4 MiB of float32: fewer waste the matrix product, more the cache
_STEPS_A_BLOCK = 8  # whose gradient is kept for one product, which is faster than many small ones


def linear_cross_entropy(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    labels: Tensor,
    label_smoothing: float,
    r_drop: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Return the summed loss to learn from, and the cross-entropy alone, to be shown.

    hidden: (rows, d_model); weight: (vocabulary, d_model); bias: (vocabulary,); labels: (rows,).
    The second carries no gradient.

    With smoothing ε the label keeps 1 - ε, and ε is spread evenly over the whole vocabulary
    (Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4).

    With `r_drop` α each two rows, the first and the second, the third and the fourth, …, come from
    two passes over the same position, and α / 2 of their Kullback-Leibler divergence in both
    directions is added: Σ (p₁ - p₂)(log p₁ - log p₂) (Liang et al. 2021, equations 2 to 4).
    """
    if hidden.device.type == "cpu" and torch.is_grad_enabled():
        arguments = hidden, weight, bias, labels, label_smoothing, r_drop, _product_dtype(hidden)
        return _InRows.apply(*arguments)  # type: ignore[no-untyped-call,no-any-return]
    return plain_linear_cross_entropy(hidden, weight, bias, labels, label_smoothing, r_drop)


def plain_linear_cross_entropy(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    labels: Tensor,
    label_smoothing: float,
    r_drop: float = 0.0,
) -> tuple[Tensor, Tensor]:
    """Return what `linear_cross_entropy` does, as it is written in books."""
    log_probabilities = functional.linear(hidden, weight, bias).float().log_softmax(-1)
    plain = functional.nll_loss(log_probabilities, labels, reduction="sum")  # Σ -log p(label)
    spread = -log_probabilities.sum() / len(weight)  # Σ -Σ_v log p(v) / V
    loss = (1 - label_smoothing) * plain + label_smoothing * spread
    if r_drop:
        first, second = log_probabilities[0::2], log_probabilities[1::2]
        loss = loss + r_drop / 2 * ((first.exp() - second.exp()) * (first - second)).sum()
    return loss, plain.detach()


class _InRows(torch.autograd.Function):
    """Loss and gradient together: blocks of steps of rows."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        label_smoothing: float,
        r_drop: float,
        dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        d_hidden, d_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        d_bias = None if bias is None else torch.zeros_like(bias)
        plain, spread, divergence = hidden.new_zeros(3)
        step = max(64, _LOGITS_AT_A_TIME // len(weight) // 2 * 2)  # pairs stay together
        block = step * _STEPS_A_BLOCK
        factor, weight_factor = hidden.to(dtype), weight.to(dtype)
        # Allocating takes time, so all steps share these.
        logits_buffer, p_buffer = hidden.new_empty(2, min(step, len(hidden)), len(weight))
        products = factor.new_empty(min(block, len(hidden)), len(weight))
        d_product, d_exact = torch.empty_like(weight_factor), torch.empty_like(weight)
        for first in range(0, len(hidden), block):
            rows, block_labels = factor[first : first + block], labels[first : first + block, None]
            for start in range(0, len(rows), step):
                some, label = (x[start : start + step] for x in (rows, block_labels))
                product = products[start : start + len(some)]
                torch.mm(some, weight_factor.T, out=product)
                logits = logits_buffer[: len(some)].copy_(product)  # (rows, vocabulary)
                if bias is not None:
                    logits += bias
                # -log p(v) = log Σ exp(logits) - logits(v)
                of_label, mean = logits.gather(1, label), logits.mean(1, keepdim=True)
                p, log_total = _softmax(logits, p_buffer[: len(some)])
                plain += (log_total - of_label).sum()
                spread += (log_total - mean).sum()
                d_divergence = None
                if r_drop:
                    of_step, d_divergence = _divergence(p, logits.sub_(log_total))
                    divergence += of_step
                # d loss / d logits = p - ε / V, less 1 - ε at the label
                d_logits = p.sub_(label_smoothing / len(weight))
                d_logits.scatter_add_(1, label, torch.full_like(of_label, label_smoothing - 1))
                if d_divergence is not None:
                    d_logits.add_(d_divergence, alpha=r_drop / 2)
                if d_bias is not None:
                    d_bias += d_logits.sum(0)
                product.copy_(d_logits)  # in the place of the logits, which are done with
            factors = products[: len(rows)]
            d_hidden[first : first + block] = factors @ weight_factor
            d_weight += d_exact.copy_(torch.mm(factors.T, rows, out=d_product))
        ctx.save_for_backward(d_hidden, d_weight, d_bias)
        ctx.mark_non_differentiable(plain)
        loss = (1 - label_smoothing) * plain + label_smoothing * spread + r_drop / 2 * divergence
        return loss, plain

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        d_bias = None if d_bias is None else d_bias * d_loss
        return d_hidden * d_loss, d_weight * d_loss, d_bias, None, None, None, None


def _product_dtype(hidden: Tensor) -> torch.dtype:
    """Return what autocast multiplies in, or without it the type that is there."""
    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else hidden.dtype


def _softmax(logits: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    """Write the probabilities into `out`; return them and log Σ exp(logits) by row, (rows, 1)."""
    p = torch.softmax(logits, 1, out=out)
    # log p = logits - log Σ exp(logits), exactest where p is largest
    return p, logits.amax(1, keepdim=True) - p.amax(1, keepdim=True).log()


def _divergence(p: Tensor, log_p: Tensor) -> tuple[Tensor, Tensor]:
    """Return KL(p₁ ‖ p₂) + KL(p₂ ‖ p₁) of all pairs of rows, and its gradient by the logits."""
    d_logits = torch.empty_like(p)
    first, second = p[0::2], p[1::2]
    difference, ratio = first - second, log_p[0::2] - log_p[1::2]
    expected, other = ((x * ratio).sum(1, keepdim=True) for x in (first, second))
    d_logits[0::2] = first * (ratio - expected) + difference
    d_logits[1::2] = second * (other - ratio) - difference
    return (expected - other).sum(), d_logits
