"""Operations that the host launches for an update on a GPU, counted without one.

    python scripts/bench/launches.py

A small model is limited by these launches. They depend on the model's layers and on the loss, but
hardly on its widths or the batch, so the models are narrow and the batches small, on the simulated
device of `make gpu-check` (which needs a C++ compiler). The loss of a batch with many tokens is
computed in several blocks, each of which adds some operations. The host's time on a card is
these counts times the time of a launch, which `make gpu-check` measures there. Exits with 1 if a
ratio exceeds its bound, unless that is known.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(1, str(Path(__file__).parents[1]))  # the simulated device

if TYPE_CHECKING:
    from nmt.config.config import Config

SIZE = 120  # of the vocabulary
CAUSES = {
    "products": r"^aten\.(mm|bmm|addmm|baddbmm)$",
    "attention": r"\._scaled_dot",
    "casts": r"\._to_copy",
    "dropout": r"\.(native_dropout|bernoulli)",
    "norms": r"\.native_layer_norm",
    "optimizer": r"\.(_foreach|_fused|linalg_vector_norm)",
    "other": "",
}
# The most operations, in proportion to those of another loop.
BOUNDS = {"nmt, eager": ("plain loop", 0.8), "nmt, graphs": ("nmt, eager", 0.2)}
# Configurations, with the loops that are known to miss their bound: this is no failure.
CONFIGS = {"multi30k.yaml": {"nmt, eager"}, "wmt-base.yaml": set[str]()}


def counts(config: "Config") -> dict[str, dict[str, float]]:
    """Return the operations of an update by loop and cause; its shape has occurred before."""
    import torch
    from gpu_stages.speed import made_up_batches, makers
    from measuring import by_kind
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
    [batch] = made_up_batches(1, 64, 10, SIZE)
    found = {}
    for who, make in makers(CUDA, config, SIZE, torch.bfloat16).items():
        if "compiled" in who:  # the simulated device does not compile
            continue
        update = make()
        for _ in range(3):
            launches.clear()
            update(batch)
        found[who] = by_kind(launches.items(), CAUSES)
    return found


def narrow(config: "Config") -> "Config":
    """Return the configuration with small matrices and the peers' settings."""
    from gpu_stages.setup import with_fields
    from gpu_stages.speed import AS_PEERS

    model = {**AS_PEERS["model"], "d_model": 8 * config.model.heads, "d_ff": 64}
    return with_fields(config, {**AS_PEERS["training"], "precision": "bfloat16"}, model)


def ratios(found: dict[str, dict[str, float]]) -> set[str]:
    """Print the ratios with their bounds; return the loops that miss theirs."""
    missed = set()
    for who, (other, bound) in BOUNDS.items():
        ratio = found[who]["total"] / found[other]["total"]
        missed |= {who} if ratio > bound else set()
        print(f"{who} / {other}: {ratio:.2f}, at most {bound}{': missed' * (who in missed)}")
    return missed


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        from pretend_cuda.process import pretend_here

        with pretend_here(Path(folder)):
            from measuring import kinds_table

            from nmt.config.yaml_files import load_config

            failed = False
            for name, known in CONFIGS.items():
                found = counts(narrow(load_config(name)))
                print(kinds_table(name, found), end="\n\n")
                failed |= not ratios(found) <= known
                print(flush=True)
    sys.exit(failed)


if __name__ == "__main__":
    main()
