"""Positions: the paper's sinusoids, learned vectors, and rotary angles."""

import math

import pytest
import torch

from nmt.model import positions
from nmt.model.positions import (
    LearnedPositions,
    RotaryPositions,
    SinusoidalPositions,
    rotate,
    sinusoids,
)


def test_sinusoids_have_the_values_of_the_equation():
    expected = [
        [0.0, 1.0, 0.0, 1.0],
        [0.8414709848, 0.5403023059, 0.0099998333, 0.9999500004],
        [0.9092974268, -0.4161468365, 0.0199986667, 0.9998000067],
    ]
    torch.testing.assert_close(sinusoids(3, 4), torch.tensor(expected), rtol=0, atol=1e-7)


def test_with_exponent_column_the_exponent_counts_columns_instead_of_pairs():
    expected = [math.sin(3), math.cos(3 / 100), math.sin(3 / 10000), math.cos(3 / 1e6)]
    row = sinusoids(4, 4, exponent="column")[3]
    torch.testing.assert_close(row, torch.tensor(expected), rtol=0, atol=1e-7)


def test_the_first_position_may_be_one():
    assert torch.equal(sinusoids(5, 6, first=1), sinusoids(6, 6)[1:])


def test_sinusoids_follow_the_configuration(config):
    positions = SinusoidalPositions(config(first_position=1, position_exponent="column"))
    assert torch.equal(positions(2, 3), sinusoids(6, 8, exponent="column")[3:])


def test_an_odd_width_ends_with_a_sine():
    expected = [math.sin(2), math.cos(2), math.sin(2 / 10000 ** (2 / 3))]
    torch.testing.assert_close(sinusoids(3, 3)[2], torch.tensor(expected), rtol=0, atol=1e-7)


def test_sinusoids_are_exact_at_high_positions():
    row = sinusoids(5000, 64)[4999].double()
    for pair in range(32):
        angle = 4999 / 10000 ** (2 * pair / 64)
        assert float(row[2 * pair]) == pytest.approx(math.sin(angle), abs=1e-7)
        assert float(row[2 * pair + 1]) == pytest.approx(math.cos(angle), abs=1e-7)


@pytest.mark.parametrize("kind", [SinusoidalPositions, LearnedPositions])
def test_positions_start_at_the_given_offset(kind, config):
    positions = kind(config())
    if kind is LearnedPositions:
        torch.nn.init.normal_(positions.table, generator=torch.Generator().manual_seed(1))
    assert positions(0, 16).shape == (16, 8)
    assert torch.equal(positions(5, 3), positions(0, 16)[5:8])


@pytest.mark.parametrize("kind", [SinusoidalPositions, RotaryPositions])
def test_computed_positions_are_neither_learned_nor_saved(kind, config):
    positions = kind(config())
    assert list(positions.parameters()) == []
    assert positions.state_dict() == {}


def test_learned_positions_are_trained(config):
    positions = LearnedPositions(config())
    positions(2, 3).sum().backward()
    assert positions.table.grad[:, 0].tolist() == [0, 0, 1, 1, 1] + [0] * 11


def test_scores_of_rotated_queries_and_keys_depend_only_on_distance(config):
    positions = RotaryPositions(config(d_key=6))
    query, key = torch.randn(2, 6, generator=torch.Generator().manual_seed(1))

    def product(query_at: int, key_at: int) -> float:
        turned = [
            rotate(x.view(1, 1, 1, 6), positions(at, 1))
            for x, at in ((query, query_at), (key, key_at))
        ]
        return float((turned[0] * turned[1]).sum())

    assert product(9, 5) == pytest.approx(product(4, 0), abs=1e-5)
    assert product(9, 5) != pytest.approx(product(9, 6), abs=1e-2)
    assert product(3, 3) == pytest.approx(float(query @ key), abs=1e-5)


def test_every_pair_is_rotated_by_its_own_angle(config):
    positions = RotaryPositions(config(d_key=4))
    x = torch.tensor([1.0, 0.0, 0.0, 2.0]).view(1, 1, 1, 4)
    expected = [math.cos(3), math.sin(3), -2 * math.sin(3 / 100), 2 * math.cos(3 / 100)]
    assert rotate(x, positions(3, 1)).flatten().tolist() == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("shape", [(1, 2, 3, 5), (2, 3, 1, 5)])
def test_non_contiguous_tensors_are_rotated_correctly(config, shape):
    wide = torch.randn(shape, generator=torch.Generator().manual_seed(1))
    rotations = RotaryPositions(config(d_key=4))(0, shape[2])
    assert torch.equal(
        rotate(wide[..., :4], rotations), rotate(wide[..., :4].contiguous(), rotations)
    )


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float64])
def test_rotation_keeps_the_dtype(dtype, config):
    x = torch.randn(2, 3, 5, 4, generator=torch.Generator().manual_seed(1))
    rotations = RotaryPositions(config())(2, 5)
    turned = rotate(x.to(dtype), rotations)
    assert turned.dtype == dtype
    torch.testing.assert_close(turned.float(), rotate(x, rotations), rtol=0.02, atol=0.02)


@pytest.mark.parametrize(
    ("dtype", "tolerance"),
    [(torch.float32, {}), (torch.float64, {}), (torch.bfloat16, {"rtol": 0.02, "atol": 0.02})],
)
def test_real_and_complex_rotations_are_equal(dtype, tolerance, config):
    rotations = RotaryPositions(config(d_key=6))(2, 5)
    values = torch.randn(2, 3, 5, 6, generator=torch.Generator().manual_seed(1)).to(dtype)
    found = []
    for rotate_pairs in (positions._rotate_as_complex, positions._rotate_as_real):
        x = values.clone().requires_grad_()
        turned = rotate_pairs(x, rotations).flatten(-2)
        turned.square().mul(torch.arange(6)).sum().backward()
        found.append((turned.detach(), x.grad))
    for as_complex, as_real in zip(*found, strict=True):
        torch.testing.assert_close(as_real, as_complex, **tolerance)
