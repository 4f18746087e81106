"""The record of a training's validations: metrics.jsonl, and TensorBoard's files where wanted."""

from collections.abc import Iterator
from contextlib import contextmanager

from nmt.run_folder import RunFolder, Validation
from nmt.training.tensorboard import TensorBoard


class TrainingLog:
    """Adds validations to the record of a run."""

    def __init__(self, run: RunFolder, board: TensorBoard | None):
        self._run, self._board = run, board

    def write(self, line: Validation) -> None:
        """Add a validation."""
        self._run.write_metrics([*self._run.read_metrics(), line])
        if self._board:
            self._board.write(line)


@contextmanager
def opened_log(run: RunFolder, updates: int, tensorboard: bool) -> Iterator[TrainingLog]:
    """Open the record of a run that goes on after `updates` updates.

    Validations after that, by a training that was killed, are dropped: they will be made again.
    """
    found = run.read_metrics()
    lines = [line for line in found if line["update"] <= updates]
    if len(lines) < len(found):
        run.write_metrics(lines)
    board = TensorBoard(run.path / "tensorboard", updates, lines) if tensorboard else None
    try:
        yield TrainingLog(run, board)
    finally:
        if board:
            board.close()
