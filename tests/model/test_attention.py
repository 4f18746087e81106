"""Attention equals its equation; its cache holds the past."""

import pytest
import torch

from nmt.model.attention import (
    CrossAttention,
    KeyValueCache,
    SelfAttention,
    attention_weights,
    record_attention,
    scaled_dot_product,
)


def random_heads(length: int, width: int, seed: int) -> torch.Tensor:
    """(2, 3, length, width)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, 3, length, width, generator=generator, dtype=torch.float64)


@pytest.mark.parametrize(("d_key", "d_value"), [(4, 4), (3, 7), (9, 2), (1, 1)])
def test_scaled_dot_product_equals_the_equation(d_key, d_value, reference):
    query, key = random_heads(5, d_key, 1), random_heads(6, d_key, 2)
    value = random_heads(6, d_value, 3)
    mask = torch.rand(2, 1, 5, 6, generator=torch.Generator().manual_seed(4)) < 0.6
    mask[..., 0] = True

    result = scaled_dot_product(query, key, value, mask)

    assert result.shape == (2, 3, 5, d_value)
    for batch in range(2):
        for head in range(3):
            arrays = (t[batch, head].numpy() for t in (query, key, value))
            expected = reference.attention(*arrays, mask[batch, 0].numpy(), d_key)
            torch.testing.assert_close(result[batch, head], torch.from_numpy(expected))


def test_attention_weights_are_a_literal_softmax():
    query, key = torch.tensor([[[[2.0, 0.0, 0.0, 0.0]]]]), torch.eye(4)[None, None, :3]

    weights = attention_weights(query, key, torch.tensor([[[[True, True, False]]]]))

    # scores 2 / √4 = 1 and 0: e / (e + 1) and 1 / (e + 1)
    torch.testing.assert_close(weights, torch.tensor([[[[0.7310586, 0.2689414, 0.0]]]]))


def test_attention_weights_follow_another_scale():
    query, key = torch.tensor([[[[2.0, 0.0, 0.0, 0.0]]]]), torch.eye(4)[None, None, :2]

    weights = attention_weights(query, key, None, scale=0.25)

    # scores 2 / 4 and 0: √e / (√e + 1) and 1 / (√e + 1)
    torch.testing.assert_close(weights, torch.tensor([[[[0.6224593, 0.3775407]]]]))


@pytest.mark.parametrize("keys", [1, 7, 15, 16, 17, 40])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_attention_weights_and_gradients_are_those_of_the_plain_softmax(keys, dtype):
    query, key = (random_heads(n, 3, n).to(dtype).requires_grad_() for n in (5, keys))
    plain_query, plain_key = (x.detach().double().requires_grad_() for x in (query, key))
    mask = torch.rand(2, 1, 5, keys, generator=torch.Generator().manual_seed(4)) < 0.7
    mask[..., 0] = True
    wanted = torch.randn(2, 3, 5, keys, generator=torch.Generator().manual_seed(5))

    weights = attention_weights(query, key, mask)
    (weights * wanted).sum().backward()

    scores = (plain_query @ plain_key.transpose(2, 3) / 3**0.5).masked_fill(~mask, float("-inf"))
    expected = scores.softmax(-1)
    (expected * wanted).sum().backward()
    tolerance = {"rtol": 0.05, "atol": 0.05} if dtype == torch.bfloat16 else {}
    found = weights, query.grad, key.grad
    for one, other in zip(found, (expected, plain_query.grad, plain_key.grad), strict=True):
        assert one.dtype == dtype
        torch.testing.assert_close(one, other.to(dtype), **tolerance)


@pytest.mark.parametrize("scale", [None, 0.3])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_weights_agree_with_scaled_dot_product(masked, scale):
    query, key, value = random_heads(5, 3, 1), random_heads(6, 3, 2), random_heads(6, 4, 3)
    mask = torch.rand(2, 1, 5, 6, generator=torch.Generator().manual_seed(4)) < 0.5
    mask[1, 0, 2] = False  # may attend to nothing

    weights = attention_weights(query, key, mask if masked else None, scale)

    expected = scaled_dot_product(query, key, value, mask if masked else None, scale=scale)
    torch.testing.assert_close(weights @ value, expected)


def test_weights_sum_to_one_or_are_zero_where_nothing_may_be_attended():
    mask = torch.ones(2, 1, 5, 6, dtype=torch.bool)
    mask[0, 0, 4] = False

    sums = attention_weights(random_heads(5, 3, 1), random_heads(6, 3, 2), mask).sum(-1)

    expected = torch.ones(2, 3, 5, dtype=torch.float64)
    expected[0, :, 4] = 0
    torch.testing.assert_close(sums, expected)


@pytest.mark.parametrize("dropout", [0.0, 0.5])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_query_that_may_attend_to_nothing_gets_zeros_and_finite_gradients(dropout, dtype):
    torch.manual_seed(1)
    inputs = [random_heads(4, 8, seed).to(dtype).requires_grad_() for seed in (1, 2, 3)]
    mask = torch.ones(2, 1, 1, 4, dtype=torch.bool)
    mask[1] = False

    result = scaled_dot_product(*inputs, mask, dropout)
    result.square().sum().backward()

    assert result[1].eq(0).all()
    assert result[0].ne(0).any()
    assert all(tensor.grad.isfinite().all() for tensor in inputs)


def test_attention_dropout_drops_in_training_only(config):
    torch.manual_seed(1)
    layer = SelfAttention(config(attention_dropout=0.5))
    x = torch.randn(1, 6, 8)

    assert not torch.equal(layer(x, None), layer(x, None))
    layer.eval()
    assert torch.equal(layer(x, None), layer(x, None))


def test_a_cache_returns_all_that_was_appended():
    cache = KeyValueCache()
    keys, values = random_heads(3, 2, 1), random_heads(3, 5, 2)

    cache.append(keys[:, :, :2], values[:, :, :2])
    all_keys, all_values = cache.append(keys[:, :, 2:], values[:, :, 2:])

    assert cache.length == 3
    assert torch.equal(all_keys, keys)
    assert torch.equal(all_values, values)


def test_a_cache_selects_rows_with_repetition_and_goes_on():
    cache = KeyValueCache()
    keys, values = random_heads(2, 2, 1), random_heads(2, 5, 2)
    cache.append(keys, values)

    cache.select(torch.tensor([1, 1, 0]))
    more_keys, more_values = torch.full((3, 3, 1, 2), 7.0), torch.full((3, 3, 1, 5), 8.0)
    all_keys, all_values = cache.append(more_keys.double(), more_values.double())

    assert torch.equal(all_keys[:, :, :2], keys[[1, 1, 0]])
    assert torch.equal(all_values[:, :, :2], values[[1, 1, 0]])
    assert all_keys[:, :, 2].eq(7).all()
    assert all_values[:, :, 2].eq(8).all()


def test_selecting_from_an_empty_cache_is_harmless():
    cache = KeyValueCache()
    cache.select(torch.tensor([0]))

    assert cache.append(random_heads(1, 2, 1), random_heads(1, 2, 2))[0].shape == (2, 3, 1, 2)


def test_self_attention_through_a_cache_equals_attention_at_once(config):
    torch.manual_seed(1)
    layer = SelfAttention(config(d_key=3, d_value=5)).eval()
    x = torch.randn(2, 5, 8)
    mask = torch.ones(5, 5, dtype=torch.bool).tril()
    cache = KeyValueCache()

    steps = [layer(x[:, i : i + 1], None, cache) for i in range(5)]

    torch.testing.assert_close(torch.cat(steps, 1), layer(x, mask))


def test_recording_collects_the_weights_of_each_pass_and_then_stops(config):
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
        narrow(x, None)
        wide(x, None)

    # Softmax forgets a constant: logarithms of weights are scores up to a shift of each row.
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
