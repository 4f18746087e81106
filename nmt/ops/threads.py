"""Runs work in parallel threads."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import islice
from threading import RLock
from typing import TypeVar

import torch

import nmt

T = TypeVar("T")
R = TypeVar("R")

# When several threads translate, only the one holding this lock may use PyTorch: its thread count
# and the attention that layers record are shared state.
TORCH_LOCK = RLock()


def parallel_map(work: Callable[[T], R], items: Sequence[T]) -> list[R]:
    """Return [work(item) for item in items], on as many threads as PyTorch may use.

    PyTorch splits each operation among its threads and synchronizes after it. The operations of a
    small model or of a decoding step are too small for that. Whole batches parallelize better, and
    PyTorch releases the GIL while it computes.
    """
    threads = torch.get_num_threads()
    at_once = min(threads, len(items))
    if at_once < 2:
        return [work(item) for item in items]

    def work_apart(item: T) -> R:
        torch.set_num_threads(threads // at_once)  # for the calling thread
        return work(item)

    futures = [_pool(threads).submit(work_apart, item) for item in items]
    try:
        return [future.result() for future in futures]
    finally:
        for future in futures:
            future.cancel()
        wait(futures)
        torch.set_num_threads(threads)  # some of its libraries have a global setting


@contextmanager
def small_operations() -> Iterator[None]:
    """Within the context, this thread computes alone if PyTorch's threads would wait by spinning.

    They would take the time of other programs, and of our own threads; see `nmt/__init__.py`.
    """
    threads = torch.get_num_threads()
    if threads == 1 or not nmt.THREADS_MAY_SPIN:
        yield
        return
    torch.set_num_threads(1)
    try:
        yield
    finally:
        torch.set_num_threads(threads)


def prefetch(items: Iterable[T], count: int) -> Iterator[T]:
    """Yield the items; a background thread prefetches up to `count` of them.

    An exception from the iterator is raised where its item would have been yielded.
    """
    source = iter(items)

    def draw() -> list[T]:
        return list(islice(source, 1))

    with ThreadPoolExecutor(1, "prefetch") as thread:
        drawn = deque(thread.submit(draw) for _ in range(count))
        try:
            while item := drawn.popleft().result():
                drawn.append(thread.submit(draw))
                yield from item
        finally:
            thread.shutdown(cancel_futures=True)


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    """Return the same pool each time: glibc keeps freed memory per thread."""
    return ThreadPoolExecutor(threads, "parallel_map")
