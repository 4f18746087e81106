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


def test_rows_are_rounded_to_bfloat16_as_pytorch_rounds():
    upper = np.array([0, 1, 2, 0x3F80, 0x3F81, 0x7F80, 0xBF80, 0xFF80], np.uint32)  # ±inf too
    lower = np.array([0, 1, 0x7FFF, 0x8000, 0x8001, 0xFFFF], np.uint32)  # 0x8000: as near to both
    row = ((upper[:, None] << 16) + lower).flatten().view(np.float32)
    row = row[~np.isnan(row)]
    stored = np.empty(len(row), np.int16)

    kernels._write(row, stored)

    expected = torch.from_numpy(row).bfloat16().view(torch.int16).numpy()
    np.testing.assert_array_equal(stored, expected)


@pytest.mark.parametrize("labels", [[0, 5], [-1, 0], [4_000_000, 0]])
def test_labels_beyond_the_vocabulary_are_refused(labels):
    arrays = random(2, 5), random(5), np.array(labels)
    with pytest.raises(IndexError, match="beyond the vocabulary"):
        kernels.cross_entropy(*arrays, 0.1, 0.0, np.zeros(5, np.float32), np.zeros(3))


def test_rows_that_are_no_pairs_are_refused_with_r_drop():
    arrays = random(3, 5), random(5), np.zeros(3, np.int64)
    with pytest.raises(ValueError, match="pairs"):
        kernels.cross_entropy(*arrays, 0.1, 1.0, np.zeros(5, np.float32), np.zeros(3))


@pytest.mark.parametrize("r_drop", [0.0, 3.0])
def test_the_gradient_of_bfloat16_logits_is_rounded_as_pytorch_rounds(r_drop):
    rounded = torch.from_numpy(random(4, 70) * 5).bfloat16()
    bias, labels, exact = random(70), np.array([0, 69, 3, 3]), rounded.float()
    for logits in (exact.numpy(), rounded.view(torch.int16).numpy()):
        sums, d_bias = np.zeros(3), np.zeros(70, np.float32)
        kernels.cross_entropy(logits, bias, labels, 0.1, r_drop, d_bias, sums)

    torch.testing.assert_close(rounded, exact.bfloat16(), rtol=0, atol=0)
    np.testing.assert_allclose(d_bias, exact.sum(0), rtol=1e-5, atol=1e-5)
