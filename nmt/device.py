"""Where tensors live and in which precision they are multiplied."""

from contextlib import AbstractContextManager, nullcontext

import torch

from nmt.errors import UserError


def choose_device(name: str | None = None) -> torch.device:
    """Return the device called `name`, or the best that is here: CUDA, Apple's MPS, CPU.

    On CUDA, float32 products then take TF32 where the card has it: 10 bits of mantissa, not
    23. Raises `UserError` when the named device does not exist.
    """
    device = _named(name) if name is not None else _best()
    if device.type == "cuda":
        if device.index is not None:
            torch.cuda.set_device(device)  # some of PyTorch asks for the current one
        torch.set_float32_matmul_precision("high")
    return device


def _best() -> torch.device:
    if torch.cuda.is_available():
        return torch.device("cuda")
    return torch.device("mps" if torch.backends.mps.is_available() else "cpu")


def _named(name: str) -> torch.device:
    try:
        device = torch.device(name)
        torch.zeros(1, device=device).item()  # `meta` has tensors, but no numbers in them
    except (RuntimeError, AssertionError, NotImplementedError, ValueError, ImportError):
        raise UserError(f"--device {name}: not available here; leave it out or use cpu") from None
    return device


def autocast(device: torch.device, precision: str) -> AbstractContextManager[object]:
    """Return the context in which the model runs: bfloat16 matrix products, or plain float32.

    `auto` is bfloat16 where the device has instructions for it, as CUDA devices and x86 processors
    of recent years do; elsewhere float32.
    """
    if precision == "bfloat16" or (precision == "auto" and _has_bfloat16(device)):
        # A pass casts each weight once; a cache of casts would be shared by the threads of a CPU.
        return torch.autocast(device.type, torch.bfloat16, cache_enabled=False)
    return nullcontext()


def _has_bfloat16(device: torch.device) -> bool:
    if device.type == "cuda":
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if device.type == "cpu":
        found = cpu_capabilities()
        return bool(found.get("avx512_bf16") or found.get("amx_bf16"))
    return False


def cpu_capabilities() -> dict[str, object]:
    """Return the processor's name and instructions; of those an older PyTorch names none."""
    return dict(getattr(torch.cpu, "get_capabilities", dict)())
