"""A peer of `training.py`, run in the peers' environment: JoeyNMT's model, loss and update.

The input is complete batches of ids, so that JoeyNMT's tokenizers and readers are not measured.
They would also fail with current versions of sentencepiece.

    python joeynmt_training.py BATCHES.npz '{"d_model": 128, …}'
"""

import json
import sys
import time
from types import SimpleNamespace
from typing import Any

import torch
from joeynmt.batch import Batch
from joeynmt.model import build_model
from joeynmt.transformer_layers import MultiHeadedAttention, PositionwiseFeedForward
from joeynmt.vocabulary import Vocabulary
from measuring import read_batches, serve

PAD, UNK, BOS, EOS = range(4)  # nmt's ids
SPECIALS = SimpleNamespace(
    unk_token="<unk>", pad_token="<pad>", bos_token="<s>", eos_token="</s>", sep_token=None,
    unk_id=0, pad_id=1, bos_id=2, eos_id=3, lang_tags=[],
)  # fmt: skip
AS_JOEYNMT = {PAD: 1, BOS: 2, EOS: 3, UNK: 0}


def read(path: str) -> list[tuple[torch.Tensor, torch.Tensor]]:
    pairs = read_batches(path)
    table = torch.arange(1 + max(int(side.max()) for pair in pairs for side in pair))
    table[list(AS_JOEYNMT)] = torch.tensor(list(AS_JOEYNMT.values()))
    return [(table[source], table[target]) for source, target in pairs]


def as_batch(source: torch.Tensor, target: torch.Tensor | None) -> Batch:
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


def make_model(settings: dict[str, Any]) -> torch.nn.Module:
    side = {
        "type": "transformer",
        "num_layers": settings["layers"],
        "num_heads": settings["heads"],
        "embeddings": {"embedding_dim": settings["d_model"], "scale": True},
        "hidden_size": settings["d_model"],
        "ff_size": settings["d_ff"],
        "dropout": settings["dropout"],
        "layer_norm": "pre",
    }
    sizes = settings["size"], settings.get("target_size", settings["size"])
    source, target = (
        Vocabulary([f"token{i}" for i in range(size - 4)], SPECIALS) for size in sizes
    )
    config = {
        "tied_embeddings": sizes[0] == sizes[1],
        "tied_softmax": True,
        "encoder": side,
        "decoder": side,
        "initializer": "xavier_uniform",
        "embed_initializer": "xavier_uniform",
    }
    model = build_model(config, source, target)
    model.loss_function = ("crossentropy", settings["label_smoothing"])
    # It would also drop attention weights and inner activations, which the others do not.
    for layer in model.modules():
        if isinstance(layer, MultiHeadedAttention):
            layer.dropout.p = 0.0
        elif isinstance(layer, PositionwiseFeedForward):
            layer.pwff_layer[2].p = 0.0
    return model


def main() -> None:
    path, settings = sys.argv[1], json.loads(sys.argv[2])
    torch.set_num_threads(settings["threads"])
    pairs = read(path)
    model = make_model(settings)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98))

    def work() -> float:
        start = time.perf_counter()
        tokens = 0
        for source, target in pairs:
            batch = as_batch(source, target)
            batch.sort_by_src_length()
            loss, _, _, _ = model(return_type="loss", **vars(batch))
            batch.normalize(loss, "tokens").backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            model.zero_grad()
            tokens += batch.ntokens
        return tokens / (time.perf_counter() - start)

    model.train()
    serve(work)


if __name__ == "__main__":
    main()
