"""Output layer and cross-entropy as one operation: the most expensive part of a small model.

`plain_linear_cross_entropy` is the definition. Training uses `linear_cross_entropy`, which computes
the same loss without storing the logits of a whole batch; these would dominate memory use.
"""

from collections.abc import Callable
from functools import cache
from typing import Any

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from nmt.ops.compiled import compiled
from nmt.ops.linear import row_step

_PRODUCT_SIZE = 2**23  # logits per matrix product: fewer are slower, more need memory
_BLOCK_SIZE = 2**18  # logits (1 MiB of float32) that stay in the cache during the loss
_CUDA_SIZE = 2**26  # both, on a GPU: few large operations are faster there
_CUDA_COLUMNS = 8  # pad rows of logits to a multiple of this, for the tensor cores of a GPU


def plain_linear_cross_entropy(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    labels: Tensor,
    label_smoothing: float,
    r_drop: float = 0.0,
    ignored: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Return the training loss, and cross-entropy and correct predictions, summed over the rows.

    hidden: (rows, d_model); weight: (vocabulary, d_model); bias: (vocabulary,); labels: (rows,);
    ignored: label of rows that do not count → scalar; (2,), for reporting, without a gradient. A
    prediction is correct if no logit exceeds that of the label.

    With label smoothing ε, the label gets 1 - ε, and ε is spread evenly over the whole vocabulary
    (Szegedy et al. 2016, section 7; Vaswani et al. 2017, section 5.4).

    With `r_drop` α, rows 2i and 2i + 1 are two passes over the same position, and the loss includes
    α / 2 times their symmetric Kullback–Leibler divergence: Σ (p₁ - p₂)(log p₁ - log p₂) (Liang et
    al. 2021, equations 2 to 4).
    """
    if ignored is not None:
        hidden, labels = hidden[labels != ignored], labels[labels != ignored]
    log_p = functional.linear(hidden, weight, bias).float().log_softmax(-1)
    cross_entropy = functional.nll_loss(log_p, labels, reduction="sum")  # Σ -log p(label)
    uniform = -log_p.sum() / len(weight)  # Σ -Σ_v log p(v) / V
    correct = (log_p.gather(1, labels[:, None]) >= log_p.amax(1, keepdim=True)).sum()
    loss = (1 - label_smoothing) * cross_entropy + label_smoothing * uniform
    if r_drop:
        first, second = log_p[0::2], log_p[1::2]
        loss = loss + r_drop / 2 * ((first.exp() - second.exp()) * (first - second)).sum()
    return loss, torch.stack([cross_entropy.detach(), correct.to(cross_entropy.dtype)])


def linear_cross_entropy(
    hidden: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    labels: Tensor,
    label_smoothing: float,
    r_drop: float = 0.0,
    ignored: int | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute `plain_linear_cross_entropy`, on a CPU or CUDA with less time and memory.

    Under autocast, matrix products use 16 bits and everything else the type of the weights. Rows
    with the label `ignored` are computed and then masked, so that no shape depends on the labels.
    """
    arguments = hidden, weight, bias, labels, float(label_smoothing), float(r_drop), ignored
    if hidden.device.type in ("cpu", "cuda") and torch.is_grad_enabled():
        return _InBlocks.apply(*arguments, _product_dtype(hidden))  # type: ignore[no-untyped-call]
    return plain_linear_cross_entropy(*arguments)


class _InBlocks(torch.autograd.Function):
    """Computes the loss and its gradients together, in the forward pass, in blocks of rows."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        labels: Tensor,
        label_smoothing: float,
        r_drop: float,
        ignored: int | None,
        dtype: torch.dtype,
    ) -> tuple[Tensor, Tensor]:
        rows, matrix = hidden.to(dtype), weight.to(dtype)
        size, vocabulary = _PRODUCT_SIZE, len(weight)
        if hidden.device.type == "cuda":
            size, matrix = _CUDA_SIZE, _padded(matrix)
        size = _rows_of(size, vocabulary)
        if dtype.itemsize == 2 and hidden.device.type == "cpu":
            step = row_step(min(size, len(rows)))
            size = max(step, size // step * step)
            rows = functional.pad(rows, (0, 0, 0, -len(rows) % step))  # see `pad_rows`
        # One buffer for all products, because allocating takes time.
        buffer = rows.new_empty(min(size, len(rows)), len(matrix))
        d_hidden, d_weight = torch.empty_like(rows), torch.zeros_like(weight)
        d_bias = None if bias is None else torch.zeros_like(bias)
        sums = torch.zeros(4, dtype=torch.float64, device=hidden.device)
        parts = (torch.split(tensor, size) for tensor in (rows, labels, d_hidden))
        for some, label, d_some in zip(*parts, strict=True):
            logits = torch.mm(some, matrix.T, out=buffer[: len(some)])
            real = logits[: len(label), :vocabulary]
            sums += _differentiate(real, bias, label, label_smoothing, r_drop, ignored, d_bias)
            d_logits = logits  # overwritten by now; padding is zero before and after
            torch.mm(d_logits, matrix, out=d_some)
            d_weight += torch.mm(d_logits.T, some)[:vocabulary]
        ctx.save_for_backward(d_hidden[: len(hidden)].to(hidden.dtype), d_weight, d_bias)
        cross_entropy, correct, uniform, divergence = sums.to(hidden.dtype)
        reported = torch.stack([cross_entropy, correct])
        ctx.mark_non_differentiable(reported)
        loss = (1 - label_smoothing) * cross_entropy + label_smoothing * uniform
        return loss + r_drop / 2 * divergence, reported

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        d_bias = None if d_bias is None else d_bias * d_loss
        # In place, because allocating takes time; PyTorch then refuses a second backward pass.
        return d_hidden * d_loss, d_weight.mul_(d_loss), d_bias, *5 * [None]


def _differentiate(
    logits: Tensor,
    bias: Tensor | None,
    labels: Tensor,
    label_smoothing: float,
    r_drop: float,
    ignored: int | None,
    d_bias: Tensor | None,
) -> Tensor:
    """Overwrite the logits with their gradient; return four sums.

    logits: (rows, vocabulary), without the bias, whose gradient is added to `d_bias`
    → cross-entropy, correct predictions, cross-entropy with the uniform distribution, R-Drop's
    divergence
    """
    if logits.device.type == "cuda":
        block_function, size = _fused_on_cuda(), len(logits)
    else:
        block_function, size = _differentiate_block, _rows_of(_BLOCK_SIZE, logits.shape[1])
    sums = torch.zeros(4, dtype=torch.float64, device=logits.device)
    blocks = (torch.split(tensor, size) for tensor in (logits, labels[:, None]))
    for block, label in zip(*blocks, strict=True):
        sums += block_function(block, bias, label, label_smoothing, r_drop, ignored, d_bias)
    return sums


def _differentiate_block(
    block: Tensor,
    bias: Tensor | None,
    label: Tensor,
    label_smoothing: float,
    r_drop: float,
    ignored: int | None,
    d_bias: Tensor | None,
) -> Tensor:
    """Compute `_differentiate` for a block of rows; label: (rows, 1)."""
    vocabulary = block.shape[1]
    exact = torch.promote_types(block.dtype, torch.float32)
    x = block.to(exact) if bias is None else block + bias
    p = x.softmax(1)
    # -log p(v) = log Σ exp(x) - x(v), computed at the largest p, where it is most accurate
    largest, at_label = x.amax(1, keepdim=True), x.gather(1, label)
    log_total = largest - p.amax(1, keepdim=True).log()
    cross_entropy = log_total - at_label
    correct = at_label >= largest  # `argmax` would take longer than the softmax
    uniform = log_total - x.mean(1, keepdim=True)
    divergence = torch.zeros_like(uniform)
    d_divergence = None
    if r_drop:
        divergence, d_divergence = _divergence(p, x - log_total)
    # d loss / dx = p - ε / V, minus 1 - ε at the label
    d_x = p.sub_(label_smoothing / vocabulary)
    d_x.scatter_add_(1, label, d_x.new_full(label.shape, label_smoothing - 1))
    if d_divergence is not None:
        d_x.add_(d_divergence, alpha=r_drop / 2)
    if ignored is not None:
        left_out = label == ignored
        d_x.masked_fill_(left_out, 0)
        cross_entropy, uniform = (y.masked_fill(left_out, 0) for y in (cross_entropy, uniform))
        correct = correct & ~left_out
        divergence = divergence.masked_fill(left_out[0::2] if r_drop else left_out, 0)
    if d_bias is not None:
        d_bias += d_x.sum(0)
    block.copy_(d_x)
    sums = cross_entropy.sum(), correct.sum(dtype=exact), uniform.sum(), divergence.sum()
    return torch.stack(sums)


Differentiate = Callable[..., Tensor]


@cache
def _fused_on_cuda() -> Differentiate:
    """Return a compiled `_differentiate_block`; it reads the logits twice instead of ten times."""
    return compiled(_differentiate_block)


def _divergence(p: Tensor, log_p: Tensor) -> tuple[Tensor, Tensor]:
    """Return KL(p₁ ‖ p₂) + KL(p₂ ‖ p₁) for each pair of rows, (pairs, 1), and its gradient."""
    d_logits = torch.empty_like(p)
    first, second = p[0::2], p[1::2]
    difference, ratio = first - second, log_p[0::2] - log_p[1::2]
    mean_first, mean_second = ((x * ratio).sum(1, keepdim=True) for x in (first, second))
    d_logits[0::2] = first * (ratio - mean_first) + difference
    d_logits[1::2] = second * (mean_second - ratio) - difference
    return mean_first - mean_second, d_logits


def _rows_of(logits: int, vocabulary: int) -> int:
    """Return the number of rows with about this many logits, a multiple of 2 for R-Drop."""
    return max(2, logits // vocabulary // 2 * 2)


def _padded(matrix: Tensor) -> Tensor:
    """Add rows of zeros up to a multiple of `_CUDA_COLUMNS`."""
    missing = -len(matrix) % _CUDA_COLUMNS
    return functional.pad(matrix, (0, 0, 0, missing)) if missing else matrix


def _product_dtype(hidden: Tensor) -> torch.dtype:
    """Return the type of matrix products: autocast's, or without autocast the tensor's."""
    kind = hidden.device.type
    return torch.get_autocast_dtype(kind) if torch.is_autocast_enabled(kind) else hidden.dtype
