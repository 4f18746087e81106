"""Dropout: the rate, the scale, the gradient, and the seed."""

import pytest
import torch

from nmt.ops.dropout import Dropout


def dropped(rate: float, *shape: int, seed: int = 3) -> torch.Tensor:
    torch.manual_seed(seed)
    return Dropout(rate)(torch.ones(shape))


@pytest.mark.parametrize("rate", [0.1, 0.25, 0.5, 0.9])
def test_values_are_dropped_at_the_given_rate_and_the_rest_is_scaled(rate):
    found = dropped(rate, 1000, 200)
    assert (found == 0).double().mean().item() == pytest.approx(rate, abs=0.004)
    kept = found[found != 0]
    assert kept.min() == kept.max()
    assert kept[0].item() == pytest.approx(1 / (1 - rate), rel=2e-4)
    assert found.mean().item() == pytest.approx(1, abs=0.01)


def test_neighbours_are_dropped_independently():
    zero = dropped(0.5, 400_000) == 0
    for distance in (1, 2, 3, 4, 8):
        both = (zero[:-distance] & zero[distance:]).double().mean().item()
        assert both == pytest.approx(0.25, abs=0.005)


def test_the_gradient_has_the_same_mask_as_the_output():
    x = torch.ones(7, 5, requires_grad=True)
    output = Dropout(0.5)(x)
    (3 * output).sum().backward()
    assert x.grad is not None
    assert torch.equal(x.grad, 3 * output.detach())


@pytest.mark.parametrize("shape", [(1,), (3,), (5, 7, 2), (0, 4)])
def test_any_shape_is_accepted(shape):
    assert dropped(0.5, *shape).shape == shape


def test_the_seed_determines_the_mask():
    assert torch.equal(dropped(0.5, 50), dropped(0.5, 50))
    assert not torch.equal(dropped(0.5, 50), dropped(0.5, 50, seed=4))


@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_values_are_dropped_only_in_training(rate):
    x = torch.randn(20, 3)
    layer = Dropout(rate)
    assert torch.equal(layer.eval()(x), x)
    assert torch.equal(layer.train()(x), x) is (rate == 0)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32, torch.float64])
def test_kept_values_are_scaled_equally_in_every_dtype(dtype):
    torch.manual_seed(3)
    found = Dropout(0.3)(torch.full((50, 200), 3.0, dtype=dtype))
    assert found.dtype == dtype
    assert (found == 0).double().mean().item() == pytest.approx(0.3, abs=0.02)
    values = found[found != 0].double()
    assert values.tolist() == pytest.approx([3 / 0.7] * len(values), rel=0.01)


def test_a_tiny_rate_drops_almost_nothing():
    assert (dropped(1e-9, 1000, 100) == 0).sum() < 20


def test_float64_and_transposed_tensors_are_supported():
    torch.manual_seed(1)
    doubles = Dropout(0.5)(torch.ones(1000, dtype=torch.float64))
    assert doubles.dtype == torch.float64
    assert set(doubles.tolist()) == {0.0, 2.0}
    transposed = Dropout(0.5)(torch.ones(40, 30).T)
    assert set(transposed.flatten().tolist()) == {0.0, 2.0}
