"""Linear layers, x Wᵀ + b, using whichever library is faster.

PyTorch uses MKL for float32 products, which does not use AVX-512 on non-Intel processors. oneDNN,
also bundled with PyTorch, does; on those processors it takes about half the time.
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
    """Return x Wᵀ + b, using oneDNN if it is faster and no gradient is needed.

    x: (…, in); weight: (out, in); bias: (out,) → (…, out)
    """
    if not _onednn_pays(x, weight):
        return functional.linear(x, weight, bias)
    return linear_by_onednn(x, weight, bias)


def linear_by_onednn(x: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
    """Compute `linear` without gradient, on a CPU in float32."""
    rows = x.reshape(-1, x.shape[-1])
    # oneDNN compiles code for each number of rows, so pad to one of a few sizes.
    missing = -len(rows) % _step(len(rows))
    if missing:
        rows = functional.pad(rows, (0, 0, 0, missing))
    product = torch.ops.mkldnn._linear_pointwise(rows, weight, bias, "none", [], "")
    return product[: len(rows) - missing].view(*x.shape[:-1], len(weight))


def _step(rows: int) -> int:
    """Return the multiple to pad the number of rows to.

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
