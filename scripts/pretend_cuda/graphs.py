"""Graphs of the simulated device: recorded operations, executed again on the same tensors.

As with CUDA, a capture has no effect: what it writes to earlier tensors is undone, as are its
random numbers. Python numbers and addresses are those of the capture. Before a replay, the tensors
that any graph of the pool has created are overwritten, because a real pool may reuse their memory.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor
from torch.utils._pytree import tree_leaves

Call = tuple[Callable[..., Any], Any, dict[str, Any], Any]


class Pool:
    """The memory that graphs share: the tensors that they have created."""

    def __init__(self) -> None:
        self.created: list[Tensor] = []

    def overwrite(self) -> None:
        for tensor in self.created:
            if tensor.is_floating_point():
                tensor.fill_(torch.nan)


class PretendGraph:
    """Stands for `torch.cuda.CUDAGraph`."""

    replays = 0  # of all graphs

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.pool = Pool()

    def replay(self) -> None:
        PretendGraph.replays += 1
        with torch._C._DisableTorchDispatch(), torch.no_grad():
            self.pool.overwrite()
            for func, args, kwargs, results in self.calls:
                again = func(*args, **kwargs)
                for old, new in zip(tree_leaves(results), tree_leaves(again), strict=True):
                    if isinstance(old, Tensor) and old.data_ptr() != new.data_ptr():
                        old.copy_(new)


class _Capture:
    """Records operations; remembers the tensors that they change, and how they were before."""

    def __init__(self, graph: PretendGraph):
        self.graph = graph
        self._before: dict[int, tuple[torch.UntypedStorage, torch.UntypedStorage]] = {}
        self._own: set[int] = set()
        self._random = torch.get_rng_state()

    def call(self, func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
        for argument, value in zip(func._schema.arguments, args, strict=False):
            self._remember(argument, value)
        for argument in func._schema.arguments:
            self._remember(argument, kwargs.get(argument.name))
        known = {_address(x) for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)}
        found = func(*args, **kwargs)
        for result in tree_leaves(found):
            if isinstance(result, Tensor) and _address(result) not in known:
                self._own.add(_address(result))
                self.graph.pool.created.append(result)
        self.graph.calls.append((func, args, kwargs, found))
        return found

    def _remember(self, argument: Any, value: Any) -> None:
        if argument.alias_info is None or not argument.alias_info.is_write:
            return
        for tensor in tree_leaves(value):
            if isinstance(tensor, Tensor) and _address(tensor) not in self._own:
                storage = tensor.untyped_storage()
                self._before.setdefault(_address(tensor), (storage, _copy(storage)))

    def undo(self) -> None:
        for storage, before in self._before.values():
            storage.copy_(before)
        torch.set_rng_state(self._random)


_capture: _Capture | None = None


def call(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    """Call an operation of the device; record it while capturing."""
    return _capture.call(func, args, kwargs) if _capture else func(*args, **kwargs)


def refuse_while_capturing(reason: str) -> None:
    """Raise `RuntimeError` while capturing, as CUDA does if the host waits."""
    if _capture:
        raise RuntimeError(f"operation not permitted when stream is capturing: {reason}")


@contextmanager
def capturing(graph: PretendGraph, pool: Pool, **_: Any) -> Iterator[None]:
    """Stand for `torch.cuda.graph`."""
    global _capture
    graph.pool, _capture = pool, _Capture(graph)
    try:
        yield
    finally:
        _capture.undo()
        _capture = None
    pool.overwrite()


def _address(tensor: Tensor) -> int:
    return tensor.untyped_storage().data_ptr()


def _copy(storage: torch.UntypedStorage) -> torch.UntypedStorage:
    return torch.UntypedStorage(len(storage)).copy_(storage)  # type: ignore[no-untyped-call]
