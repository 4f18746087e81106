"""When to validate, to write a checkpoint, and to stop."""

import math

from nmt.config.training import TrainingConfig
from nmt.training.checkpoint import Progress


def updates_per_epoch(settings: TrainingConfig, batches: int) -> int:
    """Return the number of updates on this many batches of an epoch."""
    return math.ceil(batches / settings.accumulate)


def final_update(
    settings: TrainingConfig, batches_in_epoch: int, progress: Progress | None = None
) -> int:
    """Return the number of the last update that `epochs` and `max_updates` allow.

    batches_in_epoch: of the current epoch; the number of the others may differ a little, so this is
    an estimate until the last epoch. progress: so far; None: at the start of the first epoch
    """
    now = progress or Progress()
    begun = now.updates - updates_per_epoch(settings, now.batch)  # before the current epoch
    epochs = settings.epochs - now.epoch + 1
    updates = begun + epochs * updates_per_epoch(settings, batches_in_epoch)
    return min(updates, settings.max_updates or updates)


def reached_limit(settings: TrainingConfig, progress: Progress) -> str:
    """Return which limit has been reached, or an empty string."""
    if settings.max_updates and progress.updates >= settings.max_updates:
        return f"reached training.max_updates {settings.max_updates}"
    if settings.max_minutes and progress.minutes >= settings.max_minutes:
        return f"reached training.max_minutes {settings.max_minutes:g}"
    if settings.target_bleu and progress.bleu >= settings.target_bleu:
        return f"reached training.target_bleu {settings.target_bleu:g}"
    if settings.patience and progress.stale >= settings.patience:
        return f"reached training.patience {settings.patience} (validations without improvement)"
    if progress.epoch > settings.epochs:
        return f"reached training.epochs {settings.epochs}"
    return ""


def ends_early(settings: TrainingConfig) -> bool:
    """Return whether validations may end training before the last update."""
    return bool(settings.target_bleu or settings.patience)


def validation_is_due(settings: TrainingConfig, progress: Progress, batches_in_epoch: int) -> bool:
    """Return whether to validate after the update just done."""
    if settings.validate_updates:
        return progress.updates % settings.validate_updates == 0
    return progress.batch >= batches_in_epoch


def checkpoint_is_due(
    settings: TrainingConfig, progress: Progress, saved_update: int, saved_minutes: float
) -> bool:
    """Return whether to write a checkpoint, given the update and time of the last one."""
    every = settings.checkpoint_updates
    if every and progress.updates - saved_update >= every:
        return True
    return progress.minutes - saved_minutes >= settings.checkpoint_minutes
