"""Reads small files as a whole, up to a generous limit.

The limit matters because a run folder may come from anyone, and PyYAML needs almost 400 times the
size of a file in memory.
"""

import errno
import stat
from pathlib import Path

LARGEST = 500_000  # bytes of settings and reports


def read_small(path: Path, largest: int = LARGEST) -> bytes:
    """Return the content of a file.

    Raises `OSError` also if it has more than `largest` bytes, or is a pipe, which may never end.
    """
    if not stat.S_ISREG(path.stat().st_mode):
        raise OSError(errno.EINVAL, "not a file")
    with path.open("rb") as file:
        content = file.read(largest + 1)
    if len(content) > largest:
        raise OSError(errno.EFBIG, f"larger than {largest:,} bytes")
    return content
