"""Dropout (Srivastava et al. 2014) with fast random numbers on a CPU."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_STEPS = 2**16  # values of 16 bits
_thread = threading.local()


class Dropout(nn.Module):
    """Zeroes each number with probability `rate` in training; scales the others by 1 / (1 - rate).

    On a CPU, PyTorch draws a random float per element, which takes longer than many layers. Here
    four elements share a draw of 64 bits, so the rate is rounded to a multiple of 1 / 65,536.
    """

    def __init__(self, rate: float):
        super().__init__()
        self.rate = rate

    def forward(self, x: Tensor) -> Tensor:
        """x: any shape → the same shape."""
        if not self.training or not self.rate:
            return x
        if x.device.type != "cpu" or not x.is_floating_point():
            return functional.dropout(x, self.rate)
        return _CheapDropout.apply(x, self.rate)  # type: ignore[no-untyped-call]

    def extra_repr(self) -> str:
        """Show the rate when the model is printed."""
        return f"rate={self.rate}"


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """Use the generator for CPU dropout in this thread within the context.

    Threads that share PyTorch's generator would use it in a different order each time.
    """
    _thread.generator = generator
    try:
        yield
    finally:
        _thread.generator = None


class _CheapDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, rate: float) -> Tensor:
        scales = _random_scales(x, rate)
        ctx.save_for_backward(scales)
        return x * scales

    @staticmethod
    def backward(ctx: Any, d_output: Tensor) -> tuple[Tensor, None]:
        (scales,) = ctx.saved_tensors
        return d_output * scales, None


def _random_scales(x: Tensor, rate: float) -> Tensor:
    """Return 0 with probability `rate`, otherwise 1 / (1 - rate), for each element of x."""
    dropped = min(max(round(rate * _STEPS), 1), _STEPS - 1)
    draws = torch.empty(-(-x.numel() // 4), dtype=torch.int64)
    draws.random_(-(2**63), None, generator=getattr(_thread, "generator", None))
    numbers = draws.view(torch.int16)[: x.numel()].view(x.shape)  # uniform: -32,768 … 32,767
    least = dropped - _STEPS // 2
    kept = numbers.clamp_(least - 1, least).sub_(least - 1)  # 0 or 1; a comparison would be slower
    scale = _STEPS / (_STEPS - dropped)
    if x.dtype in (torch.bfloat16, torch.float16):
        # Multiply by the bit pattern of `scale`: 0 stays 0.0, and 1 becomes `scale`.
        return kept.mul_(int(x.new_tensor(scale).view(torch.int16))).view(x.dtype)
    return kept.to(x.dtype).mul_(scale)
