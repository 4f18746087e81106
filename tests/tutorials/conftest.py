"""Shared by the tutorials' tests: slow equations, a copy task, and checks of documented numbers."""

import math
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from nmt.config.config import Config
from nmt.config.yaml_files import load_config
from nmt.decoding.search.beam import beam_search
from nmt.decoding.search.greedy import greedy_search
from nmt.model.padding import pad
from nmt.model.transformer import Transformer, count_parameters
from nmt.ops.dropout import Dropout
from nmt.special_tokens import PAD, SPECIALS
from nmt.training.batches import Batch
from nmt.training.loss import batch_loss
from nmt.training.optimizers import make_optimizer
from nmt.training.schedules import learning_rate

ROOT = Path(__file__).parent.parent.parent
Matrix = NDArray[np.float64]
May = Callable[[int, int], bool]
Embed = Callable[[str, Sequence[int]], Matrix]

SOURCES = [[5, 6, 7, 8, 3], [9, 3], [4, 10, 3]]
TARGETS = [[2, 7, 4], [2, 5, 6, 7, 8, 9], [2]]

# The numbers of layers are the tutorial's. Tests also override the widths that a tutorial sets.
TINY = ["model.d_model=8", "model.heads=2", "model.d_ff=12", "model.max_length=16"]
UPDATES = 1000  # at most
COPYING = ["model.d_model=64", "model.heads=2", "model.d_ff=128", "model.max_length=16"]


