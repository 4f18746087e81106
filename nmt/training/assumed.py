"""Estimates memory use and speed of training on a GPU that this machine lacks, from its datasheet.

One update runs on `meta` tensors, which hold no data, and every operation is counted; this takes
seconds for a model of any size. The estimate is a roofline (Williams et al. 2009): the time of an
operation is that of its arithmetic at peak speed or of its memory traffic at full bandwidth,
whichever is longer.
"""

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

from nmt.config.config import Config
from nmt.corpus.preparing.prepare import prepare
from nmt.errors import UserError
from nmt.training.batches import Batch, BatchPlan
from nmt.training.console import duration
from nmt.training.distributed import Worker
from nmt.training.limits import last_update, updates_per_epoch
from nmt.training.loop import require_possible
from nmt.training.step import TrainingState

_SECONDS_PER_LAUNCH = 8e-6  # approximate time of Python and PyTorch on the host per operation
_RESERVED = 0.8e9  # bytes used by the driver, the CUDA context and its libraries
_CUDA = torch.device("cuda")
# On a GPU, clipping does these for all parameters in one launch.
_TOGETHER = {"aten.linalg_vector_norm", "aten.mul_"}
# Operations that launch no kernel: they only describe or allocate memory.
_FREE = {"aten.detach", "aten.empty", "aten.empty_like", "aten.new_empty", "aten._unsafe_view"}


@dataclass(frozen=True)
class Card:
    """Figures from a GPU's datasheet."""

    memory: float
    """Bytes."""
    bandwidth: float
    """Bytes per second."""
    float32: float
    """Dense FLOP per second of matrix products, in TF32, which training uses, if it has that."""
    float16: float
    """The same in float16 with float32 accumulation; 0 if not supported."""
    bfloat16: float
    """The same in bfloat16 with float32 accumulation; 0 if not supported."""

    @property
    def precision(self) -> torch.dtype:
        """The type that `training.precision: auto` selects on this card."""
        return torch.bfloat16 if self.bfloat16 else torch.float16


CARDS = {
    "T4 16GB": Card(16e9, 320e9, 8.1e12, 65e12, 0),
    "V100 16GB": Card(16e9, 900e9, 15.7e12, 125e12, 0),
    "RTX 3060 12GB": Card(12e9, 360e9, 12.7e12, 25.5e12, 25.5e12),
    "RTX 4090 24GB": Card(24e9, 1008e9, 82.6e12, 165e12, 165e12),
    "L4 24GB": Card(24e9, 300e9, 60e12, 121e12, 121e12),
    "A100 40GB": Card(40e9, 1555e9, 156e12, 312e12, 312e12),
    "A100 80GB": Card(80e9, 2039e9, 156e12, 312e12, 312e12),
    "H100 80GB": Card(80e9, 3350e9, 494e12, 989e12, 989e12),
    "H200 141GB": Card(141e9, 4800e9, 494e12, 989e12, 989e12),
}


def find_card(name: str) -> Card:
    """Return the card of this name; raises `UserError` if it is not listed."""
    if name not in CARDS:
        raise UserError(f"--assume {name}: unknown card; choose one of {', '.join(CARDS)}")
    return CARDS[name]


