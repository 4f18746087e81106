"""Measure what share of a training step is loading its batch.

    python scripts/bench/loading.py --config multi30k.yaml --set data.path=multi30k
    python scripts/bench/loading.py --config base.yaml --set tokenizer.sampling=0.1

Every round loads one more whole epoch, since random segmentations are drawn for an epoch at once.
The first is told apart: it is the dearest, for each new segmentation is made once and remembered.
"""

import tempfile
from itertools import count
from pathlib import Path

import torch
from measuring import Row, in_turn, options, report, seconds

from nmt.config_files import load_config
from nmt.corpus.prepare import prepare
from nmt.run_folder import RunFolder
from nmt.training.batches import BatchPlan
from nmt.training.processes import Processes
from nmt.training.trainer import Trainer

MOST = 0.02  # of the time of an update


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--config", default="sample.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--updates", type=int, default=10)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    config = load_config(arguments.config, arguments.set)
    with tempfile.TemporaryDirectory() as folder:
        prepared = prepare(config, Path(folder, "prepared"))
        processes = Processes(torch.device("cpu"))
        trainer = Trainer(config, prepared, RunFolder(Path(folder)), processes)
        plan = BatchPlan(prepared, config.training, config.model.max_length)
        epochs = count(1)

        def load() -> float:
            epoch = next(epochs)
            return seconds(lambda: list(plan.load(plan.order(epoch), epoch)))

        print(f"the first epoch: {load():.2f} s to load")
        order = plan.order(1)
        batches = list(plan.load(order[: arguments.updates], 1))

        def update() -> float:
            taken = seconds(lambda: [trainer.update([batch]).item() for batch in batches])
            return taken / len(batches) * len(order)

        found = in_turn({"loading": load, "updating": update}, arguments.rounds)
    loading, most = found["loading"], MOST * found["updating"]
    name = f"loading an epoch, {arguments.config} {' '.join(arguments.set)}"
    peer = f"{MOST:.0%} of the updates"
    report([Row(name.strip(), peer, "s", loading, most, most / loading, 1)], arguments.json)


if __name__ == "__main__":
    main()