class Equations:
    """A slow float64 implementation of the tutorials' models, for one padded sentence.

    Their embeddings are implemented in each tutorial's test.
    """

    def __init__(self, model: Transformer):
        self.config = model.config
        self.weights = {name: t.double().numpy() for name, t in model.state_dict().items()}

    def rows(self, name: str, ids: Sequence[int]) -> Matrix:
        return np.array([self.weights[f"{name}.tokens.weight"][i] for i in ids])

    def waves(self, positions: Iterable[int], exponent: str = "pair") -> Matrix:
        """Sines in even columns, cosines in odd ones; the exponent grows by pair or by column."""
        d = self.config.d_model
        sizes = [10000 ** (2 * (i if exponent == "column" else i // 2) / d) for i in range(d)]
        waves = (math.sin, math.cos)
        return np.array(
            [[waves[i % 2](p / size) for i, size in enumerate(sizes)] for p in positions]
        )

    def linear(self, name: str, x: Matrix) -> Matrix:
        product: Matrix = x @ self.weights[f"{name}.weight"].T
        bias = f"{name}.bias"
        return product + self.weights[bias] if bias in self.weights else product

    def norm(self, name: str, x: Matrix, epsilon: float = 1e-5) -> Matrix:
        gain, bias = self.weights[f"{name}.weight"], self.weights[f"{name}.bias"]
        rows = []
        for row in x:
            mean = sum(row) / len(row)
            variance = sum((number - mean) ** 2 for number in row) / len(row)
            rows.append((row - mean) / math.sqrt(variance + epsilon) * gain + bias)
        return np.array(rows)

    def feed_forward(self, name: str, x: Matrix) -> Matrix:
        inner = np.vectorize(lambda number: max(0.0, number))(self.linear(f"{name}.inner", x))
        return self.linear(f"{name}.outer", inner)

    def logits(
        self,
        source: Sequence[int],
        target: Sequence[int],
        embed: Embed,
        layers: int,
        *,
        pre_norm: bool = False,
        epsilon: float = 1e-5,
        divisor: float | None = None,
        may_see_source: May | None = None,
        may_see_past: May | None = None,
        masked: float = -math.inf,
    ) -> Matrix:
        """Encoder and decoder; with pre_norm, both end with a norm.

        divisor: of the scores; by default, the root of the key size
        masked: the score of positions that the target may not see
        """
        root = divisor or math.sqrt(self.config.key_size)
        see_source = may_see_source or (lambda _, j: source[j] != PAD)
        see_past = may_see_past or (lambda i, j: j <= i and target[j] != PAD)

        def residual(name: str, x: Matrix, sublayer: Callable[[Matrix], Matrix]) -> Matrix:
            name = f"{name}_residual.norm"
            if pre_norm:
                return x + sublayer(self.norm(name, x, epsilon))
            return self.norm(name, x + sublayer(x), epsilon)

        def feed_forward(layer: str, x: Matrix) -> Matrix:
            name = f"{layer}.feed_forward"
            return residual(name, x, lambda x: self.feed_forward(name, x))

        def encode(layer: str, x: Matrix) -> Matrix:
            name = f"{layer}.attention"
            x = residual(name, x, lambda x: self.attend(name, x, x, see_source, root))
            return feed_forward(layer, x)

        def decode(layer: str, x: Matrix, memory: Matrix) -> Matrix:
            own, cross = f"{layer}.self", f"{layer}.cross"
            attend = self.attend
            x = residual(own, x, lambda x: attend(f"{own}_attention", x, x, see_past, root, masked))
            x = residual(
                cross, x, lambda x: attend(f"{cross}_attention", x, memory, see_source, root)
            )
            return feed_forward(layer, x)

        memory = embed("source_embedding", source)
        for i in range(layers):
            memory = encode(f"encoder.{i}", memory)
        if pre_norm:
            memory = self.norm("encoder_norm", memory, epsilon)
        x = embed("target_embedding", target)
        for i in range(layers):
            x = decode(f"decoder.{i}", x, memory)
        return self.linear("output", self.norm("decoder_norm", x, epsilon) if pre_norm else x)

    def attend(
        self,
        name: str,
        x: Matrix,
        memory: Matrix,
        may: May,
        divisor: float,
        masked: float = -math.inf,
    ) -> Matrix:
        """Multi-head attention from x to memory (to x itself in self-attention)."""
        query, key, value = self._project(name, x, memory)
        k, v = self.config.key_size, self.config.value_size
        heads = []
        for h in range(self.config.heads):
            of_keys, of_values = slice(h * k, (h + 1) * k), slice(h * v, (h + 1) * v)
            weights = self.weigh(query[:, of_keys], key[:, of_keys], may, divisor, masked)
            result = np.zeros((len(x), v))
            for i in range(len(x)):
                for j in range(len(memory)):
                    result[i] += weights[i, j] * value[j, of_values]
            heads.append(result)
        return self.linear(f"{name}.output", np.concatenate(heads, axis=1))

    @staticmethod
    def weigh(
        query: Matrix, key: Matrix, may: May, divisor: float, masked: float = -math.inf
    ) -> Matrix:
        """softmax(Q Kᵀ / divisor), with `masked` as the score of forbidden positions."""
        weights = np.zeros((len(query), len(key)))
        for i in range(len(query)):
            dots = [float(np.dot(query[i], row)) / divisor for row in key]
            scores = [dot if may(i, j) else masked for j, dot in enumerate(dots)]
            exponentials = [math.exp(score - max(scores)) for score in scores]
            weights[i] = [exponential / sum(exponentials) for exponential in exponentials]
        return weights

    def _project(self, name: str, x: Matrix, memory: Matrix) -> tuple[Matrix, Matrix, Matrix]:
        width = self.config.heads * self.config.key_size
        if f"{name}.query_key_value.weight" in self.weights:
            projected = self.linear(f"{name}.query_key_value", x)
            return projected[:, :width], projected[:, width : 2 * width], projected[:, 2 * width :]
        projected = self.linear(f"{name}.key_value", memory)
        return self.linear(f"{name}.query", x), projected[:, :width], projected[:, width:]


SlowLogits = Callable[[Equations, Sequence[int], Sequence[int]], Matrix]


@pytest.fixture
def load() -> Callable[..., Config]:
    """Return a function that loads a tutorial's config, with overrides."""
    return lambda name, *overrides: load_config(f"tutorials/{name}.yaml", overrides)


@pytest.fixture
def parameters(load: Callable[..., Config]) -> Callable[..., int]:
    """Return a function that counts a tutorial's parameters at full size."""

    def count(name: str, source_size: int, target_size: int, *overrides: str) -> int:
        with torch.device("meta"):
            model = Transformer(load(name, *overrides).model, source_size, target_size)
        return count_parameters(model)

    return count


@pytest.fixture
def tiny_model(load: Callable[..., Config]) -> Callable[..., Transformer]:
    """Return a function that creates a tiny version of a tutorial's model, with random weights."""

    def make(name: str, *overrides: str) -> Transformer:
        model = Transformer(load(name, *TINY, *overrides).model, 11, 11)
        generator = torch.Generator().manual_seed(1)
        with torch.no_grad():
            for parameter in model.parameters():
                parameter.copy_(torch.randn(parameter.shape, generator=generator) * 0.5)
        return model.double().eval()

    return make


@pytest.fixture
def equations() -> type[Equations]:
    return Equations


@pytest.fixture
def assert_equal_to() -> Callable[[Transformer, SlowLogits], None]:
    """Return a function that compares a model with the slow equations on a padded batch."""

    def compare(model: Transformer, slow_logits: SlowLogits) -> None:
        sources, targets = pad(SOURCES), pad(TARGETS)
        logits = model(sources, targets)
        rows = zip(sources.tolist(), targets.tolist(), strict=True)
        slow = np.array([slow_logits(Equations(model), source, target) for source, target in rows])
        torch.testing.assert_close(logits.detach(), torch.from_numpy(slow), rtol=1e-5, atol=1e-5)

    return compare


@pytest.fixture
def copied(load: Callable[..., Config]) -> Callable[..., float]:
    """Return a function that trains a small version of a tutorial's model to copy its input.

    It returns the share of sentences that are copied correctly. Training settings and search are
    the tutorial's; training stops when the task is learned.
    """

    def learn(name: str, *overrides: str) -> float:
        config = load(name, *COPYING, *overrides)
        torch.manual_seed(1)
        generator = np.random.default_rng(1)
        size = len(SPECIALS) + 8
        model = Transformer(config.model, size, size)
        optimizer = make_optimizer(model, config.training)
        held_out, share = _sentences(generator, 100), 0.0
        for update in range(1, UPDATES + 1):
            model.train()
            sentences = _sentences(generator, 32)
            batch = Batch.from_ids(sentences, sentences)
            for group in optimizer.param_groups:
                group["lr"] = learning_rate(config.training, update, UPDATES)
            loss = batch_loss(model, batch, config.training.label_smoothing)[0] / batch.tokens
            loss.backward()  # type: ignore[no-untyped-call]
            optimizer.step()
            optimizer.zero_grad()
            if update % 50 == 0:
                share = _share_copied(model, config, held_out)
                if share >= 0.95:
                    break
        return share

    return learn


def _share_copied(model: Transformer, config: Config, sentences: list[Sequence[int]]) -> float:
    source = Batch.from_ids(sentences, sentences).source
    limits = torch.full((len(source),), 8)
    width, alpha = config.decoding.beam_size, config.decoding.length_penalty
    if width == 1:
        found = greedy_search(model.eval(), source, limits)
    else:
        found = [best for [best] in beam_search(model.eval(), source, limits, width, alpha)]
    pairs = zip(found, sentences, strict=True)
    return float(np.mean([hypothesis.ids == sentence for hypothesis, sentence in pairs]))


def _sentences(generator: np.random.Generator, count: int) -> list[Sequence[int]]:
    """Return random sentences of 2 to 5 words."""
    lengths = generator.integers(2, 6, count)
    return [generator.integers(len(SPECIALS), len(SPECIALS) + 8, n).tolist() for n in lengths]


@pytest.fixture
def dropout_rates(load: Callable[..., Config]) -> Callable[[str], dict[str, float]]:
    """Return a function that lists the dropout rates of a tutorial's model by place."""

    def rates(name: str) -> dict[str, float]:
        with torch.device("meta"):
            model = Transformer(load(name).model, 11, 11)
        found: dict[str, set[float]] = {}
        for path, module in model.named_modules():
            if isinstance(module, Dropout):
                found.setdefault(_place(path), set()).add(module.rate)
        assert all(len(rates) == 1 for rates in found.values())
        return {place: rate for place, [rate] in found.items() if rate}

    return rates


def _place(path: str) -> str:
    parent = path.split(".")[-2]
    if parent.endswith("attention"):
        return "attention weights"
    if parent.endswith("_embedding"):
        return "embeddings"
    if parent == "feed_forward":
        return "inside feed-forward"
    return "feed-forward output" if parent == "feed_forward_residual" else "attention output"


@pytest.fixture
def documented() -> Callable[[str, str], None]:
    """Return a function that asserts that a section of docs/tutorials.md contains a phrase."""
    text = (ROOT / "docs" / "tutorials.md").read_text(encoding="utf-8")
    sections = dict(re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", text, re.MULTILINE | re.DOTALL))

    def check(section: str, phrase: str) -> None:
        assert phrase in " ".join(sections[section].split()), f"{section}: {phrase}"

    return check
