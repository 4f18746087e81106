"""Training speed of the tutorial notebook's model: nmt against the notebook's own loop.

python scripts/bench/tutorial.py --set data.path=english-german-both.pkl
"""

import sys
from collections.abc import Callable

import nmt  # isort: skip # noqa: F401, before PyTorch: threads wait passively
import torch
from batches import as_tensors, beginning, speed
from measuring import Peer, compared, in_turn, options, report

from nmt.config.yaml_files import load_config

UPDATES = 20


def main() -> None:
    arguments = options(__doc__, "--threads", "--rounds", "--set").parse_args()
    torch.set_num_threads(arguments.threads)
    trainer, epoch = beginning(load_config("tutorials/orahilly.yaml", arguments.set), UPDATES)
    batches = as_tensors(epoch)
    tokenizers = trainer.prepared.tokenizers
    sizes = [tokenizers.source.size, tokenizers.target.size]

    def notebook(cached: bool) -> Peer:
        given = {"batches": batches, "sizes": sizes, "cached": cached}
        return Peer(sys.executable, "notebook_training", arguments.threads, **given)

    works: dict[str, Callable[[], float]] = {
        "nmt": lambda: speed(trainer, epoch),
        "notebook": notebook(cached=False),
        "notebook, positions cached": notebook(cached=True),
    }
    found = in_turn(works, arguments.rounds)
    name = "training, tutorials/orahilly.yaml"
    report(compared(name, "tokens/s", found, more_is_better=True))


if __name__ == "__main__":
    main()
