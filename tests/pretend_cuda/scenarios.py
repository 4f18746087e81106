"""Functions that the tests run on the CPU and on the simulated device, to compare results.

The first argument of each is the device. They are in a separate module so that the
other process can import them.
"""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar
from unittest.mock import patch

import torch
from pretend_cuda.device import CUDA, Pretending, launches, waits
from pretend_cuda.graphs import PretendGraph
from torch import Tensor, nn
from torch.nn import functional

from nmt.config.config import Config
from nmt.corpus.preparing.prepare import prepare
from nmt.decoding.alignment import align
from nmt.decoding.loading import load_translator
from nmt.decoding.search.beam import beam_search
from nmt.decoding.search.datastore import Datastore
from nmt.decoding.search.ensemble import Ensemble
from nmt.decoding.search.greedy import greedy_search
from nmt.decoding.search.lexical_constraints import LexicalConstraints
from nmt.decoding.search.nearest_neighbours import Neighbours, WithNeighbours
from nmt.decoding.search.sampling import Sampler
from nmt.decoding.search.stepwise import Stepwise
from nmt.decoding.unknown_words import replace_unknown
from nmt.model import transformer
from nmt.model.masks import padding_mask
from nmt.model.padding import pad
from nmt.ops.dropout import Dropout
from nmt.ops.graphs import ReplayedByShape
from nmt.reports.inspection import inspect, record_beam
from nmt.runs.folder import RunFolder, Validation
from nmt.runs.weights import load_weights
from nmt.special_tokens import EOS, PAD, UNK
from nmt.training.batches import Batch
from nmt.training.distributed import Worker
from nmt.training.loop import Trainer
from nmt.training.optimizers import restore_moments
from nmt.training.train import train

R = TypeVar("R")


def on_pretended_device(folder: Path, function: Callable[..., R], *arguments: object) -> R:
    """Call the function with the simulated CUDA device, in another working folder."""
    os.chdir(folder)
    torch.set_num_threads(1)
    with Pretending():
        return function(CUDA, *arguments)


# ------------------------------------------------------------------------------------- training


@dataclass
class Updates:
    """Losses of some updates, the sum of the weights after them, and host synchronizations."""

    losses: list[float]
    weights: float
    waits: Counter[str]


def updates(
    device: torch.device,
    config: Config,
    count: int,
    same_dropout: bool = False,
    restored: bool = False,
) -> Updates:
    """Perform updates; with `same_dropout`, dropout is equal on all devices.

    restored: whether the optimizer's moments are restored first, as from a checkpoint
    """
    trainer = Trainer(config, prepare(config), RunFolder(Path("none")), Worker(device))
    size = config.training.accumulate
    batches = list(islice(trainer.plan.epoch(1).batches(), count * size))
    if restored:
        trainer.state.update(batches[:size])
        optimizer = trainer.state.optimizer
        restore_moments(optimizer, optimizer.state_dict()["state"])
    with same_dropouts() if same_dropout else nullcontext():
        waits.clear()
        losses = [trainer.state.update(batches[i * size :][:size]) for i in range(count)]
        found = Counter(waits)
    weights = sum(p.detach().double().abs().sum().item() for p in trainer.state.model.parameters())
    return Updates([loss.item() for loss in losses], weights, found)


@dataclass
class Replayed:
    """Losses and gradients of all updates, the weights after them, and the number of replays."""

    losses: list[float]
    gradients: list[list[Tensor]]
    weights: list[Tensor]
    replays: int
    launches: list[int]


def repeated_updates(
    device: torch.device, config: Config, count: int, most_graphs: int = 128
) -> Replayed:
    """Perform updates on three shapes of batches in turn, with at most this many graphs."""
    with patch("nmt.ops.graphs._MOST_GRAPHS", most_graphs):
        return _repeated_updates(device, config, count)


