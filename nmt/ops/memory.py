"""Memory kept for the next update instead of asking the system for it again (mallopt(3))."""

import ctypes
import sys
from collections.abc import Callable
from typing import Any

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # as malloc.h has them
_LARGEST = 2**30, 2**25  # bytes per piece; the manual says that glibc takes no more than the second


def keep_memory() -> None:
    """Let glibc keep what is freed, for the next piece of the same size.

    Otherwise it may return a training's gradients at the end of each update and ask for as much at
    the next, which the system then fills with zeros, page by page. Elsewhere this does nothing.
    """
    mallopt = _of_glibc("mallopt")
    if mallopt:
        any(mallopt(_M_MMAP_THRESHOLD, largest) for largest in _LARGEST)  # the first it accepts
        mallopt(_M_TRIM_THRESHOLD, -1)


def return_memory() -> None:
    """Return to the system what is free at present; elsewhere than in glibc this does nothing.

    For now and then: batches of ever new sizes leave gaps that fit no later piece.
    """
    trim = _of_glibc("malloc_trim")
    if trim:
        trim(0)


def _of_glibc(name: str) -> Callable[..., Any] | None:
    if not sys.platform.startswith("linux"):
        return None
    try:
        function: Callable[..., Any] = getattr(ctypes.CDLL(None), name)
    except (OSError, AttributeError):  # another C library
        return None
    return function
