"""A peer of `training.py`: the loop that one writes with PyTorch's own parts, without more ado.

`nn.Embedding`, `nn.Linear`, `scaled_dot_product_attention`, `nn.Dropout`, `cross_entropy`, Adam;
the same model (pre-norm, tied embeddings), the same batches, one after another.

    python plain_training.py BATCHES.npz '{"d_model": 128, …}'
"""

import json
import sys
import time

import torch
from measuring import read_batches, serve
from torch import Tensor, nn
from torch.nn import functional

PAD = 0


class Attention(nn.Module):
    def __init__(self, d_model: int, heads: int):
        super().__init__()
        self.heads = heads
        self.query, self.key, self.value, self.output = (
            nn.Linear(d_model, d_model) for _ in range(4)
        )

    def forward(self, x: Tensor, memory: Tensor, mask: Tensor) -> Tensor:
        query, key, value = (
            part.unflatten(-1, (self.heads, -1)).transpose(1, 2)
            for part in (self.query(x), self.key(memory), self.value(memory))
        )
        found = functional.scaled_dot_product_attention(query, key, value, mask)
        return self.output(found.transpose(1, 2).flatten(2))


class Layer(nn.Module):
    def __init__(self, d_model: int, heads: int, d_ff: int, dropout: float, decoder: bool):
        super().__init__()
        self.attention = Attention(d_model, heads)
        self.cross = Attention(d_model, heads) if decoder else None
        self.feed_forward = nn.Sequential(
            nn.Linear(d_model, d_ff), nn.ReLU(), nn.Linear(d_ff, d_model)
        )
        self.norms = nn.ModuleList(nn.LayerNorm(d_model) for _ in range(3 if decoder else 2))
        self.dropout = nn.Dropout(dropout)

    def forward(
        self,
        x: Tensor,
        mask: Tensor,
        memory: Tensor | None = None,
        memory_mask: Tensor | None = None,
    ) -> Tensor:
        normed = self.norms[0](x)
        x = x + self.dropout(self.attention(normed, normed, mask))
        if self.cross is not None:
            x = x + self.dropout(self.cross(self.norms[2](x), memory, memory_mask))
        return x + self.dropout(self.feed_forward(self.norms[1](x)))


class Transformer(nn.Module):
    positions: Tensor

    def __init__(self, size: int, d_model: int, heads: int, d_ff: int, layers: int, dropout: float):
        super().__init__()
        self.embedding = nn.Embedding(size, d_model, padding_idx=PAD)
        nn.init.normal_(self.embedding.weight, std=d_model**-0.5)
        self.scale = d_model**0.5
        position, pair = torch.arange(512)[:, None], torch.arange(0, d_model, 2)
        angles = position / 10000 ** (pair / d_model)
        self.register_buffer("positions", torch.stack([angles.sin(), angles.cos()], -1).flatten(1))
        self.dropout = nn.Dropout(dropout)
        self.encoder, self.decoder = (
            nn.ModuleList(Layer(d_model, heads, d_ff, dropout, side) for _ in range(layers))
            for side in (False, True)
        )
        self.encoder_norm, self.decoder_norm = nn.LayerNorm(d_model), nn.LayerNorm(d_model)
        self.output = nn.Linear(d_model, size)
        self.output.weight = self.embedding.weight

    def embed(self, ids: Tensor) -> Tensor:
        return self.dropout(self.embedding(ids) * self.scale + self.positions[: ids.shape[1]])

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        source_mask = (source != PAD)[:, None, None, :]
        causal = torch.ones(target.shape[1], target.shape[1], dtype=torch.bool).tril()
        target_mask = (target != PAD)[:, None, None, :] & causal
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory, source_mask)
        memory, x = self.encoder_norm(memory), self.embed(target)
        for layer in self.decoder:
            x = layer(x, target_mask, memory, source_mask)
        return self.output(self.decoder_norm(x))


def main() -> None:
    path, settings = sys.argv[1], json.loads(sys.argv[2])
    torch.set_num_threads(settings["threads"])
    torch.manual_seed(1)
    batches = read_batches(path)
    sizes = ("d_model", "heads", "d_ff", "layers", "dropout")
    model = Transformer(settings["size"], *(settings[name] for name in sizes))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98))

    def work() -> float:
        start = time.perf_counter()
        tokens = 0
        for source, target in batches:
            labels = target[:, 1:]
            loss = functional.cross_entropy(
                model(source, target[:, :-1]).flatten(0, 1),
                labels.flatten(),
                ignore_index=PAD,
                label_smoothing=settings["label_smoothing"],
            )
            loss.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            tokens += int((labels != PAD).sum())
        return tokens / (time.perf_counter() - start)

    model.train()
    serve(work)


if __name__ == "__main__":
    main()