class Count(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Counts the work of a GPU within the context.

    operations: floating-point operations; traffic: bytes read and written; launches: kernels
    launched; peak: maximum bytes of all live tensors, including those from `hold`; seconds: lower
    bound on the time on the card
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
    """Makes `meta` tensors behave as on CUDA, even if PyTorch was built without CUDA."""

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
    """Cast tensors to autocast's type for matrix products."""
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
    """Call the kernel that PyTorch would choose on CUDA.

    Flash attention supports neither masks nor values of another width than the keys.
    """
    query, key, value = _as_autocast(query, key, value)
    same_width = key.shape[-1] == value.shape[-1]
    if mask is None and same_width and query.dtype != torch.float32:
        kernel = torch.ops.aten._scaled_dot_product_flash_attention
        return kernel(query, key, value, dropout, is_causal, scale=scale)[0]  # type: ignore[no-any-return]
    if mask is not None:
        mask = mask.expand(*query.shape[:3], key.shape[2])
    kernel = torch.ops.aten._scaled_dot_product_efficient_attention
    found = kernel(query, key, value, mask, True, dropout, is_causal, scale=scale)
    return found[0]  # type: ignore[no-any-return]


def count_update(
    config: Config,
    sizes: tuple[int, int],
    batch: Batch,
    card: Card,
    dtype: torch.dtype,
    copies: int = 1,
) -> Count:
    """Count one update with copies of a batch.

    sizes: of the vocabularies; dtype: type of matrix products
    """
    # `_AsOnCuda` does the casts of `autocast`, which PyTorch refuses without CUDA. NAdam cannot
    # count its steps on meta tensors; Adam keeps the same moments.
    off = {"precision": "float32", "deterministic": False, "compile": False}
    off |= {"initial_weights": None, "graphs": "never"}
    if config.training.optimizer == "nadam":
        off["optimizer"] = "adam"
    plain = config.training.model_copy(update=off)
    config = config.model_copy(update={"training": plain})
    with torch.device("meta"), _AsOnCuda(), _products_in(dtype):
        state = TrainingState(config, *sizes, Worker(_CUDA))
        fields = {name: torch.empty_like(x, device="meta") for name, x in vars(batch).items()}
        batches = [replace(batch, **fields)] * copies
        state.update(batches)  # creates the optimizer's moments
        count = Count(card)
        for tensor in _kept(state):
            count.hold(tensor)
        with count:
            state.update(batches)
    return count


def _kept(state: TrainingState) -> list[Tensor]:
    """Return the tensors that training keeps between updates."""
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
    """Estimated requirements of a run on a GPU that this machine lacks; times are lower bounds.

    batch: (pairs, source, target), the shape of the largest batch; tokens: labels in an update on
    it; tokens_per_update: labels on average; operations, traffic, launches, peak_memory: see
    `Count`; seconds: per update, by the roofline; host_seconds: host time to launch one update;
    updates: in the whole run, ignoring max_minutes
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
    max_minutes: float | None = None

    @property
    def host_seconds(self) -> float:
        """Approximate time of Python and PyTorch on the host per update."""
        return self.launches * _SECONDS_PER_LAUNCH

    @property
    def fits(self) -> bool:
        """Whether the largest batch fits into the memory that the driver leaves free."""
        return self.peak_memory + _RESERVED <= self.memory

    @property
    def tokens_per_second(self) -> float:
        """Upper bound on the labels processed per second."""
        return self.tokens / max(self.seconds, self.host_seconds)

    def __str__(self) -> str:
        pairs, source, target = self.batch
        bound = "the host" if self.host_seconds > self.seconds else "the GPU"
        hours = self.updates * self.tokens_per_update / self.tokens_per_second / 3600
        whole = f"{self.updates:,} updates, at least {duration(60 * hours)}, excluding validation"
        if self.max_minutes and self.max_minutes < 60 * hours:
            most = max(1, int(self.updates * self.max_minutes / (60 * hours)))
            whole = f"at most {most:,} updates, until training.max_minutes"
        fits = "fits" if self.fits else "does not fit: use smaller batches"
        return (
            f"device           {self.card} (assumed); matrix products in {self.precision}\n"
            f"largest batch    {pairs:,} pairs × {source} source × {target} target tokens\n"
            f"one update       {self.tokens:,} tokens, {_readable(self.operations / 1e12)} TFLOP, "
            f"{_readable(self.traffic / 1e9)} GB of memory traffic, {self.launches:,} launches\n"
            f"peak memory      {self.peak_memory / 1e9:.1f} GB of {self.memory / 1e9:.0f}: {fits}\n"
            f"speed            estimate: at most {self.tokens_per_second:,.0f} tokens/s, "
            f"limited by {bound} "
            f"({_readable(1000 * self.seconds)} ms GPU, "
            f"{_readable(1000 * self.host_seconds)} ms host)\n"
            f"whole run        estimate: {whole}"
        )


def _readable(number: float) -> str:
    return f"{number:,.0f}" if number >= 100 else f"{number:.3g}"


def assumed_run(config: Config, name: str) -> AssumedRun:
    """Estimate a training run on a listed GPU; prepares the data first if necessary."""
    card = find_card(name)
    require_possible(config)
    prepared = prepare(config)
    plan = BatchPlan(prepared, config.training, config.model.max_length)
    batch = plan.largest()
    precision = config.training.precision
    dtype = card.precision if precision == "auto" else getattr(torch, precision)
    sizes = prepared.tokenizers.source.size, prepared.tokenizers.target.size
    epoch = plan.epoch(1)
    batches_in_epoch = len(epoch.order)
    accumulate = min(config.training.accumulate, batches_in_epoch)
    count = count_update(config, sizes, batch, card, dtype, accumulate)
    return AssumedRun(
        card=name,
        memory=card.memory,
        precision=str(dtype).removeprefix("torch."),
        batch=(*batch.source.shape, batch.target_in.shape[1]),
        tokens=batch.tokens * accumulate,
        operations=count.operations,
        traffic=count.traffic,
        launches=count.launches,
        peak_memory=count.peak,
        seconds=count.seconds,
        updates=last_update(config.training, batches_in_epoch),
        max_minutes=config.training.max_minutes,
        tokens_per_update=epoch.tokens / updates_per_epoch(config.training, batches_in_epoch),
    )
