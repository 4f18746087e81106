"""Training with several processes: identifies them and exchanges data between them.

torchrun --nproc-per-node=2 -m nmt -- train --config multi30k.yaml

Each process (worker) has the whole model and a shard of every batch; `DistributedDataParallel`
averages the gradients (Li et al. 2020, https://arxiv.org/abs/2006.15704). Apart from that, the
workers exchange only a few numbers and strings, sent between CPUs by gloo, so that no GPU has to
synchronize.
"""

import os
import pickle
import signal
import sys
import time
import warnings
import weakref
from collections.abc import Callable, Iterator
from contextlib import (
    AbstractContextManager,
    contextmanager,
    nullcontext,
    redirect_stderr,
    redirect_stdout,
)
from datetime import timedelta
from pathlib import Path
from typing import Any, TypeVar

import torch
from torch import distributed, nn
from torch.distributed.device_mesh import DeviceMesh, init_device_mesh
from torch.distributed.distributed_c10d import Store
from torch.distributed.rendezvous import rendezvous
from torch.nn.parallel import DistributedDataParallel
from typing_extensions import override

from nmt.device import choose_device
from nmt.errors import UserError, one_line

T = TypeVar("T")
_TIMEOUT = timedelta(minutes=30)  # longer than the main worker ever needs to write files
_ROLL_CALL_SECONDS = 5.0
_SECONDS_A_LOOK = 0.1
_SECONDS_AFTER_AN_ERROR = 0.5
# 1 ms apart. Counted, not timed: a clock would keep running while the process is suspended.
_LOOKS_AT_MESSAGES = 1000


class Worker:
    """The only process of a training run; `DistributedWorker` is one of several.

    device: of this worker's model; rank: its number, where 0 is the main worker, the only one that
    writes and prints; size: number of workers; command: command line that starts `nmt` with this
    many workers; when_lost: advice to the user if a worker is lost; at_second_signal: handler of a
    second Ctrl-C
    """

    rank = 0
    size = 1
    command = "nmt"
    when_lost = "start again"
    at_second_signal: Any = signal.default_int_handler  # stop at once

    def __init__(self, device: torch.device):
        self.device = device

    @property
    def is_main(self) -> bool:
        """Whether this process writes and prints."""
        return self.rank == 0

    def sum(self, *numbers: float) -> tuple[float, ...]:
        """Return each number's sum over the workers."""
        return numbers

    def largest(self, *numbers: float) -> tuple[float, ...]:
        """Return each number's maximum over the workers."""
        return numbers

    def gather(self, value: T) -> list[T]:
        """Return the values of all workers, in the order of their ranks."""
        return [value]

    def main_first(self, main: Callable[[], T], others: Callable[[], T]) -> T:
        """Run `main` in the main worker, however long it takes, then `others` in the others."""
        return main()

    def replicate(self, module: nn.Module) -> nn.Module:
        """Return the module with a backward pass that averages the gradients of all workers."""
        return module

    @property
    def mesh(self) -> DeviceMesh | None:
        """The devices of all workers, to shard a model over; None for a single worker."""
        return None

    def averaging(self, module: nn.Module, now: bool) -> AbstractContextManager[None]:
        """Return a context for a pass whose gradients are averaged over workers now, or later."""
        return nullcontext()


