"""Training speed and memory on a GPU, compared with other training loops on the same batches."""

import gc
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

import torch
from batches import whole_target
from plain_training import Loop, NNTransformer, Transformer
from torch import Tensor
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import _disable_current_modes

from gpu_stages.setup import Findings, Setup, with_fields
from nmt.config.config import Config
from nmt.config.yaml_files import load_config
from nmt.device import product_dtype
from nmt.special_tokens import SPECIALS
from nmt.training.assumed import CARDS, Count, count_update
from nmt.training.batches import Batch
from nmt.training.distributed import Worker
from nmt.training.step import TrainingState

# Settings that match the peers: pre-norm with biases, sinusoidal positions, one shared embedding,
# no weight averaging.
_AS_PEERS: dict[str, Findings] = {
    "model": {
        "norm_position": "pre",
        "positions": "sinusoidal",
        "attention_bias": True,
        "final_norm": True,
        "tie": "all",
    },
    "training": {"r_drop": 0.0, "average_decay": 0.0, "clip_norm": 1.0, "accumulate": 1},
}
_LONGEST = {"multi30k.yaml": 40, "wmt-base.yaml": 100}
_BATCHES = 48  # fewer are too noisy


def throughput_like_multi30k(setup: Setup) -> Findings:
    """Compare tokens per second with the peers, for a small model."""
    return _throughput(setup, "multi30k.yaml")


def throughput_like_wmt_base(setup: Setup) -> Findings:
    """Compare tokens per second with the peers, for the paper's base model."""
    return _throughput(setup, "wmt-base.yaml")


def _throughput(setup: Setup, name: str) -> Findings:
    config, longest = load_config(name), _LONGEST[name]
    size = config.tokenizer.vocabulary_size
    if setup.pretend:
        config, size, longest = setup.own, 120, 12
    config = with_fields(config, **_AS_PEERS)
    model = config.model
    sizes = model.d_model, model.heads, model.d_ff, model.encoder_layers, model.dropout
    smoothing = config.training.label_smoothing
    dtype = product_dtype(setup.device, config.training.precision)

    def peer(kind: type[Transformer]) -> Callable[[Batch], Tensor]:
        loop = Loop(kind(size, *sizes).to(setup.device), smoothing, dtype)
        return lambda batch: loop.update(batch.source, whole_target(batch))

    def nmt(**settings: bool) -> Callable[[Batch], Tensor]:
        fields = with_fields(config, settings)
        state = TrainingState(fields, size, size, Worker(setup.device))
        return lambda batch: state.update([batch])

    tokens = config.training.batch_tokens or 4096
    first, *batches = made_up_batches(2 if setup.pretend else _BATCHES, tokens, longest, size)
    found: Findings = {}
    makers: dict[str, Callable[[], Callable[[Batch], Tensor]]] = {
        "nmt": nmt,
        "nmt, compiled": lambda: nmt(compile=True),
        "plain loop": lambda: peer(Transformer),
        "nn.Transformer": lambda: peer(NNTransformer),
    }
    # The first round loads CUDA's kernels, at the expense of whichever loop comes first.
    rounds = 1 if setup.pretend else 2
    for who, make in [*makers.items()] * rounds:
        try:
            update = make()
            update(first).item()
            found[who] = {
                "new shapes, tokens/s": _tokens_per_second(update, batches),
                "repeated shapes, tokens/s": _tokens_per_second(update, batches),
            }
        except torch.cuda.OutOfMemoryError:
            found[who] = "out of memory"
        update = None  # type: ignore[assignment]
        _free_memory()
    count = _count(config, (size, size), batches[0], dtype)
    peak = peak_of(torch.cuda.get_device_name(setup.device), dtype)
    for each in (found["nmt"], found["nmt, compiled"]):
        if isinstance(each, str):  # out of memory
            continue
        rate = each["repeated shapes, tokens/s"]
        speed = count.operations / batches[0].tokens * rate  # operations per second
        each["TFLOP/s"] = speed / 1e12
        if peak:
            each["share of the card's dense peak"] = speed / peak
    return found


