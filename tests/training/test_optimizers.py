import math

import pytest
import torch
from torch import nn

from nmt.config.training import TrainingConfig
from nmt.training.optimizers import LossScaler, WeightAverage, make_optimizer


@pytest.mark.parametrize(
    ("name", "kind"),
    [("adam", torch.optim.Adam), ("adamw", torch.optim.AdamW), ("nadam", torch.optim.NAdam)],
)
def test_optimizers_use_the_configured_values(name, kind):
    config = TrainingConfig(optimizer=name, betas=(0.8, 0.95), epsilon=1e-6, weight_decay=0.01)
    optimizer = make_optimizer(nn.Linear(2, 2), config)
    [group] = optimizer.param_groups
    assert type(optimizer) is kind
    assert (group["betas"], group["eps"], group["weight_decay"]) == ((0.8, 0.95), 1e-6, 0.01)


@pytest.mark.parametrize(("updates", "decay"), [(10_000, 0.9), (1, 2 / 11)])
def test_the_average_follows_the_equation(updates, decay):
    """Early updates have a lower decay."""
    model = nn.Linear(1, 1, bias=False)
    nn.init.constant_(model.weight, 1.0)
    average = WeightAverage(model, decay=0.9)
    nn.init.constant_(model.weight, 2.0)
    average.update(updates=updates)
    assert average.average[0].item() == pytest.approx(decay * 1.0 + (1 - decay) * 2.0)


def test_swapping_twice_restores_both():
    model = nn.Linear(3, 3)
    average = WeightAverage(model, decay=0.5)
    with torch.no_grad():
        model.weight.add_(1.0)
    weights, kept = model.weight.clone(), average.average[0].clone()
    average.swap()
    assert torch.equal(model.weight, kept)
    average.swap()
    assert torch.equal(model.weight, weights)
    assert torch.equal(average.average[0], kept)


def step(
    scaler: LossScaler, weight: nn.Parameter, optimizer: torch.optim.Optimizer, gradient: float
) -> None:
    optimizer.zero_grad()
    ((weight * gradient).sum() / scaler.divisor(1.0)).backward()
    scaler.unscale(optimizer)
    nn.utils.clip_grad_norm_([weight], 1.0)
    scaler.step_optimizer(optimizer)


def test_gradients_are_unscaled_before_clipping():
    moved = []
    for dtype in (torch.float16, torch.float32):
        weight = nn.Parameter(torch.zeros(2))
        scaler = LossScaler(torch.device("cpu"), dtype)
        step(scaler, weight, torch.optim.SGD([weight], lr=1.0), 0.5)
        moved.append(weight.detach())
    torch.testing.assert_close(*moved)
    assert moved[0].norm() == pytest.approx(0.5 * math.sqrt(2))  # its norm is below 1


@pytest.mark.parametrize("kind", [torch.optim.SGD, torch.optim.Adam])
def test_an_update_that_overflows_is_skipped_and_counted(kind):
    weight = nn.Parameter(torch.zeros(2))
    optimizer = kind([weight], lr=1.0)
    scaler = LossScaler(torch.device("cpu"), torch.float16)
    before = 1 / scaler.divisor(1.0)
    step(scaler, weight, optimizer, math.inf)
    assert not weight.any()
    assert scaler.skipped == 1
    assert 1 / scaler.divisor(1.0) == before / 2
    step(scaler, weight, optimizer, 0.5)
    assert weight.all()
    assert scaler.skipped == 1


def test_a_loss_scale_is_restored():
    weight = nn.Parameter(torch.zeros(2))
    first, second = (LossScaler(torch.device("cpu"), torch.float16) for _ in range(2))
    step(first, weight, torch.optim.SGD([weight], lr=1.0), math.inf)
    second.restore(first.saved())
    assert second.saved() == first.saved()
    assert second.divisor(1.0) == first.divisor(1.0)
    with pytest.raises(ValueError, match="not finite numbers"):
        second.restore({"scaler": {"scale": "x"}, "skipped": 0})
