"""A peer of `training.py`, run in the peers' environment: JoeyNMT's model, loss and update.

The input is complete batches of ids, so that JoeyNMT's tokenizers and readers are not measured.
They would also fail with current versions of sentencepiece.
"""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import torch
from joeynmt.batch import Batch
from joeynmt.model import build_model
from joeynmt.transformer_layers import MultiHeadedAttention, PositionwiseFeedForward
from joeynmt.vocabulary import Vocabulary
from measuring import Batches, count_tokens, tokens_per_second
from torch import Tensor

PAD, UNK, BOS, EOS = range(4)  # nmt's ids
SPECIALS = SimpleNamespace(
    unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>", sep_token=None,
    unk_id=0, pad_id=1, bos_id=2, eos_id=3, lang_tags=[],
)  # fmt: skip
AS_JOEYNMT = {PAD: 1, BOS: 2, EOS: 3, UNK: 0}


def as_joeynmt(ids: Tensor) -> Tensor:
    """Return nmt's ids as JoeyNMT numbers them."""
    special = torch.tensor([AS_JOEYNMT[i] for i in range(4)])
    return torch.where(ids < 4, special[ids.clamp(max=3)], ids)


def as_batch(source: Tensor, target: Tensor) -> Batch:
    return Batch(
        src=source,
        src_length=(source != 1).sum(1),
        src_prompt_mask=None,
        trg=target,
        trg_prompt_mask=None,
        indices=torch.arange(len(source)),
        device=torch.device("cpu"),
        pad_index=1,
        eos_index=3,
    )


def make_model(size: int, d_model: int, heads: int, d_ff: int, layers: int, dropout: float) -> Any:
    side = {
        "type": "transformer",
        "num_layers": layers,
        "num_heads": heads,
        "embeddings": {"embedding_dim": d_model, "scale": True},
        "hidden_size": d_model,
        "ff_size": d_ff,
        "dropout": dropout,
        "layer_norm": "pre",
    }
    vocabulary = Vocabulary([f"token{i}" for i in range(size - 4)], SPECIALS)
    config = {
        "tied_embeddings": True,
        "tied_softmax": True,
        "encoder": side,
        "decoder": side,
        "initializer": "xavier_uniform",
        "embed_initializer": "xavier_uniform",
    }
    model = build_model(config, vocabulary, vocabulary)
    # It would also drop attention weights and inner activations, which the others do not.
    for layer in model.modules():
        if isinstance(layer, MultiHeadedAttention):
            layer.dropout.p = 0.0
        elif isinstance(layer, PositionwiseFeedForward):
            layer.pwff_layer[2].p = 0.0
    return model


def training(
    batches: Batches, sizes: dict[str, Any], label_smoothing: float
) -> Callable[[], float]:
    model = make_model(**sizes).train()
    model.loss_function = ("crossentropy", label_smoothing)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98))
    tokens = count_tokens(batches)
    batches = [(as_joeynmt(source), as_joeynmt(target)) for source, target in batches]

    def update(source: Tensor, target: Tensor) -> Tensor:
        batch = as_batch(source, target)
        batch.sort_by_src_length()
        loss, _, _, _ = model(return_type="loss", **vars(batch))
        batch.normalize(loss, "tokens").backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        model.zero_grad()
        return loss

    return lambda: tokens_per_second(update, batches, tokens)
