"""Training speed and memory against a plain PyTorch loop and JoeyNMT, on the same batches.

    python scripts/bench/training.py --set data.path=multi30k

The model is that of `compared.yaml`; with `--big`, it has the size of the paper's base model: 6 + 6
layers, d_model 512 and d_ff 2,048. With `--device cuda`, the plain loop computes matrix products in
nmt's precision, and JoeyNMT is left out. With `--busy N`, everything is measured again beside N
processes that only spin, and compared with the speed without them.
"""

import json
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import nmt  # noqa: F401, before PyTorch, as in the command line: threads wait passively

# isort: split
import peers
import torch
from batches import beginning, flops, update, write_batches
from measuring import Peer, Row, busy, ceiling, in_turn, less, more, options, peak_memory, report

from nmt.config.config import Config
from nmt.config.yaml_files import load_config
from nmt.corpus.preparing.prepare import prepare
from nmt.device import choose_device, product_dtype
from nmt.runs.folder import RunFolder
from nmt.training.distributed import Worker
from nmt.training.loop import Trainer

PEERS = [("plain", "plain PyTorch loop", 1.7), ("JoeyNMT", "JoeyNMT 2.3.0", 6.0)]
BESIDE = {1: 0.6, 2: 0.4}  # least share of the speed, by busy processes; on two cores
COMPARED = Path(__file__).with_name("compared.yaml")
BIG = (
    "model.d_model=512",
    "model.heads=8",
    "model.d_ff=2048",
    "model.encoder_layers=6",
    "model.decoder_layers=6",
)


def settings_of(config: Config, size: int, threads: int, device: torch.device) -> str:
    model = config.model
    # On a CPU, the plain loop uses float32: that is its default, and bfloat16 is often slower.
    dtype = torch.float32 if device.type == "cpu" else product_dtype(device, "auto")
    return json.dumps(
        {
            "size": size,
            "d_model": model.d_model,
            "heads": model.heads,
            "d_ff": model.d_ff,
            "layers": model.encoder_layers,
            "dropout": model.dropout,
            "label_smoothing": config.training.label_smoothing,
            "threads": threads,
            "device": str(device),
            "precision": str(dtype).removeprefix("torch."),
        }
    )


def beside_row(who: str, count: int, beside: float, alone: float) -> Row:
    """Compare the speed beside busy processes with that alone."""
    target = BESIDE.get(count, 0.0) if who == "nmt" else 0.0
    work = f"training of {who}, beside {count} busy processes"
    return more(work, "the same alone", "tokens/s", beside, alone, target)


def main() -> None:
    parser = options(__doc__, device=True)
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--big", action="store_true", help="the paper's base model")
    parser.add_argument("--busy", type=int, default=0, metavar="N", help="spinning processes")
    parser.add_argument("--no-joeynmt", action="store_true", help="it needs its own PyTorch")
    parser.add_argument("--updates", type=int, default=None, help="per round; default 10, big 2")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    config = load_config(COMPARED, [*(BIG if arguments.big else ()), *arguments.set])
    with tempfile.TemporaryDirectory() as scratch:
        device = choose_device(arguments.device)
        joeynmt = device.type == "cpu" and not (arguments.big or arguments.no_joeynmt)
        worker = Worker(device)
        trainer = Trainer(config, prepare(config), RunFolder(Path(scratch)), worker)
        epoch = beginning(trainer, arguments.updates or (2 if arguments.big else 10))
        batches = Path(scratch, "batches.npz")
        write_batches(epoch, batches)
        size = trainer.prepared.tokenizers.source.size  # the whole vocabulary
        given = (str(batches), settings_of(config, size, arguments.threads, device))
        works: dict[str, Callable[[], float]] = {
            "nmt": lambda: update(trainer, epoch),
            "plain": Peer(Path(sys.executable), "plain_training.py", *given),
        }
        if joeynmt:
            works["JoeyNMT"] = Peer(peers.python(), "joeynmt_training.py", *given)
        found = in_turn(works, arguments.rounds)
        held = peak_memory()
        with busy(arguments.busy):
            beside = in_turn(works, arguments.rounds) if arguments.busy else {}
        width = config.model.d_model
        ceilings = {
            "float32 ceiling": ceiling(4096, width, 4 * width, device=device),
            "bfloat16 ceiling": ceiling(4096, width, 4 * width, torch.bfloat16, device),
        }
        used = found["nmt"] * flops(trainer.state.model, list(epoch.batches())) / 1e9
    name = f"training, d_model {width}"
    rows = []
    for peer, label, target in PEERS:
        work = works.get(peer)
        if isinstance(work, Peer):
            rows.append(more(name, label, "tokens/s", found["nmt"], found[peer], target))
        if isinstance(work, Peer) and device.type == "cpu":
            rows.append(less(f"{name}, memory", label, "MiB", held, work.peak_memory, 0.0))
    least = {"float32 ceiling": 0.5} if arguments.big else {}
    for kind, top in ceilings.items():
        rows.append(more(name, kind, "GFLOP/s", used, top, least.get(kind, 0.0)))
    rows += [beside_row(who, arguments.busy, beside[who], found[who]) for who in beside]
    report(rows, arguments.json, arguments.device)


if __name__ == "__main__":
    main()
