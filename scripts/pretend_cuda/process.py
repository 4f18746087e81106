"""A process with the simulated device; PyTorch is unchanged in other processes.

>>> with pretend_process(compile_guard(folder)) as pretend:
...     pretend.submit(function, argument).result()
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from pretend_cuda.guard import compile_guard, load_guard


@contextmanager
def pretend_process(library: Path) -> Iterator[ProcessPoolExecutor]:
    """Start the process; library: what `compile_guard` returned."""
    with ProcessPoolExecutor(1, get_context("spawn"), _start, (library,)) as pool:
        yield pool


@contextmanager
def pretend_here(folder: Path) -> Iterator[None]:
    """Use the device in this process, which must not have imported PyTorch yet."""
    _start(compile_guard(folder))
    from pretend_cuda.device import Pretending

    with Pretending():  # type: ignore[no-untyped-call]
        yield


def _start(library: Path) -> None:
    load_guard(library)
    from pretend_cuda.device import install  # imports PyTorch

    install()
