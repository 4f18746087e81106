"""Whether the loops of `nmt/kernels.py` can be compiled here, and what is told if they cannot."""

import importlib
import sys
from collections.abc import Callable
from pickle import UnpicklingError
from typing import TypeVar

from tqdm import tqdm

from nmt.errors import one_line
from nmt.progress import elapsed

T = TypeVar("T")


def with_loops(work: str, make_ready: Callable[[], T]) -> T | None:
    """Return what `make_ready` does, which calls the loops that `work` needs for the first time.

    They are compiled then, or what was compiled before is loaded. None where Numba, an extra, is
    missing, does not go with the NumPy that is installed, has no folder to keep machine code in,
    or, with a warning, finds there what it cannot use.
    """
    try:
        kernels = importlib.import_module("nmt.kernels")
    except (ImportError, RuntimeError):
        return None
    try:
        with elapsed(f"making ready the loops of {work}"):
            return make_ready()
    except (OSError, EOFError, UnpicklingError, RuntimeError) as error:
        folder = kernels.decode.stats.cache_path
        tqdm.write(
            f"nmt: {work} without compiled loops, which is slower and rounds otherwise: "
            f"{one_line(error)[:200]}; make room for Numba in {folder}, or delete its *.nbi and "
            "*.nbc there",
            file=sys.stderr,
        )
        return None
