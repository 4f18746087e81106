"""A cache contains the keys and values of earlier positions."""

import torch

from nmt.model.cache import KeyValueCache


def random_heads(length: int, width: int, seed: int) -> torch.Tensor:
    """(2, 3, length, width)."""
    generator = torch.Generator().manual_seed(seed)
    return torch.randn(2, 3, length, width, generator=generator, dtype=torch.float64)


def test_a_cache_returns_all_that_was_appended():
    cache = KeyValueCache()
    keys, values = random_heads(3, 2, 1), random_heads(3, 5, 2)
    cache.append(keys[:, :, :2], values[:, :, :2])
    all_keys, all_values = cache.append(keys[:, :, 2:], values[:, :, 2:])
    assert cache.length == 3
    assert torch.equal(all_keys, keys)
    assert torch.equal(all_values, values)


def test_selected_rows_may_repeat_and_can_be_extended():
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


def test_selecting_from_an_empty_cache_does_nothing():
    cache = KeyValueCache()
    cache.select(torch.tensor([0]))
    assert cache.append(random_heads(1, 2, 1), random_heads(1, 2, 2))[0].shape == (2, 3, 1, 2)
