"""Softmax over the last dimension, which PyTorch computes slowly where it is short, on a CPU."""

import torch
from torch import Tensor
from torch.nn import functional

_VECTOR = 16  # float32 numbers in the widest registers of a CPU


def softmax(scores: Tensor) -> Tensor:
    """Return `scores.softmax(-1)`; scores: (…, keys) → the same shape and type.

    PyTorch's kernel for CPUs takes a register of keys at once, but fewer one by one, and 16-bit
    numbers slowly: for few keys this takes a tenth of its time.
    """
    if scores.device.type != "cpu":
        return scores.softmax(-1)
    keys = scores.shape[-1]
    padded = functional.pad(scores, (0, max(0, _VECTOR - keys)), value=float("-inf"))
    exact = torch.promote_types(scores.dtype, torch.float32)
    return padded.softmax(-1, dtype=exact)[..., :keys].to(scores.dtype)
