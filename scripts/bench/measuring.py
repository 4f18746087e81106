"""Shared by all benchmarks: options, alternating timings, peers, the machine's peak, tables.

The functions to compare run alternately, A B A B …, after a warm-up round, on the same number of
threads, so that other load on the machine affects both equally. Their medians are compared.
"""

import argparse
import os
import platform
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.utils.benchmark import Timer

HEADER = ("work", "nmt", "peer", "peer's result", "ratio")
OPTIONS: dict[str, dict[str, Any]] = {
    "--threads": {"type": int, "default": os.cpu_count() or 1},
    "--rounds": {"type": int, "default": 5},
    "--device": {"default": "cpu", "help": "cpu or cuda"},
    "--run": {"type": Path, "required": True, "help": "run folder that nmt train wrote"},
    "--config": {"default": "sample.yaml"},
    "--set": {"action": "append", "default": [], "metavar": "FIELD=VALUE"},
}
Batches = list[tuple[Tensor, Tensor]]


def options(description: str | None, *names: str) -> argparse.ArgumentParser:
    """Return a parser with the options of `OPTIONS` that are named."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    for name in names:
        parser.add_argument(name, **OPTIONS[name])
    return parser


def in_turn(
    works: Mapping[str, Callable[[], float]], rounds: int, warm_up: int = 1
) -> dict[str, float]:
    """Call the functions in turn; return the median result of each, after `warm_up` rounds."""
    found: dict[str, list[float]] = {name: [] for name in works}
    for number in range(warm_up + rounds):
        for name, work in works.items():
            value = work()
            if number >= warm_up:
                found[name].append(value)
            note = "" if number >= warm_up else " (warm-up)"
            print(f"  {name}: {readable(value)}{note}", file=sys.stderr)
    return {name: statistics.median(values) for name, values in found.items()}


def seconds(work: Callable[[], object]) -> float:
    """Return the seconds that one call of `work` takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def tokens_per_second(
    update: Callable[..., Tensor], batches: Iterable[Sequence[Any]], tokens: int
) -> float:
    """Return the speed of updates, each with a batch's items as arguments; it returns the loss.

    tokens: in the targets of all batches
    """

    def work() -> None:
        for batch in batches:
            loss = update(*batch)
        loss.item()  # waits for a GPU

    return tokens / seconds(work)


