"""The tensors of the simulated device, and the patches to PyTorch that they require.

A `PretendTensor` wraps a CPU tensor and reports that it is on `cuda:0`. `Pretending` intercepts
every operation that PyTorch dispatches: it runs the operation on the wrapped tensors, raises an
error where a real device would, and records where the host would have to wait for a real device.
"""

import re
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from torch.optim import optimizer
from torch.utils import _foreach_utils
from torch.utils._python_dispatch import TorchDispatchMode, return_and_correct_aliasing
from torch.utils._pytree import tree_leaves, tree_map_only

from pretend_cuda import graphs

CUDA = torch.device("cuda", 0)

# Operations that make the host wait, because it needs their result or the result's shape.
_WAITING = {
    "aten._local_scalar_dense",
    "aten.bincount",
    "aten.equal",
    "aten.is_nonzero",
    "aten.masked_select",
    "aten.nonzero",
    "aten.unique_consecutive",
    "aten.unique_dim",
    "aten._unique2",
}
_MOVING = {"aten._to_copy", "aten.copy_"}
_INDEXING = {"aten.index", "aten.index_put_", "aten._index_put_impl_"}
_WITHOUT_KERNEL = re.compile(r"aten\.(new_)?empty|aten\._unsafe_view")
_INTERNAL = re.compile(r"/torch/|" + re.escape(str(Path(__file__).parent) + "/"))

waits: Counter[str] = Counter()  # operations for which the host would wait, with file and line
launches: Counter[str] = Counter()  # operations that the host would launch, by name


