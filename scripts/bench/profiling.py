"""Profile updates by kind of operation: a plain PyTorch loop and nmt.

    python scripts/bench/profiling.py --set data.path=multi30k

Microseconds of processor time per target token, as PyTorch's profiler reports them, on one thread,
so that no thread waits for another. The model and the batches are those of `training.py`.
"""

from collections.abc import Callable

import nmt  # isort: skip # noqa: F401, before PyTorch: threads wait passively
import torch
from batches import COMPARED, beginning, for_peers, speed
from measuring import by_kind, count_tokens, kinds_table, machine, options
from plain_training import training
from torch.profiler import ProfilerActivity, profile

from nmt.config.yaml_files import load_config

KINDS = {
    "matrix products": r"mm_?$|[lL]inear",
    "attention kernels": r"scaled_dot_product",
    "softmax and loss": r"softmax|nll_loss|exp_?$|amax|logsumexp|cross_entropy|InBlocks",
    "dropout": r"dropout|bernoulli|random_|Dropout|ge$",
    "norms": r"layer_norm",
    "optimizer": r"adam|_foreach|lerp",
    "everything else": "",
}
UPDATES = 4


def profiled(work: Callable[[], object], tokens: int) -> dict[str, float]:
    """Return microseconds per target token by kind, after a warm-up."""
    work()
    with profile(activities=[ProfilerActivity.CPU]) as found:
        work()
    events = found.key_averages()
    return by_kind(((event.key, event.self_cpu_time_total / tokens) for event in events), KINDS)


def main() -> None:
    arguments = options(__doc__, "--set").parse_args()
    torch.set_num_threads(1)
    trainer, epoch = beginning(load_config(COMPARED, arguments.set), UPDATES)
    given = for_peers(trainer, epoch)
    tokens = count_tokens(given["batches"])
    plain = training(**given, device="cpu", dtype=torch.float32)
    found = {
        "plain loop": profiled(plain, tokens),
        "nmt": profiled(lambda: speed(trainer, epoch), tokens),
    }
    print(f"{machine()}\n\n{kinds_table('µs per target token', found)}")


if __name__ == "__main__":
    main()
