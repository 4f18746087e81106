"""Training speed and memory against a plain PyTorch loop and JoeyNMT, on the same batches.

    python scripts/bench/training.py --set data.path=multi30k

The model is that of `compared.yaml`; with `--big`, it has the size of the paper's base model: 6 + 6
layers, d_model 512 and d_ff 2,048. With `--device cuda`, the plain loop computes matrix products in
nmt's precision, and JoeyNMT is left out. With `--busy N`, everything is measured again beside N
processes that only spin, and compared with the speed without them.
"""

import subprocess
import sys
import venv
from collections.abc import Callable
from pathlib import Path

import nmt  # isort: skip # noqa: F401, before PyTorch: threads wait passively
import torch
from batches import COMPARED, beginning, flops, for_peers, speed
from measuring import Peer, busy, ceiling, compared, in_turn, memory, options, report, table

from nmt.config.yaml_files import load_config
from nmt.device import choose_device, product_dtype

LAYERS = ["model.encoder_layers=6", "model.decoder_layers=6"]
PEERS = Path(__file__).parents[2] / "data" / "bench" / "peers"  # JoeyNMT's environment
PACKAGES = ["torch==2.13.0", "importlib_metadata", "joeynmt==2.3.0"]
BIG = ["model.d_model=512", "model.heads=8", "model.d_ff=2048", *LAYERS]


def peers_python() -> Path:
    """Return the interpreter of the peers' environment, which is created once."""
    interpreter = PEERS / "bin" / "python"
    done = PEERS / ".ready"
    if not done.exists():
        print(f"installing {', '.join(PACKAGES)} into {PEERS}", file=sys.stderr)
        venv.create(PEERS, with_pip=True, clear=True)
        # PyTorch first and pinned, so that no other package pulls in a different version.
        for package in PACKAGES:
            subprocess.run([interpreter, "-m", "pip", "install", "--quiet", package], check=True)
        done.touch()
    return interpreter


def main() -> None:
    parser = options(__doc__, "--threads", "--rounds", "--device", "--set")
    parser.add_argument("--big", action="store_true", help="the paper's base model")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="spinning processes")
    parser.add_argument("--no-joeynmt", action="store_true", help="it needs its own PyTorch")
    parser.add_argument("--updates", type=int, help="per round; default 10, big 2")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    config = load_config(COMPARED, [*(BIG if arguments.big else ()), *arguments.set])
    d_model, device = config.model.d_model, choose_device(arguments.device)
    on_cpu = device.type == "cpu"
    updates = arguments.updates or (2 if arguments.big else 10)
    trainer, epoch = beginning(config, updates, device)
    given, threads = for_peers(trainer, epoch), arguments.threads
    # On a CPU, the plain loop uses float32: that is its default, and bfloat16 is often slower.
    dtype = torch.float32 if on_cpu else product_dtype(device, "auto")
    plain = {**given, "device": str(device), "dtype": dtype}
    theirs = {"plain PyTorch loop": Peer(sys.executable, "plain_training", threads, **plain)}
    if on_cpu and not (arguments.big or arguments.no_joeynmt):
        theirs["JoeyNMT 2.3.0"] = Peer(peers_python(), "joeynmt_training", threads, **given)
    works: dict[str, Callable[[], float]] = {"nmt": lambda: speed(trainer, epoch), **theirs}
    found = in_turn(works, arguments.rounds)
    peaks = {"nmt": memory()} | {name: peer.peak_memory for name, peer in theirs.items()}
    with busy(arguments.busy):
        beside = in_turn(works, arguments.rounds) if arguments.busy else {}
    shape = 4096, d_model, 4 * d_model
    achieved = {
        "nmt": found["nmt"] * flops(trainer.state.model, list(epoch.batches())) / 1e9,
        "float32 ceiling": ceiling(*shape, device=device),
        "bfloat16 ceiling": ceiling(*shape, torch.bfloat16, device),
    }
    name = f"training, d_model {d_model}"
    rows = compared(name, "tokens/s", found, more_is_better=True)
    rows += compared(f"{name}, memory", "MiB", peaks) if on_cpu else []
    rows += compared(name, "GFLOP/s", achieved, more_is_better=True)
    report(rows, arguments.device)
    if beside:
        shares = (f"{beside[who] / found[who]:.2f}" for who in found)
        row = [f"beside {arguments.busy} busy processes", *shares]
        print("\n" + table(["share of the speed alone", *found], [row]))


if __name__ == "__main__":
    main()
