"""Attention masks. One convention everywhere: boolean, True = may attend.

This is the convention of `torch.nn.functional.scaled_dot_product_attention`. Masks have the shape
(batch, 1, queries, keys), or broadcast to it; the 1 is for the heads. `for_kernels` converts them,
once for all layers, to the form that GPU kernels expect.
"""

import torch
from torch import Tensor

from nmt.special_tokens import PAD


def padding_mask(ids: Tensor) -> Tensor:
    """Let every query attend to the tokens that are not padding.

    ids: (batch, length) → (batch, 1, 1, length)
    """
    return (ids != PAD)[:, None, None, :]


def causal_mask(length: int, device: torch.device | None = None) -> Tensor:
    """Let position i attend to positions 0 … i only (Vaswani et al. 2017, section 3.2.3).

    → (length, length), lower triangular
    """
    return torch.ones(length, length, dtype=torch.bool, device=device).tril()


def target_mask(ids: Tensor) -> Tensor:
    """Combine the causal and the padding mask of the decoder's input.

    ids: (batch, target) → (batch, 1, target, target)
    """
    return padding_mask(ids) & causal_mask(ids.shape[1], ids.device)


def for_kernels(mask: Tensor, dtype: torch.dtype) -> Tensor:
    """Return the mask that CUDA kernels add to the scores: 0 = may attend, -∞ = may not.

    PyTorch would convert a boolean mask in each layer. On other devices, the boolean mask is
    returned. dtype: of the model's weights; under autocast, kernels compute in autocast's type.
    """
    if mask.device.type != "cuda":
        return mask
    if torch.is_autocast_enabled("cuda"):
        dtype = torch.get_autocast_dtype("cuda")
    keys = mask.shape[-1]
    # The kernels require rows aligned to multiples of 8 numbers, and would copy others.
    shape = (*mask.shape[:-1], keys + -keys % 8)
    added = torch.full(shape, float("-inf"), dtype=dtype, device=mask.device)
    return added[..., :keys].masked_fill_(mask, 0.0)


def boolean(mask: Tensor) -> Tensor:
    """Return the mask from which `for_kernels` made this one."""
    return mask if mask.dtype == torch.bool else mask == 0
