"""The matrix products of the model's layers, x Wᵀ + b, by whichever library is faster here.

PyTorch leaves float32 products to MKL, which makes no use of AVX-512 on processors that are not
Intel's. oneDNN, which comes with PyTorch as well, does: there it takes about half the time.
"""

from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.device import cpu_capabilities

_LEAST_WORK = 2**20  # multiplications; below, calling oneDNN costs more than it saves
_STEP = 32  # rows


class Linear(nn.Linear):
    """`nn.Linear` by `linear`."""

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) → (…, out)."""
        return linear(x, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return x Wᵀ + b, faster than PyTorch's own where oneDNN is and no gradient is needed.

    x: (…, in); weight: (out, in); bias: (out,) → (…, out)
    """
    if not _onednn_pays(x, weight):
        return functional.linear(x, weight, bias)
    return linear_by_onednn(x, weight, bias)


def linear_by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return what `linear` does, without a gradient, on a CPU and in float32."""
    rows = x.reshape(-1, x.shape[-1])
    # oneDNN generates code for each number of rows: pad them to one of few.
    missing = -len(rows) % _step(len(rows))
    if missing:
        rows = functional.pad(rows, (0, 0, 0, missing))
    product = torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")
    return product[: len(rows) - missing].view(*x.shape[:-1], len(weight))


def _step(rows: int) -> int:
    """Return the number whose multiple the rows are padded to: at most an eighth of them."""
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
    """Tell whether `linear_by_onednn` can be called: not every PyTorch comes with oneDNN."""
    return hasattr(torch.ops.mkldnn, "_linear_pointwise")


@cache
def _onednn_is_faster() -> bool:
    found = cpu_capabilities()
    amd = "AMD" in str(found.get("cpu_name", ""))
    return amd and bool(found.get("avx512_f")) and has_onednn()
