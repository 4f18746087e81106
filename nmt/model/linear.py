"""The matrix products of the model's layers: x Wᵀ + b, by whichever library is faster here.

PyTorch leaves products of float32 to MKL, which makes no use of AVX-512 on processors that are not
Intel's. oneDNN, which comes with PyTorch as well, does: there it takes about half the time.
"""

from functools import cache

import torch
from torch import Tensor, nn
from torch.nn import functional

from nmt.device import cpu_capabilities

_FEWEST = 2**20  # multiplications; below, calling oneDNN costs more than it saves
_STEP = 32  # rows


class Linear(nn.Linear):
    """`nn.Linear` by `linear`."""

    def forward(self, x: Tensor) -> Tensor:
        """(…, in) → (…, out)."""
        return linear(x, self.weight, self.bias)


def linear(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return `functional.linear(x, weight, bias)`, faster where no gradient is wanted.

    x: (…, in); weight: (out, in); bias: (out,) → (…, out)
    """
    if _pays(x, weight):
        return by_onednn(x, weight, bias)
    return functional.linear(x, weight, bias)


def by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Return what `linear` does, without a gradient, on a CPU and in float32."""
    rows = x.reshape(-1, x.shape[-1])
    # For each number of rows oneDNN writes machine code of its own: let there be few.
    missing = -len(rows) % _step(len(rows))
    if missing:
        rows = functional.pad(rows, (0, 0, 0, missing))
    product = torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")
    return product[: len(rows) - missing].view(*x.shape[:-1], len(weight))


def _step(rows: int) -> int:
    """Return what the rows are filled up to a multiple of: an eighth of them at most."""
    return max(_STEP, 1 << rows.bit_length() - 4) if rows >= _STEP else 1


def _pays(x: Tensor, weight: Tensor) -> bool:
    return (
        not torch.is_grad_enabled()
        and x.numel() * len(weight) >= _FEWEST
        and x.dtype == weight.dtype == torch.float32
        and x.is_cpu
        and not torch.is_autocast_enabled("cpu")
        and _onednn_is_faster()
    )


def has_onednn() -> bool:
    """Tell whether `by_onednn` can be called: not every PyTorch comes with it."""
    return hasattr(torch.ops.mkldnn, "_linear_pointwise")


@cache
def _onednn_is_faster() -> bool:
    found = cpu_capabilities()
    amd = "AMD" in str(found.get("cpu_name", ""))
    return amd and bool(found.get("avx512_f")) and has_onednn()
