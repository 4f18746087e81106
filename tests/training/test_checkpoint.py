"""Checkpoints: mismatch, damage, and full disks."""

import errno
import pickle
import shutil
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from nmt.corpus.preparing.prepare import prepare
from nmt.errors import UserError
from nmt.runs.folder import RunFolder
from nmt.training import checkpoint
from nmt.training.optimizers import restore_moments
from nmt.training.train import train
from tests.trainers import make_trainer, resumed

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_training_starts_in_epoch_1(toy_config):
    assert make_trainer(toy_config()).progress.epoch == 1


INVALID: dict[str, Callable[[dict[str, Any]], object]] = {
    "missing moment": lambda state: state["optimizer"]["state"][0].pop("exp_avg"),
    "short moment": lambda state: state["optimizer"]["state"][0].update(exp_avg=torch.zeros(1)),
    "infinite moment": lambda state: state["optimizer"]["state"][0]["exp_avg_sq"].fill_(torch.inf),
    "short average": lambda state: state["average"].__setitem__(0, torch.zeros(1)),
    "text for a number": lambda state: state["progress"].update(epoch="x"),
    "fractional updates": lambda state: state["progress"].update(updates=1.5),
    "not a number": lambda state: state["progress"].update(best=float("nan")),
}


def test_checkpoints_with_invalid_values_are_refused_in_one_line(toy_config):
    config = toy_config(training={"max_updates": 2, "average_decay": 0.9})
    run = train(config, Path("run"))
    whole = run.checkpoint.read_bytes()
    for damage in INVALID.values():
        run.checkpoint.write_bytes(whole)
        run.previous_checkpoint.unlink(missing_ok=True)
        state = torch.load(run.checkpoint, weights_only=True)
        damage(state)
        torch.save(state, run.checkpoint)
        with pytest.raises(UserError, match=r"checkpoint\.pt: checkpoint cannot be") as caught:
            train(config, Path("run"), resume=True)
        assert "\n" not in str(caught.value)


def test_two_damaged_checkpoints_are_refused_in_one_line(toy_config):
    config = toy_config(training={"max_updates": 2})
    run = train(config, Path("run"))
    _half(run.checkpoint)
    _half(run.previous_checkpoint)
    with pytest.raises(UserError, match=r"^[^\n]*checkpoint cannot be read[^\n]*weights[^\n]*$"):
        train(config, Path("run"), resume=True)


class _Code:
    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (Path("ran"),)


def _changed_byte(path: Path) -> None:
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)


