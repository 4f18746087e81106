"""Profile an update, by kind of operation: nmt against the plain loop.

    python scripts/bench/profiling.py --set data.path=multi30k

Uses PyTorch's profiler on one thread, so that no thread waits for another. Reports microseconds of
self CPU time, or with `--device cuda` of GPU time, per target token. The model is that of
`compared.yaml`.
"""

import re
import tempfile
from collections.abc import Callable
from pathlib import Path

import torch
from batches import beginning, whole_target
from measuring import machine, options
from plain_training import Loop, Transformer
from torch.profiler import ProfilerActivity, profile
from training import COMPARED

from nmt.config.yaml_files import load_config
from nmt.corpus.preparing.prepare import prepare
from nmt.device import choose_device, product_dtype
from nmt.runs.folder import RunFolder
from nmt.training.batches import Batch
from nmt.training.distributed import Worker
from nmt.training.loop import Trainer

KINDS = {
    "matrix products": r"mm_?$|bmm$|addmm_?$|linear",
    "attention kernels": r"scaled_dot_product",
    "softmax and loss": r"softmax|nll_loss|exp_?$|amax|logsumexp|cross_entropy|InBlocks",
    "dropout": r"dropout|bernoulli|random_|Dropout|ge$",
    "norms": r"layer_norm",
    "optimizer": r"adam|_foreach|lerp",
}
UPDATES = 4


def kind_of(operation: str) -> str:
    return next((kind for kind, names in KINDS.items() if re.search(names, operation)), "other")


def profiled(work: Callable[[], int], device: torch.device) -> dict[str, float]:
    """Return microseconds per target token by kind; `work` returns its number of tokens."""
    work()
    cuda = device.type == "cuda"
    activities = [ProfilerActivity.CPU, *([ProfilerActivity.CUDA] if cuda else [])]
    with profile(activities=activities) as found:
        tokens = work()
        if cuda:
            torch.cuda.synchronize(device)
    spent = dict.fromkeys([*KINDS, "other"], 0.0)
    for event in found.key_averages():
        if event.device_type.name != "CPU":  # kernels, whose time their operations report too
            continue
        taken = event.self_device_time_total if cuda else event.self_cpu_time_total
        spent[kind_of(event.key)] += taken / tokens
    return spent


def plain_work(batches: list[Batch], size: int, device: torch.device) -> Callable[[], int]:
    model = Transformer(size, d_model=128, heads=4, d_ff=256, layers=4, dropout=0.3).to(device)
    dtype = torch.float32 if device.type == "cpu" else product_dtype(device, "auto")
    loop = Loop(model, label_smoothing=0.1, dtype=dtype)

    def work() -> int:
        for batch in batches:
            loop.update(batch.source, whole_target(batch))
        return sum(batch.tokens for batch in batches)

    return work


def main() -> None:
    parser = options(__doc__, device=True)
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    config = load_config(COMPARED, arguments.set)
    with tempfile.TemporaryDirectory() as scratch:
        device = choose_device(arguments.device)
        worker = Worker(device)
        trainer = Trainer(config, prepare(config), RunFolder(Path(scratch)), worker)
        batches = list(beginning(trainer, UPDATES).batches())

        def nmt_work() -> int:
            for batch in batches:
                trainer.state.update([batch])
            return sum(batch.tokens for batch in batches)

        size = trainer.prepared.tokenizers.source.size
        plain = profiled(plain_work(batches, size, device), device)
        ours = profiled(nmt_work, device)
    print(f"{machine(arguments.device)}\n")
    print("| µs per target token | plain loop | nmt |\n| --- | --- | --- |")
    for kind in plain:
        print(f"| {kind} | {plain[kind]:.1f} | {ours[kind]:.1f} |")
    print(f"| total | {sum(plain.values()):.1f} | {sum(ours.values()):.1f} |")


if __name__ == "__main__":
    main()
