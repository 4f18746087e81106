"""Check training and decoding on a GPU, in minutes: `make gpu-check`.

Each stage is timed, and the next one runs whatever became of it; a table and a JSON file tell.
With --pretend the stages run, small, on a CUDA device that only pretends (scripts/pretend_cuda).
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from nmt.config import Config
    from nmt.training.batches import Batch
    from nmt.training.trainer import Trainer

Findings = dict[str, Any]


class Check:
    """The stages; each returns what it found and raises `AssertionError` where that is wrong."""

    def __init__(self, config: "Config", pretend: bool, folder: Path):
        import torch

        from nmt.corpus.prepare import prepare

        self.pretend, self.folder = pretend, folder
        self.device, self.cpu = torch.device("cuda", 0), torch.device("cpu")
        fields = {"precision": "float32"}
        training = config.training.model_copy(update=fields)
        model = config.model.model_copy(update={"dropout": 0.0})
        self.own = config
        self.exact = config.model_copy(update={"training": training, "model": model})
        self.prepared = prepare(config)
        self.updates = 2 if pretend else 20

    def card(self) -> Findings:
        """Name the card and the precision that it gets."""
        import torch

        from nmt.device import product_dtype

        return {
            "name": torch.cuda.get_device_name(self.device),
            "capability": torch.cuda.get_device_capability(self.device),
            "torch": torch.__version__,
            "precision": str(product_dtype(self.device, "auto")),
        }

    def agrees_with_the_cpu(self) -> Findings:
        """Compare losses and weights of the first updates in float32, without TF32."""
        import torch

        before = torch.get_float32_matmul_precision()
        torch.set_float32_matmul_precision("highest")
        losses, sums = [], []
        for device in (self.cpu, self.device):
            trainer = self._trainer(self.exact, device)
            batches = self._batches(trainer, 3)
            losses.append([trainer.state.update([batch]).item() for batch in batches])
            weights = trainer.state.model.parameters()
            sums.append(sum(p.detach().double().abs().sum().item() for p in weights))
        torch.set_float32_matmul_precision(before)
        error = max(abs(a - b) for a, b in zip(*losses, strict=True))
        assert error < 1e-4, f"losses differ by {error:.1e}"
        assert abs(sums[0] - sums[1]) < 1e-4 * sums[0], "weights differ after three updates"
        return {"loss error": error, "weights": sums}

    def masks_hide(self) -> Findings:
        """Change padding and future pieces: the outputs before them must stay as they are."""
        import torch

        model = self._trainer(self.exact, self.device).state.model.eval()
        source = torch.tensor([[5, 6, 7, 2, 0, 0]]).to(self.device)
        target = torch.tensor([[1, 8, 9, 10]]).to(self.device)
        changed = torch.tensor([[1, 8, 9, 11]]).to(self.device)
        with torch.no_grad():
            whole, other = model(source, target), model(source, changed)
            shorter = model(source[:, :4], target)
        future = (whole[:, :3] - other[:, :3]).abs().max().item()
        padding = (whole - shorter).abs().max().item()
        assert future < 1e-4, f"a future piece changes the logits by {future:.1e}"
        assert padding < 1e-4, f"padding changes the logits by {padding:.1e}"
        return {"future": future, "padding": padding}

    def updates_do_not_wait(self) -> Findings:
        """Take updates in which the host must not wait for the GPU."""
        trainer = self._trainer(self.own, self.device)
        batches = self._batches(trainer, 5)
        trainer.state.update(batches[:1])  # makes the optimizer's state
        with self._no_waits():
            for batch in batches:
                trainer.state.update([batch])
        return {"updates": len(batches)}

    def resumes_exactly(self) -> Findings:
        """Train in one go, again, and in two halves: the validations must be the same."""
        from nmt.training.distributed import Worker
        from nmt.training.train import train

        lines = []
        for name, limits in (
            ("whole", [2 * self.updates]),
            ("again", [2 * self.updates]),
            ("halves", [self.updates, 2 * self.updates]),
        ):
            for number, limit in enumerate(limits):
                fields = {"max_updates": limit, "validate_updates": 2 * self.updates}
                training = self.own.training.model_copy(update=fields)
                config = self.own.model_copy(update={"training": training})
                run = train(config, self.folder / name, number > 0, Worker(self.device))
            lines.append(run.read_metrics()[-1]["loss"])
        assert lines[0] == lines[2], f"resumed {lines[2]}, not {lines[0]}"
        return {"same again": lines[0] == lines[1], "loss": lines[0]}

    def decodes_as_the_cpu(self) -> Findings:
        """Decode validation sentences greedily and by beam search, there and here."""
        from nmt.decoding.engines.pytorch import PyTorchSearch
        from nmt.special_tokens import EOS

        model = self._trainer(self.exact, self.cpu).state.model.eval()
        examples = self.prepared.examples("validation")[: 8 if self.pretend else 200]
        encode = self.prepared.tokenizers.source.encode
        sources = [[*encode(example.source), EOS] for example in examples]
        found: list[list[list[int]]] = []
        seconds = {}
        for device in (self.cpu, self.device):
            search, start = PyTorchSearch([model.to(device)]), time.perf_counter()
            for beam_size in (1, 5):
                decoding = self.own.decoding.model_copy(update={"beam_size": beam_size})
                limits = [12] * len(sources)
                found.append([best.ids for [best] in search(sources, limits, decoding)])
            seconds[device.type] = time.perf_counter() - start
        same = sum(a == b for a, b in zip(found[0] + found[1], found[2] + found[3], strict=True))
        assert same > 0.98 * 2 * len(sources), f"{same} of {2 * len(sources)} are the same"
        return {"same": same, "of": 2 * len(sources), "seconds": seconds}

    def throughput(self) -> Findings:
        """Measure updates on the largest batch; compare the memory with what is predicted."""
        import torch

        from nmt.device import product_dtype
        from nmt.training.assumed import CARDS, count_update

        trainer = self._trainer(self.own, self.device)
        batch, count = trainer.plan.largest(), self.updates
        trainer.state.update([batch]).item()
        start = time.perf_counter()
        for _ in range(count):
            loss = trainer.state.update([batch])
        loss.item()
        seconds = (time.perf_counter() - start) / count
        memory = torch.cuda.max_memory_allocated(self.device)
        findings = {"tokens/s": batch.tokens / seconds, "peak bytes": memory}
        if not self.pretend:  # which would see the tensors without numbers
            tokenizers = self.prepared.tokenizers
            sizes = tokenizers.source.size, tokenizers.target.size
            dtype = product_dtype(self.device, self.own.training.precision)
            card = CARDS["H100 80GB"]  # any: memory does not depend on it
            findings["predicted bytes"] = count_update(self.own, sizes, batch, card, dtype).peak
        return findings

    def _trainer(self, config: "Config", device: Any) -> "Trainer":
        from nmt.run_folder import RunFolder
        from nmt.training.distributed import Worker
        from nmt.training.trainer import Trainer

        return Trainer(config, self.prepared, RunFolder(self.folder / "none"), Worker(device))

    def _batches(self, trainer: "Trainer", count: int) -> "list[Batch]":
        return list(islice(trainer.plan.deal(1).batches(), count))

    @contextmanager
    def _no_waits(self) -> Iterator[None]:
        if self.pretend:
            from pretend_cuda.device import waits

            waits.clear()
            yield
            assert not waits, f"the host waits: {dict(waits)}"
            return
        import torch

        torch.cuda.set_sync_debug_mode("error")
        try:
            yield
        finally:
            torch.cuda.set_sync_debug_mode("default")


STAGES: list[Callable[[Check], Findings]] = [
    Check.card,
    Check.agrees_with_the_cpu,
    Check.masks_hide,
    Check.updates_do_not_wait,
    Check.resumes_exactly,
    Check.decodes_as_the_cpu,
    Check.throughput,
]


def run_stages(check: Check) -> list[Findings]:
    """Run all stages, print a line for each, and return what they found."""
    found = []
    for stage in STAGES:
        name, start = stage.__name__.replace("_", " "), time.perf_counter()
        try:
            result = {"stage": name, "passed": True, "found": stage(check)}
        except Exception as error:  # the next stages may tell more
            result = {"stage": name, "passed": False, "found": f"{type(error).__name__}: {error}"}
        result["seconds"] = round(time.perf_counter() - start, 2)
        found.append(result)
        mark = "passed" if result["passed"] else "FAILED"
        print(f"{name:24} {mark} {result['seconds']:8.2f} s  {result['found']}", flush=True)
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--config", default="sample.yaml")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    parser.add_argument("--output", type=Path, default=Path("gpu-check.json"))
    parser.add_argument("--pretend", action="store_true", help="small, without a GPU")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        if options.pretend:
            from pretend_cuda.guard import compile_guard
            from pretend_cuda.process import start

            start(compile_guard(Path(folder)))  # before PyTorch is imported
            from pretend_cuda.device import Pretending
        from nmt.config_files import load_config
        from nmt.device import choose_device

        if not options.pretend:
            choose_device("cuda")
        mode = Pretending() if options.pretend else nullcontext()  # type: ignore[no-untyped-call]
        with mode:
            config = load_config(options.config, options.set)
            found = run_stages(Check(config, options.pretend, Path(folder)))
    options.output.write_text(json.dumps(found, indent=2), encoding="utf-8")
    return 0 if all(result["passed"] for result in found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