def _repeated_updates(device: torch.device, config: Config, count: int) -> Replayed:
    trainer = Trainer(config, prepare(config), RunFolder(Path("none")), Worker(device))
    state, size = trainer.state, config.training.accumulate
    shapes = {(b.source.shape, b.target_in.shape): b for b in trainer.plan.epoch(1).batches()}
    batches = list(shapes.values())[:3]
    gradients: list[list[Tensor]] = []
    unscale, before = state.loss_scaler.unscale, PretendGraph.replays

    def note(optimizer: torch.optim.Optimizer) -> None:
        launched = launches.copy()
        gradients.append([p.grad.cpu() for p in state.model.parameters() if p.grad is not None])
        launches.clear()
        launches.update(launched)
        unscale(optimizer)

    losses: list[float] = []
    launched: list[int] = []
    with patch.object(state.loss_scaler, "unscale", note):
        for number in range(count):
            launches.clear()
            chosen = [batches[(number * size + i) % 3] for i in range(size)]
            # Batches of equal shape, but with other sentences and other numbers of labels.
            losses.append(state.update([rotated(batch, number) for batch in chosen]).item())
            launched.append(launches.total())
    weights = [p.detach().cpu() for p in state.model.parameters()]
    return Replayed(losses, gradients, weights, PretendGraph.replays - before, launched)


def same_batch(device: torch.device, config: Config, count: int) -> list[float]:
    """Perform updates on one batch; return their losses."""
    trainer = Trainer(config, prepare(config), RunFolder(Path("none")), Worker(device))
    batch = trainer.plan.largest()
    return [trainer.state.update([batch]).item() for _ in range(count)]


def rotated(batch: Batch, by: int) -> Batch:
    """Return a batch of the same shape with the ids 4 … 8 exchanged, and one sentence shortened."""

    def exchange(ids: Tensor) -> Tensor:
        return torch.where((ids >= 4) & (ids < 9), 4 + (ids + by) % 5, ids)

    short, length = by % len(batch), 1 + by % batch.target_out.shape[1]
    target_in, target_out = exchange(batch.target_in), exchange(batch.target_out)
    target_in[short, length:] = PAD
    target_out[short, length:] = PAD
    labels = target_out.flatten().nonzero().squeeze(1)
    return Batch(exchange(batch.source), target_in, target_out, labels)


def faults_of_graphs(device: torch.device) -> list[list[float]]:
    """Replay faulty functions, each called three times on 1, 2 and 3; return their results."""
    scale = torch.ones((), device=device)
    calls: list[int] = []

    def counting(x: Tensor) -> Tensor:
        calls.append(1)
        return x * len(calls)  # a number that changes: replays repeat the captured one

    def waiting(x: Tensor) -> Tensor:
        return x * scale.item()  # cannot be captured, so it always runs

    found = []
    for function in (counting, waiting):
        replayed = ReplayedByShape(function)
        found.append([replayed(torch.full((), n, device=device)).item() for n in (1.0, 2.0, 3.0)])
    return found


def out_of_memory(device: torch.device) -> list[float]:
    """Replay a function that runs out of memory once a graph holds some."""
    full = False

    def function(x: Tensor) -> Tensor:
        nonlocal full
        if full:
            full = False
            raise torch.cuda.OutOfMemoryError
        return x.sum()

    replayed = ReplayedByShape(function)
    found = [replayed(torch.ones(2, device=device)).item() for _ in range(3)]
    full = True
    return [*found, replayed(torch.ones(3, device=device)).item(), len(replayed._graphs)]


def switches(device: torch.device, config: Config) -> list[str]:
    """Start training; return which of two settings took effect, and how often."""
    found: list[str] = []
    with (
        patch("nmt.training.step.be_deterministic", lambda: found.append("deterministic")),
        patch("nmt.training.step.compile_training", lambda layer: found.append("compiled")),
    ):
        Trainer(config, prepare(config), RunFolder(Path("none")), Worker(device))
    return found


def widths(device: torch.device, config: Config) -> set[int]:
    """Perform an update; return the widths of attention heads and of blocks of logits."""
    found = set()
    attend, multiply = functional.scaled_dot_product_attention, torch.mm

    def attending(query: Tensor, *rest: Any, **named: Any) -> Tensor:
        found.add(query.shape[-1])
        return attend(query, *rest, **named)

    def multiplying(a: Tensor, b: Tensor, *, out: Tensor | None = None) -> Tensor:
        if out is not None:
            found.add(out.stride(0))
        return multiply(a, b, out=out)

    with (
        patch.object(functional, "scaled_dot_product_attention", attending),
        patch.object(torch, "mm", multiplying),
    ):
        updates(device, config, 1)
    return found


