"""The output layer and the cross-entropy in one: the dearest part of a small model's update.

`linear_cross_entropy` is what training calls. On a CPU it never holds the logits of a whole batch:
it takes some rows at a time, small enough to stay in the processor's cache, and makes their
gradient while they are there. Under autocast its products are of bfloat16, all else of float32.
`plain_linear_cross_entropy` says the same in three lines.
"""

from typing import Any

import torch
from torch import Tensor
from torch.amp import custom_fwd
from torch.autograd.function import once_differentiable
from torch.nn import functional

_LOGITS_AT_A_TIME = 2**20  # 4 MiB of float32: fewer waste the matrix product, more the cache
_STEPS_A_BLOCK = 8  # whose gradient is kept for one product, which is faster than many small ones


def linear_cross_entropy(
    hidden: Tensor, weight: Tensor, bias: Tensor | None, labels: Tensor, label_smoothing: float
) -> tuple[Tensor, Tensor]:
    """Return the summed loss to learn from, and the one without smoothing, to be shown.

    hidden: (rows, d_model); weight: (vocabulary, d_model); bias: (vocabulary,); labels: (rows,).
    The second carries no gradient.

    With smoothing ε the label keeps 1 - ε, and ε is spread evenly over the whole vocabulary
    (Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4).
    """
    if hidden.device.type == "cpu" and torch.is_grad_enabled():
        arguments = hidden, weight, bias, labels, label_smoothing, _product_dtype(hidden)
        return _InRows.apply(*arguments)  # type: ignore[no-untyped-call,no-any-return]
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
    """Loss and gradient together: blocks of steps of rows."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        label_smoothing: float,
        dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        d_hidden, d_weight = torch.empty_like(hidden), torch.zeros_like(weight)
        d_bias = None if bias is None else torch.zeros_like(bias)
        plain, spread = hidden.new_zeros(()), hidden.new_zeros(())
        step = max(64, _LOGITS_AT_A_TIME // len(weight))
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
                # d loss / d logits = p - ε / V, less 1 - ε at the label
                d_logits = p.sub_(label_smoothing / len(weight))
                d_logits.scatter_add_(1, label, torch.full_like(of_label, label_smoothing - 1))
                if d_bias is not None:
                    d_bias += d_logits.sum(0)
                product.copy_(d_logits)  # in the place of the logits, which are done with
            factors = products[: len(rows)]
            d_hidden[first : first + block] = factors @ weight_factor
            d_weight += d_exact.copy_(torch.mm(factors.T, rows, out=d_product))
        ctx.save_for_backward(d_hidden, d_weight, d_bias)
        ctx.mark_non_differentiable(plain)
        return (1 - label_smoothing) * plain + label_smoothing * spread, plain

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        d_bias = None if d_bias is None else d_bias * d_loss
        return d_hidden * d_loss, d_weight * d_loss, d_bias, None, None, None


def twin_cross_entropy(
    hidden: Tensor,
    again: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    labels: Tensor,
    label_smoothing: float,
    alpha: float,
) -> tuple[Tensor, Tensor]:
    """Return R-Drop's loss of a batch seen twice, and the mean loss to be shown.

    ½ (L(p) + L(q)) + α/4 (KL(p‖q) + KL(q‖p)), L being `linear_cross_entropy`: half of equation 4 of
    Liang et al. 2021 (https://arxiv.org/abs/2106.14448), so that without α it is the loss of one.

    hidden, again: (rows, d_model), by different dropout; the rest as for `linear_cross_entropy`
    """
    if hidden.device.type == "cpu" and torch.is_grad_enabled():
        arguments = hidden, again, weight, bias, labels, label_smoothing, alpha
        return _TwinsInRows.apply(*arguments)  # type: ignore[no-untyped-call,no-any-return]
    return plain_twin_cross_entropy(hidden, again, weight, bias, labels, label_smoothing, alpha)


def plain_twin_cross_entropy(
    hidden: Tensor,
    again: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    labels: Tensor,
    label_smoothing: float,
    alpha: float,
) -> tuple[Tensor, Tensor]:
    """Return what `twin_cross_entropy` does, as it is written in books."""
    twins = hidden, again
    losses = [plain_linear_cross_entropy(x, weight, bias, labels, label_smoothing) for x in twins]
    log_p, log_q = (functional.linear(x, weight, bias).float().log_softmax(-1) for x in twins)
    # KL(p‖q) + KL(q‖p) = Σ (p - q) (log p - log q)
    apart = ((log_p.exp() - log_q.exp()) * (log_p - log_q)).sum()
    loss, plain = ((one + other) / 2 for one, other in zip(*losses, strict=True))
    return loss + alpha / 4 * apart, plain


class _TwinsInRows(torch.autograd.Function):
    """Loss and gradient together, some rows of both passes at a time; never in bfloat16."""

    @staticmethod
    @custom_fwd(device_type="cpu", cast_inputs=torch.float32)  # type: ignore[untyped-decorator]
    def forward(
        ctx: Any,
        hidden: Tensor,
        again: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        label_smoothing: float,
        alpha: float,
    ) -> tuple[Tensor, Tensor]:
        d_hidden, d_again = torch.empty_like(hidden), torch.empty_like(again)
        d_weight = torch.zeros_like(weight)
        d_bias = None if bias is None else torch.zeros_like(bias)
        plain, spread, apart = (hidden.new_zeros(()) for _ in range(3))
        step = max(32, _LOGITS_AT_A_TIME // len(weight) // 2)
        size = 2 * min(step, len(hidden)), len(weight)
        logits_buffer, p_buffer, gradient_buffer = (hidden.new_empty(size) for _ in range(3))
        for start in range(0, len(hidden), step):
            end = start + step
            rows = torch.cat([hidden[start:end], again[start:end]])
            label = labels[start:end, None].repeat(2, 1)
            logits = torch.mm(rows, weight.T, out=logits_buffer[: len(rows)])
            if bias is not None:
                logits += bias
            d_logits = gradient_buffer[: len(rows)]
            d_p, d_q = d_logits.chunk(2)
            of_label, mean = logits.gather(1, label), logits.mean(1, keepdim=True)
            ratio = torch.sub(*logits.chunk(2), out=d_q)  # log p/q, but for their totals
            probabilities, log_total = _softmax(logits, p_buffer[: len(rows)])
            plain += (log_total - of_label).sum() / 2
            spread += (log_total - mean).sum() / 2
            p, q = probabilities.chunk(2)
            ratio -= torch.sub(*log_total.chunk(2))
            from_p, from_q = _dot(p, ratio), -_dot(q, ratio)  # KL(p‖q), KL(q‖p)
            apart += (from_p + from_q).sum()
            # d (KL(p‖q) + KL(q‖p)) / d logits of p = p (log p/q - KL(p‖q) + 1) - q, and so for q
            ratio *= alpha / 4
            torch.add(ratio, 1 / 2 + alpha / 4 * (1 - from_p), out=d_p)
            d_p.mul_(p).sub_(q, alpha=alpha / 4)
            torch.sub(1 / 2 + alpha / 4 * (1 - from_q), ratio, out=d_q)
            d_q.mul_(q).sub_(p, alpha=alpha / 4)
            d_logits.sub_(label_smoothing / len(weight) / 2)
            d_logits.scatter_add_(1, label, torch.full_like(of_label, (label_smoothing - 1) / 2))
            d_hidden[start:end], d_again[start:end] = (d_logits @ weight).chunk(2)
            d_weight.addmm_(d_logits.T, rows)
            if d_bias is not None:
                d_bias += d_logits.sum(0)
        ctx.save_for_backward(d_hidden, d_again, d_weight, d_bias)
        ctx.mark_non_differentiable(plain)
        smoothed = (1 - label_smoothing) * plain + label_smoothing * spread
        return smoothed + alpha / 4 * apart, plain

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_again, d_weight, d_bias = (
            None if saved is None else saved * d_loss for saved in ctx.saved_tensors
        )
        return d_hidden, d_again, d_weight, d_bias, None, None, None


def _product_dtype(hidden: Tensor) -> torch.dtype:
    """Return what autocast multiplies in, or without it the type that is there."""
    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else hidden.dtype


def _softmax(logits: Tensor, out: Tensor) -> tuple[Tensor, Tensor]:
    """Write the probabilities into `out`; return them and log Σ exp(logits) by row, (rows, 1)."""
    p = torch.softmax(logits, 1, out=out)
    # log p = logits - log Σ exp(logits), exactest where p is largest
    return p, logits.amax(1, keepdim=True) - p.amax(1, keepdim=True).log()


def _dot(one: Tensor, other: Tensor) -> Tensor:
    """Σ_v one · other of each row, in one pass: (rows, vocabulary) → (rows, 1)."""
    return torch.bmm(one[:, None, :], other[:, :, None]).squeeze(2)
