"""Locks: one holder at a time; where locks do not work, they are ignored."""

import errno
import fcntl
import os
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.files.locks import locked


def test_a_held_lock_is_refused_and_free_after_its_release(tmp_path: Path) -> None:
    path = tmp_path / ".lock"
    with locked(path, "first") as alone:
        assert alone
        with pytest.raises(UserError, match="in use"), locked(path, "in use", wait=False):
            pass
    with locked(path, "in use", wait=False) as alone:
        assert alone


def test_processes_wait_for_each_others_locks(tmp_path: Path) -> None:
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


def test_an_error_releases_the_lock_and_propagates(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="disk full"), locked(tmp_path / ".lock", "in use"):
        raise OSError("disk full")
    with locked(tmp_path / ".lock", "in use", wait=False) as alone:
        assert alone


def test_deleting_the_lock_file_does_not_admit_two_holders(tmp_path: Path) -> None:
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
def test_the_lock_file_is_deleted_even_after_an_error(
    tmp_path: Path, error: type[BaseException] | None
) -> None:
    with suppress(KeyboardInterrupt), locked(tmp_path / ".lock", "in use", delete=True):
        if error:
            raise error
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_work_continues_if_locks_are_not_supported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path / ".lock", "in use", wait=False) as alone:
        assert not alone