def dropout_rates(device: torch.device, config: Config) -> dict[str, set[float]]:
    """Perform an update; return the rates at which attention and other values are dropped."""
    found: dict[str, set[float]] = {"attention": set(), "others": set()}
    attend, drop = functional.scaled_dot_product_attention, functional.dropout

    def attending(*arguments: Any, **named: Any) -> Tensor:
        found["attention"].add(arguments[4])
        return attend(*arguments, **named)

    def dropping(x: Tensor, rate: float) -> Tensor:
        found["others"].add(rate)
        return drop(x, rate)

    with (
        patch.object(functional, "scaled_dot_product_attention", attending),
        patch.object(functional, "dropout", dropping),
    ):
        updates(device, config, 1)
    return found


def masks_of_attention(device: torch.device, config: Config, decoding: bool) -> list[Any]:
    """Return the types and row strides, modulo 8, of all masks, and the number of masks."""
    found: dict[int, Tensor] = {}
    kinds = set()
    attend = functional.scaled_dot_product_attention

    def attending(*arguments: Any, **named: Any) -> Tensor:
        mask = arguments[3]
        if mask is not None:
            found[id(mask)] = mask
            kinds.add((str(mask.dtype), mask.stride(-2) % 8))
        return attend(*arguments, **named)

    trainer = Trainer(config, prepare(config), RunFolder(Path("none")), Worker(device))
    [batch] = islice(trainer.plan.epoch(1).batches(), 1)
    with patch.object(functional, "scaled_dot_product_attention", attending):
        if decoding:
            limits = torch.full((len(batch),), 2)
            beam_search(trainer.state.model.eval(), batch.to(device).source, limits, 2, 1.0)
        else:
            trainer.state.update([batch])
    return [kinds, len(found)]


def same_dropouts() -> Any:
    """Make dropout independent of the device."""
    generator = torch.Generator().manual_seed(1)

    def forward(self: Dropout, x: Tensor) -> Tensor:
        if not self.training or not self.rate:
            return x
        kept = torch.rand(x.shape, generator=generator) >= self.rate
        return x * kept.to(x.device, non_blocking=True) / (1 - self.rate)

    return patch.object(Dropout, "forward", forward)


def training(device: torch.device, config: Config, *limits: int) -> list[Validation]:
    """Train to the first limit, then resume to each further one; return all metrics."""
    *_, (run, _) = _trained_in_parts(device, config, limits)
    return [{**line, "minutes": 0.0} for line in run.read_metrics()]


def weights_after_training(
    device: torch.device, config: Config, *limits: int
) -> tuple[bytes, list[int]]:
    """Train as `training` does; return the last weights, and the replays of each part."""
    parts = list(_trained_in_parts(device, config, limits))
    return parts[-1][0].weights("last").read_bytes(), [replays for _, replays in parts]


def _trained_in_parts(
    device: torch.device, config: Config, limits: Sequence[int]
) -> Iterator[tuple[RunFolder, int]]:
    folder = Path(f"{device.type}-{'-'.join(map(str, limits))}")
    for number, limit in enumerate(limits):
        settings = config.training.model_copy(update={"max_updates": limit})
        limited = config.model_copy(update={"training": settings})
        before = PretendGraph.replays
        run = train(limited, folder, resume=number > 0, worker=Worker(device))
        yield run, PretendGraph.replays - before


# ------------------------------------------------------------------------------------- decoding


@dataclass
class Decoded:
    """The best hypotheses of each sentence, the number of steps, and host synchronizations."""

    ids: list[list[list[int]]]
    scores: list[float]
    steps: int
    waits: Counter[str]


