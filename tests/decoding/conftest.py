"""Models for searches: random Transformers, and stubs with scripted probabilities."""

import itertools
from collections.abc import Callable, Mapping

import pytest
import torch
from torch import Tensor

from nmt.config.model import ModelConfig
from nmt.model.transformer import Transformer
from nmt.special_tokens import BOS, EOS, UNK

Script = Callable[[list[int], tuple[int, ...]], Mapping[int, float]]


class ScriptedState:
    """The source of each row, and the tokens read so far."""

    def __init__(self, sources: list[list[int]]):
        self.sources = sources
        self.prefixes: list[tuple[int, ...]] = [() for _ in sources]
        self.length = 0

    def select(self, rows: Tensor) -> None:
        self.sources = [self.sources[i] for i in rows.flatten().tolist()]
        self.prefixes = [self.prefixes[i] for i in rows.flatten().tolist()]


class ScriptedModel:
    """Stands in for a Transformer; `script` gives the next token's probabilities.

    script: (source ids, target tokens without <sos>) → {token: probability}; others have 0
    rows: how many rows each step had
    """

    def __init__(self, script: Script, size: int = 6):
        self.script = script
        self.size = size
        self.rows: list[int] = []

    def init_state(self, source: Tensor) -> ScriptedState:
        return ScriptedState(source.tolist())

    def step(self, tokens: Tensor, state: ScriptedState) -> Tensor:
        assert len(tokens) == len(state.prefixes)
        self.rows.append(len(tokens))
        state.length += 1
        state.prefixes = [
            (*prefix, token) for prefix, token in zip(state.prefixes, tokens.tolist(), strict=True)
        ]
        probabilities = torch.zeros(len(tokens), self.size)
        for row, (source, prefix) in enumerate(zip(state.sources, state.prefixes, strict=True)):
            for token, probability in self.script(source, prefix[1:]).items():
                probabilities[row, token] = probability
        return probabilities.log()


@pytest.fixture
def scripted() -> type[ScriptedModel]:
    """The class of scripted models."""
    return ScriptedModel


def make_random_model(
    seed: int = 1, source_size: int = 11, target_size: int = 11, **changes: object
) -> Transformer:
    """Return a model with varied outputs of different lengths."""
    tiny: dict[str, object] = {
        "d_model": 16,
        "heads": 2,
        "d_ff": 12,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "max_length": 24,
        "dropout": 0.0,
        "tie": "none",
        "output_bias": True,
    }
    model = Transformer(ModelConfig.model_validate(tiny | changes), source_size, target_size)
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
        # No token is always the best, and the source matters.
        for layer in model.decoder_layers():
            layer.cross_attention.output.weight *= 3
        length = min(8, model.config.max_length)
        source = torch.randint(4, source_size, (50, length), generator=generator)
        target = torch.randint(4, target_size, (50, length), generator=generator)
        model.output.bias.zero_()
        logits = model.eval()(source, target).flatten(0, 1)
        scale = 2 / logits.std(0)
        model.output.weight *= scale[:, None]
        model.output.bias.copy_(-logits.mean(0) * scale)
    return model


@pytest.fixture
def random_model() -> Callable[..., Transformer]:
    """Return a function that creates a tiny model with random weights, in evaluation mode."""
    return make_random_model


def make_random_sources(count: int, seed: int, size: int = 11) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 10, (count,), generator=generator).tolist()
    return [[*torch.randint(4, size, (n,), generator=generator).tolist(), 3] for n in lengths]


@pytest.fixture
def random_sources() -> Callable[..., list[list[int]]]:
    """Return a function that creates ids of random sentences of different lengths."""
    return make_random_sources


def score_all_outputs(
    model: Transformer, source: list[int], limit: int, alpha: float
) -> list[tuple[float, list[int]]]:
    """Score all sequences of at most `limit` tokens from <unk>, 4 and 5, without search and cache.

    Sequences below the limit end with <eos>.
    """
    found = []
    for length in range(limit + 1):
        for tokens in itertools.product([UNK, 4, 5], repeat=length):
            logits = model(torch.tensor([source]), torch.tensor([[BOS, *tokens]]))
            steps = logits[0].double().log_softmax(-1)
            end = [EOS] if length < limit else []
            total = sum(float(steps[i, token]) for i, token in enumerate([*tokens, *end]))
            found.append((total / ((5 + length + 1) / 6) ** alpha, list(tokens)))
    return sorted(found, key=lambda pair: -pair[0])


@pytest.fixture
def all_outputs() -> Callable[..., list[tuple[float, list[int]]]]:
    """Return a function that scores all outputs of a model with six target tokens, best first."""
    return score_all_outputs
