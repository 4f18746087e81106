"""The softmax for few keys equals PyTorch's."""

import pytest
import torch

from nmt.ops.softmax import softmax


@pytest.mark.parametrize("keys", [1, 7, 15, 16, 17, 40])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
def test_values_and_gradients_equal_those_of_pytorchs_softmax(keys, dtype):
    generator = torch.Generator().manual_seed(keys)
    scores = torch.randn(2, 3, 5, keys, generator=generator, dtype=torch.float64).to(dtype)
    scores[..., 1:3] = float("-inf")  # masked positions; the first is never masked
    plain = scores.detach().double().requires_grad_()
    scores.requires_grad_()
    wanted = torch.randn(2, 3, 5, keys, generator=generator, dtype=torch.float64)
    found, expected = softmax(scores), plain.softmax(-1)
    (found * wanted).sum().backward()
    (expected * wanted).sum().backward()
    tolerance = {"rtol": 0.02, "atol": 0.02} if dtype == torch.bfloat16 else {}
    for one, other in ((found, expected), (scores.grad, plain.grad)):
        assert one is not None
        assert other is not None
        assert one.dtype == dtype
        torch.testing.assert_close(one, other.to(dtype), **tolerance)
