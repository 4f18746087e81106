"""Linear layers, x Wᵀ + b, using whichever library is faster.

PyTorch uses MKL for float32 products, which does not use AVX-512 on non-Intel processors. oneDNN,
also bundled with PyTorch, does; on those processors it takes about half the time. For products in
16 bits, PyTorch uses oneDNN, too. oneDNN compiles code for each number of rows, which takes longer
than a product, so rows are padded to a few numbers.
"""

from functools import cache

import torch
from torch import Tensor, nn
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
    """Return x Wᵀ + b; on a CPU by oneDNN if it is faster and no gradient is needed.

    x: (…, in); weight: (out, in); bias: (out,) → (…, out)
    """
    # Autocast leaves float64 as it is.
    if x.is_cpu and torch.is_autocast_enabled("cpu") and x.dtype != torch.float64:
        rows = x.reshape(-1, x.shape[-1]).to(torch.get_autocast_dtype("cpu"))
        product = functional.linear(pad_rows(rows), weight, bias)
        return product[: len(rows)].view(*x.shape[:-1], len(weight))
    if not _onednn_pays(x, weight):
        return functional.linear(x, weight, bias)
    return linear_by_onednn(x, weight, bias)


def pad_rows(rows: Tensor) -> Tensor:
    """Append rows of zeros, so that few numbers of rows occur.

    rows: (rows, width) → (padded rows, width)
    """
    missing = -len(rows) % row_step(len(rows))
    return functional.pad(rows, (0, 0, 0, missing)) if missing else rows


def linear_by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Compute `linear` without gradient, on a CPU in float32."""
    rows = x.reshape(-1, x.shape[-1])
    product = torch.ops.mkldnn._linear_pointwise(pad_rows(rows), weight, bias, "none", [], "")
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
