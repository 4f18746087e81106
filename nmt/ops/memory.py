"""Memory that a process keeps for itself instead of giving it back and asking for it again."""

import ctypes
import sys

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # as malloc.h has them
_LARGEST = 2**30, 2**25  # bytes a piece; the manual says that glibc takes no more than the second


def keep_memory() -> None:
    """Let glibc keep what is freed, for the next of the same size (mallopt(3)).

    Else it may give a training's gradients back at the end of each update and ask for as much at
    the next, which the system then fills with zeros, page by page. Elsewhere this does nothing.
    """
    if not sys.platform.startswith("linux"):
        return
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):  # another C library
        return
    any(mallopt(_M_MMAP_THRESHOLD, largest) for largest in _LARGEST)  # the first that it takes
    mallopt(_M_TRIM_THRESHOLD, -1)
