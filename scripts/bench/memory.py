"""Peak memory of whole training runs, and what `nmt train --dry-run` had estimated.

    python scripts/bench/memory.py --config base.yaml
    python scripts/bench/memory.py --config multi30k.yaml --set training.max_updates=600
    python scripts/bench/memory.py --from runs/opus --config mine.yaml --set training.max_updates=3

Reports resident memory in MiB (Linux only): the estimate, and the peak that Linux records.
"""

import re
import subprocess
import sys
import tempfile

from measuring import cost, options, table


def estimate(command: list[str]) -> float:
    """Return the peak memory in MiB according to a dry run."""
    run = subprocess.run([*command, "--dry-run"], stdout=subprocess.PIPE, text=True, check=True)
    [number] = re.findall(r"^peak memory +([\d,]+) MiB", run.stdout, re.MULTILINE)
    return float(number.replace(",", ""))


def main() -> None:
    parser = options(__doc__, "--config", "--set")
    parser.add_argument("--from", dest="from_", help="run to fine-tune")
    arguments = parser.parse_args()
    command = [sys.executable, "-m", "nmt", "train", "--config", arguments.config]
    command += ["--from", arguments.from_] if arguments.from_ else []
    command += [word for field in arguments.set for word in ("--set", field)]
    expected = estimate(command)
    with tempfile.TemporaryDirectory() as folder:
        _, _, peak = cost([*command, "--run", f"{folder}/run"])
    row = (f"`{arguments.config}`", f"{expected:,.0f} MiB", f"{peak:,.0f} MiB")
    print(table(("configuration", "estimate", "peak"), [row]))


if __name__ == "__main__":
    main()
