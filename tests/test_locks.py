"""Locks: one holder at a time; where locks do not work, they are ignored."""

import fcntl
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from filelock import FileLock

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


def test_the_lock_of_another_process_is_waited_for(tmp_path: Path) -> None:
    hold = "import sys, filelock\nwith filelock.FileLock(sys.argv[1]): print(); input()"
    command = [sys.executable, "-c", hold, str(tmp_path / ".lock")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdin
        assert other.stdout
        other.stdout.readline()
        with pytest.raises(UserError), locked(tmp_path / ".lock", "in use", wait=False):
            pass
        other.stdin.close()
        with locked(tmp_path / ".lock", "in use") as alone:
            assert alone


def test_an_error_inside_frees_the_lock_and_is_reported(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="disk full"), locked(tmp_path / ".lock", "in use"):
        raise OSError("disk full")
    with locked(tmp_path / ".lock", "in use", wait=False) as alone:
        assert alone


def test_a_deleted_lock_file_lets_nobody_in_twice(tmp_path: Path) -> None:
    """Another process has opened the file before it is deleted, and locks it afterwards."""
    path = tmp_path / ".lock"
    flock, late = fcntl.flock, []

    def delayed(fd: int, operation: int) -> None:
        if not late:
            late.append(fd)
            with locked(path, "in use", wait=False, delete=True) as alone:
                assert alone
            assert not path.exists()
        flock(fd, operation)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(fcntl, "flock", delayed)
        with (
            locked(path, "in use"),
            pytest.raises(UserError, match="in use"),
            locked(path, "in use", wait=False),
        ):
            pass


@pytest.mark.parametrize("error", [None, KeyboardInterrupt])
def test_the_file_is_deleted_however_the_work_ends(
    tmp_path: Path, error: type[BaseException] | None
) -> None:
    with suppress(KeyboardInterrupt), locked(tmp_path / ".lock", "in use", delete=True):
        if error:
            raise error
    assert not list(tmp_path.iterdir())


def test_where_nothing_can_be_locked_the_work_continues(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(FileLock, "acquire", refuse)
    with locked(tmp_path / ".lock", "in use", wait=False) as alone:
        assert not alone
