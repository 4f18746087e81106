"""Dynamic batching: sentences of different requests are translated together.

While the model translates a batch, new sentences wait in a queue and form the next one. Requests
take turns, one sentence each, so that a long text does not delay a single sentence.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Generic, Protocol, TypeVar

import anyio

from nmt.serve.errors import ApiError

T = TypeVar("T")
R = TypeVar("R")


class Model(Protocol[T]):
    """Interface of `ServedRun` that the batcher needs."""

    def translate(self, lines: Sequence[str], n: int) -> list[list[T]]:
        """Return up to `n` translations of each line, best first."""


@dataclass(eq=False)
class _Line(Generic[T]):
    text: str
    result: "asyncio.Future[list[T]]"


@dataclass(eq=False)
class _Job(Generic[T]):
    """The lines of one request that are not being translated yet."""

    model: Model[T]
    n: int
    lines: deque[_Line[T]] = field(default_factory=deque)


class Batcher(Generic[T]):
    """Collects lines into batches; `run` must be running while it is used.

    waiting: maximum number of lines in the queue; workers: batches translated in parallel;
    at_once: maximum lines per batch; pause: seconds to wait for more lines, only if the previous
    batch had more than one
    """

    def __init__(self, waiting: int, workers: int = 1, at_once: int = 64, pause: float = 0.003):
        self._most_waiting = waiting
        self._at_once = at_once
        self._pause = pause
        self._jobs: deque[_Job[T]] = deque()
        self._arrived = asyncio.Event()
        self._workers = workers
        self._threads = ThreadPoolExecutor(workers, "model")
        self._running = 0  # lines that are being translated

    @property
    def waiting(self) -> int:
        """Number of lines in the queue."""
        return sum(len(job.lines) for job in self._jobs)

    async def translate(self, model: Model[T], lines: Sequence[str], n: int) -> list[list[T]]:
        """Return up to `n` translations of each line."""
        return [options async for options in self.stream(model, lines, n)]

    async def stream(self, model: Model[T], lines: Sequence[str], n: int) -> AsyncIterator[list[T]]:
        """Yield the translations of each line in order, as they become ready.

        Raises `ApiError` 503 if the queue is full. If cancelled, it drops the lines still queued.
        """
        waiting = self.waiting
        if waiting and waiting + len(lines) > self._most_waiting:
            message = "Too many requests are waiting; try again"
            raise ApiError(503, message, {"Retry-After": "1"})
        loop = asyncio.get_running_loop()
        job = _Job(model, n, deque(_Line(line, loop.create_future()) for line in lines))
        results = [line.result for line in job.lines]
        if job.lines:
            self._jobs.append(job)
            self._arrived.set()
        try:
            for result in results:
                yield await result
        finally:
            job.lines.clear()
            for result in results:
                result.cancel()

    async def run_in_worker(self, work: Callable[[], R]) -> R:
        """Call `work`, which needs a model, when a worker is free."""
        return await asyncio.get_running_loop().run_in_executor(self._threads, work)

    async def run(self) -> None:
        """Translate queued lines until cancelled."""
        async with anyio.create_task_group() as group:
            for _ in range(self._workers):
                group.start_soon(self._work)

    async def _work(self) -> None:
        """Translate one batch after another."""
        last = 1
        while True:
            await self._arrived.wait()
            if last > 1:
                await self._gather(last)
            model, n, batch = self._take()
            if not model:
                self._arrived.clear()
                continue
            last = len(batch)
            self._running += last
            try:
                await self._translate(model, n, batch)
            finally:
                self._running -= last

    async def _gather(self, wanted: int) -> None:
        """Wait briefly until the queue has as many lines as the last batch."""
        loop = asyncio.get_running_loop()
        until = loop.time() + self._pause
        while self.waiting < wanted and loop.time() < until:
            await asyncio.sleep(self._pause / 6)

    def _take(self) -> tuple[Model[T] | None, int, list[_Line[T]]]:
        """Take a batch from the queue: lines for the same model with the same options.

        Takes an equal share of the queue and leaves the rest to the other workers.
        """
        while self._jobs and not self._jobs[0].lines:
            self._jobs.popleft()
        if not self._jobs:
            return None, 0, []
        first = self._jobs[0]
        alike = [job for job in self._jobs if (job.model, job.n) == (first.model, first.n)]
        share = -(-(self.waiting + self._running) // self._workers)
        most = min(share, self._at_once)
        batch: list[_Line[T]] = []
        while len(batch) < most and (alike := [job for job in alike if job.lines]):
            batch += [job.lines.popleft() for job in alike[: most - len(batch)]]
        self._jobs.rotate(-1)  # next comes another model or another `n`
        return first.model, first.n, batch

    async def _translate(self, model: Model[T], n: int, batch: list[_Line[T]]) -> None:
        texts = [line.text for line in batch]
        loop = asyncio.get_running_loop()
        try:
            found = await loop.run_in_executor(self._threads, model.translate, texts, n)
        except Exception as error:
            if len(batch) == 1:
                _settle(batch[0], error)
                return
            for line in batch:  # one bad line must not fail the others
                await self._translate(model, n, [line])
            return
        for line, options in zip(batch, found, strict=True):
            if not line.result.done():
                line.result.set_result(options)


def _settle(line: _Line[T], error: Exception) -> None:
    if not line.result.done():
        line.result.set_exception(error)
