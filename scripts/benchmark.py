"""Measure training and decoding speed on this machine, on the built-in sample corpus.

    python scripts/benchmark.py            # or: make bench

Prints a Markdown table: medians of several repetitions after a warm-up, and the machine's own
ceiling, the largest float32 matrix product, measured in the same run.
"""

import argparse
import platform
import statistics
import tempfile
import time
from collections.abc import Callable
from itertools import cycle, islice
from pathlib import Path

import torch

from nmt.config_files import load_config
from nmt.corpus.prepare import prepare
from nmt.decoding.translator import Translator
from nmt.device import choose_device
from nmt.run_folder import create_run
from nmt.training.processes import Processes
from nmt.training.trainer import Trainer

REPETITIONS = 5
UPDATES = 10
SENTENCES = 200


def seconds(work: Callable[[], object]) -> float:
    """Return the median time of `work` over the repetitions, after one to warm up."""
    work()
    times = []
    for _ in range(REPETITIONS):
        start = time.perf_counter()
        work()
        times.append(time.perf_counter() - start)
    return statistics.median(times)


def ceiling(device: torch.device) -> float:
    """Return the float32 GFLOP/s of a large matrix product."""
    size = 2048
    matrix = torch.randn(size, size, device=device)
    return 2 * size**3 / seconds(lambda: (matrix @ matrix)[0, 0].item()) / 1e9


def training_speed(trainer: Trainer) -> float:
    """Return target tokens a second of whole updates: loading, forward, backward, optimizer."""
    order = trainer.plan.order(1)[:UPDATES]
    tokens = sum(batch.tokens for batch in trainer.plan.load(order, 1))

    def work() -> None:
        for batch in trainer.plan.load(order, 1):
            trainer.update([batch]).item()

    return tokens / seconds(work)


def decoding_speed(trainer: Trainer, sentences: list[str], beam_size: int) -> float:
    """Return sentences a second, after the few updates of `training_speed`."""
    decoding = trainer.config.decoding.model_copy(update={"beam_size": beam_size})
    translator = Translator(
        trainer.model, trainer.prepared.tokenizers, trainer.config.data, decoding
    )
    return len(sentences) / seconds(lambda: translator.translate(sentences))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--config", default="sample.yaml")
    parser.add_argument("--device", default=None)
    arguments = parser.parse_args()
    device = choose_device(arguments.device)
    config = load_config(arguments.config)
    with tempfile.TemporaryDirectory() as scratch:
        prepared = prepare(config, Path(scratch, "prepared"))
        run = create_run(Path(scratch, "run"), config, prepared)
        trainer = Trainer(config, prepared, run, Processes(device))
        examples = prepared.examples("validation")
        sentences = [e.source for e in islice(cycle(examples), SENTENCES)]
        rows = [
            ("ceiling, float32 GFLOP/s", ceiling(device)),
            ("training, target tokens/s", training_speed(trainer)),
            ("greedy, sentences/s", decoding_speed(trainer, sentences, 1)),
            ("beam 5, sentences/s", decoding_speed(trainer, sentences, 5)),
        ]
    print(
        f"{arguments.config} on {device}, {torch.get_num_threads()} threads, {platform.machine()}"
    )
    print("\n| work | median |\n| --- | --- |")
    for name, value in rows:
        print(f"| {name} | {value:,.0f} |")


if __name__ == "__main__":
    main()