def count_tokens(batches: Batches) -> int:
    """Return the number of target tokens, including <eos>."""
    return sum(int((target[:, 1:] != 0).sum()) for _, target in batches)


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep this many processors busy within the context, as other programs do."""
    # They end with this process, even if it is killed.
    spin = f"import os\nwhile os.getppid() == {os.getpid()}: pass"
    spinning = [subprocess.Popen([sys.executable, "-c", spin]) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


class Peer:
    """A process, possibly in another environment, that does a unit of work on request.

    module: in this folder; its function `training(**given)` returns the function to call for each
    unit of work, which returns a number
    """

    def __init__(self, python: Path | str, module: str, threads: int, **given: Any):
        with tempfile.NamedTemporaryFile(suffix=".pt", delete=False) as file:
            torch.save(given, file)
        command = [str(python), __file__, module, file.name, str(threads)]
        # Without what nmt sets for itself: a peer's threads wait as they usually do.
        environment = {name: x for name, x in os.environ.items() if name != "OMP_WAIT_POLICY"}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    @property
    def peak_memory(self) -> float:
        """Its peak memory in MiB."""
        return memory(self._process.pid)

    def __call__(self) -> float:
        """Request one unit of work; return its result."""
        assert self._process.stdin
        assert self._process.stdout
        print("go", file=self._process.stdin, flush=True)
        for line in self._process.stdout:
            if line.startswith("measured "):
                return float(line.split()[1])
        raise SystemExit(f"{self._process.args!r} ended with {self._process.wait()}")


def memory(process: int | str = "self", kind: str = "VmHWM") -> float:
    """Return the resident memory of a process in MiB: its peak, or with VmRSS what it has now."""
    status = Path(f"/proc/{process}/status").read_text()
    return next(int(x.split()[1]) / 1024 for x in status.splitlines() if x.startswith(kind))


class Cost(NamedTuple):
    """What a command took: time, processor time of all its threads, and peak memory in MiB."""

    seconds: float
    processor_seconds: float
    memory: float


def cost(command: Sequence[str], folder: Path | None = None) -> Cost:
    """Run a command in a folder, and return what it took; exit if it fails."""
    before, start, peak = os.times(), time.perf_counter(), 0.0
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.DEVNULL) as process:
        while process.poll() is None:
            with suppress(StopIteration, OSError):  # it has just ended
                peak = memory(process.pid)
            time.sleep(0.005)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    after = os.times()
    used = after.children_user + after.children_system
    used -= before.children_user + before.children_system
    return Cost(time.perf_counter() - start, used, peak)


def ceiling(
    rows: int,
    inner: int,
    columns: int,
    dtype: torch.dtype = torch.float32,
    device: torch.device | None = None,
) -> float:
    """Return the GFLOP/s of a matrix product (rows, inner) × (inner, columns), the best of many.

    Uses the library that PyTorch uses, or for float32 oneDNN if that is faster.
    """
    from nmt.ops.linear import has_onednn, linear_by_onednn  # peers import this file without nmt

    device = device or torch.device("cpu")
    a, b = (torch.randn(n, inner, device=device).to(dtype) for n in (rows, columns))
    ways: list[Callable[[], object]] = [lambda: torch.mm(a, b.T)]
    if device.type == "cpu" and dtype == torch.float32 and has_onednn():
        ways.append(lambda: linear_by_onednn(a, b, None))
    best = []
    for way in ways:
        timer = Timer("way()", globals={"way": way}, num_threads=torch.get_num_threads())
        with torch.inference_mode():
            best.append(min(timer.blocked_autorange(min_run_time=1).times))
    return 2 * rows * inner * columns / min(best) / 1e9


def machine(device: str = "cpu") -> str:
    """Return a description of the machine, for the line above a table."""
    versions = f"PyTorch {torch.__version__}, Python {platform.python_version()}"
    if device != "cpu":
        return f"{torch.cuda.get_device_name(device)}; {versions}"
    information = Path("/proc/cpuinfo")
    lines = information.read_text().splitlines() if information.exists() else []
    models = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    name = models[0] if models else platform.processor() or platform.machine()
    instructions = torch.backends.cpu.get_cpu_capability()
    return f"{name} ({instructions}), {torch.get_num_threads()} threads; {versions}"


def compared(
    work: str, unit: str, found: Mapping[str, float], more_is_better: bool = False
) -> list[list[str]]:
    """Return a row for each peer, with columns as `HEADER`; the first of `found` is nmt's result.

    The ratio says how many times as good nmt's result is as the peer's.
    """
    (_, ours), *peers = found.items()
    rows = []
    for peer, theirs in peers:
        ratio = ours / theirs if more_is_better else theirs / ours
        results = (f"{readable(ours)} {unit}", peer, f"{readable(theirs)} {unit}")
        rows.append([work, *results, f"{ratio:.2f} ×"])
    return rows


def readable(number: float) -> str:
    """Return a number with four digits, or all digits before the point."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"


def table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a Markdown table."""
    return "\n".join(f"| {' | '.join(row)} |" for row in (header, ["---"] * len(header), *rows))


def by_kind(costs: Iterable[tuple[str, float]], kinds: Mapping[str, str]) -> dict[str, float]:
    """Return the sums of operations' costs by kind, and their total.

    kinds: regular expressions; an operation is of the first kind that matches its name
    """
    sums = dict.fromkeys([*kinds, "total"], 0.0)
    for operation, value in costs:
        sums[next(kind for kind in kinds if re.search(kinds[kind], operation))] += value
        sums["total"] += value
    return sums


def kinds_table(title: str, found: Mapping[str, Mapping[str, float]]) -> str:
    """Return a Markdown table with a column for each of the results of `by_kind`."""
    kinds = next(iter(found.values()))
    rows = ([kind, *(readable(sums[kind]) for sums in found.values())] for kind in kinds)
    return table([title, *found], rows)


def report(rows: Iterable[Sequence[str]], device: str = "cpu") -> None:
    """Print the rows of `compared` below a description of the machine."""
    print(f"\n{machine(device)}\n\n{table(HEADER, rows)}")


def be_peer(module: str, given: Path, threads: int) -> None:
    """Do a unit of work of a `Peer` for each line on standard input, and print its result."""
    torch.set_num_threads(threads)
    torch.manual_seed(1)
    work = import_module(module).training(**torch.load(given))
    given.unlink()
    for _ in sys.stdin:
        print("measured", work(), flush=True)


if __name__ == "__main__":
    be_peer(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3]))
