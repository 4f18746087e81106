"""A process with the simulated device; PyTorch is unchanged in other processes.

>>> with pretend_process(compile_guard(folder)) as pretend:
...     pretend.submit(function, argument).result()
"""

from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context
from pathlib import Path

from pretend_cuda.guard import load_guard


@contextmanager
def pretend_process(library: Path) -> Iterator[ProcessPoolExecutor]:
    """Start the process; library: what `compile_guard` returned."""
    with ProcessPoolExecutor(1, get_context("spawn"), start, (library,)) as pool:
        yield pool


def start(library: Path) -> None:
    """Install the device in this process, which must not have imported PyTorch yet."""
    load_guard(library)
    from pretend_cuda.device import install  # imports PyTorch

    install()
