"""Checks that a GPU agrees with the CPU, reproducibly and without host synchronization."""

import math
import subprocess
import sys
import time
from typing import Any
from unittest.mock import patch

import torch
from measuring import machine, seconds
from torch import Tensor
from torch.nn import functional
from torch.nn.attention import SDPBackend
from torch.overrides import TorchFunctionMode

from gpu_stages.setup import Findings, Setup, Skipped, train_quietly, with_fields
from nmt.config.config import Config
from nmt.config.yaml_files import dump_config
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.search.beam import beam_search
from nmt.device import autocast, product_dtype
from nmt.ops import graphs
from nmt.runs.folder import RunFolder
from nmt.special_tokens import EOS

REPLAYED = {"deterministic": True, "graphs": "always"}
_LAUNCHES = 1000


def card(setup: Setup) -> Findings:
    """Report the GPU, the precision chosen for it, and how long the host takes for a launch."""
    x = torch.zeros(1, device=setup.device)
    x += 1
    launched = seconds(lambda: [x.add_(1) for _ in range(_LAUNCHES)])
    assert x.item() == _LAUNCHES + 1
    return {
        "host": machine(),
        "microseconds per launch": launched / _LAUNCHES * 1e6,
        "name": torch.cuda.get_device_name(setup.device),
        "capability": torch.cuda.get_device_capability(setup.device),
        "torch": torch.__version__,
        "precision": str(product_dtype(setup.device, "auto")),
    }


def attention_kernels(setup: Setup) -> Findings:
    """Name the kernel that PyTorch chooses for each kind of mask."""
    trainer = setup.trainer(setup.own, setup.device)
    model, [batch] = trainer.state.model, setup.batches(trainer, 1)
    moved = batch.to(setup.device)
    limits = torch.full((len(batch),), 3)
    kernels = _Kernels()
    with torch.no_grad(), autocast(setup.device, setup.own.training.precision), kernels:
        model.train().decoder_output(moved.source, moved.target_in)
        beam_search(model.eval(), moved.source, limits, beam_size=2, alpha=1.0)
    found = kernels.chosen
    assert {"padding", "causal", "per hypothesis"} <= set(found), f"only saw {set(found)}"
    unwanted = {SDPBackend.CUDNN_ATTENTION.name, SDPBackend.MATH.name}
    assert not unwanted & set(found.values()), f"a slow kernel is chosen: {found}"
    return found


class _Kernels(TorchFunctionMode):
    """Records which kernel each attention call uses."""

    def __init__(self) -> None:
        super().__init__()
        self.chosen: Findings = {}

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is functional.scaled_dot_product_attention:
            mask, causal = args[3], args[5]
            kind = "causal" if causal else "no mask" if mask is None else "padding"
            if mask is not None and mask.shape[2] > 1:
                kind = "per hypothesis"
            choice = torch._fused_sdp_choice(*args, **kwargs)
            self.chosen[kind] = SDPBackend(choice).name
        return func(*args, **kwargs)


def agrees_in_float32(setup: Setup) -> Findings:
    """Compare logits, loss and gradients with the CPU's in float32, without TF32."""
    return _agreement_in_float32(setup, setup.exact)


def _agreement_in_float32(setup: Setup, config: Config) -> Findings:
    before = torch.get_float32_matmul_precision()
    torch.set_float32_matmul_precision("highest")
    try:
        return _require(_errors(setup, config), 1e-4, 1e-5, 1e-3)
    finally:
        torch.set_float32_matmul_precision(before)


def agrees_compiled(setup: Setup) -> Findings:
    """Compare loss and gradients of compiled layers with the CPU's in float32, without TF32."""
    return _agreement_in_float32(setup, with_fields(setup.exact, {"compile": True}))


def agrees_in_its_own_precision(setup: Setup) -> Findings:
    """Compare logits, loss and gradients, in the GPU's precision, with the CPU's in float32."""
    config = with_fields(setup.exact, {"precision": setup.own.training.precision})
    return _require(_errors(setup, config), 2e-2, 2e-2, 2e-2)


