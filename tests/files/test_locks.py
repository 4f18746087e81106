"""Locks: one holder at a time; where locks do not work, they are ignored."""

import errno
import fcntl
import os
import subprocess
import sys
from contextlib import nullcontext
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


@pytest.mark.parametrize("error", [None, KeyboardInterrupt(), OSError("disk full")])
def test_an_error_propagates_releases_the_lock_and_deletes_its_file(
    tmp_path: Path, error: BaseException | None
) -> None:
    path = tmp_path / ".lock"
    for delete in (False, True):
        raised = pytest.raises(type(error)) if error else nullcontext()
        with raised, locked(path, "in use", delete=delete):
            if error:
                raise error
        if delete:
            assert not list(tmp_path.iterdir())
        with locked(path, "in use", wait=False) as alone:
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


@pytest.mark.parametrize("number", [errno.ENOLCK, errno.ENOSYS])
def test_work_continues_if_locks_are_not_supported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(fcntl, "flock", refuse)
    with locked(tmp_path / ".lock", "in use", wait=False) as alone:
        assert not alone
