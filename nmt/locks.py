"""One process at a time: a lock on a file, which ends with the process however that ends."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError
from nmt.progress import elapsed

if TYPE_CHECKING:
    from filelock import BaseFileLock


@contextmanager
def locked(path: Path, message: str, wait: bool = True) -> Iterator[bool]:
    """Hold the lock on the file `path` while the context lasts; yield False if it cannot be locked.

    Where another process holds it, `message` is shown while this one waits, or is the `UserError`
    that is raised without `wait`.
    """
    from filelock import FileLock  # not at the top: most translations need no lock

    lock = FileLock(path)
    with suppress(OSError):  # some network file systems; a folder that may only be read
        _acquire(lock, message, wait)
    try:
        yield lock.is_locked
    finally:
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
