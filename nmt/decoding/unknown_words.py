"""Replaces <unk> of word-level models by source words, using attention."""

from collections.abc import Sequence

import torch

from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.decoding.attention import attention_of
from nmt.model.transformer import Transformer
from nmt.ops.threads import TORCH_LOCK
from nmt.special_tokens import UNK


def replace_unknown(
    model: Transformer,
    source_ids: Sequence[int],
    source_tokens: Sequence[str],
    target_ids: Sequence[int],
    target: Tokenizer,
) -> list[str]:
    """Return the target tokens with each <unk> replaced by the aligned source token.

    This is the source token with the most attention in the last decoder layer, averaged over heads.
    Unknown source words are preferred, as a known one would have been translated (after Jean et al.
    2015).
    """
    layer = model.decoder_layers()[-1].cross_attention
    with TORCH_LOCK:
        [weights] = attention_of(model, source_ids, target_ids, [layer])
    # (heads, target, source) → (target, source without <eos>)
    weights = weights.mean(0)[:, : len(source_tokens)]
    unknown = torch.tensor(source_ids[: len(source_tokens)], device=weights.device) == UNK
    if unknown.any():
        weights = weights * unknown
    tokens = target.tokens(target_ids)
    return [
        source_tokens[int(weights[position].argmax())] if i == UNK else token
        for position, (i, token) in enumerate(zip(target_ids, tokens, strict=True))
    ]