class DistributedWorker(Worker):
    """One of several processes, all of which call the same methods in the same order.

    store: a shared key–value store, which works even if messages no longer arrive
    """

    at_second_signal = signal.SIG_IGN  # torchrun repeats signals that the terminal has already sent

    def __init__(self, store: Store, rank: int, size: int):
        super().__init__(torch.device("cpu"))
        self.rank, self.size = rank, size
        self._store = store
        self._sent: list[weakref.ref[torch.Tensor]] = []
        here = int(os.environ.get("LOCAL_WORLD_SIZE", size))
        machines = f"--nnodes={size // here} … " if here < size else ""
        self.command = f"torchrun {machines}--nproc-per-node={here} -m nmt --"

    def join(self, device: torch.device) -> None:
        """Wait for the others, and select this process's own GPU."""
        self.device = _own(device)
        backend = "cpu:gloo,cuda:nccl" if device.type == "cuda" else "gloo"
        distributed.init_process_group(
            backend,
            store=self._store,
            rank=self.rank,
            world_size=self.size,
            timeout=_TIMEOUT,
            device_id=self.device if device.type == "cuda" else None,
        )

    @override
    def sum(self, *numbers: float) -> tuple[float, ...]:
        return self._reduce_numbers(numbers, distributed.ReduceOp.SUM)

    @override
    def largest(self, *numbers: float) -> tuple[float, ...]:
        return self._reduce_numbers(numbers, distributed.ReduceOp.MAX)

    @override
    def gather(self, value: T) -> list[T]:
        mine = torch.frombuffer(bytearray(pickle.dumps(value)), dtype=torch.uint8)
        [longest] = self.largest(len(mine))
        rows = torch.zeros(self.size, int(longest), dtype=torch.uint8)
        rows[self.rank, : len(mine)] = mine
        self._reduce(rows, distributed.ReduceOp.SUM)  # the rows of the others are zero here
        return [pickle.loads(row.numpy().tobytes()) for row in rows]

    def main_first(self, main: Callable[[], T], others: Callable[[], T]) -> T:
        """Let the main process go first; uses the store, because messages time out."""
        if self.is_main:
            result = main()
            self._store.set("main is done", "")
            return result
        while not self._store.check(["main is done"]):
            time.sleep(_SECONDS_A_LOOK)
        return others()

    @override
    def replicate(self, module: nn.Module) -> nn.Module:
        with warnings.catch_warnings():
            # PyTorch 2.13 renames it to forward_sync_buffers, which older versions do not know.
            warnings.filterwarnings("ignore", "`broadcast_buffers` is deprecated", FutureWarning)
            # The only buffers are position tables, which are equal everywhere.
            return DistributedDataParallel(
                module, gradient_as_bucket_view=True, broadcast_buffers=False
            )

    @property
    @override
    def mesh(self) -> DeviceMesh:
        return init_device_mesh(self.device.type, (self.size,))

    @override
    def averaging(self, module: nn.Module, now: bool) -> AbstractContextManager[None]:
        if now or not isinstance(module, DistributedDataParallel):  # a sharded one always averages
            return nullcontext()
        return module.no_sync()

    @contextmanager
    def reporting_once(self) -> Iterator[None]:
        """Let only the main process print or, after a failure, the first process to fail."""
        try:
            with nullcontext() if self.is_main else _silence():
                yield
        except Exception as error:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # sent by torchrun after a failure
            lost = self._lost() if _is_lost_connection(error) else ""
            if self._store.add("failures", 1) > 1:
                sys.exit(2)
            if lost:
                raise UserError(f"{lost}; {self.when_lost}") from None
            raise

    @contextmanager
    def draining_messages(self) -> Iterator[None]:
        """Wait until gloo's threads have released all messages.

        They need the GIL to do so. Destroying the group waits for them, possibly while holding the
        GIL: a process that leaves too early deadlocks, as in
        https://github.com/pytorch/pytorch/issues/56297.
        """
        try:
            yield
        except BaseException:
            time.sleep(_SECONDS_AFTER_AN_ERROR)  # messages with gradients cannot be tracked
            raise
        finally:
            for _ in range(_LOOKS_AT_MESSAGES):  # limited: an error may keep a message alive
                if not self._in_use():
                    break
                time.sleep(0.001)

    def _reduce_numbers(
        self, numbers: tuple[float, ...], operation: distributed.ReduceOp.RedOpType
    ) -> tuple[float, ...]:
        tensor = torch.tensor(numbers, dtype=torch.float64)
        self._reduce(tensor, operation)
        return tuple(tensor.tolist())

    def _reduce(self, message: torch.Tensor, operation: distributed.ReduceOp.RedOpType) -> None:
        """Replace the messages of all processes by their sum or maximum, in place."""
        self._sent = [*self._in_use(), weakref.ref(message)]
        distributed.all_reduce(message, operation)

    def _in_use(self) -> list["weakref.ref[torch.Tensor]"]:
        return [message for message in self._sent if message() is not None]

    def _lost(self) -> str:
        """Return which processes were lost: those that do not respond in time."""
        self._store.set(f"{self.rank} is here", "")
        end = time.monotonic() + _ROLL_CALL_SECONDS
        while len(silent := self._silent()) > 1 and time.monotonic() < end:
            time.sleep(_SECONDS_A_LOOK)
        those = " or ".join(map(str, silent))
        return f"process {those} of {self.size} (counted from 0) was lost"

    def _silent(self) -> list[int]:
        return [rank for rank in range(self.size) if not self._store.check([f"{rank} is here"])]


