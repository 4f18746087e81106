"""Layers equal the paper's equations, with the norm at the configured place."""

import pytest
import torch

from nmt.model.layers import DecoderLayer, EncoderLayer, FeedForward, PostNorm, PreNorm
from nmt.model.masks import causal_mask

VARIANTS = [
    {"norm_position": "pre", "norm_epsilon": 0.1},
    {"norm_position": "post"},
    {"norm_position": "pre", "d_key": 3, "d_value": 5, "heads": 3},
    {"norm_position": "post", "activation": "gelu", "attention_bias": False},
    {"norm_kind": "rms", "norm_epsilon": 0.1, "activation": "silu"},
    {"activation": "swiglu", "norm_position": "post", "norm_kind": "rms"},
    {"heads": 4, "key_value_heads": 2, "d_key": 3, "d_value": 5},
    {"heads": 4, "key_value_heads": 1},
    {"score_scale": "learned"},
]


def perturb(layer: torch.nn.Module) -> torch.nn.Module:
    torch.manual_seed(1)
    for parameter in layer.parameters():
        torch.nn.init.normal_(parameter, std=0.5)
    return layer.double().eval()


@pytest.mark.parametrize("changes", VARIANTS)
def test_encoder_layer_equals_the_equations(changes, config, reference):
    layer = perturb(EncoderLayer(config(**changes)))
    x = torch.randn(1, 4, 8, dtype=torch.float64)
    result = layer(x, torch.ones(1, 1, 1, 4, dtype=torch.bool))
    expected = reference(config(**changes), layer.state_dict()).encoder_layer("", x[0].numpy())
    torch.testing.assert_close(result[0], torch.from_numpy(expected))


@pytest.mark.parametrize("changes", VARIANTS)
def test_decoder_layer_equals_the_equations(changes, config, reference):
    layer = perturb(DecoderLayer(config(**changes)))
    x, memory = torch.randn(1, 4, 8).double(), torch.randn(1, 5, 8).double()
    result = layer(
        x,
        causal_mask(4),
        layer.cross_attention.keys_values(memory),
        torch.ones(1, 1, 1, 5, dtype=torch.bool),
    )
    slow = reference(config(**changes), layer.state_dict())
    expected = slow.decoder_layer("", x[0].numpy(), memory[0].numpy())
    torch.testing.assert_close(result[0], torch.from_numpy(expected))


def test_post_norm_normalizes_the_sum(config):
    residual = PostNorm(config(d_model=2, heads=1), dropout=0.0)
    x = torch.tensor([[1.0, 5.0]])
    # 1 + 2 · 1 and 5 + 2 · 5 - 4: the norm of (3, 11) is (-1, 1)
    joined = residual(x, lambda y: 2 * y - torch.tensor([[0.0, 4.0]]))
    torch.testing.assert_close(joined, torch.tensor([[-1.0, 1.0]]))


def test_pre_norm_normalizes_the_input_but_not_the_sum(config):
    residual = PreNorm(config(d_model=2, heads=1), dropout=0.0)
    x = torch.tensor([[1.0, 5.0]])
    joined = residual(x, lambda normalized: 2 * normalized)  # (-1, 1)
    torch.testing.assert_close(joined, torch.tensor([[-1.0, 7.0]]))


@pytest.mark.parametrize(
    ("activation", "expected"), [("relu", 0.0), ("gelu", -0.1586553), ("silu", -0.2689414)]
)
def test_feed_forward_uses_the_configured_activation(activation, expected, config):
    layer = FeedForward(config(d_model=2, heads=1, d_ff=1, activation=activation))
    with torch.no_grad():
        layer.inner.weight.copy_(torch.tensor([[-1.0, 0.0]]))
        layer.inner.bias.zero_()
        layer.outer.weight.fill_(1.0)
        layer.outer.bias.zero_()
    assert layer(torch.tensor([1.0, 9.0])).tolist() == pytest.approx([expected] * 2)


@pytest.mark.parametrize(
    "kind", ["dropout", "attention_output_dropout", "attention_dropout", "feed_forward_dropout"]
)
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_each_dropout_acts_only_in_training(kind, norm, config):
    torch.manual_seed(1)
    layer = EncoderLayer(config(norm_position=norm, **{kind: 0.5}))
    x, mask = torch.randn(1, 4, 8), torch.ones(1, 1, 1, 4, dtype=torch.bool)
    assert not torch.equal(layer(x, mask), layer(x, mask))
    layer.eval()
    assert torch.equal(layer(x, mask), layer(x, mask))


@pytest.mark.parametrize(
    ("changes", "attention", "feed_forward"),
    [
        ({"dropout": 0.5}, True, True),
        ({"dropout": 0.5, "attention_output_dropout": 0.0}, False, True),
        ({"attention_output_dropout": 0.5}, True, False),
    ],
)
def test_sublayer_outputs_are_dropped_where_configured(changes, attention, feed_forward, config):
    layer = DecoderLayer(config(norm_position="pre", **changes))
    x, output = torch.full((1, 4, 8), 5.0), torch.ones(1, 4, 8)

    def drops(residual):
        values = set(residual(x, lambda y: output).unique().tolist())
        assert values in ({6}, {5, 7})  # not 0: the input itself is kept
        return 5 in values

    torch.manual_seed(1)
    assert drops(layer.self_residual) == drops(layer.cross_residual) == attention
    assert drops(layer.feed_forward_residual) == feed_forward


def test_dropout_precedes_the_residual_sum_and_the_norm(config):
    residual = PostNorm(config(), dropout=0.5)
    residual.dropout = seen = Recorder()
    output = torch.randn(1, 4, 8)
    joined = residual(torch.ones(1, 4, 8), lambda x: output)
    assert torch.equal(seen.inputs[0], output)
    torch.testing.assert_close(joined, residual.norm(1 + 10 * output))


def test_feed_forward_dropout_follows_the_activation(config):
    layer = FeedForward(config())
    layer.dropout = seen = Recorder()
    x = torch.randn(1, 4, 8)
    found = layer(x)
    inner = layer.activation(layer.inner(x))
    torch.testing.assert_close(seen.inputs[0], inner)
    torch.testing.assert_close(found, layer.outer(10 * inner))


class Recorder(torch.nn.Module):
    """Replaces dropout: keeps its input, and multiplies it by 10."""

    def __init__(self):
        super().__init__()
        self.inputs = []

    def forward(self, x):
        self.inputs.append(x)
        return 10 * x


def test_norms_add_epsilon_to_the_variance(config):
    residual = PostNorm(config(d_model=2, heads=1, norm_epsilon=1.0), dropout=0.0)
    # (0, 2) has mean 1 and variance 1: ±1 / √(1 + 1)
    joined = residual(torch.tensor([[0.0, 1.0]]), lambda x: x)
    torch.testing.assert_close(joined, torch.tensor([[-(0.5**0.5), 0.5**0.5]]))