def _half(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def _impossible_position(path: Path) -> None:
    """Change where the directory claims to be: the members seem to begin before the file."""
    content = bytearray(path.read_bytes())
    content[-50:-46] = b"\xff\xff\xff\xff"
    path.write_bytes(content)


def _pickle_with_code(path: Path) -> None:
    path.write_bytes(pickle.dumps(_Code()))


def _archive_with_code(path: Path) -> None:
    torch.save({"format": _Code()}, path)


def _control_characters(path: Path) -> None:
    state = torch.load(path, weights_only=True)
    state["model"]["\x1b[2J"] = torch.zeros(1)
    torch.save(state, path)


@pytest.mark.parametrize(
    ("damage", "reason"),
    [
        (_changed_byte, "changed"),
        (_half, "zip"),
        (_pickle_with_code, "zip"),
        (_archive_with_code, "more than tensors"),
    ],
)
def test_a_damaged_or_hostile_checkpoint_is_refused_in_one_line(toy_config, damage, reason):
    trainer = make_trainer(toy_config())
    trainer._save()
    damage(trainer.folder.checkpoint)
    with pytest.raises(
        UserError, match=rf"^[^\n]*checkpoint cannot be read: [^\n]*{reason}[^\n]*$"
    ):
        resumed(trainer)
    assert not Path("ran").exists()


def test_a_damaged_checkpoint_is_replaced_by_the_previous_one(toy_config, capsys):
    config = toy_config(training={"max_updates": 5, "checkpoint_updates": 2})
    reference = train(config, Path("whole"))
    for damage in (
        *(_changed_byte, _half, _impossible_position),
        *(_archive_with_code, _control_characters, Path.unlink),
    ):
        shutil.rmtree("run", ignore_errors=True)
        run = RunFolder(Path(shutil.copytree("whole", "run")))
        damage(run.checkpoint)
        train(config, Path("run"), resume=True)
        printed = " ".join(capsys.readouterr().out.split())
        assert "run/checkpoint.pt: " in printed
        assert "train again" not in printed
        assert "\x1b" not in printed
        assert "the previous checkpoint, update 5;" in printed
        for which in ("best", "last"):
            assert run.weights(which).read_bytes() == reference.weights(which).read_bytes()
        assert not Path("ran").exists()
        damage(run.checkpoint)
        # The restored checkpoint was kept as the previous one.
        train(config, Path("run"), resume=True)
        capsys.readouterr()


@pytest.mark.parametrize(
    ("failure", "raised"),
    [
        (OSError(errno.EIO, "Input/output error"), UserError),
        (PermissionError(errno.EACCES, "Permission denied"), UserError),
        (MemoryError("no memory"), MemoryError),
        (torch.OutOfMemoryError("CUDA out of memory"), torch.OutOfMemoryError),
    ],
)
def test_a_checkpoint_that_cannot_be_read_at_the_moment_is_not_replaced(
    toy_config, monkeypatch, failure, raised
):
    config = toy_config(training={"max_updates": 5, "checkpoint_updates": 2})
    run = train(config, Path("run"))
    before = run.checkpoint.read_bytes(), run.previous_checkpoint.read_bytes()
    failures = [failure]
    verify = zipfile.ZipFile.testzip

    def fails_once(archive: zipfile.ZipFile) -> str | None:
        if failures:
            raise failures.pop()
        return verify(archive)

    monkeypatch.setattr(zipfile.ZipFile, "testzip", fails_once)
    with pytest.raises(raised, match=str(failure.args[-1])):
        train(config, Path("run"), resume=True)
    assert (run.checkpoint.read_bytes(), run.previous_checkpoint.read_bytes()) == before


def test_a_checkpoint_of_another_format_is_refused_and_kept(toy_config):
    config = toy_config(training={"max_updates": 2})
    run = train(config, Path("run"))
    state = torch.load(run.checkpoint, weights_only=True)
    torch.save({**state, "format": 99}, run.checkpoint)
    before = run.checkpoint.read_bytes()
    with pytest.raises(UserError, match="format 99"):
        train(config, Path("run"), resume=True)
    assert run.checkpoint.read_bytes() == before


def test_optimizer_settings_come_from_the_configuration_not_the_checkpoint(toy_config):
    trainer = make_trainer(toy_config())
    trainer.state.optimizer.param_groups[0]["maximize"] = True
    trainer._save()
    assert not resumed(trainer).state.optimizer.param_groups[0]["maximize"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have no /proc")
def test_a_checkpoint_is_mapped_into_memory_only_while_it_is_restored(toy_config, monkeypatch):
    def is_mapped() -> bool:
        return str(trainer.folder.checkpoint.resolve()) in Path("/proc/self/maps").read_text()

    def restore(*arguments: Any) -> None:
        mapped.append(is_mapped())
        restore_moments(*arguments)

    mapped: list[bool] = []
    trainer = make_trainer(toy_config(training={"average_decay": 0.9}))
    trainer.state.update([trainer.plan.largest()])
    trainer._save()
    monkeypatch.setattr(checkpoint, "restore_moments", restore)
    again = resumed(trainer)
    assert (mapped, is_mapped()) == ([True], False)
    again.state.update([again.plan.largest()])


@pytest.mark.parametrize("which", ["checkpoint.pt", "last.safetensors", "config.yaml"])
def test_a_full_disk_leaves_the_old_file_unchanged(toy_config, full_disk, which):
    trainer = make_trainer(toy_config())
    run = trainer.folder
    trainer._save()
    write: dict[str, Callable[[], None]] = {
        "checkpoint.pt": trainer._save,
        "last.safetensors": lambda: trainer._save_weights(trainer.state.model, "last"),
        "config.yaml": lambda: run.write_config(trainer.config),
    }
    before = {path: path.read_bytes() for path in run.path.iterdir() if path.is_file()}
    with torch.no_grad():
        trainer.state.model.output.weight += 1
    refused = pytest.raises(UserError, match=rf"{which}[^\n]* cannot be written \([^\n]*$")
    with full_disk(len(before[run.path / which]) // 2), refused:
        write[which]()
    assert {path: path.read_bytes() for path in run.path.iterdir() if path.is_file()} == before


@pytest.mark.parametrize("tensorboard", [False, True])
def test_a_full_disk_at_the_first_checkpoint_leaves_no_run(tensorboard, toy_config, full_disk):
    if tensorboard:
        pytest.importorskip("tensorboard", reason="the extra `tensorboard` is not installed")
    config = toy_config(training={"max_updates": 2, "tensorboard": tensorboard})
    prepare(config)
    with full_disk(100_000), pytest.raises(UserError, match=r"checkpoint\.pt: cannot be written"):
        train(config, Path("run"))
    assert not Path("run").exists()
    train(config, Path("run"))
