"""The logs of a training run: metrics.jsonl, updates.jsonl, and optionally TensorBoard files."""

import json
from collections.abc import Iterator
from contextlib import contextmanager

from nmt.errors import writing
from nmt.files.output_files import replacing
from nmt.runs.folder import RunFolder, UpdatePoint, Validation
from nmt.training.tensorboard import TensorBoard

POINT_UPDATES = 10  # updates between points of the training curve


class TrainingLog:
    """Appends validations and points of the training curve to the logs of a run."""

    def __init__(self, run: RunFolder, board: TensorBoard | None):
        self._run, self._board = run, board

    def write(self, line: Validation) -> None:
        """Add a validation."""
        self._run.write_metrics([*self._run.read_metrics(), line])
        if self._board:
            self._board.write(line)

    def write_point(self, point: UpdatePoint) -> None:
        """Add a point to the training curve."""
        path = self._run.updates
        with writing(path), path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(point) + "\n")


@contextmanager
def opened_log(run: RunFolder, updates: int, tensorboard: bool) -> Iterator[TrainingLog]:
    """Open the logs of a run that continues after `updates` updates.

    Drops later entries, left by a killed process: those updates will be repeated. Likewise drops
    weights kept from later validations: `nmt average` would use them, although the resumed run may
    have other settings. The point at an interruption goes, too, as if there had been none.
    """
    found = run.read_metrics()
    lines = [line for line in found if line["update"] <= updates]
    if len(lines) < len(found):
        run.write_metrics(lines)
    with replacing(run.updates) as partial:
        numbers = range(POINT_UPDATES, updates + 1, POINT_UPDATES)
        points = [point for point in run.read_updates() if point["update"] in numbers]
        partial.write_text("".join(json.dumps(point) + "\n" for point in points), encoding="utf-8")
    for path in run.validated():
        if int(path.stem) > updates:
            path.unlink()
    board = None
    if tensorboard:
        board = TensorBoard(run.path / "tensorboard", run.config.data, updates, lines)
    try:
        yield TrainingLog(run, board)
    finally:
        if board:
            board.close()
