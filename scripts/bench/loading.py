"""Measure how long loading the batches takes, relative to the updates.

    python scripts/bench/loading.py --config multi30k.yaml --set data.path=multi30k
    python scripts/bench/loading.py --config base.yaml --set tokenizer.subword_regularization=0.1

Loads all epochs of a training run. Random segmentations are cached when first drawn, so the first
epochs are the most expensive; they are reported separately.
"""

import math
import statistics
import tempfile
from itertools import islice
from pathlib import Path

import torch
from measuring import Row, in_turn, options, report, seconds
from tqdm import tqdm

from nmt.config.yaml_files import load_config
from nmt.corpus.preparing.prepare import prepare
from nmt.runs.folder import RunFolder
from nmt.training.batches import BatchPlan
from nmt.training.distributed import Worker
from nmt.training.loop import Trainer

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
        worker = Worker(torch.device("cpu"))
        trainer = Trainer(config, prepared, RunFolder(Path(folder)), worker)
        plan = BatchPlan(prepared, config.training, config.model.max_length)
        epochs = range(1, math.ceil(trainer.last_update / trainer.updates_in_epoch) + 1)

        def load(epoch: int) -> float:
            return seconds(lambda: list(plan.epoch(epoch).batches()))

        loading = [load(epoch) for epoch in tqdm(epochs, "loading epochs")]
        print("the first epochs, s:", *(f"{taken:.2f}" for taken in loading[:5]))
        epoch = plan.epoch(1)
        batches = list(islice(epoch.batches(), arguments.updates))

        def update() -> float:
            taken = seconds(lambda: [trainer.state.update([batch]).item() for batch in batches])
            return taken / len(batches) * len(epoch.order)

        most = MOST * in_turn({"updating": update}, arguments.rounds)["updating"]
    mean = statistics.mean(loading)
    name = f"loading an epoch of {len(loading)}, {arguments.config} {' '.join(arguments.set)}"
    peer = f"{MOST:.0%} of the updates"
    report([Row(name.strip(), peer, "s", mean, most, most / mean, 1)], arguments.json)


if __name__ == "__main__":
    main()
