"""Optimizers, loss scaling, and the moving average of the weights."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from nmt.config.training import TrainingConfig
from nmt.training.sharding import shard_like

_LEAST_SCALE = 2.0**-10  # of the loss in float16; initially 2^16


def _options_of_adam(config: TrainingConfig) -> dict[str, Any]:
    return {"betas": config.betas, "eps": config.epsilon, "weight_decay": config.weight_decay}


@dataclass(frozen=True)
class OptimizerKind:
    """An optimizer that `training.optimizer` can name."""

    make: Callable[..., torch.optim.Optimizer]
    """Its class in PyTorch."""
    options: Callable[[TrainingConfig], dict[str, Any]] = _options_of_adam
    """Its settings besides the learning rate."""
    has_fused: bool = True
    """Whether it has a fused implementation for CPUs and CUDA."""
    moments: tuple[str, ...] = ("exp_avg", "exp_avg_sq")
    """Names of the tensors that it stores for each weight, in the shape of the weight."""
    scalars: tuple[str, ...] = ("step",)
    """Names of the numbers that it stores for each weight."""
    on_cpu: tuple[str, ...] = ()
    """Those of the scalars that stay on the CPU: on the GPU, each update would wait for them."""


OPTIMIZERS: dict[str, OptimizerKind] = {
    "adam": OptimizerKind(torch.optim.Adam),  # Kingma & Ba 2015
    "adamw": OptimizerKind(torch.optim.AdamW),  # Loshchilov & Hutter 2019
    "nadam": OptimizerKind(  # Dozat 2016
        torch.optim.NAdam,
        has_fused=False,
        scalars=("step", "mu_product"),
        on_cpu=("mu_product",),
    ),
}


def make_optimizer(model: nn.Module, config: TrainingConfig) -> torch.optim.Optimizer:
    """Return the optimizer of the weights that are not frozen.

    Weight decay applies to all of them, vectors included, as PyTorch's optimizers do by default. To
    spare vectors would take two groups of parameters, which would number the moments in existing
    checkpoints differently; no shipped configuration decays weights.
    """
    parameters = [p for p in model.parameters() if p.requires_grad]
    kind = OPTIMIZERS[config.optimizer]
    options = {"lr": config.learning_rate, **kind.options(config)}
    if kind.has_fused:
        options["fused"] = parameters[0].device.type in ("cpu", "cuda")
    return kind.make(parameters, **options)


def restore_moments(optimizer: torch.optim.Optimizer, saved: dict[int, dict[str, Tensor]]) -> None:
    """Restore the saved moments of an optimizer, but not its settings.

    Raises `ValueError` for wrong shapes: fused optimizers would write out of bounds.
    """
    [kind] = [kind for kind in OPTIMIZERS.values() if type(optimizer) is kind.make]
    parameters = [p for group in optimizer.param_groups for p in group["params"]]
    for number, moments in saved.items():
        expected = dict.fromkeys(kind.scalars, torch.Size())
        expected |= dict.fromkeys(kind.moments, parameters[number].shape)
        if {name: moment.shape for name, moment in moments.items()} != expected:
            raise ValueError("the optimizer's moments do not match the shapes of the weights")
        for name, moment in moments.items():
            if not (moment.is_floating_point() and moment.isfinite().all()):
                raise ValueError(f"the optimizer's {name} is not finite")
            moment = moment.clone(memory_format=torch.contiguous_format)
            moments[name] = shard_like(moment, parameters[number] if moment.dim() else None)
    optimizer.load_state_dict({**optimizer.state_dict(), "state": saved})
    for moments in optimizer.state.values():
        for name in kind.on_cpu:
            moments[name] = moments[name].cpu()


class LossScaler:
    """Loss scaling for float16; does nothing for other types.

    The loss is multiplied by a large factor and its gradients are divided by it (Micikevicius et
    al. 2018, section 3.2, https://arxiv.org/abs/1710.03740). An update whose gradients overflow is
    skipped: the weights stay unchanged, the factor is halved, and training continues with the next
    batch.
    """

    def __init__(self, device: torch.device, dtype: torch.dtype):
        self._scaler = torch.amp.GradScaler(device.type, enabled=dtype == torch.float16)
        self._one = torch.ones((), device=device)
        # Counted on the device: reading it at each update would synchronize a GPU.
        self._skipped = torch.zeros((), dtype=torch.int64, device=device)

    @property
    def skipped(self) -> int:
        """Number of updates skipped so far."""
        return int(self._skipped)

    @property
    def skips_overflow(self) -> bool:
        """Whether an overflow is skipped, rather than a sign that training has diverged.

        With a factor below 1, it is the loss itself that overflows.
        """
        return self._scaler.is_enabled() and self._scaler.get_scale() >= 1

    @property
    def is_exhausted(self) -> bool:
        """Whether gradients overflow with any factor, so that every update is skipped."""
        return self._scaler.is_enabled() and self._scaler.get_scale() < _LEAST_SCALE

    def divisor(self, tokens: float) -> Tensor | float:
        """Return the divisor that turns a summed loss into its scaled mean."""
        if not self._scaler.is_enabled():
            return tokens
        return tokens / self._scaler.scale(self._one)

    def unscale(self, optimizer: torch.optim.Optimizer) -> None:
        """Divide the gradients by the factor."""
        self._scaler.unscale_(optimizer)

    def step_optimizer(self, optimizer: torch.optim.Optimizer) -> Tensor | None:
        """Step the optimizer, unless unscaled gradients are infinite; adapt the factor.

        Returns whether the update was skipped, on the device; None without loss scaling.
        """
        before = self._scaler.scale(self._one)
        self._scaler.step(optimizer)
        self._scaler.update()
        if not self._scaler.is_enabled():
            return None
        skipped = self._scaler.scale(self._one) < before
        self._skipped += skipped
        return skipped

    def saved(self) -> dict[str, Any]:
        """Return the state for `restore`."""
        return {"scaler": self._scaler.state_dict(), "skipped": self.skipped}

    def restore(self, saved: dict[str, Any]) -> None:
        """Restore a saved state; raises `ValueError` for anything else."""
        numbers = [saved["skipped"], *saved["scaler"].values()]
        if not all(isinstance(x, int | float) and 0 <= x < math.inf for x in numbers):
            raise ValueError("the loss scale has values that are not finite numbers")
        self._skipped.fill_(int(saved["skipped"]))
        if saved["scaler"]:
            self._scaler.load_state_dict(saved["scaler"])


class WeightAverage:
    """Exponential moving average of the weights: average ← decay · average + (1 - decay) · weights.

    The decay starts small and grows, so that the random initial weights are forgotten.
    """

    def __init__(self, model: nn.Module, decay: float):
        self._decay = decay
        self._weights = [p.detach() for p in model.parameters()]
        self.average = [weight.clone() for weight in self._weights]

    @torch.no_grad()
    def update(self, updates: int) -> None:
        """Include the weights after `updates` updates."""
        decay = min(self._decay, (1 + updates) / (10 + updates))
        torch._foreach_lerp_(self.average, self._weights, 1 - decay)

    @torch.no_grad()
    def swap(self) -> None:
        """Swap the model's weights and their average; call again to undo."""
        for weight, average in zip(self._weights, self.average, strict=True):
            held = weight.clone()
            weight.copy_(average)
            average.copy_(held)

    @torch.no_grad()
    def load(self, average: list[Tensor]) -> None:
        """Restore a saved average; raises `ValueError` if the shapes differ."""
        for own, saved in zip(self.average, average, strict=True):
            if own.shape != saved.shape:
                raise ValueError("the average does not match the shapes of the weights")
            own.copy_(shard_like(saved, own))
