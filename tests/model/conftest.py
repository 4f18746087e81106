"""Tiny models with weights far from their initial values, and a slow reference implementation."""

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np
import pytest
import torch
from numpy.typing import NDArray
from torch import Tensor, nn

from nmt.config.model import ModelConfig
from nmt.model.transformer import Transformer

Matrix = NDArray[np.float64]


def make_config(**changes: object) -> ModelConfig:
    tiny: dict[str, object] = {
        "d_model": 8,
        "heads": 2,
        "d_ff": 12,
        "encoder_layers": 2,
        "decoder_layers": 2,
        "max_length": 16,
        "dropout": 0.0,
    }
    return ModelConfig.model_validate(tiny | changes)


def randomise(module: nn.Module, seed: int) -> None:
    """Set every parameter to random values; initial biases and norms would hide mistakes."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)


@pytest.fixture
def config() -> Callable[..., ModelConfig]:
    """Return a function that creates a tiny model section with some fields changed."""
    return make_config


@pytest.fixture
def random_model() -> Callable[..., Transformer]:
    """Return a function that creates a tiny model with random weights, in evaluation mode."""

    def make(
        seed: int = 1, source_size: int = 11, target_size: int = 11, **changes: object
    ) -> Transformer:
        model = Transformer(make_config(**changes), source_size, target_size)
        randomise(model, seed)
        return model.eval()

    return make


class Reference:
    """The paper's equations for one unpadded sentence, in loops and float64."""

    def __init__(self, config: ModelConfig, weights: Mapping[str, Tensor]):
        self.config = config
        self.weights = {name: tensor.double().numpy() for name, tensor in weights.items()}

    def logits(self, source: Sequence[int], target_in: Sequence[int]) -> Matrix:
        memory = self.embed("source_embedding", source)
        for i in range(self.config.encoder_layers):
            memory = self.encoder_layer(f"encoder.{i}.", memory)
        x = self.embed("target_embedding", target_in)
        if self.config.final_norm:
            memory = self.norm("encoder_norm", memory)
        for i in range(self.config.decoder_layers):
            x = self.decoder_layer(f"decoder.{i}.", x, memory)
        if self.config.final_norm:
            x = self.norm("decoder_norm", x)
        return self.linear("output", x)

    def embed(self, name: str, ids: Sequence[int]) -> Matrix:
        d_model = self.config.d_model
        rows = []
        for position, i in enumerate(ids):
            row = self.weights[f"{name}.tokens.weight"][i]
            if self.config.scale_embeddings:
                row = row * math.sqrt(d_model)
            if self.config.positions == "learned":
                row = row + self.weights[f"{name}.positions.table"][position]
            elif self.config.positions == "sinusoidal":
                number = position + self.config.first_position
                by_column = self.config.position_exponent == "column"
                exponents = [2 * (k if by_column else k // 2) / d_model for k in range(d_model)]
                angles = [number / 10000**exponent for exponent in exponents]
                waves = [math.cos(a) if k % 2 else math.sin(a) for k, a in enumerate(angles)]
                row = row + np.array(waves)
            rows.append(row)
        return np.array(rows)

    def encoder_layer(self, name: str, x: Matrix) -> Matrix:
        every = np.ones((len(x), len(x)), bool)
        x = self.residual(
            f"{name}attention_residual",
            x,
            lambda y: self.self_attention(f"{name}attention", y, every),
        )
        return self.feed_forward(name, x)

    def decoder_layer(self, name: str, x: Matrix, memory: Matrix) -> Matrix:
        past = np.array([[j <= i for j in range(len(x))] for i in range(len(x))])
        x = self.residual(
            f"{name}self_residual",
            x,
            lambda y: self.self_attention(f"{name}self_attention", y, past),
        )
        x = self.residual(
            f"{name}cross_residual",
            x,
            lambda y: self.cross_attention(f"{name}cross_attention", y, memory),
        )
        return self.feed_forward(name, x)

    def residual(self, name: str, x: Matrix, sublayer: Callable[[Matrix], Matrix]) -> Matrix:
        if self.config.norm_position == "pre":
            return x + sublayer(self.norm(f"{name}.norm", x))
        return self.norm(f"{name}.norm", x + sublayer(x))

    def feed_forward(self, name: str, x: Matrix) -> Matrix:
        def activate(number: float) -> float:
            if self.config.activation == "relu":
                return max(0.0, number)
            if self.config.activation in ("silu", "swiglu"):
                return number / (1 + math.exp(-number))
            return number * 0.5 * (1 + math.erf(number / math.sqrt(2)))

        def network(y: Matrix) -> Matrix:
            inner = self.linear(f"{name}feed_forward.inner", y)
            if self.config.activation == "swiglu":
                gate, value = np.split(inner, 2, axis=1)
                inner = np.vectorize(activate)(gate) * value
            else:
                inner = np.vectorize(activate)(inner)
            return self.linear(f"{name}feed_forward.outer", inner)

        return self.residual(f"{name}feed_forward_residual", x, network)

    def self_attention(self, name: str, x: Matrix, may: NDArray[np.bool_]) -> Matrix:
        projected = self.linear(f"{name}.query_key_value", x)
        start = self.config.heads * self.config.key_size
        end = start + self.config.groups * self.config.key_size
        query, key = projected[:, :start], projected[:, start:end]
        if self.config.positions == "rotary":
            query, key = self.turned(query), self.turned(key)
        return self.multi_head(name, query, key, projected[:, end:], may)

    def turned(self, x: Matrix) -> Matrix:
        """Multiply each pair of a head's columns by its rotation matrix."""
        d_key, result = self.config.key_size, x.copy()
        for position in range(len(x)):
            for k in range(0, x.shape[1], 2):
                angle = position / 10000 ** (k % d_key / d_key)
                matrix = [[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]
                result[position, k : k + 2] = np.array(matrix) @ x[position, k : k + 2]
        return result

    def cross_attention(self, name: str, x: Matrix, memory: Matrix) -> Matrix:
        width = self.config.groups * self.config.key_size
        query, projected = self.linear(f"{name}.query", x), self.linear(f"{name}.key_value", memory)
        may = np.ones((len(x), len(memory)), bool)
        return self.multi_head(name, query, projected[:, :width], projected[:, width:], may)

    def multi_head(
        self, name: str, query: Matrix, key: Matrix, value: Matrix, may: NDArray[np.bool_]
    ) -> Matrix:
        k, v = self.config.key_size, self.config.value_size
        scale = {"d_key": k**-0.5, "d_model": self.config.d_model**-0.5}
        if self.config.score_scale == "learned":
            scale["learned"] = float(self.weights[f"{name}.learned_scale"][0])
        heads = []
        for h in range(self.config.heads):
            g = h * self.config.groups // self.config.heads  # its keys and values
            keys, values = key[:, g * k : (g + 1) * k], value[:, g * v : (g + 1) * v]
            queries = query[:, h * k : (h + 1) * k]
            heads.append(self.attention(queries, keys, values, may, scale[self.config.score_scale]))
        return self.linear(f"{name}.output", np.concatenate(heads, axis=1))

    @staticmethod
    def attention(
        query: Matrix, key: Matrix, value: Matrix, may: NDArray[np.bool_], scale: float
    ) -> Matrix:
        """softmax(Q Kᵀ · scale) V of one head, number by number."""
        result = np.zeros((len(query), value.shape[1]))
        for i in range(len(query)):
            exponentials = [
                math.exp(float(np.dot(query[i], key[j])) * scale) if may[i, j] else 0.0
                for j in range(len(key))
            ]
            for j in range(len(key)):
                if may[i, j]:
                    result[i] += exponentials[j] / sum(exponentials) * value[j]
        return result

    def linear(self, name: str, x: Matrix) -> Matrix:
        product: Matrix = x @ self.weights[f"{name}.weight"].T
        bias = f"{name}.bias"
        return product + self.weights[bias] if bias in self.weights else product

    def norm(self, name: str, x: Matrix) -> Matrix:
        if self.config.norm_kind == "rms":
            squares = (x**2).mean(1, keepdims=True) + self.config.norm_epsilon
            rescaled: Matrix = x / np.sqrt(squares) * self.weights[f"{name}.weight"]
            return rescaled
        mean, variance = x.mean(1, keepdims=True), x.var(1, keepdims=True)
        normal = (x - mean) / np.sqrt(variance + self.config.norm_epsilon)
        scaled: Matrix = normal * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]
        return scaled


@pytest.fixture
def reference() -> type[Reference]:
    """The slow implementation of the equations."""
    return Reference
