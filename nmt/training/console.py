"""Console output of training: progress bar, validations, remaining time."""

from collections import deque
from collections.abc import MutableMapping
from types import TracebackType
from typing import Any

from nmt.config.data import DataConfig
from nmt.config.training import TrainingConfig
from nmt.corpus.text.tags import split_tag
from nmt.echo import echo
from nmt.progress import Bar
from nmt.runs.folder import Validation, score_of
from nmt.training.checkpoint import Progress
from nmt.training.limits import ends_early

_REPORT_MINUTES = 0.5 / 60
_FIRST_ESTIMATE_MINUTES = 10 / 60
_SPEED_MINUTES = 0.5  # over which the speed is measured
_LIMITED_FORMAT = "{l_bar}{bar}| {label}{postfix}"


def duration(minutes: float) -> str:
    """Format a duration in a suitable unit."""
    if minutes < 2:
        return f"{60 * minutes:.0f} s"
    return f"{minutes:.0f} min" if minutes < 120 else f"{minutes / 60:.1f} h"


class _Bar(Bar):
    """Shows "1.36s/update" below one update per second, where tqdm would show "s/ updates".

    label: what is done of what, if training has a time limit; speed: updates per second without
    validations, from which the remaining time follows; None: tqdm's own, which includes them
    """

    def __init__(self, *, label: str, **named: Any):
        self.label = label
        self.speed: float | None = None
        super().__init__(**named)

    @property
    def format_dict(self) -> MutableMapping[str, Any]:
        found = super().format_dict
        done, seconds = found["n"] - found["initial"], found["elapsed"]
        found["rate"] = self.speed or found["rate"]
        rate = found["rate"] or (done / seconds if seconds else 0)  # as tqdm does at first
        if 0 < rate < 1:
            found["unit"] = "update"
        return {**found, "label": self.label}


class ProgressBar:
    """Shows the updates done and left, the loss and the speed."""

    def __init__(self, settings: TrainingConfig, progress: Progress, final_update: int):
        self._settings, self._final_update = settings, final_update
        self._begin_minutes = self._reported = progress.minutes
        self._other_minutes = 0.0  # of validations and checkpoints
        self._points = deque([self._point(progress)])
        self._time_is_told = False
        done, label = self._done(progress)
        self._bar = _Bar(
            total=1 if settings.max_minutes else final_update,
            initial=done,
            label=label,
            desc="training",
            unit=" updates",
            bar_format=_LIMITED_FORMAT if settings.max_minutes else None,
            mininterval=0.5,
            delay=0,
        )

    def __enter__(self) -> "ProgressBar":
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._bar.close()

    def expect(self, final_update: int) -> None:
        """Change the estimated number of the last update, which each epoch may revise a little."""
        self._final_update = final_update
        if not self._settings.max_minutes:
            self._bar.total = final_update

    def advance(self, progress: Progress) -> None:
        """Count an update."""
        done, self._bar.label = self._done(progress)
        self._bar.update(done - self._bar.n)
        elapsed = progress.minutes - self._begin_minutes
        if not self._time_is_told and elapsed >= _FIRST_ESTIMATE_MINUTES:
            self.print_time_left(progress)

    def _done(self, progress: Progress) -> tuple[float, str]:
        """Return the progress in updates, or if there is a time limit, its share and a label.

        The share is that of the limit that will be reached first at this speed.
        """
        limit, updates = self._settings.max_minutes, progress.updates
        if not limit:
            return updates, ""
        time, work = min(1, progress.minutes / limit), updates / max(1, self._final_update)
        if work <= time:
            return time, f"{min(limit, progress.minutes):.1f}/{limit:g} min"
        return work, f"{updates:,}/{self._final_update:,} updates, {progress.minutes:.1f} min"

    def exclude(self, minutes: float) -> None:
        """Leave out time that was spent on validations or checkpoints from the speed."""
        self._other_minutes += minutes

    def _point(self, progress: Progress) -> tuple[float, int, int]:
        """Return the minutes of training proper, the updates and the tokens so far."""
        return progress.minutes - self._other_minutes, progress.updates, progress.tokens

    def _speeds(self, progress: Progress) -> tuple[float, float]:
        """Return the updates and the tokens per minute over the last half minute of training."""
        now = self._point(progress)
        while len(self._points) > 1 and self._points[1][0] <= now[0] - _SPEED_MINUTES:
            self._points.popleft()
        minutes, updates, tokens = (b - a for a, b in zip(self._points[0], now, strict=True))
        return updates / max(minutes, 1e-9), tokens / max(minutes, 1e-9)

    def print_time_left(self, progress: Progress) -> None:
        """Print the remaining time at the latest speed, with as many validations as so far."""
        self._time_is_told = True
        elapsed = progress.minutes - self._begin_minutes
        others = elapsed / max(elapsed - self._other_minutes, 1e-9)  # factor for their time
        left = (
            others * (self._final_update - progress.updates) / max(self._speeds(progress)[0], 1e-9)
        )
        if self._settings.max_minutes:
            left = min(left, self._settings.max_minutes - progress.minutes)
        if left > 0:
            earlier = ", or earlier" if ends_early(self._settings) else ""
            echo(f"at this speed, training will finish in {duration(left)}{earlier}")

    def wants_report(self, progress: Progress) -> bool:
        """Return whether a report is due; reading the loss forces a GPU to synchronize."""
        return progress.minutes - self._reported >= _REPORT_MINUTES

    def report(self, progress: Progress, epoch: int, loss: float) -> None:
        """Show the loss of the latest update, and the speed over the last half minute."""
        updates, tokens = (speed / 60 for speed in self._speeds(progress))
        if not self._settings.max_minutes:
            self._bar.speed = updates
        self._bar.set_postfix_str(
            f"update {progress.updates:,}, epoch {epoch}, loss {loss:.3f}, {tokens:,.0f} tokens/s",
            refresh=False,
        )
        self._reported = progress.minutes
        self._points.append(self._point(progress))


def show_validation(line: Validation, best: bool, data: DataConfig) -> None:
    """Print the metrics and sample translations of a validation; data: for the tags of samples."""
    echo(
        f"update {line['update']:,}, epoch {line['epoch']}, {line['minutes']:.1f} min: "
        f"training loss {line['train_loss']:.3f}, accuracy {line['train_accuracy']:.1%}; "
        f"validation loss {line['loss']:.3f}, perplexity {line['perplexity']:.2f}, "
        f"accuracy {line['accuracy']:.1%}, {score_of(line)}{' (best)' if best else ''}"
    )
    for sample in line["samples"]:
        echo(f"  {split_tag(data, sample['source'])[1]}  →  {sample['translation']}")
