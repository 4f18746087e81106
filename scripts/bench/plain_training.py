"""A peer of `training.py`: a straightforward loop with PyTorch's own modules.

`nn.Embedding`, `nn.Linear`, `scaled_dot_product_attention`, `nn.Dropout`, `cross_entropy`, Adam;
the same model (pre-norm, tied embeddings), the same batches, one after another. `NNTransformer` is
the same with PyTorch's own `nn.Transformer` for the layers.
"""

from collections.abc import Callable
from contextlib import nullcontext
from typing import Any

import torch
from measuring import Batches, count_tokens, tokens_per_second
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
        self, x: Tensor, mask: Tensor, memory: Tensor | None = None, seen: Tensor | None = None
    ) -> Tensor:
        normed = self.norms[0](x)
        x = x + self.dropout(self.attention(normed, normed, mask))
        if self.cross is not None:
            x = x + self.dropout(self.cross(self.norms[2](x), memory, seen))
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
        target_mask = (target != PAD)[:, None, None, :] & causal_mask(target)
        memory = self.embed(source)
        for layer in self.encoder:
            memory = layer(memory, source_mask)
        memory, x = self.encoder_norm(memory), self.embed(target)
        for layer in self.decoder:
            x = layer(x, target_mask, memory, source_mask)
        return self.output(self.decoder_norm(x))


class NNTransformer(Transformer):
    def __init__(self, size: int, d_model: int, heads: int, d_ff: int, layers: int, dropout: float):
        super().__init__(size, d_model, heads, d_ff, 0, dropout)
        del self.encoder_norm, self.decoder_norm  # nn.Transformer has its own
        self.layers = nn.Transformer(
            *(d_model, heads, layers, layers, d_ff, dropout), batch_first=True, norm_first=True
        )
        # It would also drop attention weights and inner activations, which the others do not.
        for layer in self.layers.modules():
            if isinstance(layer, nn.MultiheadAttention):
                layer.dropout = 0.0
            elif isinstance(layer, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                layer.dropout.p = 0.0

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        padding = source == PAD
        decoded = self.layers(
            self.embed(source),
            self.embed(target),
            tgt_mask=~causal_mask(target),
            src_key_padding_mask=padding,
            memory_key_padding_mask=padding,
            tgt_key_padding_mask=target == PAD,
            tgt_is_causal=True,
        )
        return self.output(decoded)


def causal_mask(target: Tensor) -> Tensor:
    length = target.shape[1]
    return torch.ones(length, length, dtype=torch.bool, device=target.device).tril()


class Loop:
    """Trains a model; dtype: data type of matrix products (autocast)."""

    def __init__(self, model: nn.Module, label_smoothing: float, dtype: torch.dtype):
        self.model = model.train()
        self.label_smoothing, self.dtype = label_smoothing, dtype
        self.device = next(model.parameters()).device
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-4, betas=(0.9, 0.98))
        self.scaler = torch.amp.GradScaler(self.device.type, enabled=dtype == torch.float16)

    def update(self, source: Tensor, target: Tensor) -> Tensor:
        """Perform an update and return the loss; target: with <sos> and <eos>."""
        source, target = source.to(self.device), target.to(self.device)
        plain = self.dtype == torch.float32
        with nullcontext() if plain else torch.autocast(self.device.type, self.dtype):
            loss = functional.cross_entropy(
                self.model(source, target[:, :-1]).flatten(0, 1),
                target[:, 1:].flatten(),
                ignore_index=PAD,
                label_smoothing=self.label_smoothing,
            )
        self.scaler.scale(loss).backward()
        self.scaler.unscale_(self.optimizer)
        nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
        self.scaler.step(self.optimizer)
        self.scaler.update()
        self.optimizer.zero_grad()
        return loss.detach()


def training(
    batches: Batches, sizes: dict[str, Any], label_smoothing: float, device: str, dtype: torch.dtype
) -> Callable[[], float]:
    loop = Loop(Transformer(**sizes).to(device), label_smoothing, dtype)
    return lambda: tokens_per_second(loop.update, batches, count_tokens(batches))
