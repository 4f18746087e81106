"""Memory use of training on a CPU: what to cache between updates, and when to release it."""

import ctypes
import os
import sys
from collections.abc import Callable
from typing import Any

_M_TRIM_THRESHOLD, _M_MMAP_THRESHOLD = -1, -3  # constants of malloc.h
# Bytes, tried in turn; the manual says that glibc accepts at most the second.
_LARGEST = 2**30, 2**25
# oneDNN compiles a kernel for each shape of a bfloat16 product, and nearly every batch has new
# shapes. By default, oneDNN and PyTorch cache 1,024 kernels each. Cached kernels also fragment the
# memory: updates of multi30k.yaml reached 2.0 GiB with 256 of them, and 1.5 GiB with 64, at the
# same speed; with 16, they were 5% slower.
_KERNELS = {"ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64", "LRU_CACHE_CAPACITY": "64"}


def bound_kernels() -> None:
    """Limit the kernel caches of oneDNN and PyTorch, unless the environment sets their size.

    Only effective before the first product in bfloat16.
    """
    for name, count in _KERNELS.items():
        os.environ.setdefault(name, count)


def keep_memory() -> None:
    """Let glibc keep freed memory for later allocations of the same size (mallopt(3)).

    Otherwise glibc may return the gradients' memory to the system after each update and request it
    again in the next; the system then zeroes every page. Does nothing with other C libraries.
    """
    mallopt = _of_glibc("mallopt")
    if mallopt:
        any(mallopt(_M_MMAP_THRESHOLD, largest) for largest in _LARGEST)  # until one is accepted
        mallopt(_M_TRIM_THRESHOLD, -1)


def return_memory() -> None:
    """Return free memory to the system; does nothing with C libraries other than glibc.

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