def _errors(setup: Setup, config: Config) -> dict[str, float]:
    """Return how much the GPU's numbers differ from those of the CPU in float32.

    Gradients are summed over four batches, which averages out rounding errors: with sample.yaml on
    a CPU, bfloat16 changes them by 0.8% of their norm, and those of a single batch by 1.3%.
    """
    found = []
    for device, its_config in ((setup.cpu, setup.exact), (setup.device, config)):
        trainer = setup.trainer(its_config, device)
        state, batches = trainer.state, setup.batches(trainer, 4)
        moved, tokens = batches[0].to(device), sum(batch.tokens for batch in batches)
        with torch.no_grad(), autocast(device, its_config.training.precision):
            logits = state.model.eval()(moved.source, moved.target_in)
        state.model.train()
        divisor = state.loss_scaler.divisor(tokens)
        sums = [state._forward_and_backward(each, n, divisor) for n, each in enumerate(batches)]
        loss = torch.stack(sums).sum(0)[0] / tokens
        scale = tokens / torch.as_tensor(divisor)
        gradients = [p.grad.detach() / scale.to(device) for p in state.model.parameters()]  # type: ignore[union-attr]
        logits = logits.float().cpu().flatten(0, 1)[batches[0].label_indices]
        found.append((logits, loss, gradients))
    (logits, loss, gradients), (its_logits, its_loss, its_gradients) = found
    pairs = zip(its_gradients, gradients, strict=True)
    return {
        "logits": _relative_error(its_logits, logits),
        "loss": _relative_error(its_loss, loss),
        "gradients": _norm([a.cpu() - b for a, b in pairs]) / _norm(gradients),
    }


def _relative_error(found: Tensor, expected: Tensor) -> float:
    """Return the largest absolute difference, relative to the largest expected value."""
    found, expected = found.detach().cpu().double(), expected.detach().cpu().double()
    return ((found - expected).abs().max() / expected.abs().max()).item()


def _norm(tensors: list[Tensor]) -> float:
    return math.sqrt(sum(t.double().square().sum().item() for t in tensors))


def _require(errors: dict[str, float], *most: float) -> Findings:
    """Return the errors, each of which must be below its bound."""
    for (name, error), bound in zip(errors.items(), most, strict=True):
        assert error < bound, f"{name} differ by {error:.1e}, more than {bound:.0e}"
    return errors


def masks_hide(setup: Setup) -> Findings:
    """Change padding and future tokens: the outputs before them must not change."""
    model = setup.trainer(setup.exact, setup.device).state.model.eval()
    source = torch.tensor([[5, 6, 7, 2, 0, 0]]).to(setup.device)
    target = torch.tensor([[1, 8, 9, 10]]).to(setup.device)
    changed = torch.tensor([[1, 8, 9, 11]]).to(setup.device)
    with torch.no_grad():
        whole, other = model(source, target), model(source, changed)
        shorter = model(source[:, :4], target)
    future = (whole[:, :3] - other[:, :3]).abs().max().item()
    padding = (whole - shorter).abs().max().item()
    assert future < 1e-4, f"a future token changes the logits by {future:.1e}"
    assert padding < 1e-4, f"padding changes the logits by {padding:.1e}"
    return {"future": future, "padding": padding}


def updates_do_not_wait(setup: Setup) -> Findings:
    """Perform updates, and check that the host never waits for the GPU."""
    trainer = setup.trainer(setup.own, setup.device)
    batches = setup.batches(trainer, 5)
    for batch in 2 * batches:  # creates the optimizer's state, and captures graphs
        trainer.state.update([batch])
    with setup.no_waits():
        for batch in batches:
            trainer.state.update([batch])
    return {"updates": len(batches)}


