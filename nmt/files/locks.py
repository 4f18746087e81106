"""File locks, which are released when the process ends, however it ends."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError
from nmt.progress import elapsed

if TYPE_CHECKING:
    from filelock import BaseFileLock


@contextmanager
def locked(path: Path, message: str, wait: bool = True, delete: bool = False) -> Iterator[bool]:
    """Hold a lock on the file `path` within the context; yield False if locks do not work there.

    If another process holds the lock, show `message` and wait, or without `wait` raise it as a
    `UserError`. With `delete`, the file is deleted at the end.
    """
    from filelock import FileLock  # imported here: most translations need no lock

    # Soft locks outlive a killed process, and other machines cannot tell that they are stale.
    lock = FileLock(path, fallback_to_soft=False)
    with suppress(OSError):  # some network file systems, or a read-only folder
        _acquire(lock, message, wait)
    try:
        yield lock.is_locked
    finally:
        if delete and lock.is_locked:
            # While it is locked: filelock discards a lock on a file that was deleted meanwhile.
            with suppress(OSError):  # Windows does not delete open files
                path.unlink()
        lock.release()


def _acquire(lock: "BaseFileLock", message: str, wait: bool) -> None:
    from filelock import Timeout

    try:
        lock.acquire(blocking=False)
    except Timeout:
        if not wait:
            raise UserError(message) from None
        with elapsed(message):
            lock.acquire()
