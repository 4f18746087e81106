"""The attention weights of a sentence and its translation."""

from collections.abc import Sequence

import torch
from torch import Tensor

from nmt.model.attention import CrossAttention, SelfAttention, record_attention
from nmt.model.transformer import Transformer
from nmt.special_tokens import BOS


@torch.inference_mode()
def attention_of(
    model: Transformer,
    source_ids: Sequence[int],
    target_ids: Sequence[int],
    layers: Sequence[SelfAttention | CrossAttention],
) -> list[Tensor]:
    """Return each layer's weights for a sentence and its translation: (heads, queries, keys)."""
    device = next(model.parameters()).device
    source = torch.tensor([list(source_ids)], device=device)
    target_in = torch.tensor([[BOS, *target_ids]], device=device)
    with record_attention(*layers) as records:
        model.decoder_output(source, target_in)
    return [record[0][0] for record in records]
