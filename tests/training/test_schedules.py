import math

import pytest

from nmt.config.training import TrainingConfig
from nmt.training.schedules import learning_rate


def rates(last: int = 1000, **fields: object) -> list[float]:
    config = TrainingConfig(learning_rate=0.1, warmup_updates=100, **fields)
    return [learning_rate(config, update, last) for update in (1, 50, 100, 400, 1000)]


def test_inverse_square_root_equals_the_papers_equation():
    # lrate = d_model^-0.5 · min(step^-0.5, step · warmup^-1.5), equation 3
    d_model, warmup = 512, 4000
    config = TrainingConfig(learning_rate=(d_model * warmup) ** -0.5, warmup_updates=warmup)
    for step in (1, 100, 4000, 50_000):
        paper = d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
        assert learning_rate(config, step, 100_000) == pytest.approx(paper)


@pytest.mark.parametrize(
    ("schedule", "last", "expected"),
    [
        ("inverse_sqrt", 1000, [0.001, 0.05, 0.1, 0.05, 0.1 * math.sqrt(0.1)]),
        ("constant", 1000, [0.001, 0.05, 0.1, 0.1, 0.1]),
        ("cosine", 1000, [0.001, 0.05, 0.1, 0.05 * (1 + math.cos(math.pi / 3)), 0.0]),
        # Epochs can have more batches than the first one, from which the last update was computed.
        ("cosine", 100, [0.001, 0.05, 0.1, 0.0, 0.0]),
    ],
)
def test_schedules_follow_their_equations(schedule, last, expected):
    assert rates(last, schedule=schedule) == pytest.approx(expected)