def peak_of(name: str, dtype: torch.dtype) -> float:
    """Return the peak operations per second of a card of this name; 0 if unknown.

    "NVIDIA A100-SXM4-80GB" is the "A100 80GB" of `CARDS`, and "Tesla T4" the "T4 16GB". Variants
    with other words (PCIe, Ti, Laptop, MIG) have other peaks.
    """
    words = set(re.split(r"[ -]", name)) - {"NVIDIA", "Tesla", "GeForce", "SXM2", "SXM4", "HBM3"}
    for known, card in CARDS.items():
        *model, memory = known.split()
        if words in ({*model}, {*model, memory}):
            return float(getattr(card, str(dtype).removeprefix("torch.")))
    return 0.0


def _tokens_per_second(update: Callable[[Batch], Tensor], batches: Sequence[Batch]) -> float:
    start = time.perf_counter()
    for batch in batches:
        loss = update(batch)
    loss.item()  # waits for the GPU
    return sum(batch.tokens for batch in batches) / (time.perf_counter() - start)


def made_up_batches(count: int, tokens: int, longest: int, size: int) -> list[Batch]:
    """Return batches with random tokens and different shapes, like those of BatchPlan."""
    generator = torch.Generator().manual_seed(1)

    def sentences(pairs: int, most: int) -> list[list[int]]:
        lengths = torch.randint(most * 4 // 5, most + 1, (pairs,), generator=generator).tolist()
        return [
            torch.randint(len(SPECIALS), size, (length,), generator=generator).tolist()
            for length in lengths
        ]

    batches = []
    for number in range(1, count + 1):
        most = max(4, longest * number // count)
        pairs = max(1, tokens // (most + 1))
        batches.append(Batch.from_ids(sentences(pairs, most), sentences(pairs, most)))
    return batches


def memory(setup: Setup) -> Findings:
    """Compare the peak of an update on the largest batch with its prediction."""
    _free_memory()
    before = torch.cuda.memory_allocated(setup.device)
    trainer = setup.trainer(setup.own, setup.device)
    batch = trainer.plan.largest()
    torch.cuda.reset_peak_memory_stats(setup.device)
    for _ in range(2):  # the first creates the optimizer's moments
        trainer.state.update([batch]).item()
    peak = torch.cuda.max_memory_allocated(setup.device) - before
    dtype = product_dtype(setup.device, setup.own.training.precision)
    tokenizers = setup.prepared.tokenizers
    sizes = tokenizers.source.size, tokenizers.target.size
    predicted = _count(setup.own, sizes, batch, dtype).peak
    assert setup.pretend or 0.7 < peak / predicted < 1.3, f"{peak:,} bytes, not {predicted:,}"
    return {"bytes": peak, "predicted": predicted}


def _count(config: Config, sizes: tuple[int, int], batch: Batch, dtype: torch.dtype) -> Count:
    any_card = CARDS["H100 80GB"]  # neither memory nor operations depend on it
    with _disable_current_modes():  # the simulated device cannot handle tensors without data
        return count_update(config, sizes, batch, any_card, dtype)


def profiled_updates(setup: Setup) -> Findings:
    """Report the share of the time that the GPU is busy, and its most expensive operations."""
    trainer = setup.trainer(setup.own, setup.device)
    batches = setup.batches(trainer, 5)
    for batch in batches:
        trainer.state.update([batch]).item()
    activities = [ProfilerActivity.CPU] + ([] if setup.pretend else [ProfilerActivity.CUDA])
    start = time.perf_counter()
    with profile(activities=activities) as found:
        for batch in batches:
            loss = trainer.state.update([batch])
        loss.item()
    seconds = time.perf_counter() - start

    def taken(event: Any) -> float:
        return event.self_cpu_time_total if setup.pretend else event.self_device_time_total  # type: ignore[no-any-return]

    # Kernels only: the operations that launched them report the same time again.
    events = [
        event
        for event in found.key_averages()
        if setup.pretend or (event.device_type.name == "CUDA" and not event.is_user_annotation)
    ]
    events.sort(key=taken, reverse=True)
    total = sum(map(taken, events))
    return {
        "share of time busy": total / 1e6 / seconds,
        "most expensive operations": {
            event.key: f"{taken(event) / total:.1%}" for event in events[:8]
        },
    }


def _free_memory() -> None:
    gc.collect()
    torch.cuda.empty_cache()
