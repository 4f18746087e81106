"""What a training on a CPU keeps in memory from update to update, and what it gives back."""

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Any

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # as malloc.h has them
_LARGEST = 2**30, 2**25  # bytes; according to the manual, glibc accepts at most the second
# oneDNN compiles a kernel for every new shape of a bfloat16 product, of a quarter of a megabyte. It
# keeps 1,024 of them, PyTorch keeps as many once more, and batches have ever new shapes. 256 are
# enough for an update, whose layers share theirs.
_KERNELS = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "256", "LRU_CACHE_CAPACITY": "256"}


def bound_kernels() -> None:
    """Let oneDNN and PyTorch keep few compiled kernels, unless the environment says how many.

    This has an effect only before the first product in bfloat16.
    """
    for name, count in _KERNELS.items():
        os.environ.setdefault(name, count)


def keep_memory() -> None:
    """Let glibc keep what is freed, for the next piece of the same size (mallopt(3)).

    Otherwise it may return a training's gradients at the end of each update and ask for as much at
    the next, which the system then fills with zeros, page by page. Elsewhere this does nothing.
    """
    mallopt = _of_glibc("mallopt")
    if mallopt:
        any(
            mallopt(_M_MMAP_THRESHOLD, largest) for largest in _LARGEST
        )  # the first that it accepts
        mallopt(_M_TRIM_THRESHOLD, -1)


def return_memory() -> None:
    """Return free memory to the system; does nothing with other C libraries than glibc.

    For occasional use: batches of varying size fragment the memory.
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
