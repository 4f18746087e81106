"""How speed depends on the sizes of batch, model, vocabulary, sentences, beam and corpus.

    python scripts/bench/growth.py --output docs/growth.svg

Uses the model of `compared.yaml` with random tokens and untrained weights, because the cost does
not depend on the values. Changes one size at a time; prints the results and plots them.
"""

import statistics
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

import nmt  # isort: skip # noqa: F401, before PyTorch: threads wait passively
import torch
from measuring import machine, options, readable, seconds
from preparing import prepare, write

from nmt.config.decoding import DecodingConfig
from nmt.config.model import ModelConfig
from nmt.config.training import TrainingConfig
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.model.transformer import Transformer
from nmt.reports.figures import picture
from nmt.special_tokens import EOS, SPECIALS
from nmt.training.backward import DropoutSeed, backward_in_shards
from nmt.training.batches import Batch
from nmt.training.loss import BatchLoss
from nmt.training.optimizers import make_optimizer

LENGTH, VOCABULARY, TOKENS = 15, 8000, 4096


def model_of(d_model: int = 128, vocabulary: int = VOCABULARY) -> Transformer:
    torch.manual_seed(1)
    config = ModelConfig(
        d_model=d_model,
        heads=d_model // 32,
        d_ff=2 * d_model,
        encoder_layers=4,
        decoder_layers=4,
        dropout=0.3,
        tie="all",
    )
    return Transformer(config, vocabulary, vocabulary)


def sentences(count: int, length: int, vocabulary: int) -> list[list[int]]:
    return torch.randint(len(SPECIALS), vocabulary, (count, length)).tolist()


def training(
    tokens: int = TOKENS, d_model: int = 128, vocabulary: int = VOCABULARY, length: int = LENGTH
) -> Callable[[], float]:
    """Return a function that performs an update and measures target tokens per second."""
    model = model_of(d_model, vocabulary).train()
    optimizer = make_optimizer(model, TrainingConfig())
    loss = BatchLoss(model, TrainingConfig(), torch.device("cpu"))
    sides = (sentences(max(1, tokens // (length + 1)), length, vocabulary) for _ in range(2))
    batch = Batch.from_ids(*sides)

    def update() -> None:
        backward_in_shards(loss, batch, batch.tokens, DropoutSeed(1, 1, 1))
        optimizer.step()
        optimizer.zero_grad()

    return lambda: batch.tokens / seconds(update)


def decoding(beam_size: int) -> Callable[[], float]:
    """Return a function that measures sentences per second; all outputs have maximum length."""
    engine = PyTorchEngine([model_of()])
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


def measure(rounds: int) -> dict[str, dict[int, float]]:
    found: dict[str, dict[int, float]] = {}
    for name, (unit, sizes, work_of) in GROWTH.items():
        found[name] = {}
        for size in sizes:
            work = work_of(size)
            if name != "pairs prepared":  # runs in a new process, so a warm-up would not help
                work()
            found[name][size] = statistics.median(work() for _ in range(rounds))
            print(f"{name} {size:,}: {readable(found[name][size])} {unit}", flush=True)
    return found


def draw(found: dict[str, dict[int, float]], path: Path) -> None:
    with picture(path, 11, 6.5) as figure:
        panels = figure.subplots(2, 3).flatten()
        for panel, (name, values) in zip(panels, found.items(), strict=True):
            panel.plot(list(values), list(values.values()), marker="o")
            panel.set_xscale("log", base=2)
            panel.set_xticks(list(values), [f"{size:,}" for size in values])
            panel.minorticks_off()
            panel.set_ylim(bottom=0)
            panel.set_xlabel(name)
            panel.set_ylabel(GROWTH[name][0])


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
