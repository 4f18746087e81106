"""Several batches at once, each on a thread of its own."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return what `work` makes of each item, on as many threads as PyTorch may use.

    A step of decoding is too small to be shared among threads; whole batches are not, and PyTorch
    lets other threads go on while it computes.
    """
    threads = torch.get_num_threads()
    if threads == 1 or len(items) < 2:
        return [work(item) for item in items]
    try:
        with ThreadPoolExecutor(threads, initializer=torch.set_num_threads, initargs=(1,)) as pool:
            return list(pool.map(work, items))
    finally:
        torch.set_num_threads(threads)  # some of its libraries have one setting for all threads