class PretendTensor(torch.Tensor):
    """A CPU tensor that reports `cuda:0` as its device."""

    inside: Tensor

    @staticmethod
    def __new__(cls, inside: Tensor) -> "PretendTensor":
        made: PretendTensor = torch.Tensor._make_wrapper_subclass(
            cls,
            inside.size(),
            strides=inside.stride(),
            storage_offset=inside.storage_offset(),
            dtype=inside.dtype,
            device=CUDA,
        )
        made.inside = inside
        return made

    def __repr__(self) -> str:  # type: ignore[override]
        return f"PretendTensor({self.inside})"

    def __reduce_ex__(self, protocol: Any) -> Any:
        return self.inside.detach().__reduce_ex__(protocol)  # type: ignore[no-untyped-call]

    def tolist(self) -> Any:
        _note_wait("tolist")
        return self.inside.tolist()

    def numpy(self, *, force: bool = False) -> Any:
        raise TypeError("cannot convert a tensor on cuda:0 to a NumPy array")

    @classmethod
    def __torch_dispatch__(  # type: ignore[override]
        cls, func: Any, types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return _run(func, args, kwargs or {})


class Pretending(TorchDispatchMode):  # type: ignore[no-untyped-call]
    """Within the context, `device="cuda"` creates a `PretendTensor`."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _run(func, args, kwargs or {})


def _run(func: Any, args: Any, kwargs: dict[str, Any]) -> Any:
    name = str(func.overloadpacket)
    tensors = [x for x in tree_leaves((args, kwargs)) if isinstance(x, Tensor)]
    here = any(isinstance(x, PretendTensor) for x in tensors)
    wanted = torch.device(kwargs["device"]).type if kwargs.get("device") is not None else None
    if not here and wanted != "cuda":
        return func(*args, **kwargs)
    _refuse_mixed_devices(name, tensors, args)
    if reason := _why_it_waits(func, name, args, kwargs, wanted):
        graphs.refuse_while_capturing(reason)
        _note_wait(reason)
    if wanted == "cuda":
        kwargs = {**kwargs, "device": torch.device("cpu")}
    inside_args, inside_kwargs = tree_map_only(PretendTensor, lambda x: x.inside, (args, kwargs))
    found = graphs.call(func, inside_args, inside_kwargs)
    if not _is_view(func) and not _WITHOUT_KERNEL.match(name):
        launches[name] += 1
    if name == "aten.copy_":
        return args[0]
    if wanted == "cpu" or not isinstance(found, Tensor | list | tuple):
        return found
    wrapped = tree_map_only(Tensor, PretendTensor, found)
    if not here:
        return wrapped
    return return_and_correct_aliasing(func, args, kwargs, wrapped)  # type: ignore[no-untyped-call]


def _refuse_mixed_devices(name: str, tensors: list[Tensor], args: Any) -> None:
    """Raise `RuntimeError` as CUDA would; only scalars and indices may be on the CPU."""
    if name in _MOVING or not any(isinstance(x, PretendTensor) for x in tensors):
        return
    if name in _INDEXING and isinstance(args[0], PretendTensor):
        tensors = [x for x in tensors if not any(x is index for index in args[1])]
    fused = "fused_" in name
    for x in tensors:
        if not isinstance(x, PretendTensor) and (x.dim() > 0 or fused):
            raise RuntimeError(
                f"{name}: expected all tensors to be on the same device, but found cuda:0 and cpu "
                f"{tuple(x.shape)}, at {_place()}"
            )


def _why_it_waits(func: Any, name: str, args: Any, kwargs: Any, wanted: str | None) -> str:
    if name in _WAITING:
        return name
    if name == "aten.repeat_interleave" and kwargs.get("output_size") is None:
        return name
    if name in _INDEXING:
        indices = [x for x in args[1] if isinstance(x, Tensor)]
        if any(x.dtype == torch.bool for x in indices):
            return f"{name} with a boolean mask"
        if any(not isinstance(x, PretendTensor) for x in indices):
            return f"{name} with indices on the CPU"
    if name == "aten._to_copy" and wanted == "cpu":
        return "copy to the CPU"
    if name == "aten.copy_" and not isinstance(args[0], PretendTensor):
        return "copy to the CPU"
    waiting = not (kwargs.get("non_blocking") or (name == "aten.copy_" and args[2:3] == (True,)))
    if name in _MOVING and waiting and not isinstance(args[name == "aten.copy_"], PretendTensor):
        return "copy from the CPU"
    return ""


def _is_view(func: Any) -> bool:
    aliases = (argument.alias_info for argument in func._schema.arguments)
    return any(alias is not None and not alias.is_write for alias in aliases)


def _note_wait(reason: str) -> None:
    waits[f"{reason} at {_place()}"] += 1


def _place() -> str:
    """Return file and line of the innermost frame outside PyTorch and this folder."""
    frame = sys._getframe()
    while frame.f_back and _INTERNAL.search(frame.f_code.co_filename):
        frame = frame.f_back
    return f"{Path(frame.f_code.co_filename).name}:{frame.f_lineno}"


def install() -> None:
    """Make PyTorch use the simulated device, until the process ends.

    Call it before importing modules that use `torch.inference_mode` or safetensors.
    """
    from safetensors import torch as safetensors
    from torch.cuda.amp import common

    save = safetensors.save_file
    answers: dict[Any, dict[str, Callable[..., Any]]] = {
        torch.cuda: {
            "_lazy_init": lambda: None,
            "is_available": lambda: True,
            "current_device": lambda: 0,
            "device_count": lambda: 1,
            "set_device": lambda device: None,
            "synchronize": lambda device=None: _note_wait("synchronize"),
            "is_bf16_supported": lambda including_emulation=True: True,
            "get_device_capability": lambda device=None: (9, 0),
            "get_device_name": lambda device=None: "pretended",
            "get_rng_state": lambda device=None: torch.get_rng_state(),
            "set_rng_state": lambda state, device=None: torch.set_rng_state(state),
            "max_memory_allocated": lambda device=None: 0,
            "memory_allocated": lambda device=None: 0,
            "empty_cache": lambda: None,
            "reset_peak_memory_stats": lambda device=None: None,
            "is_current_stream_capturing": lambda: False,
            "current_stream": lambda device=None: None,
            "set_stream": lambda stream: None,
            "graph_pool_handle": graphs.Pool,
            "CUDAGraph": graphs.PretendGraph,
            "graph": graphs.capturing,
        },
        common: {"amp_definitely_not_available": lambda: False},
        Tensor: {"pin_memory": lambda tensor, device=None: tensor},
        # Inference mode would have to apply to the wrapped tensors too.
        torch: {"inference_mode": lambda mode=True: torch.no_grad()},
        safetensors: {
            "save_file": lambda tensors, *rest: save(
                {name: x.cpu() for name, x in tensors.items()}, *rest
            )
        },
    }
    for owner, named in answers.items():
        for name, answer in named.items():
            setattr(owner, name, answer)
    # Clip and step all tensors together, as on a real device.
    modules: tuple[Any, ...] = (_foreach_utils, optimizer)
    for module in modules:
        module._foreach_supported_types.append(PretendTensor)
    # Let parameters change their class when moved, and dispatch the creation of tensors too.
    torch.__future__.set_swap_module_params_on_conversion(True)
    torch._C._set_only_lift_cpu_tensors(True)
