"""Shared by all benchmarks: alternating timings, the machine's peak, rows of tables.

The functions to compare run alternately, A B A B …, after a warm-up round, on the same number of
threads, so that other load on the machine affects both equally. Their medians are compared.
"""

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch

ROUNDS = 5


@dataclass(frozen=True)
class Row:
    """One line of a table.

    work: what was measured; peer: the program compared with; ours, theirs: medians in `unit`;
    ratio: how many times as good ours is as the peer's, > 1 if better; target: minimum ratio
    """

    work: str
    peer: str
    unit: str
    ours: float
    theirs: float
    ratio: float
    target: float

    def markdown(self) -> str:
        """Return the row as a line of a Markdown table, columns as `HEADER`."""
        cells = [self.work, f"{readable(self.ours)} {self.unit}", self.peer]
        cells += [
            f"{readable(self.theirs)} {self.unit}",
            f"{self.ratio:.2f} ×",
            f"≥ {self.target:.2f} ×",
        ]
        return f"| {' | '.join(cells)} |"


def readable(number: float) -> str:
    """Return a number with four digits, or all digits before the point."""
    return f"{number:,.0f}" if number >= 1000 else f"{number:.4g}"


HEADER = "| work | nmt | peer | peer's result | ratio | target |\n|" + " --- |" * 6


def less(work: str, peer: str, unit: str, ours: float, theirs: float, target: float) -> Row:
    """Compare costs, such as memory: less is better."""
    return Row(work, peer, unit, ours, theirs, theirs / ours, target)


def faster(work: str, peer: str, ours: float, theirs: float, target: float) -> Row:
    """Compare seconds: fewer is better."""
    return less(work, peer, "s", ours, theirs, target)


def more(work: str, peer: str, unit: str, ours: float, theirs: float, target: float) -> Row:
    """Compare rates, such as tokens per second: more is better."""
    return Row(work, peer, unit, ours, theirs, ours / theirs, target)


def in_turn(
    works: Mapping[str, Callable[[], float]], rounds: int = ROUNDS, warm_up: int = 1
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


@contextmanager
def busy(count: int) -> Iterator[None]:
    """Keep this many processors busy within the context, as other programs do."""
    # They end with this process, even if it is killed.
    spin = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
    command = [sys.executable, "-c", spin]
    spinning = [subprocess.Popen(command) for _ in range(count)]
    try:
        yield
    finally:
        for process in spinning:
            process.kill()
            process.wait()


class Peer:
    """A script in another environment that does a unit of work on request.

    The script calls `serve(work)`: for each line on standard input, this calls `work` and prints
    the number that it returns. The script imports this module from its own folder.
    """

    def __init__(self, python: Path, script: str, *arguments: str):
        command = [str(python), str(Path(__file__).with_name(script)), *arguments]
        # Without what nmt sets for itself: a peer's threads wait as they usually do.
        environment = {name: x for name, x in os.environ.items() if name != "OMP_WAIT_POLICY"}
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    @property
    def peak_memory(self) -> float:
        """Its peak memory in MiB."""
        return peak_memory(self._process.pid)

    def __call__(self) -> float:
        """Request one unit of work; return its result."""
        assert self._process.stdin
        assert self._process.stdout
        print("go", file=self._process.stdin, flush=True)
        for line in self._process.stdout:
            if line.startswith("measured "):
                return float(line.split()[1])
        raise SystemExit(f"{self._process.args!r} ended with {self._process.wait()}")


def peak_memory(process: int | str = "self", reset: bool = False) -> float:
    """Return the peak resident memory of a process in MiB, as Linux reports it.

    reset: the next peak counts from now.
    """
    folder = Path(f"/proc/{process}")
    status = (folder / "status").read_text()
    if reset:
        (folder / "clear_refs").write_text("5")  # proc(5)
    return next(int(x.split()[1]) / 1024 for x in status.splitlines() if x.startswith("VmHWM"))


def serve(work: Callable[[], float]) -> None:
    """Main loop of a `Peer`'s script: call `work` for each line read."""
    for _ in sys.stdin:
        print("measured", work(), flush=True)


def read_batches(path: str) -> list[tuple[torch.Tensor, torch.Tensor]]:
    """Return the stored batches: pairs of (batch, source) and (batch, target)."""
    arrays = np.load(path)
    return [
        (torch.from_numpy(arrays[f"source{i}"]), torch.from_numpy(arrays[f"target{i}"]))
        for i in range(len(arrays.files) // 2)
    ]


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
    out = torch.empty(rows, columns, dtype=dtype, device=device)
    ways: list[Callable[[], object]] = [lambda: torch.mm(a, b.T, out=out)]
    if device.type == "cpu" and dtype == torch.float32 and has_onednn():
        ways.append(lambda: linear_by_onednn(a, b, None))
    count = 1 if device.type == "cpu" else 20  # enough to make the wait for a GPU negligible

    def work(way: Callable[[], object]) -> None:
        for _ in range(count):
            way()
        out[0, 0].item()

    with torch.inference_mode():
        best = min(seconds(partial(work, way)) for way in ways for _ in range(20))
    return 2 * rows * inner * columns * count / best / 1e9


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


def options(description: str | None, device: bool = False) -> argparse.ArgumentParser:
    """Return a parser with the common options; device: whether it can run on a GPU."""
    parser = argparse.ArgumentParser(description=(description or "").splitlines()[0])
    parser.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    if device:
        parser.add_argument("--device", default="cpu", help="cpu or cuda")
    parser.add_argument("--json", type=Path, help="write the rows here as well")
    return parser


def report(rows: Sequence[Row], path: Path | None, device: str = "cpu") -> None:
    """Print the rows as Markdown and JSON; with a path, also write the JSON to a file."""
    print(f"\n{machine(device)}\n\n{HEADER}")
    for row in rows:
        print(row.markdown())
    text = json.dumps([asdict(row) for row in rows], ensure_ascii=False, indent=2)
    print(f"\n{text}")
    if path:
        path.write_text(text + "\n", encoding="utf-8")
