"""Locks: one holder at a time; where there are none, the work goes on without."""

from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.locks import locked


def test_a_lock_that_is_held_is_refused_and_free_afterwards(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with locked(path, "first") as alone:
        assert alone
        with pytest.raises(UserError, match="in use"), locked(path, "in use", wait=False):
            pass
    with locked(path, "in use", wait=False) as alone:
        assert alone


def test_an_error_inside_frees_the_lock_and_is_told(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="disk full"), locked(tmp_path / ".lock", "in use"):
        raise OSError("disk full")
    with locked(tmp_path / ".lock", "in use", wait=False) as alone:
        assert alone


@pytest.mark.parametrize("lack", ["module", "file system", "permission"])
def test_where_there_are_no_locks_the_work_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lack: str
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(37, "No locks available")

    if lack == "module":
        monkeypatch.setattr("nmt.locks.fcntl", None)
    elif lack == "file system":
        monkeypatch.setattr("nmt.locks.fcntl.flock", refuse)
    else:
        monkeypatch.setattr(Path, "open", refuse)
    with locked(tmp_path / ".lock", "in use", wait=False) as alone:
        assert not alone
