"""Peak memory of whole training runs, and what `nmt train --dry-run` had estimated.

    python scripts/bench/memory.py --config base.yaml
    python scripts/bench/memory.py --config multi30k.yaml --set training.max_updates=600
    python scripts/bench/memory.py --from runs/opus --config mine.yaml --set training.max_updates=3

Reports resident memory in MiB (Linux only): the estimate, the peak of the run, and the peak within
each tenth of its updates, which shows whether memory grows. Peaks are those that Linux records, so
none falls between two readings.
"""

import argparse
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measuring import peak_memory
from tqdm import tqdm

INTERVAL = 0.2  # seconds
PARTS = 10


def estimate(command: list[str]) -> float:
    """Return the peak memory in MiB according to a dry run."""
    run = subprocess.run([*command, "--dry-run"], stdout=subprocess.PIPE, text=True, check=True)
    [number] = re.findall(r"^peak memory +([\d,]+) MiB", run.stdout, re.MULTILINE)
    return float(number.replace(",", ""))


def observe(command: list[str], folder: Path) -> tuple[float, list[float]]:
    """Train; return the peak memory in MiB, and the peak within each part of the updates."""
    log, overall = folder / "updates.jsonl", 0.0
    found: list[tuple[int, float]] = []  # number of the last logged update, peak since the last one
    process = subprocess.Popen([*command, "--run", str(folder)], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        try:
            peak = peak_memory(process.pid, reset=True)
        except (StopIteration, OSError):
            break  # it is ending
        overall = max(overall, peak)
        if log.exists():
            found.append((log.read_bytes().count(b"\n"), peak))
        time.sleep(INTERVAL)
    if process.wait():
        raise SystemExit(process.returncode)
    most = found[-1][0] + 1
    parts = [[m for n, m in found if n * PARTS // most == part] for part in range(PARTS)]
    return overall, [max(part, default=float("nan")) for part in parts]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--config", default="sample.yaml")
    parser.add_argument("--from", dest="from_", help="run to fine-tune")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "nmt", "train", "--config", arguments.config]
    command += ["--from", arguments.from_] if arguments.from_ else []
    command += [word for field in arguments.set for word in ("--set", field)]
    expected = estimate(command)
    tqdm.write(f"estimate {expected:,.0f} MiB")
    with tempfile.TemporaryDirectory() as name:
        peak, parts = observe(command, Path(name) / "run")
    print("| configuration | estimate | peak | peak in each tenth of the updates |")
    print("| --- | --- | --- | --- |")
    shown = ", ".join(f"{part:,.0f}" for part in parts)
    print(f"| `{arguments.config}` | {expected:,.0f} MiB | {peak:,.0f} MiB | {shown} |")


if __name__ == "__main__":
    main()
