"""Training speed and memory against a plain PyTorch loop and JoeyNMT, on the same batches.

    python scripts/bench/training.py --set data.path=multi30k

The model is that of `compared.yaml`; with `--big`, it has the size of the paper's base model: 6 + 6
layers, d_model 512 and d_ff 2,048. With `--device cuda`, the plain loop computes matrix products in
nmt's precision, and JoeyNMT is left out.
"""

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import nmt  # noqa: F401, before PyTorch, as in the command line: threads wait passively

# isort: split
import peers
import torch
from batches import as_tensors, beginning, flops, make_trainer, speed
from measuring import Peer, ceiling, compared, count_tokens, in_turn, options, peak_memory, report

from nmt.config.yaml_files import load_config
from nmt.device import choose_device, product_dtype

COMPARED = Path(__file__).with_name("compared.yaml")
LAYERS = ["model.encoder_layers=6", "model.decoder_layers=6"]
BIG = ["model.d_model=512", "model.heads=8", "model.d_ff=2048", *LAYERS]


def main() -> None:
    parser = options(__doc__, "--threads", "--rounds", "--device", "--set")
    parser.add_argument("--big", action="store_true", help="the paper's base model")
    parser.add_argument("--no-joeynmt", action="store_true", help="it needs its own PyTorch")
    parser.add_argument("--updates", type=int, help="per round; default 10, big 2")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    config = load_config(COMPARED, [*(BIG if arguments.big else ()), *arguments.set])
    model, device = config.model, choose_device(arguments.device)
    on_cpu = device.type == "cpu"
    with tempfile.TemporaryDirectory() as scratch:
        trainer = make_trainer(config, Path(scratch), device)
        epoch = beginning(trainer, arguments.updates or (2 if arguments.big else 10))
        batches = as_tensors(epoch)
        tokens = count_tokens(batches)
        given = {
            "batches": batches,
            "label_smoothing": config.training.label_smoothing,
            "sizes": {
                "size": trainer.prepared.tokenizers.source.size,  # the whole vocabulary
                "d_model": model.d_model,
                "heads": model.heads,
                "d_ff": model.d_ff,
                "layers": model.encoder_layers,
                "dropout": model.dropout,
            },
        }
        # On a CPU, the plain loop uses float32: that is its default, and bfloat16 is often slower.
        dtype = torch.float32 if on_cpu else product_dtype(device, "auto")
        script, threads = "plain_training.py", arguments.threads
        theirs = {
            "plain PyTorch loop": Peer(
                sys.executable, script, threads, **given, device=str(device), dtype=dtype
            )
        }
        if on_cpu and not (arguments.big or arguments.no_joeynmt):
            script = "joeynmt_training.py"
            theirs[peers.JOEYNMT] = Peer(peers.python(), script, threads, **given)
        works: dict[str, Callable[[], float]] = {
            "nmt": lambda: speed(trainer, epoch, tokens),
            **theirs,
        }
        found = in_turn(works, arguments.rounds)
        memory = {"nmt": peak_memory()} | {name: peer.peak_memory for name, peer in theirs.items()}
        shape = 4096, model.d_model, 4 * model.d_model
        achieved = {
            "nmt": found["nmt"] * flops(trainer.state.model, list(epoch.batches())) / 1e9,
            "float32 ceiling": ceiling(*shape, device=device),
            "bfloat16 ceiling": ceiling(*shape, torch.bfloat16, device),
        }
    name = f"training, d_model {model.d_model}"
    rows = compared(name, "tokens/s", found, more_is_better=True)
    rows += compared(f"{name}, memory", "MiB", memory) if on_cpu else []
    rows += compared(name, "GFLOP/s", achieved, more_is_better=True)
    report(rows, arguments.device)


if __name__ == "__main__":
    main()
