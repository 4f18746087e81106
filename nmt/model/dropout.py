"""Dropout (Srivastava et al. 2014), with random numbers that are cheap on a CPU."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

_STEPS = 2**16
_source = threading.local()


@contextmanager
def drawing_from(generator: torch.Generator) -> Iterator[None]:
    """Take this thread's random numbers from the generator, a CPU's, while the context lasts.

    Threads that shared PyTorch's own would get them in another order each time.
    """
    _source.generator = generator
    try:
        yield
    finally:
        _source.generator = None


class Dropout(nn.Module):
    """Zeroes each number with probability `rate` in training; the others grow by 1 / (1 - rate).

    On a CPU, PyTorch's own draws a random float a number, which takes longer than many a layer;
    here four numbers share one draw of 64 bits, so the rate is rounded to 1 / 65,536.
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
        """Show the rate where the model is printed."""
        return f"rate={self.rate}"


class _CheapDropout(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, rate: float) -> Tensor:
        dropped = min(max(round(rate * _STEPS), 1), _STEPS - 1)
        draws = torch.empty(-(-x.numel() // 4), dtype=torch.int64)
        draws.random_(-(2**63), None, generator=getattr(_source, "generator", None))
        numbers = draws.view(torch.int16)[: x.numel()].view(x.shape)  # -32,768 … 32,767, evenly
        least = dropped - _STEPS // 2
        ones = numbers.clamp_(least - 1, least).sub_(least - 1)  # or zeros: no slow booleans
        scale = _STEPS / (_STEPS - dropped)
        if x.dtype in (torch.bfloat16, torch.float16):
            # Zeros are zeros as floats too, and other numbers are but bits.
            kept = ones.mul_(int(x.new_tensor(scale).view(torch.int16))).view(x.dtype)
        else:
            kept = ones.to(x.dtype).mul_(scale)
        ctx.save_for_backward(kept)
        return x * kept

    @staticmethod
    def backward(ctx: Any, d_output: Tensor) -> tuple[Tensor, None]:
        (kept,) = ctx.saved_tensors
        return d_output * kept, None
