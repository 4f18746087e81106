"""Schedules of the learning rate."""

import math

from nmt.config.training import TrainingConfig


def learning_rate(config: TrainingConfig, update: int, final_update: int) -> float:
    """Return the rate of an update, counted from 1; cosine reaches zero at `final_update`.

    inverse_sqrt is the Noam schedule (Vaswani et al. 2017, equation 3) with an explicit peak
    instead of one derived from d_model: peak · min(update / warm-up, √(warm-up / update)).
    """
    warmup = max(1, config.warmup_updates)
    if update < warmup:
        return config.learning_rate * update / warmup
    if config.schedule == "inverse_sqrt":
        return config.learning_rate * math.sqrt(warmup / update)
    if config.schedule == "cosine":
        share = min(1.0, (update - warmup) / max(1, final_update - warmup))
        return config.learning_rate * 0.5 * (1 + math.cos(math.pi * share))
    return config.learning_rate
