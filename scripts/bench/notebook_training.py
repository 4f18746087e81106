"""A peer of `tutorial.py`: the loop of O'Rahilly's notebook, as docs/tutorials.md describes it.

Reimplemented from the description, without the notebook's code: one post-norm layer per side,
d_model 512, whole words, batches of 32, Adam, no dropout. Python loops compute the position
encodings element by element, in every forward pass or, with `cached`, once per length.
"""

import math
from collections.abc import Callable
from functools import lru_cache

import torch
from measuring import Batches, count_tokens, tokens_per_second
from plain_training import PAD, Layer, causal_mask
from torch import Tensor, nn
from torch.nn import functional

D_MODEL = 512


def positions(length: int) -> Tensor:
    table = torch.zeros(length, D_MODEL)
    for position in range(length):
        for column in range(0, D_MODEL, 2):
            angle = position / 10000 ** (2 * column / D_MODEL)
            table[position, column] = math.sin(angle)
            table[position, column + 1] = math.cos(angle)
    return table


class Block(Layer):
    """A layer with the norms after its parts instead of before them."""

    def forward(
        self, x: Tensor, mask: Tensor, memory: Tensor | None = None, seen: Tensor | None = None
    ) -> Tensor:
        x = self.norms[0](x + self.attention(x, x, mask))
        if self.cross is not None:
            x = self.norms[2](x + self.cross(x, memory, seen))
        return self.norms[1](x + self.feed_forward(x))


class Notebook(nn.Module):
    def __init__(self, source_size: int, target_size: int, cached: bool):
        super().__init__()
        self.source = nn.Embedding(source_size, D_MODEL)
        self.target = nn.Embedding(target_size, D_MODEL)
        self.encoder, self.decoder = (
            Block(D_MODEL, heads=8, d_ff=2048, dropout=0.0, decoder=side) for side in (False, True)
        )
        self.output = nn.Linear(D_MODEL, target_size)
        self.positions = lru_cache(positions) if cached else positions

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        seen = (source != PAD)[:, None, None, :]
        mask = (target != PAD)[:, None, None, :] & causal_mask(target)
        memory = self.encoder(self.source(source) + self.positions(source.shape[1]), seen)
        x = self.target(target) + self.positions(target.shape[1])
        return self.output(self.decoder(x, mask, memory, seen))


def training(batches: Batches, sizes: list[int], cached: bool) -> Callable[[], float]:
    source_size, target_size = sizes
    model = Notebook(source_size, target_size, cached)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)

    def update(source: Tensor, target: Tensor) -> Tensor:
        logits = model(source, target[:, :-1]).flatten(0, 1)
        loss = functional.cross_entropy(logits, target[:, 1:].flatten(), ignore_index=PAD)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return lambda: tokens_per_second(update, batches, count_tokens(batches))
