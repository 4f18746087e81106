"""A peer of `decoding.py`, run in the peers' environment: JoeyNMT's beam search on nmt's weights.

    python joeynmt_decoding.py WEIGHTS.npz '{"d_model": 128, …}' SOURCES.json

Copies all weights except the output layer's bias, which JoeyNMT does not have. The input is token
ids, sorted by length, so that JoeyNMT's tokenizers and readers are not measured.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np
import torch
from joeynmt.search import search
from joeynmt_training import AS_JOEYNMT, EOS, as_batch, make_model
from measuring import serve
from torch import Tensor

SENTENCES = 64  # batch size


# Parameter names within a layer: nmt's and JoeyNMT's.
FEED_FORWARD = {
    "feed_forward.inner": "feed_forward.pwff_layer.0",
    "feed_forward.outer": "feed_forward.pwff_layer.3",
    "feed_forward_residual.norm": "feed_forward.layer_norm",
}
ENCODER = FEED_FORWARD | {"attention_residual.norm": "layer_norm"}
DECODER = FEED_FORWARD | {
    "self_residual.norm": "x_layer_norm",
    "cross_residual.norm": "dec_layer_norm",
}
ATTENTIONS = {
    "encoder": {"attention": "src_src_att"},
    "decoder": {"self_attention": "trg_trg_att", "cross_attention": "src_trg_att"},
}


def attention(ours: dict[str, Tensor], name: str, kind: str) -> dict[str, Tensor]:
    """Return the weights or biases of an attention under JoeyNMT's names."""
    if f"{name}.query_key_value.{kind}" in ours:
        query, key, value = ours[f"{name}.query_key_value.{kind}"].chunk(3)
    else:
        query = ours[f"{name}.query.{kind}"]
        key, value = ours[f"{name}.key_value.{kind}"].chunk(2)
    output = ours[f"{name}.output.{kind}"]
    return {"q_layer": query, "k_layer": key, "v_layer": value, "output_layer": output}


def take_over(
    model: torch.nn.Module, ours: dict[str, Tensor], layers: int, target_size: int
) -> None:
    """Copy the weights into JoeyNMT's model; both are pre-norm with the same embeddings."""
    parts = {}
    for kind in ("weight", "bias"):
        for side, names in (("encoder", ENCODER), ("decoder", DECODER)):
            parts[f"{side}.layer_norm.{kind}"] = ours[f"{side}_norm.{kind}"]
            for number in range(layers):
                here, there = f"{side}.{number}", f"{side}.layers.{number}"
                for own, name in names.items():
                    parts[f"{there}.{name}.{kind}"] = ours[f"{here}.{own}.{kind}"]
                for own, name in ATTENTIONS[side].items():
                    for layer, part in attention(ours, f"{here}.{own}", kind).items():
                        parts[f"{there}.{name}.{layer}.{kind}"] = part
    table = ours["source_embedding.tokens.weight"]
    order = torch.arange(len(table))
    order[list(AS_JOEYNMT.values())] = torch.tensor(list(AS_JOEYNMT))
    parts["src_embed.lut.weight"] = table[order]
    for name in ("trg_embed.lut", "decoder.output_layer"):
        parts[f"{name}.weight"] = table[order[:target_size]]
    missing, unexpected = model.load_state_dict(parts, strict=False)
    assert not unexpected, unexpected
    assert all(name.endswith(".pe") for name in missing), missing


def main() -> None:
    weights, settings, sources = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
    torch.set_num_threads(settings["threads"])
    model = make_model(settings).eval()
    arrays = np.load(weights)
    ours = {name: torch.from_numpy(arrays[name]) for name in arrays.files}
    take_over(model, ours, settings["layers"], settings["target_size"])
    ids = json.loads(Path(sources).read_text())
    batches = []
    for start in range(0, len(ids), SENTENCES):
        rows = ids[start : start + SENTENCES]
        source = torch.full((len(rows), max(map(len, rows))), AS_JOEYNMT[0])
        for row, sentence in zip(source, rows, strict=True):
            row[: len(sentence)] = torch.tensor([AS_JOEYNMT.get(i, i) for i in sentence])
        batches.append(as_batch(source, None))

    def work() -> float:
        start = time.perf_counter()
        tokens = 0
        for batch in batches:
            with torch.no_grad():
                found, _, _ = search(
                    model, batch, settings["limit"], settings["beam_size"], beam_alpha=1.0
                )
            tokens += int((found > AS_JOEYNMT[EOS]).sum())
        print(f"JoeyNMT wrote {tokens} tokens", file=sys.stderr)
        return time.perf_counter() - start

    serve(work)


if __name__ == "__main__":
    main()
