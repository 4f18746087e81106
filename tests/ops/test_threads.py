"""Work on several threads returns results in order and preserves PyTorch's settings."""

import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator

import pytest
import torch

import nmt
from nmt.ops.threads import parallel_map, prefetch, small_operations


@pytest.mark.usefixtures("two_threads")
def test_items_are_processed_in_parallel_and_returned_in_order():
    both = threading.Barrier(2)

    def work(item: int) -> tuple[int, int]:
        both.wait(timeout=10)  # times out if items are processed one after another
        return item, torch.get_num_threads()

    assert parallel_map(work, [5, 3, 4, 1]) == [(5, 1), (3, 1), (4, 1), (1, 1)]
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_an_error_propagates_and_the_thread_count_is_restored():
    def work(item: int) -> int:
        return 1 // item

    with pytest.raises(ZeroDivisionError):
        parallel_map(work, [1, 0, 1])
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_all_workers_have_finished_when_an_error_propagates():
    begun, ended = threading.Event(), threading.Event()

    def work(item: str) -> None:
        if item == "slow":
            begun.set()
            time.sleep(0.2)
            ended.set()
        else:
            begun.wait(timeout=10)
            raise ValueError(item)

    with pytest.raises(ValueError, match="wrong"):
        parallel_map(work, ["wrong", "slow"])
    assert ended.is_set()


@pytest.mark.usefixtures("two_threads")
def test_threads_are_reused():
    def work(item: int) -> int:
        time.sleep(0.05)
        return threading.get_ident()

    assert len({thread for _ in range(3) for thread in parallel_map(work, [1, 2])}) == 2


@pytest.mark.usefixtures("two_threads")
def test_a_single_item_may_use_all_threads():
    assert parallel_map(lambda _: torch.get_num_threads(), [1]) == [2]
    assert parallel_map(lambda _: torch.get_num_threads(), []) == []


def test_items_are_prefetched_in_order_up_to_a_limit():
    drawn: list[int] = []
    enough = threading.Event()

    def source() -> Iterator[int]:
        for item in range(5):
            drawn.append(item)
            if item == 2:
                enough.set()
            yield item

    items = prefetch(source(), 2)
    assert next(items) == 0
    assert enough.wait(timeout=10)  # prefetched while the first is in use
    assert drawn == [0, 1, 2]
    assert list(items) == [1, 2, 3, 4]
    assert list(prefetch([], 2)) == []


def test_an_error_of_the_source_is_raised_at_its_item():
    items = prefetch((6 // number for number in (3, 2, 0, 1)), 8)
    assert [next(items), next(items)] == [2, 3]
    with pytest.raises(ZeroDivisionError):
        next(items)


def test_closing_stops_prefetching():
    threads = threading.active_count()
    items = prefetch(iter(int, 1), 3)  # zeros without end
    assert next(items) == 0
    items.close()
    assert threading.active_count() == threads


@pytest.mark.usefixtures("two_threads")
@pytest.mark.parametrize(("may_spin", "threads"), [(True, 1), (False, 2)])
def test_small_operations_run_on_one_thread_where_others_would_spin(monkeypatch, may_spin, threads):
    monkeypatch.setattr(nmt, "THREADS_MAY_SPIN", may_spin)
    with small_operations():
        assert torch.get_num_threads() == threads
    assert torch.get_num_threads() == 2


@pytest.mark.parametrize(
    ("before", "expected"), [("", "False"), ("import torch", "True")], ids=["first", "too late"]
)
def test_threads_may_spin_if_pytorch_was_loaded_before(before, expected):
    program = f"{before}\nimport nmt\nprint(nmt.THREADS_MAY_SPIN)"
    environment = {name: x for name, x in os.environ.items() if name != "OMP_WAIT_POLICY"}
    command = [sys.executable, "-c", program]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert ended.stdout.split() == [expected]
