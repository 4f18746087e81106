"""Operations that the host launches for an update on a GPU, counted without one.

    python scripts/bench/launches.py

A small model is limited by these launches. They depend on the model's layers and on the loss, but
hardly on its widths or the batch, so the models are narrow and the batches small, on the simulated
device of `make gpu-check` (which needs a C++ compiler). The loss of a batch with many tokens is
computed in several blocks, each of which adds some operations. The host's time on a card is
these counts times the time of a launch, which `make gpu-check` measures there.
"""

import argparse
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(1, str(Path(__file__).parents[1]))  # the simulated device

if TYPE_CHECKING:
    from nmt.config.config import Config

NAMES = ("multi30k.yaml", "wmt-base.yaml")
MOST_OF_PLAIN, MOST_OF_EAGER = 0.8, 0.2
_SIZE = 120  # of the vocabulary
_CAUSES = {
    "products": ("mm", "bmm", "addmm", "baddbmm"),
    "attention": ("_scaled_dot",),
    "casts": ("_to_copy",),
    "dropout": ("native_dropout", "bernoulli"),
    "norms": ("native_layer_norm",),
    "optimizer": ("_foreach", "_fused", "linalg_vector_norm"),
}
_EXACT = {"products"}  # whose names are whole


def cause(operation: str) -> str:
    """Return the row of an operation such as `aten.mm`."""
    name = operation.removeprefix("aten.")
    for row, starts in _CAUSES.items():
        if name in starts or (row not in _EXACT and name.startswith(starts)):
            return row
    return "other"


def counts(config: "Config") -> dict[str, Counter[str]]:
    """Return the operations of an update by loop and cause; its shape has occurred before."""
    import torch
    from gpu_stages.speed import made_up_batches, makers
    from pretend_cuda.device import CUDA, launches
    from torch.nn import functional

    class Kernel(torch.autograd.Function):
        """One operation each way, as the kernels of a card; the simulated device takes several."""

        @staticmethod
        def forward(ctx: Any, query: Any, key: Any, value: Any) -> Any:
            launches["aten._scaled_dot_product"] += 1
            ctx.save_for_backward(query, key, value)
            return torch.empty_like(query)

        @staticmethod
        def backward(ctx: Any, gradient: Any) -> Any:
            launches["aten._scaled_dot_product"] += 1
            return tuple(map(torch.empty_like, ctx.saved_tensors))

    def attend(query: Any, key: Any, value: Any, *_: Any, **__: Any) -> Any:
        return Kernel.apply(query, key, value)  # type: ignore[no-untyped-call]

    functional.scaled_dot_product_attention = attend
    [batch] = made_up_batches(1, 64, 10, _SIZE)
    found = {}
    for who, make in makers(CUDA, config, _SIZE, torch.bfloat16).items():
        if "compiled" in who:  # the simulated device does not compile
            continue
        update = make()
        for _ in range(3):
            launches.clear()
            update(batch)
        found[who] = Counter[str]()
        for operation, count in launches.items():
            found[who][cause(operation)] += count
    return found


def narrow(config: "Config") -> "Config":
    """Return the configuration with small matrices and the peers' settings."""
    from gpu_stages.setup import with_fields
    from gpu_stages.speed import AS_PEERS

    model = {**AS_PEERS["model"], "d_model": 8 * config.model.heads, "d_ff": 64}
    return with_fields(config, {**AS_PEERS["training"], "precision": "bfloat16"}, model)


def table(name: str, found: dict[str, Counter[str]]) -> list[str]:
    """Return the lines of a Markdown table, and the two ratios with their bounds."""
    rows = [*_CAUSES, "other"]
    lines = [f"| {name} | {' | '.join(found)} |", "|" + " --- |" * (len(found) + 1)]
    for row in rows:
        lines.append(f"| {row} | {' | '.join(f'{each[row]:,}' for each in found.values())} |")
    totals = {who: each.total() for who, each in found.items()}
    lines.append(f"| all | {' | '.join(f'{total:,}' for total in totals.values())} |")
    eager = totals["nmt, eager"]
    of_plain, of_eager = eager / totals["plain loop"], totals["nmt, graphs"] / eager
    return [
        *lines,
        "",
        f"eager: {of_plain:.2f} of the plain loop's operations (at most {MOST_OF_PLAIN})",
        f"with graphs: {of_eager:.2f} of the eager operations (at most {MOST_OF_EAGER})",
        "",
    ]


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        from pretend_cuda.guard import compile_guard
        from pretend_cuda.process import start

        start(compile_guard(Path(folder)))  # before PyTorch is imported
        from pretend_cuda.device import Pretending

        from nmt.config.yaml_files import load_config

        mode: Any = Pretending()  # type: ignore[no-untyped-call]
        with mode:
            for name in NAMES:
                print("\n".join(table(name, counts(narrow(load_config(name))))), flush=True)


if __name__ == "__main__":
    main()
