"""Reads and writes weights as safetensors, which cannot contain code."""

import math
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, load_model, save_file
from torch import Tensor

from nmt.config.model import ModelConfig
from nmt.errors import infinite_weights, no_such_weights, one_line, unreadable_weights
from nmt.files.checksums import CHECKSUM, NO_CHECKSUM, require_undamaged, sign
from nmt.model.parameters import parameter_shapes
from nmt.model.transformer import Transformer


def save_weights(model: Transformer, path: Path) -> None:
    """Write the weights, tied ones once; equal weights give equal bytes.

    Raises `OSError` if writing fails.
    """
    # `save_model` also stores which weights are tied, in varying order.
    write_tensors(named_weights(model), path)


def named_weights(model: Transformer) -> dict[str, Tensor]:
    """Return the weights by name, tied ones once, as files store them."""
    return {name: parameter.detach() for name, parameter in model.named_parameters()}


def write_tensors(tensors: dict[str, Tensor], path: Path, **facts: str) -> None:
    """Write tensors, facts about them, and a checksum; raises `OSError` if writing fails."""
    try:
        save_file(tensors, path, {**facts, CHECKSUM: NO_CHECKSUM})
    except SafetensorError as error:
        raise OSError(one_line(error)[:200]) from None
    sign(path)


def load_weights(
    path: Path, config: ModelConfig, source_size: int, target_size: int, device: torch.device
) -> Transformer:
    """Build the model and read its weights; raises `UserError` if they do not fit."""
    # Configurations may be hostile: count before allocating memory.
    shapes = parameter_shapes(config, source_size, target_size)
    parameters = sum(map(math.prod, shapes.values()))
    if path.exists() and path.stat().st_size < parameters:
        message = f"too small for the {parameters:,} parameters of config.yaml and report.json"
        raise unreadable_weights(path, ValueError(message))
    model = Transformer(config, source_size, target_size)
    read_weights(model, path)
    return model.to(device).eval()


def read_weights(model: Transformer, path: Path) -> None:
    """Read weights into a model; raises `UserError` if they do not fit."""
    try:
        require_undamaged(path)
        load_model(model, path)
    except FileNotFoundError:
        raise no_such_weights(path) from None
    except (OSError, SafetensorError, RuntimeError) as error:
        raise unreadable_weights(path, error) from None
    if not all(parameter.isfinite().all() for parameter in model.parameters()):
        raise infinite_weights(path)


def average_weights(paths: Sequence[Path], output: Path) -> None:
    """Write the average of several weights of a model; raises `UserError` if a file is damaged."""
    total: dict[str, Tensor] = {}
    for path in paths:
        try:
            require_undamaged(path)
            weights = load_file(path)
        except (OSError, SafetensorError) as error:
            raise unreadable_weights(path, error) from None
        for name, weight in weights.items():
            total[name] = total.get(name, 0) + weight.double()
    write_tensors({name: (each / len(paths)).float() for name, each in total.items()}, output)
