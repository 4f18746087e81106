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
from pathlib import Path
from typing import TYPE_CHECKING, Any

sys.path.insert(1, str(Path(__file__).parents[1]))  # the simulated device

if TYPE_CHECKING:
    from nmt.config.config import Config

SIZE = 120  # of the vocabulary


def counts(config: "Config") -> dict[str, int]:
    """Return the operations of an update by loop; its shape has occurred before."""
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
    [batch] = made_up_batches(1, 64, 10, SIZE)
    found = {}
    for who, make in makers(CUDA, config, SIZE, torch.bfloat16).items():
        if "compiled" in who:  # the simulated device does not compile
            continue
        update = make()
        for _ in range(3):
            launches.clear()
            update(batch)
        found[who] = launches.total()
    return found


def narrow(config: "Config") -> "Config":
    """Return the configuration with small matrices and the peers' settings."""
    from gpu_stages.setup import with_fields
    from gpu_stages.speed import AS_PEERS

    model = {**AS_PEERS["model"], "d_model": 8 * config.model.heads, "d_ff": 64}
    return with_fields(config, {**AS_PEERS["training"], "precision": "bfloat16"}, model)


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        from pretend_cuda.process import pretend_here

        with pretend_here(Path(folder)):
            from measuring import table

            from nmt.config.yaml_files import load_config

            rows = []
            for name in ("multi30k.yaml", "wmt-base.yaml"):
                found = counts(narrow(load_config(name)))
                rows.append([name, *(f"{count:,}" for count in found.values())])
            print(table(["layers of", *found], rows))


if __name__ == "__main__":
    main()
