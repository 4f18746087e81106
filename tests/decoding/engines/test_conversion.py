"""The converted model that a run carries: made when missing, damaged or outdated, never half."""

import shutil
from pathlib import Path

import pytest

from nmt.decoding.engines.conversion import converted
from nmt.errors import UserError
from nmt.run_folder import RunFolder


@pytest.fixture
def run(trained_run: RunFolder, tmp_path: Path) -> RunFolder:
    """A copy of the trained run, without its converted model."""
    shutil.copytree(trained_run.path, tmp_path / "run")
    shutil.rmtree(tmp_path / "run" / "ctranslate2", ignore_errors=True)
    return RunFolder(tmp_path / "run")


def carried(run: RunFolder) -> list[str]:
    return sorted(path.name for path in run.converted.iterdir() if path.name != ".lock")


def test_it_is_made_once_and_kept(run: RunFolder) -> None:
    with converted(run, "best") as folder:
        made = (folder / "model.bin").stat().st_mtime_ns
    with converted(run, "best") as again:
        assert (again / "model.bin").stat().st_mtime_ns == made
    assert carried(run) == [folder.name]


def test_a_damaged_one_is_made_again(run: RunFolder) -> None:
    with converted(run, "best") as folder:
        content = (folder / "model.bin").read_bytes()
    (folder / "model.bin").write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with converted(run, "best") as again:
        assert (again / "model.bin").read_bytes() == content
    assert carried(run) == [folder.name]


def test_those_of_other_weights_and_of_killed_conversions_go(run: RunFolder) -> None:
    for name in ("0123abc", ".half"):
        (run.converted / name).mkdir(parents=True)
    with converted(run, "best") as folder:
        assert carried(run) == [folder.name]


def test_damaged_weights_are_not_converted(run: RunFolder) -> None:
    path = run.weights("best")
    content = path.read_bytes()
    path.write_bytes(content[:-1] + bytes([content[-1] ^ 1]))
    with pytest.raises(UserError, match="checksum is wrong"), converted(run, "best"):
        pass
    assert carried(run) == []
