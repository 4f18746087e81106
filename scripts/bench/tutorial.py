"""Training speed of the tutorial notebook's model: nmt against the notebook's own loop.

    python scripts/bench/tutorial.py --set data.path=english-german-both.pkl

The last row is a lower bound: the time of the matrix products at the machine's peak bfloat16 speed,
plus that of Adam, compared with a tenth of the notebook's update. If the ratio is below 1, no
implementation can reach the target.
"""

import json
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from batches import beginning, flops, update, write_batches
from measuring import Peer, ceiling, faster, in_turn, more, options, report, seconds

from nmt.config.yaml_files import load_config
from nmt.corpus.preparing.prepare import prepare
from nmt.runs.folder import RunFolder
from nmt.training.distributed import Worker
from nmt.training.loop import Trainer

UPDATES = 20
TARGET = 10


def optimizer_alone(trainer: Trainer) -> Callable[[], float]:
    """Return a function that measures the seconds of an optimizer step on random gradients."""
    for parameter in trainer.state.model.parameters():
        parameter.grad = torch.randn_like(parameter)
    return lambda: statistics.median(seconds(trainer.state.optimizer.step) for _ in range(UPDATES))


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    config = load_config("tutorials/orahilly.yaml", arguments.set)
    with tempfile.TemporaryDirectory() as scratch:
        worker = Worker(torch.device("cpu"))
        trainer = Trainer(config, prepare(config), RunFolder(Path(scratch)), worker)
        epoch = beginning(trainer, UPDATES)
        batches = Path(scratch, "batches.npz")
        write_batches(epoch, batches)
        tokenizers = trainer.prepared.tokenizers
        settings = {
            "sizes": [tokenizers.source.size, tokenizers.target.size],
            "threads": arguments.threads,
        }

        def notebook(cached: bool) -> Peer:
            given = json.dumps(settings | {"cached": cached})
            return Peer(Path(sys.executable), "notebook_training.py", str(batches), given)

        works: dict[str, Callable[[], float]] = {
            "nmt": lambda: update(trainer, epoch),
            "notebook": notebook(cached=False),
            "notebook, positions cached": notebook(cached=True),
        }
        found = in_turn(works, arguments.rounds)
        tokens = sum(batch.tokens for batch in epoch.batches()) / UPDATES
        adam = in_turn({"Adam": optimizer_alone(trainer)}, arguments.rounds)["Adam"]
        width, inner = config.model.d_model, config.model.d_ff
        top = ceiling(4096, width, inner, torch.bfloat16)
        products = tokens * flops(trainer.state.model, list(epoch.batches())) / top / 1e9
    ours = found.pop("nmt")
    name = "training, tutorials/orahilly.yaml"
    rows = [more(name, peer, "tokens/s", ours, theirs, TARGET) for peer, theirs in found.items()]
    tenth = tokens / found["notebook"] / TARGET
    least = products + adam
    name = "an update, lower bound"
    rows.append(faster(name, "a tenth of the notebook's update", least, tenth, 1))
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
