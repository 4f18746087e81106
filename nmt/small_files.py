"""Reads settings and reports, which are parsed as a whole, up to a size far above theirs.

PyYAML takes almost 400 times the size of a file in memory; a run folder may come from anyone.
"""

import errno
from pathlib import Path

LARGEST = 500_000  # bytes


def read_small(path: Path) -> bytes:
    """Return the content of a file; raises `OSError` also if it is larger than `LARGEST`."""
    with path.open("rb") as file:
        content = file.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise OSError(errno.EFBIG, f"larger than {LARGEST:,} bytes")
    return content
