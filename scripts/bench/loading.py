"""Measure what share of a training step is loading its batch.

    python scripts/bench/loading.py --config multi30k.yaml --set data.path=multi30k
    python scripts/bench/loading.py --config base.yaml --set tokenizer.sampling=0.1

An epoch is loaded before anything is timed: what random segmentation remembers of it is known in
all but a training's first minutes.
"""

import tempfile
from pathlib import Path

import torch
from measuring import Row, in_turn, options, report, seconds

from nmt.config_files import load_config
from nmt.corpus.prepare import prepare
from nmt.run_folder import RunFolder
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
        plan = trainer.plan
        first, second = (plan.order(epoch) for epoch in (1, 2))
        print(f"the first epoch: {seconds(lambda: list(plan.load(first, 1))):.2f} s to load")
        order = second[: arguments.updates]

        def load() -> float:
            return seconds(lambda: list(plan.load(order, 2)))

        def update() -> float:
            batches = list(plan.load(order, 2))
            return seconds(lambda: [trainer.update([batch]).item() for batch in batches])

        found = in_turn({"loading": load, "updating": update}, arguments.rounds)
    loading, most = found["loading"], MOST * found["updating"]
    name = f"loading {len(order)} batches, {arguments.config} {' '.join(arguments.set)}"
    peer = f"{MOST:.0%} of the updates"
    report([Row(name.strip(), peer, "s", loading, most, most / loading, 1)], arguments.json)


if __name__ == "__main__":
    main()