@contextmanager
def joined(device: str | None = None) -> Iterator[Worker]:
    """Join the processes started by torchrun; without torchrun there is only this one.

    device: as for `choose_device`; each process uses its own GPU. Within the context, only the main
    process prints. After an error, the first process to fail raises it and the others exit; if a
    process is lost, one of the others raises a `UserError`.
    """
    if not _several():
        yield Worker(choose_device(device))
        return
    worker = DistributedWorker(*_meet())
    with worker.draining_messages(), worker.reporting_once():
        if device != "cpu":
            _make_own_gpu_current()  # or `choose_device` would allocate memory on the first GPU
        worker.join(choose_device(device))
        yield worker
    distributed.destroy_process_group()


def require_one(work: str) -> None:
    """Raise `UserError` if torchrun has started several processes."""
    if _several():
        raise UserError(f"{work} needs a single process; start it without torchrun")


def _several() -> bool:
    return os.environ.get("WORLD_SIZE", "1") != "1"


def _meet() -> tuple[Store, int, int]:
    """Return torchrun's store, the rank of this process, and the number of processes."""
    try:
        store, rank, size = next(rendezvous("env://", timeout=_TIMEOUT))
    except (ValueError, distributed.DistError) as error:
        reason = one_line(error)[:200]
        raise UserError(
            f"WORLD_SIZE is set, but the processes cannot connect to each other: {reason}; start "
            "them with torchrun"
        ) from None
    return store, rank, size


def _make_own_gpu_current() -> None:
    number = int(os.environ.get("LOCAL_RANK", 0))
    if number < torch.cuda.device_count():
        torch.cuda.set_device(number)


def _own(device: torch.device) -> torch.device:
    """Select and return the process's own GPU, if `device` is a GPU."""
    if device.type == "cpu":
        return device
    if device.type != "cuda":
        raise UserError(
            f"--device {device}: several processes can use only CUDA GPUs or the CPU; "
            "add --device cpu"
        )
    number = int(os.environ.get("LOCAL_RANK", 0))
    if number >= torch.cuda.device_count():
        raise UserError(
            f"this machine has too few GPUs ({torch.cuda.device_count()}); lower torchrun's "
            "--nproc-per-node"
        )
    own = torch.device("cuda", number)
    torch.cuda.set_device(own)
    return own


def _is_lost_connection(error: Exception) -> bool:
    """Return whether NCCL or gloo reports that another process does not answer."""
    by_gloo = isinstance(error, RuntimeError) and "gloo" in str(error)
    return isinstance(error, distributed.DistError) or by_gloo


@contextmanager
def _silence() -> Iterator[None]:
    with (
        Path(os.devnull).open("w", encoding="utf-8") as nowhere,
        redirect_stdout(nowhere),
        redirect_stderr(nowhere),
    ):
        yield
