"""Training limits, and when validations and checkpoints are due."""

import pytest

from nmt.config.training import TrainingConfig
from nmt.training.checkpoint import Progress
from nmt.training.limits import checkpoint_is_due, final_update, reached_limit, validation_is_due


@pytest.mark.parametrize(
    ("settings", "below", "at", "field"),
    [
        ({"max_updates": 5}, {"updates": 4}, {"updates": 5}, "max_updates 5"),
        ({"max_minutes": 2}, {"minutes": 1.9}, {"minutes": 2.0}, "max_minutes 2"),
        ({"target_bleu": 30}, {"bleu": 29.9}, {"bleu": 30.0}, "target_bleu 30"),
        ({"patience": 3}, {"stale": 2}, {"stale": 3}, "patience 3"),
        ({"epochs": 2}, {"epoch": 2}, {"epoch": 3}, "epochs 2"),
    ],
)
def test_each_limit_is_reached_at_its_value(settings, below, at, field):
    config = TrainingConfig.model_validate(settings)
    assert reached_limit(config, Progress(**below)) == ""
    assert f"reached training.{field}" in reached_limit(config, Progress(**at))
    assert reached_limit(TrainingConfig(epochs=99), Progress(**at)) == ""


def test_the_last_update_is_that_of_the_limit_reached_first():
    assert final_update(TrainingConfig(epochs=3), 10) == 30
    assert final_update(TrainingConfig(epochs=3, max_updates=40), 10) == 30
    assert final_update(TrainingConfig(epochs=3, max_updates=7), 10) == 7


def test_the_last_update_is_exact_in_the_last_epoch():
    settings = TrainingConfig(epochs=3, accumulate=2)
    assert final_update(settings, 9) == 15  # 3 epochs of 5 updates
    begun = Progress(epoch=2, batch=3, updates=7)  # 5 updates in the first epoch, 2 in this one
    assert final_update(settings, 11, begun) == 5 + 2 * 6
    assert final_update(settings, 7, Progress(epoch=3, updates=11)) == 11 + 4


def test_validations_are_due_every_n_updates_or_at_the_end_of_an_epoch():
    by_updates, by_epoch = TrainingConfig(validate_updates=4), TrainingConfig()
    due = [validation_is_due(by_updates, Progress(updates=n, batch=n), 6) for n in (3, 4, 6, 8)]
    assert due == [False, True, False, True]
    assert [validation_is_due(by_epoch, Progress(batch=n), 6) for n in (5, 6)] == [False, True]


def test_checkpoints_are_due_after_updates_or_minutes():
    settings = TrainingConfig(checkpoint_updates=10, checkpoint_minutes=5)

    def due(updates: int, minutes: float) -> bool:
        progress = Progress(updates=updates, minutes=minutes)
        return checkpoint_is_due(settings, progress, saved_update=100, saved_minutes=20.0)

    assert not due(109, 24.9)
    assert due(110, 20.1)
    assert due(101, 25.0)
