"""The output layer fused with the loss: processing in blocks of rows does not change the result."""

import pytest
import torch
from torch import Tensor

from nmt.ops import cross_entropy as module
from nmt.ops.cross_entropy import linear_cross_entropy, plain_linear_cross_entropy


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make several products of several blocks each; the last product and block are smaller."""
    monkeypatch.setattr(module, "_PRODUCT_SIZE", 64 * 50)
    monkeypatch.setattr(module, "_BLOCK_SIZE", 30 * 50)


def inputs(rows: int, vocabulary: int, bias: bool) -> tuple[Tensor, Tensor, Tensor | None, Tensor]:
    generator = torch.Generator().manual_seed(7)
    hidden = torch.randn(rows, 8, generator=generator, requires_grad=True)
    weight = torch.randn(vocabulary, 8, generator=generator, requires_grad=True)
    added = torch.randn(vocabulary, generator=generator, requires_grad=True) if bias else None
    return hidden, weight, added, torch.randint(0, vocabulary, (rows,), generator=generator)


def loss_and_gradients(function, hidden, weight, added, *rest, autocast=False, divisor=1):
    """Return the loss, the plain sums, and the gradients of hidden, weight and bias."""
    with torch.autocast("cpu", torch.bfloat16, enabled=autocast):
        loss, plain = function(hidden, weight, added, *rest)
    assert not plain.requires_grad
    (loss / divisor).backward()
    return [loss.detach(), plain, *(x.grad for x in (hidden, weight, added) if x is not None)]


@pytest.mark.parametrize("bias", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize(
    ("rows", "vocabulary", "r_drop"),
    [(1, 5, 0.0), (64, 50, 0.0), (200, 50, 0.0), (129, 3, 0.0), (2, 5, 1.0), (202, 50, 3.0)],
)
def test_processing_in_blocks_does_not_change_loss_and_gradients(
    rows, vocabulary, r_drop, smoothing, bias
):
    found = [
        loss_and_gradients(function, *inputs(rows, vocabulary, bias), smoothing, r_drop, divisor=7)
        for function in (linear_cross_entropy, plain_linear_cross_entropy)
    ]
    for fast, slow in zip(*found, strict=True):
        torch.testing.assert_close(fast, slow, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(
    ("rows", "r_drop"), [(1, 0.0), (64, 0.0), (129, 0.0), (200, 0.0), (202, 3.0)]
)
def test_padding_for_autocast_does_not_change_loss_and_gradients(rows, r_drop):
    fast, slow = (
        loss_and_gradients(function, *inputs(rows, 50, True), 0.1, r_drop, autocast=True)
        for function in (linear_cross_entropy, plain_linear_cross_entropy)
    )
    fast[1], slow[1] = fast[1][0], slow[1][0]  # without the predictions, which rounding changes
    for one, other in zip(fast, slow, strict=True):
        assert (one - other).norm() <= 0.02 * other.norm()


@pytest.mark.parametrize("r_drop", [0.0, 1.0])
def test_large_logits_do_not_overflow(r_drop):
    hidden, weight, _, labels = inputs(70, 5, False)
    loss, plain = linear_cross_entropy(hidden * 1e3, weight * 1e3, None, labels, 0.1, r_drop)
    loss.backward()
    assert loss.isfinite()
    assert plain.isfinite().all()
    assert hidden.grad is not None
    assert hidden.grad.isfinite().all()


def test_r_drop_adds_the_divergence_of_adjacent_rows_in_both_directions():
    values = inputs(4, 5, True)
    hidden, weight, bias, _ = values
    p = torch.nn.functional.linear(hidden, weight, bias).softmax(-1)
    pairs = [(p[i], p[j]) for i, j in ((0, 1), (1, 0), (2, 3), (3, 2))]
    expected = sum((a * (a / b).log()).sum() for a, b in pairs)
    added = linear_cross_entropy(*values, 0.1, 3.0)[0] - linear_cross_entropy(*values, 0.1)[0]
    torch.testing.assert_close(added, 3 / 2 * expected)


@pytest.mark.parametrize("r_drop", [0.0, 1.0])
def test_without_gradients_the_loss_is_the_same(r_drop):
    values = inputs(70, 5, True)
    with torch.no_grad():
        without = linear_cross_entropy(*values, 0.1, r_drop)
    for one, other in zip(without, linear_cross_entropy(*values, 0.1, r_drop), strict=True):
        torch.testing.assert_close(one, other.detach())


@pytest.mark.parametrize("r_drop", [0.0, 2.0])
@pytest.mark.parametrize(
    "function", [linear_cross_entropy, plain_linear_cross_entropy], ids=["fast", "plain"]
)
def test_ignored_rows_do_not_count(function, r_drop):
    found = []
    for ignored in (None, 4):
        hidden, weight, added, labels = inputs(140, 50, True)
        labels = labels.repeat_interleave(2)[:140]
        labels[20:36] = 4
        rows = torch.arange(140)[labels != 4] if ignored is None else torch.arange(140)
        loss, plain = function(hidden[rows], weight, added, labels[rows], 0.1, r_drop, ignored)
        loss.backward()
        found.append([loss.detach(), plain, *(x.grad for x in (hidden, weight, added))])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("bias", [False, True])
def test_autocast_applies_to_products_but_not_to_sums(bias):
    (loss, plain, *gradients), (exact_loss, exact_plain, *exact_gradients) = (
        loss_and_gradients(function, *inputs(200, 50, bias), 0.1, autocast=autocast)
        for function, autocast in (
            (linear_cross_entropy, True),
            (plain_linear_cross_entropy, False),
        )
    )
    assert loss.dtype == torch.float32
    torch.testing.assert_close(loss, exact_loss, rtol=1e-3, atol=0.0)
    torch.testing.assert_close(plain, exact_plain, rtol=1e-3, atol=0.0)
    for gradient, exact in zip(gradients, exact_gradients, strict=True):
        assert gradient.dtype == torch.float32
        assert 0 < (gradient - exact).norm() < 0.01 * exact.norm()


@pytest.mark.parametrize(
    "function", [linear_cross_entropy, plain_linear_cross_entropy], ids=["fast", "plain"]
)
def test_predictions_are_correct_if_the_label_has_the_largest_logit(function):
    hidden, weight, added, labels = inputs(200, 50, True)
    largest = torch.nn.functional.linear(hidden, weight, added).argmax(1)
    labels = torch.where(torch.arange(200) < 70, largest, labels)
    labels[50:60] = 4
    _, (_, correct) = function(hidden, weight, added, labels, 0.1, 0.0, 4)
    assert int(correct) == int(((largest == labels) & (labels != 4)).sum()) > 50


def test_a_second_backward_pass_is_refused():
    hidden, weight, _, labels = inputs(3, 5, False)
    loss, _ = linear_cross_entropy(hidden, weight, None, labels, 0.1)
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        loss.backward()


@pytest.mark.parametrize("label", [5, -1])
def test_labels_outside_the_vocabulary_are_refused(label):
    hidden, weight, _, _ = inputs(2, 5, False)
    with pytest.raises((IndexError, RuntimeError), match="out of bounds"):
        linear_cross_entropy(hidden, weight, None, torch.tensor([0, label]), 0.1)
