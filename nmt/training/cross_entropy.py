"""The output layer and the cross-entropy in one: the dearest part of a small model's update.

`linear_cross_entropy` is what training calls. On a CPU it never holds the logits of a whole batch:
it takes some rows at a time and puts their gradient in their place, row by row in a compiled loop
where there is Numba, else by PyTorch. Under autocast its products are of 16 bits, all else of
float32. `plain_linear_cross_entropy` says the same in three lines.
"""

from collections.abc import Callable
from functools import cache
from threading import Lock
from typing import Any

import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.autograd.function import once_differentiable
from torch.nn import functional

from nmt.compiling import with_loops

# Logits, bias, labels, label smoothing, R-Drop's weight, the bias's gradient, sums.
Differentiate = Callable[[Tensor, Tensor, Tensor, float, float, Tensor, Tensor], None]

_one_compiles = Lock()
_MOST_THREADS = 4  # more are faster together in PyTorch's passes than one in the compiled loop
_LOGITS_AT_A_TIME = 2**23  # 16 MiB of bfloat16: fewer waste the matrix products, more the memory
_LOGITS_IN_CACHE = 2**20  # 4 MiB of float32, all of which PyTorch's every operation passes through


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
    """Loss and gradient together, some rows at a time."""

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
        some = _rows_of(_LOGITS_AT_A_TIME, len(weight))
        factor, weight_factor = hidden.to(dtype), weight.to(dtype)
        added = weight.new_zeros(len(weight)) if bias is None else bias.detach()
        d_bias, sums = torch.zeros_like(added), torch.zeros(3, dtype=torch.float64)
        compiled = None
        if weight.dtype == torch.float32 and torch.get_num_threads() <= _MOST_THREADS:
            with _one_compiles:
                compiled = _compiled(dtype)
        differentiate: Differentiate = compiled or _differentiate
        d_hidden, d_weight = [], None
        # Allocating takes time, so all rows share this.
        products = factor.new_empty(min(some, len(hidden)), len(weight))
        for rows, label in zip(torch.split(factor, some), torch.split(labels, some), strict=True):
            logits = torch.mm(rows, weight_factor.T, out=products[: len(rows)])
            differentiate(logits, added, label, float(label_smoothing), float(r_drop), d_bias, sums)
            d_logits = logits  # now
            d_hidden.append(d_logits @ weight_factor)
            d_product = torch.mm(d_logits.T, rows).to(weight.dtype)
            d_weight = d_product if d_weight is None else d_weight.add_(d_product)
        d_rows = torch.cat(d_hidden).to(hidden.dtype)
        ctx.save_for_backward(d_rows, d_weight, None if bias is None else d_bias)
        plain, spread, divergence = sums.to(hidden.dtype)
        ctx.mark_non_differentiable(plain)
        loss = (1 - label_smoothing) * plain + label_smoothing * spread + r_drop / 2 * divergence
        return loss, plain

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_loss: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        d_bias = None if d_bias is None else d_bias * d_loss
        # In place, since allocating takes time; PyTorch refuses to go back through it again.
        return d_hidden * d_loss, d_weight.mul_(d_loss), d_bias, None, None, None, None


def _product_dtype(hidden: Tensor) -> torch.dtype:
    """Return what autocast multiplies in, or without it the type that is there."""
    return torch.get_autocast_dtype("cpu") if torch.is_autocast_enabled("cpu") else hidden.dtype


@cache
def _compiled(dtype: torch.dtype) -> Differentiate | None:
    """Return `nmt.kernels.cross_entropy` for logits of `dtype`, where it can be compiled."""
    if dtype not in (torch.float32, torch.bfloat16):
        return None

    def make_ready() -> Differentiate:
        from nmt import kernels  # needs Numba

        kernel: Callable[..., None] = kernels.cross_entropy

        def differentiate(*arguments: Tensor | float) -> None:
            kernel(*map(_array, arguments))

        logits, labels = torch.zeros(2, 2, dtype=dtype), torch.zeros(2, dtype=torch.int64)
        bias, sums = torch.zeros(2), torch.zeros(3, dtype=torch.float64)
        differentiate(logits, bias, labels, 0.0, 0.0, bias.clone(), sums)
        return differentiate

    return with_loops("training", make_ready)


def _array(argument: Tensor | float) -> NDArray[Any] | float:
    """Return a tensor as an array; bfloat16, which NumPy has not, as the int16 of the same bits."""
    if not isinstance(argument, Tensor):
        return argument
    stored = argument.view(torch.int16) if argument.dtype == torch.bfloat16 else argument
    return stored.numpy()


def _differentiate(
    logits: Tensor,
    bias: Tensor,
    labels: Tensor,
    label_smoothing: float,
    r_drop: float,
    d_bias: Tensor,
    sums: Tensor,
) -> None:
    """Put the loss's gradient in the place of the logits: the twin of `nmt.kernels.cross_entropy`.

    Arguments as there.
    """
    columns = logits.shape[1]
    step = _rows_of(_LOGITS_IN_CACHE, columns)
    buffer, p_buffer = bias.new_empty(2, min(step, len(logits)), columns)
    steps = zip(torch.split(logits, step), torch.split(labels[:, None], step), strict=True)
    for some, label in steps:
        x = buffer[: len(some)].copy_(some)
        x += bias
        # -log p(v) = log Σ exp(x) - x(v)
        of_label, mean = x.gather(1, label), x.mean(1, keepdim=True)
        p, log_total = _softmax(x, p_buffer[: len(some)])
        sums[0] += (log_total - of_label).sum()
        sums[1] += (log_total - mean).sum()
        d_divergence = None
        if r_drop:
            divergence, d_divergence = _divergence(p, x.sub_(log_total))
            sums[2] += divergence
        # d loss / dx = p - ε / V, less 1 - ε at the label
        d_x = p.sub_(label_smoothing / columns)
        d_x.scatter_add_(1, label, torch.full_like(of_label, label_smoothing - 1))
        if d_divergence is not None:
            d_x.add_(d_divergence, alpha=r_drop / 2)
        d_bias += d_x.sum(0)
        some.copy_(d_x)


def _rows_of(logits: int, vocabulary: int) -> int:
    """Return how many rows have so many logits: 64 at least, and even, for `r_drop`'s pairs."""
    return max(64, logits // vocabulary // 2 * 2)


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
