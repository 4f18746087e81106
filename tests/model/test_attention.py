"""Attention equals its equation in every implementation."""

import pytest
import torch
from torch import nn

from nmt.model.attention import (
    CrossAttention,
    SelfAttention,
    attention,
    attention_weights,
    record_attention,
)
from nmt.model.cache import KeyValueCache
from nmt.model.masks import causal_mask


def random_heads(length: int, width: int, seed: int) -> torch.Tensor:
    """(2, 3, length, width)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, 3, length, width, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize(("d_key", "d_value"), [(4, 4), (3, 7), (9, 2), (1, 1)])
def test_attention_equals_the_equation(d_key, d_value, reference):
    query, key = random_heads(5, d_key, 1), random_heads(6, d_key, 2)
    value = random_heads(6, d_value, 3)
    mask = torch.rand(2, 1, 5, 6, generator=torch.Generator().manual_seed(4)) < 0.6
    mask[..., 0] = True
    result = attention(query, key, value, mask, d_key**-0.5, nn.Identity())
    assert result.shape == (2, 3, 5, d_value)
    for batch in range(2):
        for head in range(3):
            arrays = (t[batch, head].numpy() for t in (query, key, value))
            expected = reference.attention(*arrays, mask[batch, 0].numpy(), d_key**-0.5)
            torch.testing.assert_close(result[batch, head], torch.from_numpy(expected))


def test_dropout_acts_on_the_weights_of_attention():
    query, key = random_heads(5, 4, 1), random_heads(6, 4, 2)
    dropped = []

    def only_the_first_key(weights):
        dropped.append(weights)
        return torch.nn.functional.one_hot(torch.zeros(2, 3, 5, dtype=int), 6).to(weights)

    value = random_heads(6, 4, 3)
    result = attention(query, key, value, None, 0.5, only_the_first_key)
    torch.testing.assert_close(dropped[0], attention_weights(query, key, None, 0.5))
    torch.testing.assert_close(result, value[:, :, :1].expand(-1, -1, 5, -1))


@pytest.mark.parametrize(
    ("mask", "scale", "expected"),
    [
        # scores 2 / √4 = 1 and 0: e / (e + 1) and 1 / (e + 1)
        (torch.tensor([[[[True, True, False]]]]), 0.5, [0.7310586, 0.2689414, 0.0]),
        # by d_model, scores 2 / 4, 0 and 0: √e / (√e + 2) and 1 / (√e + 2)
        (None, 0.25, [0.4518628, 0.2740686, 0.2740686]),
    ],
)
def test_attention_weights_are_a_literal_softmax(mask, scale, expected):
    query, key = torch.tensor([[[[2.0, 0.0, 0.0, 0.0]]]]), torch.eye(4)[None, None, :3]
    weights = attention_weights(query, key, mask, scale)
    torch.testing.assert_close(weights, torch.tensor([[[expected]]]))


@pytest.mark.parametrize("kind", [SelfAttention, CrossAttention])
@pytest.mark.parametrize("masked", [False, True])
def test_without_dropout_training_and_decoding_give_the_same_result(config, kind, masked):
    """On a CPU, training uses an explicit implementation; everything else uses PyTorch's kernel."""
    torch.manual_seed(1)
    layer = kind(config(d_key=3, d_value=5, score_scale="d_model"))
    x, memory = torch.randn(2, 6, 8), torch.randn(2, 6, 8)
    mask = torch.rand(2, 1, 6, 6) < 0.5
    mask[..., 0] = True
    source = () if kind is SelfAttention else (layer.keys_values(memory),)
    trained = layer(x, *source, mask if masked else None)
    decoded = layer.eval()(x, *source, mask if masked else None)
    torch.testing.assert_close(decoded, trained)


def test_self_attention_with_a_cache_equals_attention_at_once(config):
    torch.manual_seed(1)
    layer = SelfAttention(config(d_key=3, d_value=5)).eval()
    x = torch.randn(2, 5, 8)
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    cache = KeyValueCache()
    steps = [layer(x[:, i : i + 1], None, cache) for i in range(5)]
    torch.testing.assert_close(torch.cat(steps, 1), layer(x, mask))


def test_recording_collects_the_weights_of_each_pass_until_it_ends(config):
    torch.manual_seed(1)
    layer = CrossAttention(config()).eval()
    x, memory = torch.randn(2, 3, 8), torch.randn(2, 4, 8)
    mask = torch.tensor([[True, True, True, False], [True] * 4])[:, None, None]
    with record_attention(layer) as records:
        recorded = layer(x, layer.keys_values(memory), mask)
        layer(x[:, :1], layer.keys_values(memory), mask)
    unrecorded = layer(x, layer.keys_values(memory), mask)
    assert [weights.shape for weights in records[0]] == [(2, 2, 3, 4), (2, 2, 1, 4)]
    assert records[0][0][0, :, :, 3].eq(0).all()
    assert torch.equal(recorded, unrecorded)


def test_recorded_weights_are_scaled_as_configured(config):
    torch.manual_seed(1)
    narrow = SelfAttention(config()).eval()  # divides by √4, the width of a head
    wide = SelfAttention(config(score_scale="d_model")).eval()  # by √8, the width of the model
    wide.load_state_dict(narrow.state_dict())
    x = torch.randn(1, 3, 8)
    with record_attention(narrow, wide) as (narrow_records, wide_records):
        for layer in (narrow, wide):
            layer(x, torch.ones(3, 3, dtype=torch.bool))
    # Softmax is invariant to adding a constant, so log weights are scores up to a constant per row.
    scores = [
        torch.log(w[0]) - torch.log(w[0]).mean(-1, keepdim=True)
        for w in (narrow_records, wide_records)
    ]
    torch.testing.assert_close(scores[0], scores[1] * 2**0.5)


def test_recording_stops_after_an_error(config):
    layer = SelfAttention(config())
    with pytest.raises(RuntimeError), record_attention(layer):
        raise RuntimeError
    assert layer.recorded is None


def test_causal_self_attention_needs_no_mask(config):
    layer = SelfAttention(config(dropout=0.0))
    x = torch.randn(2, 5, 8)
    for mode in (True, False):
        layer.train(mode)
        torch.testing.assert_close(layer(x, None, is_causal=True), layer(x, causal_mask(5)))
