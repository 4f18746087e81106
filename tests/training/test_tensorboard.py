"""What TensorBoard shows is what metrics.jsonl holds."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config import Config
from nmt.errors import UserError
from nmt.run_folder import RunFolder
from nmt.training.trainer import train

MakeConfig = Callable[..., Config]


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def scalars(run: RunFolder, tag: str) -> list[tuple[int, float]]:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    events = EventAccumulator(str(run.path / "tensorboard")).Reload()
    return [(event.step, event.value) for event in events.Scalars(tag)]


def test_validations_are_written_over_a_resumption_too(toy_config: MakeConfig) -> None:
    pytest.importorskip("tensorboard")
    settings = {"tensorboard": True, "validate_updates": 2}
    train(toy_config(training={**settings, "max_updates": 4}), Path("run"))
    run = train(toy_config(training={**settings, "max_updates": 6}), Path("run"), resume=True)
    lines = run.read_metrics()
    assert [line["update"] for line in lines] == [2, 4, 6]
    measures = ("train_loss", "loss", "bleu", "learning_rate")
    tags = ("loss/training", "loss/validation", "validation/bleu", "learning_rate")
    for name, tag in zip(measures, tags, strict=True):
        expected = [(line["update"], pytest.approx(line[name])) for line in lines]
        assert scalars(run, tag) == expected


def test_it_is_off_unless_asked_for(toy_config: MakeConfig) -> None:
    train(toy_config(training={"max_updates": 1}), Path("run"))
    assert not Path("run/tensorboard").exists()


def test_a_missing_library_is_told_before_anything_is_done(
    toy_config: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.training.tensorboard.find_spec", lambda name: None)
    with pytest.raises(UserError, match="install nmt with its extra `tensorboard`"):
        train(toy_config(training={"tensorboard": True}), Path("run"))
    assert list(Path().iterdir()) == []
