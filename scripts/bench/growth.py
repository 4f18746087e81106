"""How speed depends on the sizes of batch, model, vocabulary, sentences, beam and corpus.

    python scripts/bench/growth.py --output docs/growth.svg

Uses the model of `compared.yaml` with random tokens and untrained weights, because the cost does
not depend on the values. Changes one size at a time; prints the results and plots them.
"""

import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import nmt  # isort: skip # noqa: F401, before PyTorch: threads wait passively
import torch
from batches import COMPARED
from measuring import in_turn, machine, options, readable, seconds
from preparing import prepare, write

from nmt.config.config import Config
from nmt.config.decoding import DecodingConfig
from nmt.config.yaml_files import load_config
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.model.transformer import Transformer
from nmt.reports.figures import picture
from nmt.special_tokens import EOS, SPECIALS
from nmt.training.batches import Batch
from nmt.training.distributed import Worker
from nmt.training.step import TrainingState

LENGTH, VOCABULARY, TOKENS = 15, 8000, 4096


def config_of(d_model: int = 128) -> Config:
    sizes = {"d_model": d_model, "heads": d_model // 32, "d_ff": 2 * d_model}
    return load_config(COMPARED, [f"model.{name}={size}" for name, size in sizes.items()])


def sentences(count: int, length: int, vocabulary: int) -> list[list[int]]:
    return torch.randint(len(SPECIALS), vocabulary, (count, length)).tolist()


def training(
    tokens: int = TOKENS, d_model: int = 128, vocabulary: int = VOCABULARY, length: int = LENGTH
) -> Callable[[], float]:
    """Return a function that performs an update and measures target tokens per second."""
    state = TrainingState(config_of(d_model), vocabulary, vocabulary, Worker(torch.device("cpu")))
    sides = (sentences(max(1, tokens // (length + 1)), length, vocabulary) for _ in range(2))
    batch = Batch.from_ids(*sides)
    return lambda: batch.tokens / seconds(lambda: state.update([batch]))


def decoding(beam_size: int) -> Callable[[], float]:
    """Return a function that measures sentences per second; all outputs have maximum length."""
    engine = PyTorchEngine([Transformer(config_of().model, VOCABULARY, VOCABULARY)])
    settings = DecodingConfig(beam_size=beam_size, length_penalty=1.0)
    source = [[*ids, EOS] for ids in sentences(64, LENGTH, VOCABULARY)]
    limits = [LENGTH] * len(source)
    return lambda: len(source) / seconds(lambda: engine(source, limits, settings))


def preparing(pairs: int) -> Callable[[], float]:
    """Return a function that measures the pairs per second of `nmt prepare`."""
    folder = tempfile.TemporaryDirectory()
    write(pairs, Path(folder.name, "pairs"))
    return lambda: pairs / prepare(Path(folder.name, "pairs")).seconds


GROWTH: dict[str, tuple[str, Sequence[int], Callable[[int], Callable[[], float]]]] = {
    "tokens per batch": ("tokens/s", (256, 1024, 4096, 16384), lambda n: training(tokens=n)),
    "d_model": ("tokens/s", (64, 128, 256, 512), lambda n: training(d_model=n)),
    "vocabulary": ("tokens/s", (2000, 8000, 32000), lambda n: training(vocabulary=n)),
    "tokens per sentence": ("tokens/s", (8, 16, 32, 64, 128), lambda n: training(length=n)),
    "beam": ("sentences/s", (1, 2, 5, 10, 20), decoding),
    "pairs prepared": ("pairs/s", (10_000, 30_000, 100_000), preparing),
}


def measure(rounds: int) -> dict[str, list[float]]:
    found = {}
    for name, (unit, sizes, work_of) in GROWTH.items():
        works = {f"{name} {size:,}": work_of(size) for size in sizes}
        # Preparing runs in a new process, so a warm-up would not help.
        medians = in_turn(works, rounds, warm_up=int(work_of is not preparing))
        for work, median in medians.items():
            print(f"{work}: {readable(median)} {unit}", flush=True)
        found[name] = list(medians.values())
    return found


def draw(found: dict[str, list[float]], path: Path) -> None:
    with picture(path, 11, 6.5) as figure:
        panels = figure.subplots(2, 3).flatten()
        for panel, (name, values) in zip(panels, found.items(), strict=True):
            unit, sizes, _ = GROWTH[name]
            panel.plot(sizes, values, marker="o")
            panel.set_xscale("log", base=2)
            panel.set_xticks(sizes, [f"{size:,}" for size in sizes])
            panel.minorticks_off()
            panel.set_ylim(bottom=0)
            panel.set(xlabel=name, ylabel=unit)


def main() -> None:
    parser = options(__doc__, "--threads", "--rounds")
    parser.add_argument("--output", type=Path, help="picture to write, .png or .svg")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    print(machine())
    found = measure(arguments.rounds)
    if arguments.output:
        draw(found, arguments.output)


if __name__ == "__main__":
    main()
