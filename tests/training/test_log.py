"""The logs of a training run: on a full disk, and when it is resumed."""

import pytest

from nmt.errors import UserError
from nmt.runs.folder import RunFolder, UpdatePoint
from nmt.training.log import opened_log


def _point(update: int) -> UpdatePoint:
    return {"update": update, "loss": 1.5, "learning_rate": 0.001}


def test_a_full_disk_is_reported_with_the_name_of_the_log(tmp_path, full_disk):
    run = RunFolder(tmp_path)
    refused = pytest.raises(UserError, match=r"updates\.jsonl: cannot be written \(.* free on")
    with refused, opened_log(run, 0, tensorboard=False) as log:
        log.write_point(_point(10))
        with full_disk(run.updates.stat().st_size + 5):
            log.write_point(_point(20))
    assert run.read_updates() == [_point(10)]


def test_weights_of_validations_after_the_checkpoint_are_dropped(tmp_path):
    run = RunFolder(tmp_path)
    (tmp_path / "validated").mkdir()
    for update in (500, 900, 1000):
        run.validated_weights(update).touch()
    with opened_log(run, 900, tensorboard=False):
        assert [path.stem for path in run.validated()] == ["500", "900"]