def replays_bit_for_bit(setup: Setup) -> Findings:
    """Perform the same updates with and without graphs: losses and weights must be identical."""
    config = with_fields(setup.own, REPLAYED)
    found = []
    try:
        for most_graphs in (0, 128):
            with patch.object(graphs, "_MOST_GRAPHS", most_graphs):
                trainer = setup.trainer(config, setup.device)
                batches = setup.batches(trainer, 5)
                losses = [trainer.state.update([batch]) for _ in range(4) for batch in batches]
                weights = [p.detach().cpu() for p in trainer.state.model.parameters()]
                found.append([*(loss.cpu() for loss in losses), *weights])
    finally:
        torch.use_deterministic_algorithms(False)
    replayed = trainer.state._replayed
    assert replayed is not None
    captured = len(replayed._replayed._graphs)
    assert captured, "no graph was captured"
    different = sum(not torch.equal(a, b) for a, b in zip(*found, strict=True))
    assert not different, f"{different} of {len(found[0])} losses and weights differ"
    return {"updates": len(losses), "graphs": captured}


def resumes_bit_for_bit(setup: Setup) -> Findings:
    """Train twice without an interruption and once with one: the weights must be identical."""
    half, whole = setup.updates, 2 * setup.updates
    weights = {}
    try:
        for name, limits in (("whole", [whole]), ("again", [whole]), ("resumed", [half, whole])):
            for number, limit in enumerate(limits):
                fields = {"max_updates": limit, "validate_updates": whole}
                config = with_fields(setup.own, {**fields, **REPLAYED})
                run = train_quietly(config, setup.folder / name, setup.device, number > 0)
            weights[name] = run.weights("last").read_bytes()
    finally:
        torch.use_deterministic_algorithms(False)
    assert weights["again"] == weights["whole"], "a repeated run ends with different weights"
    assert weights["resumed"] == weights["whole"], "a resumed run ends with different weights"
    return {"updates": whole}


def decodes_as_the_cpu(setup: Setup) -> Findings:
    """Decode validation sentences greedily and by beam search, on the GPU and on the CPU."""
    model = setup.trainer(setup.exact, setup.cpu).state.model.eval()
    examples = setup.prepared.examples("validation")[: 8 if setup.pretend else 200]
    encode = setup.prepared.tokenizers.source.encode
    sources = [[*encode(example.source), EOS] for example in examples]
    found: list[list[list[int]]] = []
    taken = {}
    for device in (setup.cpu, setup.device):
        engine = PyTorchEngine([model.to(device)])
        start = time.perf_counter()
        for beam_size in (1, 5):
            decoding = setup.own.decoding.model_copy(update={"beam_size": beam_size})
            limits = [12] * len(sources)
            found.append([best.ids for [best] in engine(sources, limits, decoding)])
        taken[device.type] = time.perf_counter() - start
    same = sum(a == b for a, b in zip(found[0] + found[1], found[2] + found[3], strict=True))
    assert same > 0.98 * 2 * len(sources), f"only {same} of {2 * len(sources)} are equal"
    return {"same": same, "of": 2 * len(sources), "seconds": taken}


def two_processes(setup: Setup) -> Findings:
    """Train with one process, with two, and with two and sharding: the losses must agree.
    With a simulated GPU, the processes train on the CPU.
    """
    if not setup.pretend and torch.cuda.device_count() < 2:
        raise Skipped("needs two GPUs")
    config = setup.briefly(setup.exact)
    here = setup.cpu if setup.pretend else setup.device
    single = train_quietly(config, setup.folder / "one", here)
    losses = {"one": single.read_metrics()[-1]["loss"]}
    file = setup.folder / "two.yaml"
    file.write_text(dump_config(config), encoding="utf-8")
    for name, shard in (("two", "false"), ("sharded", "true")):
        folder = setup.folder / name
        command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node=2", "-m", "nmt"]
        command += ["--", "train", "--config", str(file), "--run", str(folder)]
        command += ["--set", f"training.shard={shard}"]
        command += ["--device", "cpu"] if setup.pretend else []
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        assert not ended.returncode, ended.stderr[-2000:]
        losses[name] = RunFolder(folder).read_metrics()[-1]["loss"]
        assert abs(losses[name] - losses["one"]) < 1e-3 * losses["one"], f"losses {losses}"
    return {"losses": losses}
