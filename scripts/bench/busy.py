"""Speed of commands on a busy computer, as a share of their speed on an idle one.

    python scripts/bench/busy.py --run runs/sample

Measures `nmt evaluate`, `nmt prepare` and `nmt serve` with 16 clients, alone and beside one or two
processes that each keep a core busy. For training: `training.py --busy`.
"""

import asyncio
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from measuring import busy, cost, in_turn, machine, options, seconds, table
from preparing import prepare, write
from serving import CLIENTS, Server, clients

from nmt.runs.finding import open_run

BUSY = 1, 2  # processes


def evaluating(run: Path) -> Callable[[], float]:
    command = [sys.executable, "-m", "nmt", "evaluate", "--run", str(run)]
    return lambda: cost(command).seconds


def serving(server: Server, lines: Sequence[str]) -> Callable[[], float]:
    return lambda: seconds(lambda: asyncio.run(clients(server.port, lines, CLIENTS)))


def main() -> None:
    parser = options(__doc__, "--run", "--rounds")
    parser.add_argument("--pairs", type=int, default=100_000, help="pairs to prepare")
    parser.set_defaults(rounds=3)
    arguments = parser.parse_args()
    lines = [example.source for example in open_run(arguments.run).examples("test")]
    server = Server(arguments.run)
    with tempfile.TemporaryDirectory() as folder:
        stem = Path(folder, "pairs")
        write(arguments.pairs, stem)
        works = {
            "nmt evaluate": evaluating(arguments.run),
            f"nmt prepare, {arguments.pairs:,} pairs": lambda: prepare(stem).seconds,
            f"nmt serve, {CLIENTS} clients": serving(server, lines),
        }
        alone = in_turn(works, arguments.rounds)
        rows = {name: [name, f"{alone[name]:.2f} s"] for name in works}
        for count in BUSY:
            with busy(count):
                beside = in_turn(works, arguments.rounds, warm_up=0)
            for name, row in rows.items():
                row.append(f"{alone[name] / beside[name]:.2f}")
    server.process.terminate()
    server.process.wait()
    shares = (f"share of that speed beside {count}" for count in BUSY)
    print(f"{machine()}\n\n{table(['', 'alone', *shares], rows.values())}")


if __name__ == "__main__":
    main()
