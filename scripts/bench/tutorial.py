"""Training speed of the tutorial notebook's model: nmt beside the notebook's own loop.

python scripts/bench/tutorial.py --set data.path=english-german-both.pkl
"""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from batches import update, write_batches
from measuring import Peer, in_turn, more, options, report

from nmt.config_files import load_config
from nmt.corpus.prepare import prepare
from nmt.run_folder import RunFolder
from nmt.training.processes import Processes
from nmt.training.trainer import Trainer

UPDATES = 20


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--set", action="append", default=[], help="a field of orahilly.yaml")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    config = load_config("tutorials/orahilly.yaml", arguments.set)
    with tempfile.TemporaryDirectory() as scratch:
        processes = Processes(torch.device("cpu"))
        trainer = Trainer(config, prepare(config), RunFolder(Path(scratch)), processes)
        order = trainer.plan.order(1)[:UPDATES]
        batches = Path(scratch, "batches.npz")
        write_batches(trainer, order, batches)
        tokenizers = trainer.prepared.tokenizers
        settings = {
            "sizes": [tokenizers.source.size, tokenizers.target.size],
            "threads": arguments.threads,
        }

        def notebook(cached: bool) -> Peer:
            given = json.dumps(settings | {"cached": cached})
            return Peer(Path(sys.executable), "notebook_training.py", str(batches), given)

        works: dict[str, Callable[[], float]] = {
            "nmt": lambda: update(trainer, order),
            "notebook": notebook(cached=False),
            "notebook, positions cached": notebook(cached=True),
        }
        found = in_turn(works, arguments.rounds)
    ours = found.pop("nmt")
    name = "training, tutorials/orahilly.yaml"
    rows = [more(name, peer, "tokens/s", ours, theirs, 10) for peer, theirs in found.items()]
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
