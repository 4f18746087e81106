"""The device that tensors are on, and the precision of matrix products."""

import logging
import os
from contextlib import AbstractContextManager, nullcontext

import torch

from nmt.errors import is_out_of_memory, no_such_device

_LOG = logging.getLogger(__name__)
_DTYPES = {"float32": torch.float32, "float16": torch.float16, "bfloat16": torch.bfloat16}


def choose_device(name: str | None = None, report: bool = True) -> torch.device:
    """Return the device called `name`, or the best available: CUDA, Apple's MPS, CPU.

    Enables TF32 for float32 products on CUDA devices that have it (10 bits of mantissa instead of
    23). Raises `UserError` if the named device does not exist. report: whether --verbose tells it
    """
    device = _named(name) if name is not None else _best()
    if report:
        _LOG.info("device           %s", device)
    if device.type == "cuda":
        if device.index is not None:
            torch.cuda.set_device(device)  # parts of PyTorch use the current device
        torch.set_float32_matmul_precision("high")
        # cuDNN's attention spends a fraction of a second planning for each new shape, and batches
        # have hundreds of shapes. Its backward pass is not deterministic either.
        torch.backends.cuda.enable_cudnn_sdp(False)
    return device


def _best() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _named(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # fails for `meta`, whose tensors hold no data
    except (RuntimeError, AssertionError, NotImplementedError, ValueError, ImportError) as error:
        if is_out_of_memory(error):  # other programs use it
            raise
        raise no_such_device(name) from None
    return device


def to_device(tensor: torch.Tensor, device: torch.device) -> torch.Tensor:
    """Copy a tensor from the CPU to a device; to CUDA asynchronously.

    Asynchronous copies to MPS may read memory that has been freed meanwhile.
    """
    return tensor.to(device, non_blocking=device.type == "cuda")


def product_dtype(device: torch.device, precision: str) -> torch.dtype:
    """Return the type for matrix products that `training.precision` selects.

    `auto` is bfloat16 if the device supports it, as recent CUDA devices and x86 processors do,
    float16 on older CUDA devices with tensor cores (V100, T4), otherwise float32.
    """
    if precision != "auto":
        return _DTYPES[precision]
    if device.type == "cuda":
        capability = torch.cuda.get_device_capability(device)
        if capability >= (8, 0):
            return torch.bfloat16
        return torch.float16 if capability >= (7, 0) else torch.float32
    if device.type == "cpu":
        found = cpu_capabilities()
        if found.get("avx512_bf16") or found.get("amx_bf16"):
            return torch.bfloat16
    return torch.float32


def autocast(device: torch.device, precision: str) -> AbstractContextManager[object]:
    """Return the context in which the model runs: matrix products in 16 bits, or plain float32."""
    dtype = product_dtype(device, precision)
    if dtype == torch.float32:
        return nullcontext()
    # Each pass casts a weight only once, and a cache would be shared by the threads of a CPU.
    return torch.autocast(device.type, dtype, cache_enabled=False)


def be_deterministic() -> None:
    """Make PyTorch use deterministic CUDA kernels for the rest of this process.

    Some are slower; operations without one raise `RuntimeError`.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")  # cuBLAS reads it once, at start-up
    torch.use_deterministic_algorithms(True)


def cpu_capabilities() -> dict[str, object]:
    """Return the processor's name and instruction set; older versions of PyTorch report no set."""
    return dict(getattr(torch.cpu, "get_capabilities", dict)())
