"""Several pieces of work at once, each on a thread of its own."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache
from typing import TypeVar

import torch

T = TypeVar("T")
R = TypeVar("R")


def side_by_side(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return [work(item) for item in items], on as many threads as PyTorch may use.

    PyTorch splits every single operation among its threads and waits for all of them after each.
    The operations of a small model, and of a decoding step, are too small for that: whole batches
    split better, and PyTorch lets other Python threads run while it computes.
    """
    threads = torch.get_num_threads()
    at_once = min(threads, len(items))
    if at_once < 2:
        return [work(item) for item in items]

    def work_apart(item: T) -> R:
        torch.set_num_threads(threads // at_once)  # of the calling thread
        return work(item)

    futures = [_pool(threads).submit(work_apart, item) for item in items]
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()
        wait(futures)
        torch.set_num_threads(threads)  # some of its libraries have one setting for all threads


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return the same threads each time: glibc keeps freed memory for the thread that freed it."""
    return ThreadPoolExecutor(threads, "side by side")
