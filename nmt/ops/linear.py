"""Linear layers, x Wᵀ + b, using whichever library is faster.

PyTorch uses MKL for float32 products, which does not use AVX-512 on non-Intel processors. oneDNN,
also bundled with PyTorch, does; on those processors it takes about half the time. For products in
16 bits, PyTorch uses oneDNN, too. oneDNN compiles code for each number of rows, which takes longer
than a product, so rows are padded to a few numbers.
"""

from functools import cache
from typing import Any

import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable
from torch.nn import functional

from nmt.device import cpu_capabilities

_LEAST_WORK = 2**20  # multiplications; with fewer, oneDNN does not pay off
_STEP = 32  # rows


class Linear(nn.Linear):
    """`nn.Linear` that uses `linear`."""

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) → (…, out)."""
        return linear(x, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return x Wᵀ + b.

    On a CPU, the product is in 16 bits under autocast. In float32, it is left to oneDNN where that
    is faster and no gradient is needed.

    x: (…, in); weight: (out, in); bias: (out,) → (…, out)
    """
    # Autocast leaves float64 as it is.
    if x.is_cpu and torch.is_autocast_enabled("cpu") and x.dtype != torch.float64:
        dtype = torch.get_autocast_dtype("cpu")
        product: Tensor = _LinearIn16Bits.apply(x, weight, bias, dtype)  # type: ignore[no-untyped-call]
        return product
    if not _onednn_pays(x, weight):
        return functional.linear(x, weight, bias)
    return linear_by_onednn(x, weight, bias)


class _LinearIn16Bits(torch.autograd.Function):
    """`linear` under autocast, with fewer copies of the padded rows than PyTorch's autograd makes.

    The result is a view and must not be changed in place.
    """

    @staticmethod
    def forward(
        ctx: Any, x: Tensor, weight: Tensor, bias: Tensor | None, dtype: torch.dtype
    ) -> Tensor:
        rows = x.reshape(-1, x.shape[-1])
        padded, matrix = pad_rows(rows, dtype), weight.to(dtype)
        product = functional.linear(padded, matrix, None if bias is None else bias.to(dtype))
        of_x, of_weight, *_ = ctx.needs_input_grad
        ctx.save_for_backward(padded if of_weight else None, matrix if of_x else None)
        ctx.shape = x.shape
        return product[: len(rows)].view(*x.shape[:-1], len(weight))

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, d_product: Tensor) -> tuple[Tensor | None, ...]:
        padded, matrix = ctx.saved_tensors
        d_rows = d_product.reshape(-1, d_product.shape[-1])
        count, d_rows = len(d_rows), pad_rows(d_rows, d_product.dtype)
        d_x = None if matrix is None else (d_rows @ matrix)[:count].view(ctx.shape)
        d_weight = None if padded is None else d_rows.T @ padded
        d_bias = d_rows.sum(0) if ctx.needs_input_grad[2] else None
        return d_x, d_weight, d_bias, None  # autograd casts the gradients to the inputs' types


def pad_rows(rows: Tensor, dtype: torch.dtype) -> Tensor:
    """Convert rows to a type and append rows of zeros, so that only a few row counts occur.

    rows: (rows, width) → (padded rows, width), of type `dtype`
    """
    count = len(rows)
    missing = -count % row_step(count)
    if not missing:
        return rows.to(dtype)
    padded = rows.new_empty(count + missing, rows.shape[1], dtype=dtype)
    padded[:count] = rows
    padded[count:] = 0
    return padded


def linear_by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Compute `linear` without gradient, on a CPU in float32."""
    rows = x.reshape(-1, x.shape[-1])
    padded = pad_rows(rows, rows.dtype)
    product = torch.ops.mkldnn._linear_pointwise(padded, weight, bias, "none", [], "")
    return product[: len(rows)].view(*x.shape[:-1], len(weight))


def row_step(rows: int) -> int:
    """Return the multiple to which `pad_rows` pads a number of rows.

    At most an eighth of the number, but at least `_STEP`; 1 below `_STEP` rows.
    """
    return max(_STEP, 1 << rows.bit_length() - 4) if rows >= _STEP else 1


def _onednn_pays(x: Tensor, weight: Tensor) -> bool:
    return (
        not torch.is_grad_enabled()
        and x.numel() * len(weight) >= _LEAST_WORK
        and x.dtype == weight.dtype == torch.float32
        and x.is_cpu
        and not torch.is_autocast_enabled("cpu")
        and _onednn_is_faster()
    )


def has_onednn() -> bool:
    """Return whether `linear_by_onednn` works: not every PyTorch includes oneDNN."""
    return hasattr(torch.ops.mkldnn, "_linear_pointwise")


@cache
def _onednn_is_faster() -> bool:
    found = cpu_capabilities()
    amd = "AMD" in str(found.get("cpu_name", ""))
    return amd and bool(found.get("avx512_f")) and has_onednn()
