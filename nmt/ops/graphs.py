"""Replays functions on a GPU as CUDA graphs.

The operations of a small model take a GPU less time than Python needs to launch them. A CUDA graph
launches all operations of a function at once: it records them in a first call, and repeats them on
the same memory.
"""

import logging
from collections import Counter
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from nmt.errors import one_line

_LOG = logging.getLogger(__name__)
_MOST_GRAPHS = 128

Shapes = tuple[tuple[torch.Size, torch.dtype], ...]


class ReplayedByShape:
    """A function of CUDA tensors that returns a tensor, replayed once its input shapes repeat.

    The first call with inputs of some shapes runs the function, which also loads its kernels; the
    second captures a graph, which it and all further ones replay. At most 128 graphs are captured,
    and they share their memory. Shapes that cannot be captured, for instance because they do not
    fit into memory, always run the function.

    The function may change tensors in place and draw random numbers, which differ in each replay.
    It must not read values from the GPU, use tensors on the CPU, or depend on anything else that
    changes between calls: a replay repeats the numbers and addresses of the capture.
    """

    def __init__(self, function: Callable[..., Tensor]):
        self._function = function
        self._calls: Counter[Shapes] = Counter()
        self._graphs: dict[Shapes, _Graph] = {}
        self._pool: Any = None
        self._failed = False
        self._most = _MOST_GRAPHS

    def __call__(self, *inputs: Tensor) -> Tensor:
        """Return the function's result."""
        shapes = tuple((x.shape, x.dtype) for x in inputs)
        self._calls[shapes] += 1
        if self._calls[shapes] == 2 and len(self._graphs) < self._most:
            self._capture(shapes, inputs)
        graph = self._graphs.get(shapes)
        return graph.replay(inputs) if graph else self._run(*inputs)

    def _run(self, *inputs: Tensor) -> Tensor:
        try:
            return self._function(*inputs)
        except torch.cuda.OutOfMemoryError:
            if not self._graphs:
                raise
        # Here, no traceback keeps the tensors of the failed call.
        self._release()
        return self._function(*inputs)

    def _release(self) -> None:
        """Free the memory of all graphs; half as many may be captured again, common ones first."""
        self._most = len(self._graphs) // 2
        _LOG.warning(
            "training needs the memory that CUDA graphs held; from now on, at most %d shapes of "
            "batches are replayed (training.graphs: never turns them off)",
            self._most,
        )
        self._graphs.clear()
        self._calls.clear()
        self._pool = None
        torch.cuda.empty_cache()

    def _capture(self, shapes: Shapes, inputs: tuple[Tensor, ...]) -> None:
        stream = torch.cuda.current_stream()
        try:
            if self._pool is None:
                self._pool = torch.cuda.graph_pool_handle()
            self._graphs[shapes] = _Graph(self._function, inputs, self._pool)
        except RuntimeError as error:  # also when memory runs out
            torch.cuda.set_stream(stream)  # PyTorch does not restore it if a capture fails
            level = logging.DEBUG if self._failed else logging.WARNING
            self._failed = True
            reason = one_line(error)[:200]
            _LOG.log(level, "a batch of new shape is not replayed, which is slower: %s", reason)


class _Graph:
    """A function, captured for inputs of some shapes."""

    def __init__(
        self, function: Callable[..., Tensor], inputs: tuple[Tensor, ...], pool: Any
    ) -> None:
        self._inputs = [torch.empty_like(x).copy_(x) for x in inputs]
        self._graph = torch.cuda.CUDAGraph()
        # Other threads may use CUDA meanwhile, such as one that loads batches.
        with torch.cuda.graph(self._graph, pool, capture_error_mode="thread_local"):
            self._output = function(*self._inputs)

    def replay(self, inputs: tuple[Tensor, ...]) -> Tensor:
        for own, given in zip(self._inputs, inputs, strict=True):
            own.copy_(given, non_blocking=True)
        self._graph.replay()
        return self._output.clone()  # the next graph reuses its memory
