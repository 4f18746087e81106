"""Checkpoints and weights on a disk that is full: what was there before stays whole."""

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import torch

from nmt.config import Config
from nmt.corpus.prepare import prepare
from nmt.errors import UserError
from nmt.run_folder import create_run
from nmt.training.processes import Processes
from nmt.training.trainer import Trainer


@contextmanager
def _full_disk(most: int) -> Iterator[None]:
    """Let no file grow beyond `most` bytes while the context lasts."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (most, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


@pytest.mark.parametrize("which", ["checkpoint.pt", "last.safetensors", "config.yaml"])
def test_a_full_disk_leaves_the_old_file(
    toy_config: Callable[..., Config],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    which: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    config = toy_config()
    prepared = prepare(config)
    run = create_run(Path("run"), config, prepared)
    learner = Trainer(config, prepared, run, Processes(torch.device("cpu")))
    learner._save()
    write: dict[str, Callable[[], None]] = {
        "checkpoint.pt": learner._save,
        "last.safetensors": lambda: learner._save_weights("last"),
        "config.yaml": lambda: run.write_config(config),
    }
    before = {path: path.read_bytes() for path in run.path.iterdir() if path.is_file()}
    with torch.no_grad():
        learner.model.output.weight += 1

    refused = pytest.raises(UserError, match="cannot be written")
    with _full_disk(len(before[run.path / which]) // 2), refused as caught:
        write[which]()
    assert which in str(caught.value)
    assert "\n" not in str(caught.value)
    assert {path: path.read_bytes() for path in run.path.iterdir() if path.is_file()} == before
