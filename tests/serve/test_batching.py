"""Batches: which requests are translated together, in what order, and failures."""

import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

import anyio
import pytest
from anyio.abc import TaskGroup

from nmt.serve.batching import Batcher
from nmt.serve.errors import ApiError

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


class Echo:
    """A model that returns each line unchanged; `bad` lines fail. It waits until `free` is set.

    order: a list to append the first line of each batch to
    """

    def __init__(self, bad: Sequence[str] = (), order: list[str] | None = None) -> None:
        self.order = [] if order is None else order
        self.batches: list[list[str]] = []
        self.free = threading.Event()
        self.free.set()
        self.bad = bad

    def translate(self, lines: Sequence[str], n: int) -> list[list[str]]:
        self.batches.append(list(lines))
        self.order.append(lines[0])
        assert self.free.wait(10)
        if set(lines) & set(self.bad):
            raise RuntimeError("bad line")
        return [[line] * n for line in lines]


@asynccontextmanager
async def running(batcher: Batcher[str]) -> AsyncIterator[None]:
    """Run the batcher until the block ends."""
    async with anyio.create_task_group() as group:
        group.start_soon(batcher.run)
        yield
        group.cancel_scope.cancel()


@asynccontextmanager
async def waiting(batcher: Batcher[str]) -> AsyncIterator[TaskGroup]:
    """Collect the requests that the block makes; then run the batcher until all are answered."""
    async with anyio.create_task_group() as group:
        async with anyio.create_task_group() as asking:
            yield asking
            await anyio.sleep(0.01)
            group.start_soon(batcher.run)
        group.cancel_scope.cancel()


async def wait_for_batch(model: Echo) -> None:
    with anyio.fail_after(10):
        while not model.batches:
            await anyio.sleep(0.001)


async def test_requests_that_arrive_together_are_translated_together() -> None:
    model, batcher = Echo(), Batcher[str](100)
    found: dict[str, list[list[str]]] = {}

    async def ask(line: str) -> None:
        found[line] = await batcher.translate(model, [line], 2)

    model.free.clear()
    async with running(batcher), anyio.create_task_group() as asking:
        asking.start_soon(ask, "first")
        await wait_for_batch(model)
        for number in range(5):
            asking.start_soon(ask, f"line {number}")
        await anyio.sleep(0.01)
        model.free.set()
    assert [len(batch) for batch in model.batches] == [1, 5]
    assert all(options == [[line, line]] for line, options in found.items())


async def test_several_batches_are_translated_at_once() -> None:
    class Pair(Echo):
        together = threading.Barrier(2, timeout=10)

        def translate(self, lines: Sequence[str], n: int) -> list[list[str]]:
            self.together.wait()
            return super().translate(lines, n)

    model, batcher = Pair(), Batcher[str](100, workers=2)
    lines = [f"line {number}" for number in range(10)]
    async with running(batcher):
        found = await batcher.translate(model, lines, 1)
    assert found == [[line] for line in lines]
    assert sorted(map(len, model.batches)) == [5, 5]


async def test_a_long_request_does_not_block_a_short_one() -> None:
    model, batcher = Echo(), Batcher[str](1000, at_once=4)
    model.free.clear()
    async with running(batcher), anyio.create_task_group() as asking:
        asking.start_soon(batcher.translate, model, [f"page {n}" for n in range(40)], 1)
        await wait_for_batch(model)
        asking.start_soon(batcher.translate, model, ["short"], 1)
        await anyio.sleep(0.01)
        model.free.set()
    assert "short" in model.batches[1]


async def test_with_a_full_queue_requests_are_refused_with_retry_after() -> None:
    model, batcher = Echo(), Batcher[str](10)
    async with anyio.create_task_group() as group:
        group.start_soon(batcher.translate, model, ["line"] * 10, 1)
        await anyio.sleep(0.01)
        with anyio.fail_after(10), pytest.raises(ApiError) as refused:
            await batcher.translate(model, ["one more"], 1)
        assert refused.value.status == 503
        assert refused.value.headers["Retry-After"]
        assert batcher.waiting == 10
        group.cancel_scope.cancel()


async def test_cancelled_requests_are_not_translated() -> None:
    model, batcher = Echo(), Batcher[str](100)
    with anyio.move_on_after(0.01):
        await batcher.translate(model, ["dropped"] * 50, 1)
    assert batcher.waiting == 0
    async with running(batcher):
        assert await batcher.translate(model, ["kept"], 1) == [["kept"]]
    assert model.batches == [["kept"]]


async def test_a_line_that_fails_does_not_affect_others() -> None:
    model, batcher = Echo(bad=["bad"]), Batcher[str](100)
    found: list[list[str]] = []

    async def ask_good() -> None:
        found.extend(await batcher.translate(model, ["good"], 1))

    async def ask_bad() -> None:
        with pytest.raises(RuntimeError, match="bad line"):
            await batcher.translate(model, ["bad"], 1)

    async with waiting(batcher) as asking:
        asking.start_soon(ask_good)
        asking.start_soon(ask_bad)
    assert model.batches[0] == ["good", "bad"]
    assert found == [["good"]]


async def test_models_alternate_and_never_share_a_batch() -> None:
    order: list[str] = []
    one, two = Echo(order=order), Echo(order=order)
    batcher = Batcher[str](100, at_once=2)
    async with waiting(batcher) as asking:
        asking.start_soon(batcher.translate, one, ["a"] * 6, 1)
        asking.start_soon(batcher.translate, two, ["b"] * 2, 1)
    assert one.batches == [["a", "a"]] * 3
    assert two.batches == [["b", "b"]]
    assert order == ["a", "b", "a", "a"]
