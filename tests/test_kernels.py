"""The compiled loops compute what PyTorch does, for all sizes."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

pytest.importorskip("numba", reason="Numba, the extra `compiled`, is not installed")
from nmt import kernels


def random(*shape: int) -> np.ndarray:
    return np.random.default_rng(sum(shape)).standard_normal(shape, np.float32)


@pytest.mark.parametrize("rows", [1, 4, 7])
@pytest.mark.parametrize(("columns", "width"), [(1, 3), (4, 16), (6, 33)])
def test_products_of_any_size(rows, columns, width):
    x, weight, bias = random(rows, width), random(columns, width), random(columns)
    out = np.full((rows, columns), np.nan, np.float32)

    kernels.product(x, weight, bias, out)

    np.testing.assert_allclose(out, x @ weight.T + bias, rtol=1e-5, atol=1e-5)


def test_the_exponential_is_that_of_the_library():
    numbers = np.linspace(-80, 0, 2000, dtype=np.float32)

    found = [kernels.exponential(x) for x in numbers]

    np.testing.assert_allclose(found, np.exp(numbers.astype(np.float64)), rtol=5e-6)
    assert kernels.exponential(np.float32("-inf")) < 1e-37


def test_normalise_is_layer_norm():
    x, weight, bias = random(5, 12), random(12), random(12) + 1
    out = np.empty_like(x)

    kernels.normalise(x, weight, bias, np.float32(1e-5), out)

    tensors = map(torch.from_numpy, (weight, bias))
    expected = functional.layer_norm(torch.from_numpy(x), (12,), *tensors)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("count", [1, 2, 19])
def test_attend_is_attention_to_the_places_named(count):
    heads, d_key, d_value, first = 3, 4, 5, 2
    query, past = random(heads * d_key), random(40, first + heads * (d_key + d_value)) * 3
    places = np.random.default_rng(1).permutation(40)[:count]
    scale = 1 / math.sqrt(d_key)
    shape = kernels.Shape(heads, d_key, d_value, np.float32(scale), np.float32(0), True, False)
    out = np.empty(heads * d_value, np.float32)

    kernels.attend(query, past, first, places, shape, np.empty(heads * count, np.float32), out)

    chosen = torch.from_numpy(past[places])[:, first:]
    key = chosen[:, : heads * d_key].view(count, heads, d_key).transpose(0, 1)
    value = chosen[:, heads * d_key :].reshape(count, heads, d_value).transpose(0, 1)
    q = torch.from_numpy(query).view(heads, 1, d_key)
    expected = functional.scaled_dot_product_attention(q, key, value, scale=scale)
    np.testing.assert_allclose(out, expected.flatten(), rtol=1e-5, atol=1e-5)
