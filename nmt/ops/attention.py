"""Attention with PyTorch's fused kernels, where they are faster than the equation."""

import torch
from torch import Tensor
from torch.nn import functional


def fused_is_better(device: torch.device, training: bool) -> bool:
    """Return whether to use `fused_attention` instead of the equation in `nmt/model/attention.py`.

    When training on a CPU, it is no faster in float32 and slower in bfloat16, and its dropout does
    not use the generator of each thread. On MPS, it gives wrong results in some versions of PyTorch
    (issues 176767 and 195910).
    """
    return device.type != "mps" and not (device.type == "cpu" and training)


def fused_attention(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None,
    scale: float,
    dropout: float,
    is_causal: bool,
) -> Tensor:
    """Compute attention without storing the matrix of its weights.

    mask: boolean, True = may attend, or from `for_kernels`; dropout: rate; is_causal: instead of a
    mask, let position i attend to positions 0 … i; other arguments and result as for
    `nmt.model.attention.attention`
    """
    width = value.shape[-1]
    if query.device.type == "cuda":
        query, key, value = (_padded(x) for x in (query, key, value))
    heads = functional.scaled_dot_product_attention(
        query, key, value, mask, dropout, is_causal, scale=scale
    )
    return heads[..., :width]


def _padded(x: Tensor) -> Tensor:
    """Zero-pad heads to a multiple of 8, which CUDA's fast kernels require."""
    missing = -x.shape[-1] % 8
    return functional.pad(x, (0, missing)) if missing else x
