"""Speed and memory on a GPU: training next to other loops on the same batches, and decoding."""

import gc
import random
from collections.abc import Callable, Sequence
from functools import partial

import torch
from batches import flops, whole_target
from measuring import seconds, tokens_per_second
from plain_training import Loop, NNTransformer
from plain_training import Transformer as PlainTransformer
from torch import Tensor
from torch.profiler import ProfilerActivity, profile
from torch.utils._python_dispatch import _disable_current_modes

from gpu_stages.setup import Findings, Setup, train_quietly, with_fields
from nmt.config.choices import ComputeType, EngineChoice
from nmt.config.config import Config
from nmt.config.yaml_files import load_config
from nmt.decoding.loading import load_translator
from nmt.device import autocast, product_dtype
from nmt.errors import UserError
from nmt.model.transformer import Transformer
from nmt.special_tokens import SPECIALS
from nmt.training.batches import Batch
from nmt.training.distributed import Worker
from nmt.training.step import TrainingState

# Settings that match the peers: pre-norm with biases, sinusoidal positions, one shared embedding,
# no weight averaging.
AS_PEERS: dict[str, Findings] = {
    "model": {
        "norm_position": "pre",
        "positions": "sinusoidal",
        "attention_bias": True,
        "final_norm": True,
        "tie": "all",
    },
    "training": {"r_drop": 0.0, "average_decay": 0.0, "clip_norm": 1.0, "accumulate": 1},
}
_SHAPES = 12  # of batches
_UPDATES = 48  # in each of two rounds; fewer are too noisy
OURS: dict[str, Findings] = {
    "nmt, eager": {"graphs": "never"},
    "nmt, graphs": {"graphs": "always"},
    "nmt, graphs, compiled": {"graphs": "always", "compile": True},
}

Update = Callable[[Batch], Tensor]


def throughput_like_multi30k(setup: Setup) -> Findings:
    """Compare tokens per second with the peers, for a small model."""
    return _throughput(setup, "multi30k.yaml", longest=40)


def throughput_like_wmt_base(setup: Setup) -> Findings:
    """Compare tokens per second with the peers, for the paper's base model."""
    return _throughput(setup, "wmt-base.yaml", longest=100)


def _throughput(setup: Setup, name: str, longest: int) -> Findings:
    config, shapes = load_config(name), _SHAPES
    size = config.tokenizer.vocabulary_size
    if setup.pretend:
        config, size, longest, shapes = setup.own, 120, 12, 2
    config = with_fields(config, **AS_PEERS)
    dtype = product_dtype(setup.device, config.training.precision)
    batches = made_up_batches(shapes, config.training.batch_tokens or 4096, longest, size)
    make = makers(setup.device, config, size, dtype)
    found: Findings = {who: {"tokens/s": []} for who in make}
    order = random.Random(1)
    for number in range(2):
        for who in order.sample(list(make), len(make)):
            try:
                _measure(setup, make[who](), batches, found[who], busy=number == 1)
            except torch.cuda.OutOfMemoryError:
                found[who]["out of memory"] = True
            gc.collect()
            torch.cuda.empty_cache()
    # Only its sizes matter; the simulated device cannot handle tensors without data.
    with _disable_current_modes(), torch.device("meta"):
        per_token = flops(Transformer(config.model, size, size), batches)
    for who in OURS:
        for rate in found[who]["tokens/s"][-1:]:
            found[who]["TFLOP/s"] = per_token * rate / 1e12
    return found


def makers(
    device: torch.device, config: Config, size: int, dtype: torch.dtype
) -> dict[str, Callable[[], Update]]:
    """Return functions that each make a model and return its update: nmt's, and the peers'."""
    model, smoothing = config.model, config.training.label_smoothing
    sizes = model.d_model, model.heads, model.d_ff, model.encoder_layers, model.dropout

    def peer(kind: type[PlainTransformer]) -> Update:
        loop = Loop(kind(size, *sizes).to(device), smoothing, dtype)
        return lambda batch: loop.update(batch.source, whole_target(batch))

    def nmt(settings: Findings) -> Update:
        state = TrainingState(with_fields(config, settings), size, size, Worker(device))
        return lambda batch: state.update([batch])

    return {
        **{who: partial(nmt, settings) for who, settings in OURS.items()},
        "plain loop": partial(peer, PlainTransformer),
        "nn.Transformer": partial(peer, NNTransformer),
    }


def _measure(
    setup: Setup, update: Update, batches: list[Batch], found: Findings, busy: bool
) -> None:
    """Add a round of updates to the findings, after a warm-up; busy: also how busy the GPU is."""
    torch.cuda.reset_peak_memory_stats(setup.device)
    for batch in 2 * batches:  # loads kernels, compiles, and captures graphs
        update(batch).item()
    rounds = 1 if setup.pretend else _UPDATES // len(batches)
    found["tokens/s"].append(_speed(update, rounds * batches))
    found["peak memory, bytes"] = torch.cuda.max_memory_allocated(setup.device)
    if busy:
        found["share of time busy"] = _share_of_time_busy(setup, update, batches)


def _speed(update: Update, batches: Sequence[Batch]) -> float:
    """Return target tokens per second."""
    tokens = sum(batch.tokens for batch in batches)
    return tokens_per_second(update, ([batch] for batch in batches), tokens)


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


def _share_of_time_busy(setup: Setup, update: Update, batches: list[Batch]) -> float:
    """Return the share of the time of some updates in which the GPU computes."""
    # Timed without the profiler, which slows down the host.
    taken = seconds(lambda: _speed(update, batches))
    activities = {ProfilerActivity.CPU} | (set() if setup.pretend else {ProfilerActivity.CUDA})
    with profile(activities=activities) as found:
        _speed(update, batches)
    # Kernels only: the operations that launched them report the same time again.
    busy: float = sum(
        event.self_cpu_time_total if setup.pretend else event.self_device_time_total
        for event in found.key_averages()
        if setup.pretend or (event.device_type.name == "CUDA" and not event.is_user_annotation)
    )
    return busy / 1e6 / taken


def decoding(setup: Setup) -> Findings:
    """Compare sentences per second of both engines in two precisions; beam of 5."""
    run = train_quietly(setup.briefly(setup.own), setup.folder / "decoded", setup.device)
    examples = setup.prepared.examples("validation")[: 4 if setup.pretend else 1000]
    lines = [example.source for example in examples]
    ways: dict[str, tuple[EngineChoice, ComputeType | None, str]] = {
        "CTranslate2, float32": ("ctranslate2", "float32", "float32"),
        "CTranslate2, float16": ("ctranslate2", "float16", "float32"),
        "PyTorch, float32": ("pytorch", None, "float32"),
        "PyTorch, bfloat16": ("pytorch", None, "bfloat16"),
    }
    found: Findings = {}
    for name, (engine, compute_type, precision) in ways.items():
        try:
            translator = load_translator(
                run,
                overrides=["decoding.beam_size=5"],
                device=setup.device.type,
                engine=engine,
                compute_type=compute_type,
            )
        except UserError as error:  # CTranslate2 without CUDA, or a card without float16
            found[name] = str(error)
            continue
        with autocast(setup.device, precision):
            translated = translator.translate(lines)  # warm-up
            taken = seconds(partial(translator.translate, lines))
        tokens = sum(each.tokens for each in translated)
        found[name] = {"sentences/s": len(lines) / taken, "tokens/s": tokens / taken}
    return found
