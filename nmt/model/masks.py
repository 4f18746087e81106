"""Attention masks. One convention everywhere: boolean, True = may attend.

This is the convention of `torch.nn.functional.scaled_dot_product_attention`. Masks have the shape
(batch, 1, queries, keys), or broadcast to it; the 1 is for the heads.
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
