"""One sentence from the shell, start-up included: `nmt translate` against `import torch` alone.

python scripts/bench/one_sentence.py --run runs/sample
"""

import os
import subprocess
import sys
from functools import partial
from pathlib import Path

from measuring import faster, in_turn, options, report, seconds

SENTENCE = "oscar likes to code"


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--run", type=Path, required=True, help="run folder that nmt train wrote")
    arguments = parser.parse_args()
    environment = os.environ | {"OMP_NUM_THREADS": str(arguments.threads)}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # use cached bytecode, as users do
    run = partial(subprocess.run, check=True, stdout=subprocess.DEVNULL, env=environment)
    translate = ["-m", "nmt", "translate", "--run", str(arguments.run), SENTENCE]
    works = {
        "nmt": lambda: seconds(lambda: run([sys.executable, *translate])),
        "import torch": lambda: seconds(lambda: run([sys.executable, "-c", "import torch"])),
    }
    found = in_turn(works, arguments.rounds)
    name = "one sentence, cold"
    row = faster(name, "python -c 'import torch'", found["nmt"], found["import torch"], 1 / 0.35)
    report([row], arguments.json)


if __name__ == "__main__":
    main()
