"""An update counted for a GPU that is not here, from its data sheet: does it fit, how long at best?

The update runs on tensors without numbers (`meta`), which takes seconds at any size, and every
operation is counted. The estimate is a roofline (Williams et al. 2009): each operation takes
the longer of its arithmetic at the card's peak and its memory traffic at the card's bandwidth.
"""

import math
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from torch.utils.flop_counter import flop_registry

from nmt.config import Config
from nmt.corpus.prepare import prepare
from nmt.errors import UserError
from nmt.training.batches import Batch, BatchPlan
from nmt.training.distributed import Worker
from nmt.training.limits import last_update
from nmt.training.state import TrainingState

_SECONDS_PER_LAUNCH = 8e-6  # what Python and PyTorch take on the host for one operation, about
_RESERVED = 0.8e9  # bytes of a card that its driver, the CUDA context and its libraries take
_CUDA = torch.device("cuda")
# On a GPU clipping does these for all parameters at once.
_TOGETHER = {"aten.linalg_vector_norm", "aten.mul_"}
# Operations that launch nothing: they only describe memory or reserve it.
_FREE = {"aten.detach", "aten.empty", "aten.empty_like", "aten.new_empty", "aten._unsafe_view"}


@dataclass(frozen=True)
class Card:
    """What a GPU's data sheet says.

    memory: bytes; bandwidth: bytes a second; float32, float16, bfloat16: dense operations a second,
    of 16 bits with sums in float32; 0: the card cannot
    """

    memory: float
    bandwidth: float
    float32: float
    float16: float
    bfloat16: float

    @property
    def precision(self) -> torch.dtype:
        """What `training.precision: auto` takes on this card."""
        return torch.bfloat16 if self.bfloat16 else torch.float16


CARDS = {
    "T4 16GB": Card(16e9, 320e9, 8.1e12, 65e12, 0),
    "V100 16GB": Card(16e9, 900e9, 15.7e12, 125e12, 0),
    "RTX 3060 12GB": Card(12e9, 360e9, 12.7e12, 25.5e12, 25.5e12),
    "RTX 4090 24GB": Card(24e9, 1008e9, 82.6e12, 165e12, 165e12),
    "L4 24GB": Card(24e9, 300e9, 30.3e12, 121e12, 121e12),
    "A100 40GB": Card(40e9, 1555e9, 19.5e12, 312e12, 312e12),
    "A100 80GB": Card(80e9, 2039e9, 19.5e12, 312e12, 312e12),
    "H100 80GB": Card(80e9, 3350e9, 67e12, 989e12, 989e12),
    "H200 141GB": Card(141e9, 4800e9, 67e12, 989e12, 989e12),
}


def find_card(name: str) -> Card:
    """Return the card of this name; raises `UserError` for one that is not listed."""
    if name not in CARDS:
        raise UserError(f"--assume {name}: not a card that is known here: {', '.join(CARDS)}")
    return CARDS[name]


