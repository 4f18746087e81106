"""Speed of commands on a busy computer, as a share of their speed on an idle one.

    python scripts/bench/busy.py --run runs/sample

Measures `nmt evaluate`, `nmt prepare` and `nmt serve` with 16 clients, alone and beside one or two
processes that each keep a core busy. For training: `training.py --busy`.
"""

import asyncio
import tempfile
from pathlib import Path

from decoding import program
from measuring import busy, in_turn, machine, options, seconds, table
from preparing import prepare, write
from serving import CLIENTS, clients, serving

from nmt.runs.finding import open_run

BUSY = 1, 2  # processes


def main() -> None:
    parser = options(__doc__, "--run", "--rounds")
    parser.add_argument("--pairs", type=int, default=100_000, help="pairs to prepare")
    parser.set_defaults(rounds=3)
    arguments = parser.parse_args()
    lines = [example.source for example in open_run(arguments.run).examples("test")]
    with tempfile.TemporaryDirectory() as folder, serving(arguments.run) as (port, _):
        stem = Path(folder, "pairs")
        write(arguments.pairs, stem)
        works = {
            "nmt evaluate": program("-m", "nmt", "evaluate", "--run", str(arguments.run)),
            f"nmt prepare, {arguments.pairs:,} pairs": lambda: prepare(stem).seconds,
            f"nmt serve, {CLIENTS} clients": lambda: seconds(
                lambda: asyncio.run(clients(port, lines, CLIENTS))
            ),
        }
        alone = in_turn(works, arguments.rounds)
        rows = {name: [name, f"{alone[name]:.2f} s"] for name in works}
        for count in BUSY:
            with busy(count):
                beside = in_turn(works, arguments.rounds, warm_up=0)
            for name, row in rows.items():
                row.append(f"{alone[name] / beside[name]:.2f}")
    shares = (f"share of that speed beside {count}" for count in BUSY)
    print(f"{machine()}\n\n{table(['', 'alone', *shares], rows.values())}")


if __name__ == "__main__":
    main()
