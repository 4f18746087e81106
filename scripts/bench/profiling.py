"""Where a training step's time goes: nmt's and the plain loop's, by kind of operation.

    python scripts/bench/profiling.py --set data.path=multi30k

By PyTorch's profiler, on one thread, so that nothing waits for another: microseconds a target token
of the processor's own time, the model of `compared.yaml`.
"""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from batches import beginning
from measuring import machine, options
from plain_training import PAD, Transformer
from torch import nn
from torch.nn import functional
from torch.profiler import ProfilerActivity, profile
from training import COMPARED

from nmt.config_files import load_config
from nmt.corpus.prepare import prepare
from nmt.run_folder import RunFolder
from nmt.training.batches import Batch
from nmt.training.distributed import Worker
from nmt.training.trainer import Trainer

KINDS = {
    "matrix products": r"mm_?$|bmm$|addmm_?$|linear",
    "attention's own": r"scaled_dot_product",
    "softmax and loss": r"softmax|nll_loss|exp_?$|amax|logsumexp|cross_entropy|InRows",
    "dropout": r"dropout|bernoulli|random_|Dropout|ge$",
    "norms": r"layer_norm",
    "optimizer": r"adam|_foreach|lerp",
}
UPDATES = 4


def kind_of(operation: str) -> str:
    return next((kind for kind, names in KINDS.items() if re.search(names, operation)), "the rest")


def profiled(work: Callable[[], int]) -> dict[str, float]:
    """Return microseconds a target token by kind; `work` returns its number of tokens."""
    work()
    with profile(activities=[ProfilerActivity.CPU]) as found:
        tokens = work()
    spent = dict.fromkeys([*KINDS, "the rest"], 0.0)
    for event in found.key_averages():
        spent[kind_of(event.key)] += event.self_cpu_time_total / tokens
    return spent


def plain_work(batches: list[Batch], size: int) -> Callable[[], int]:
    model = Transformer(size, d_model=128, heads=4, d_ff=256, layers=4, dropout=0.3)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-4)

    def work() -> int:
        for batch in batches:
            logits = model(batch.source, batch.target_in).flatten(0, 1)
            labels = batch.target_out.flatten()
            functional.cross_entropy(
                logits, labels, ignore_index=PAD, label_smoothing=0.1
            ).backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
        return sum(batch.tokens for batch in batches)

    return work


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--set", action="append", default=[], help="a field of compared.yaml")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    config = load_config(COMPARED, arguments.set)
    with tempfile.TemporaryDirectory() as scratch:
        worker = Worker(torch.device("cpu"))
        trainer = Trainer(config, prepare(config), RunFolder(Path(scratch)), worker)
        batches = list(beginning(trainer, UPDATES).batches())

        def nmt_work() -> int:
            for batch in batches:
                trainer.state.update([batch])
            return sum(batch.tokens for batch in batches)

        plain = profiled(plain_work(batches, trainer.prepared.tokenizers.source.size))
        ours = profiled(nmt_work)
    print(f"{machine()}\n\n| µs a target token | plain loop | nmt |\n| --- | --- | --- |")
    for kind in plain:
        print(f"| {kind} | {plain[kind]:.1f} | {ours[kind]:.1f} |")
    print(f"| together | {sum(plain.values()):.1f} | {sum(ours.values()):.1f} |")


if __name__ == "__main__":
    main()
