"""`linear` gives the same results as PyTorch's, with either library."""

import pytest
import torch
from torch.nn import functional

from nmt.ops import linear as module
from nmt.ops.linear import Linear, has_onednn, linear, linear_by_onednn

needs_onednn = pytest.mark.skipif(not has_onednn(), reason="this PyTorch comes without oneDNN")


@pytest.fixture
def onednn_for_all_sizes(monkeypatch):
    """Use oneDNN for products of any size, as on processors where it is faster."""
    monkeypatch.setattr(module, "_onednn_is_faster", lambda: True)
    monkeypatch.setattr(module, "_LEAST_WORK", 1)


@needs_onednn
@pytest.mark.parametrize("shape", [(1,), (31,), (32,), (33,), (1000,), (7, 45), (2, 3, 64), (0,)])
@pytest.mark.parametrize("with_bias", [True, False])
@torch.inference_mode()
def test_onednn_gives_the_same_result_as_pytorch(shape, with_bias):
    x, weight = torch.randn(*shape, 48), torch.randn(90, 48)[:70]
    bias = torch.randn(70) if with_bias else None
    found = linear_by_onednn(x, weight, bias)
    torch.testing.assert_close(found, functional.linear(x, weight, bias), rtol=1e-4, atol=1e-4)


@needs_onednn
@torch.inference_mode()
def test_strided_views_are_multiplied_correctly():
    x, weight = torch.randn(3, 50, 40)[:, ::2, 8:], torch.randn(20, 32)
    found = linear_by_onednn(x, weight, None)
    torch.testing.assert_close(found, functional.linear(x, weight), rtol=1e-4, atol=1e-4)


@needs_onednn
@torch.inference_mode()
def test_a_layer_uses_its_current_weights(onednn_for_all_sizes):
    layer, x = Linear(16, 24), torch.randn(40, 16)
    layer(x)
    layer.weight.mul_(3)
    torch.testing.assert_close(layer(x), functional.linear(x, layer.weight, layer.bias))


def test_a_layer_computes_weight_gradients(onednn_for_all_sizes):
    layer, x = Linear(16, 24), torch.randn(40, 16)
    layer(x).square().sum().backward()
    expected = 2 * layer(x).detach().T @ x
    torch.testing.assert_close(layer.weight.grad, expected, rtol=1e-4, atol=1e-4)


@torch.inference_mode()
def test_autocast_takes_precedence(onednn_for_all_sizes):
    with torch.autocast("cpu", torch.bfloat16):
        assert linear(torch.randn(40, 16), torch.randn(24, 16), None).dtype == torch.bfloat16


@pytest.mark.parametrize("shape", [(1,), (45,), (7, 45), (2, 3, 64), (0,)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("with_bias", [True, False])
def test_padding_for_autocast_changes_neither_products_nor_gradients(shape, dtype, with_bias):
    found = []
    for function in (linear, functional.linear):
        torch.manual_seed(1)
        values = torch.randn(*shape, 16, dtype=dtype), torch.randn(24, 16), torch.randn(24)
        x, weight, bias = (each.requires_grad_() for each in values)
        with torch.autocast("cpu", torch.bfloat16):
            product = function(x, weight, bias if with_bias else None)
        (product.float() * torch.randn(*shape, 24)).sum().backward()
        found.append([product, x.grad, weight.grad, *([bias.grad] if with_bias else [])])
    for padded, plain in zip(*found, strict=True):
        assert padded.dtype == plain.dtype
        torch.testing.assert_close(padded, plain, rtol=0.02, atol=0.1)


@pytest.mark.parametrize(("trained", "kept"), [("x", 24 * 16), ("weight", 64 * 16)])
def test_autocast_keeps_only_what_the_gradients_need(trained, kept):
    x, weight, sizes = torch.randn(64, 16), torch.randn(24, 16), []
    {"x": x, "weight": weight}[trained].requires_grad_()
    hooks = torch.autograd.graph.saved_tensors_hooks(
        lambda saved: sizes.append(saved.numel()) or saved, lambda saved: saved
    )
    with torch.autocast("cpu", torch.bfloat16), hooks:
        linear(x, weight, None)
    assert sizes == [kept]


def test_autocast_leaves_double_precision():
    x, weight = torch.randn(40, 16).double(), torch.randn(24, 16).double()
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(linear(x, weight, None), functional.linear(x, weight))


def test_autocast_multiplies_few_distinct_numbers_of_rows(monkeypatch):
    rows = set()
    plain = functional.linear
    monkeypatch.setattr(functional, "linear", lambda x, *rest: rows.add(len(x)) or plain(x, *rest))
    with torch.autocast("cpu", torch.bfloat16):
        for count in range(900, 1000):
            linear(torch.randn(count, 16), torch.randn(24, 16), None)
    assert rows == {960, 1024}


def test_row_counts_are_padded_to_few_distinct_sizes():
    filled = {rows + -rows % module.row_step(rows) for rows in range(1, 10_000)}
    assert len(filled) < 100
    assert all(-rows % module.row_step(rows) <= max(31, rows / 8) for rows in range(1, 10_000))