def decoding(device: torch.device, run: Path, beam_size: int, way: str = "") -> Decoded:
    """Decode the validation sources, greedily with a beam of one.

    way: "sampling", "ensemble" of the model with itself, "constraints": phrases that must occur,
    "neighbours" from a made-up datastore
    """
    folder = RunFolder(run)
    prepared = prepare(folder.config)
    tokenizers = prepared.tokenizers
    sizes = tokenizers.source.size, tokenizers.target.size
    model = load_weights(folder.weights("best"), folder.config.model, *sizes, device)
    lines = [example.source for example in prepared.examples("validation")]
    source = pad([[*tokenizers.source.encode(line), EOS] for line in lines]).to(device)
    limits = torch.arange(len(source)) % 5 + 8  # some outputs are truncated
    model.eval()
    steps: Any = Steps(model)
    sampler = constraints = None
    if way == "sampling":
        settings = folder.config.decoding.model_copy(
            update={"temperature": 0.8, "top_k": 20, "top_p": 0.9}
        )
        sampler = Sampler(settings, source.tolist(), range(len(source)))
    if way == "ensemble":
        steps = Steps(Ensemble([model, model]))
    if way == "constraints":
        phrases = [[[[4 + first % 9, 9]], [[9]]] for first, *_ in source.tolist()]
        constraints = LexicalConstraints(phrases, [4, 5, 6], device)
    if way == "neighbours":
        generator = torch.Generator().manual_seed(1)
        keys = torch.randn(500, folder.config.model.d_model, generator=generator)
        tokens = torch.arange(500) % sizes[1]
        datastore = Datastore.of(keys.to(device), tokens.to(device))
        steps = Steps(WithNeighbours(model, Neighbours(datastore, 4, 0.2, 10.0)))
    waits.clear()
    if beam_size == 1:
        found = [[best] for best in greedy_search(steps, source, limits, sampler=sampler)]
    else:
        found = beam_search(
            steps, source, limits, beam_size, 0.6, n_best=2, constraints=constraints
        )
    ids = [[hypothesis.ids for hypothesis in each] for each in found]
    scores = [hypothesis.score for each in found for hypothesis in each]
    return Decoded(ids, scores, steps.count, Counter(waits))


class Steps:
    """Counts the steps of a model."""

    def __init__(self, model: Stepwise[Any]):
        self.init_state, self.count, self._step = model.init_state, 0, model.step

    def step(self, tokens: Tensor, state: Any) -> Tensor:
        self.count += 1
        return self._step(tokens, state)


def looks_inside(device: torch.device, run: Path) -> list[Any]:
    """Translate a line on the device; return the results of functions that inspect the model."""
    folder = RunFolder(run)
    precision = torch.get_float32_matmul_precision()
    translator = load_translator(folder, engine="pytorch", device=device.type)
    torch.set_float32_matmul_precision(precision)  # `load_translator` changes it
    model = translator.pytorch.models[0]
    line = prepare(folder.config).examples("validation")[0].source
    [translation] = translator.translate([line])
    inspection = inspect(translator, line, translation)
    [trace] = translator.traces(translation)
    tokens = translator.tokenizers.source.tokens(trace.source_ids[:-1])
    unknown = [UNK, *trace.hypothesis.ids]
    replaced = replace_unknown(
        model, trace.source_ids, tokens, unknown, translator.tokenizers.target
    )
    target = translator.tokenizers.target
    steps, _ = record_beam(
        model, trace.source_ids, 6, translator.decoding, target.tokens, target.decode
    )
    beam = [[step.token for step in each] for each in steps]
    cross = torch.from_numpy(inspection.cross.weights).double()
    numbers = [*inspection.log_probabilities, *cross.flatten().tolist()]
    return [inspection.translation, align(translator, line, translation), replaced, beam, numbers]


def nearest(device: torch.device, keys: Tensor, tokens: Tensor, queries: Tensor) -> list[Tensor]:
    """Look up queries in a datastore of these keys."""
    with torch.inference_mode():
        datastore = Datastore.of(keys.to(device), tokens.to(device))
        return [x.cpu() for x in datastore.nearest(queries.to(device), 8)]


def waits_of_nearest(device: torch.device) -> Counter[str]:
    """Look up queries in a small datastore; return the host synchronizations."""
    datastore = Datastore.of(torch.eye(500, 8, device=device), torch.arange(500, device=device))
    waits.clear()
    datastore.nearest(torch.ones(3, 8, device=device), 2)
    return Counter(waits)


# ----------------------------------------------------------------- faults that must be detected


def faulty_updates(device: torch.device, config: Config, fault: Callable[[], Any]) -> Updates:
    """Perform updates with an injected fault."""
    with fault():
        return updates(device, config, 2)


def mask_on_the_cpu() -> Any:
    """Leave a mask on the CPU."""
    return patch.object(transformer, "padding_mask", lambda ids: padding_mask(ids).cpu())


def value_that_is_read() -> Any:
    """Synchronize by reading a value."""
    forward = nn.LayerNorm.forward

    def reading(self: nn.LayerNorm, x: Tensor) -> Tensor:
        x.sum().item()
        return forward(self, x)

    return patch.object(nn.LayerNorm, "forward", reading)