class Count(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts what a GPU would do while this lasts.

    operations: floating-point; traffic: bytes read and written; launches: operations run; peak:
    bytes of all tensors at once, those from `hold` included; seconds: at best, on the card
    """

    def __init__(self, card: Card):
        super().__init__()  # type: ignore[no-untyped-call]
        self._card = card
        self.operations = self.traffic = self.launches = self.peak = 0
        self.seconds = 0.0
        self._live: dict[int, int] = {}  # bytes of each storage

    def hold(self, tensor: Tensor) -> None:
        """Count a tensor's memory until it is freed."""
        storage = tensor.untyped_storage()
        key = storage._cdata
        if key not in self._live:
            self._live[key] = storage.nbytes()
            weakref.finalize(storage, self._live.pop, key, None)
            self.peak = max(self.peak, sum(self._live.values()))

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        found = func(*args, **kwargs)
        results = _tensors(found)
        for tensor in results:
            self.hold(tensor)
        tensors = [*_tensors((args, kwargs)), *results]
        if tensors and str(func.overloadpacket) not in _FREE and not _is_view(func):
            self._add(func, args, kwargs, found, tensors)
        return found

    def _add(self, func: Any, args: Any, kwargs: Any, found: Any, tensors: list[Tensor]) -> None:
        formula = flop_registry.get(func.overloadpacket)
        operations = formula(*args, **kwargs, out_val=found) if formula else 0
        traffic = sum(tensor.numel() * tensor.element_size() for tensor in tensors)
        speed = getattr(self._card, str(tensors[0].dtype).removeprefix("torch."), 0)
        self.operations += operations
        self.traffic += traffic
        self.launches += str(func.overloadpacket) not in _TOGETHER
        arithmetic = operations / (speed or self._card.float32)
        self.seconds += max(arithmetic, traffic / self._card.bandwidth)


def _tensors(tree: Any) -> list[Tensor]:
    return [leaf for leaf in tree_leaves(tree) if isinstance(leaf, Tensor)]


def _is_view(func: Any) -> bool:
    aliases = (argument.alias_info for argument in func._schema.arguments)
    return any(alias is not None and not alias.is_write for alias in aliases)


class _AsOnCuda(TorchFunctionMode):
    """Lets tensors without numbers (`meta`) behave as on CUDA, without which PyTorch may come."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        kwargs = kwargs or {}
        if func == Tensor.device.__get__:
            return _CUDA
        if func is Tensor.to and isinstance(args[1], torch.device | str):
            return args[0] if args[0].is_meta else torch.empty_like(args[0], device="meta")
        if func is Tensor.pin_memory:
            return args[0]
        if func is functional.scaled_dot_product_attention:
            return _attention_on_cuda(*args, **kwargs)
        if func is functional.dropout:
            return torch.native_dropout(args[0], kwargs["p"], True)[0]
        if func is functional.linear:
            return func(*_as_autocast(*args), **kwargs)
        if kwargs.get("device") is not None:
            kwargs = {**kwargs, "device": "meta"}
        return func(*args, **kwargs)


def _as_autocast(*tensors: Any) -> list[Any]:
    """Return tensors in the type that autocast multiplies in."""
    if not torch.is_autocast_enabled("cuda"):
        return [*tensors]
    dtype = torch.get_autocast_dtype("cuda")
    return [None if tensor is None else tensor.to(dtype) for tensor in tensors]


def _attention_on_cuda(
    query: Tensor,
    key: Tensor,
    value: Tensor,
    mask: Tensor | None = None,
    dropout: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
) -> Tensor:
    """Call the kernel that PyTorch would choose there: flash attention, with a mask the other."""
    query, key, value = _as_autocast(query, key, value)
    if mask is None and query.dtype != torch.float32:
        kernel = torch.ops.aten._scaled_dot_product_flash_attention
        return kernel(query, key, value, dropout, is_causal, scale=scale)[0]  # type: ignore[no-any-return]
    if mask is not None:
        mask = mask.expand(*query.shape[:3], key.shape[2])
    kernel = torch.ops.aten._scaled_dot_product_efficient_attention
    found = kernel(query, key, value, mask, True, dropout, is_causal, scale=scale)
    return found[0]  # type: ignore[no-any-return]


def count_update(
    config: Config, sizes: tuple[int, int], batch: Batch, card: Card, dtype: torch.dtype
) -> Count:
    """Count one update on a batch, repeated as `training.accumulate` says.

    sizes: of the vocabularies; dtype: what matrix products are in
    """
    # What `autocast` would do is done by `_AsOnCuda`, since PyTorch without CUDA refuses.
    off = {"precision": "float32", "deterministic": False, "compile": False}
    plain = config.training.model_copy(update=off)
    config = config.model_copy(update={"training": plain})
    with torch.device("meta"), _AsOnCuda(), _products_in(dtype):
        state = TrainingState(config, *sizes, last_update=1, worker=Worker(_CUDA))
        fields = {name: torch.empty_like(x, device="meta") for name, x in vars(batch).items()}
        batches = [replace(batch, **fields)] * config.training.accumulate
        state.update(batches)  # makes the optimizer's moments
        count = Count(card)
        for tensor in _kept(state):
            count.hold(tensor)
        with count:
            state.update(batches)
    return count


def _kept(state: TrainingState) -> list[Tensor]:
    """Return what a training holds between updates."""
    return [
        *state.model.parameters(),
        *state.model.buffers(),
        *_tensors(state.optimizer.state_dict()["state"]),
        *(state.average.average if state.average else []),
    ]


@contextmanager
def _products_in(dtype: torch.dtype) -> Iterator[None]:
    if dtype == torch.float32:
        yield
        return
    torch.set_autocast_dtype("cuda", dtype)
    torch.set_autocast_enabled("cuda", True)
    try:
        yield
    finally:
        torch.set_autocast_enabled("cuda", False)


@dataclass(frozen=True)
class AssumedRun:
    """What a training would need on a card that is not here; times are estimates, at best.

    batch: (pairs, source, target), the shape of the largest batch; tokens: labels of an update;
    operations, traffic, launches, peak_memory: see `Count`; seconds: of an update by the roofline,
    host_seconds: what the host takes to launch it; updates: of the whole training
    """

    card: str
    memory: float
    precision: str
    batch: tuple[int, int, int]
    tokens: int
    operations: int
    traffic: int
    launches: int
    peak_memory: int
    seconds: float
    updates: int
    tokens_per_update: float

    @property
    def host_seconds(self) -> float:
        """About the time that Python and PyTorch take on the host for an update."""
        return self.launches * _SECONDS_PER_LAUNCH

    @property
    def fits(self) -> bool:
        """Whether the largest batch fits, beside what the driver takes."""
        return self.peak_memory + _RESERVED <= self.memory

    @property
    def tokens_per_second(self) -> float:
        """Labels learnt from in a second, at best."""
        return self.tokens / max(self.seconds, self.host_seconds)

    def __str__(self) -> str:
        pairs, source, target = self.batch
        bound = "the host" if self.host_seconds > self.seconds else "the GPU"
        hours = self.updates * self.tokens_per_update / self.tokens_per_second / 3600
        fits = "fits" if self.fits else "does not fit: lower training.batch_tokens"
        return (
            f"device           {self.card}, assumed; {self.precision} products\n"
            f"largest batch    {pairs:,} pairs × {source} source × {target} target pieces\n"
            f"one update       {self.tokens:,} tokens, {self.operations / 1e12:.3g} TFLOP, "
            f"{self.traffic / 1e9:.3g} GB of memory traffic, {self.launches:,} launches\n"
            f"peak memory      {self.peak_memory / 1e9:.1f} GB of {self.memory / 1e9:.0f}: {fits}\n"
            f"speed            at most {self.tokens_per_second:,.0f} tokens/s, an estimate, bound "
            f"by {bound} ({1000 * self.seconds:.3g} ms GPU, {1000 * self.host_seconds:.3g} ms host)"
            f"\nwhole training   {self.updates:,} updates, at least {hours:.2g} h, an estimate; "
            "validations not counted"
        )


def assumed_run(config: Config, name: str) -> AssumedRun:
    """Estimate a training on a listed card that need not be here; prepare the data where needed."""
    card = find_card(name)
    prepared = prepare(config)
    plan = BatchPlan(prepared, config.training, config.model.max_length)
    batch = plan.largest()
    precision = config.training.precision
    dtype = card.precision if precision == "auto" else getattr(torch, precision)
    sizes = prepared.tokenizers.source.size, prepared.tokenizers.target.size
    count = count_update(config, sizes, batch, card, dtype)
    updates_an_epoch = math.ceil(len(plan.deal(1).order) / config.training.accumulate)
    return AssumedRun(
        card=name,
        memory=card.memory,
        precision=str(dtype).removeprefix("torch."),
        batch=(*batch.source.shape, batch.target_in.shape[1]),
        tokens=batch.tokens * config.training.accumulate,
        operations=count.operations,
        traffic=count.traffic,
        launches=count.launches,
        peak_memory=count.peak,
        seconds=count.seconds,
        updates=last_update(config.training, updates_an_epoch),
        tokens_per_update=plan.tokens / updates_an_epoch,
    )
