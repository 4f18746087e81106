"""One process at a time: a lock on a file, which ends with the process however that ends."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import IO

from nmt.errors import UserError
from nmt.progress import elapsed

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


@contextmanager
def locked(path: Path, message: str, wait: bool = True) -> Iterator[bool]:
    """Hold the lock on the file `path` while the context lasts; yield False if there are no locks.

    Where another process holds it, `message` is shown while this one waits, or is the `UserError`
    that is raised without `wait`. The file stays: were it deleted, another process might be waiting
    for a lock on it that a third one would no longer see.
    """
    with ExitStack() as stack:
        try:
            _lock(stack.enter_context(path.open("w")), message, wait)
            alone = fcntl is not None
        except OSError:  # some network file systems; a folder that may only be read
            alone = False
        yield alone


def _lock(file: IO[str], message: str, wait: bool) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        if not wait:
            raise UserError(message) from None
        with elapsed(message):
            fcntl.flock(file, fcntl.LOCK_EX)
