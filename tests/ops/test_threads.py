"""Work on several threads comes back in order and leaves PyTorch's settings alone."""

import threading
import time

import pytest
import torch

from nmt.ops.threads import side_by_side


@pytest.mark.usefixtures("two_threads")
def test_items_are_worked_on_at_the_same_time_and_come_back_in_order():
    both = threading.Barrier(2)

    def work(item: int) -> tuple[int, int]:
        both.wait(timeout=10)  # broken, were one item done after the other
        return item, torch.get_num_threads()

    assert side_by_side(work, [5, 3, 4, 1]) == [(5, 1), (3, 1), (4, 1), (1, 1)]
    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_an_error_comes_through_and_the_threads_are_as_before():
    def work(item: int) -> int:
        return 1 // item

    with pytest.raises(ZeroDivisionError):
        side_by_side(work, [1, 0, 1])

    assert torch.get_num_threads() == 2


@pytest.mark.usefixtures("two_threads")
def test_nothing_is_at_work_any_longer_when_an_error_comes_through():
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
        side_by_side(work, ["wrong", "slow"])
    assert ended.is_set()


@pytest.mark.usefixtures("two_threads")
def test_the_threads_are_the_same_each_time():
    def work(item: int) -> int:
        time.sleep(0.05)
        return threading.get_ident()

    assert len({thread for _ in range(3) for thread in side_by_side(work, [1, 2])}) == 2


@pytest.mark.usefixtures("two_threads")
def test_one_item_keeps_all_threads():
    assert side_by_side(lambda _: torch.get_num_threads(), [1]) == [2]
    assert side_by_side(lambda _: torch.get_num_threads(), []) == []
