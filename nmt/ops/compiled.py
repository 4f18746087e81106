"""Compiles functions for a GPU: Python then launches fewer and larger operations."""

import logging
from collections.abc import Callable
from importlib.util import find_spec
from typing import Any, TypeVar

import torch
from torch import nn

from nmt.errors import one_line

R = TypeVar("R")
_LOG = logging.getLogger(__name__)
_REASONS: list[str] = []  # why functions are not compiled


def compiled(function: Callable[..., R]) -> Callable[..., R]:
    """Return the function compiled for tensors of any size (`torch.compile`).

    Without Triton, as on Windows, or without the C compiler that it needs, the function runs
    uncompiled, and a warning is logged.
    """
    if find_spec("triton") is None:
        _log_once("Triton is not installed")
        return function
    fast = torch.compile(function, dynamic=True)
    failed = False

    def call(*arguments: Any, **named: Any) -> R:
        nonlocal failed
        if not failed:
            try:
                return fast(*arguments, **named)
            except torch._dynamo.exc.TorchDynamoException as error:  # before anything is computed
                failed = True
                reason = getattr(error, "inner_exception", error)
                _log_once(one_line(reason)[:200])
        return function(*arguments, **named)

    return call


def compile_training(layer: nn.Module) -> None:
    """Compile the layer's forward and backward passes for training.

    Decoding is not compiled, because its cache grows at each step, nor are inputs with a dimension
    of 1, which would trigger a recompilation.
    """
    plain, fast = layer.forward, compiled(layer.forward)

    def forward(x: torch.Tensor, *rest: Any, **named: Any) -> torch.Tensor:
        run = fast if layer.training and min(x.shape) > 1 else plain
        return run(x, *rest, **named)

    layer.forward = forward


def _log_once(reason: str) -> None:
    """Log the first reason of this process."""
    if not _REASONS:
        _LOG.warning("running slower, because PyTorch cannot compile for the GPU: %s", reason)
    _REASONS.append(reason)
