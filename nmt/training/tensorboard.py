"""Logs each validation to TensorBoard during training.

tensorboard --logdir runs
"""

import threading
from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nmt.config.data import DataConfig
from nmt.corpus.text.tags import show_tag
from nmt.errors import missing_extra, writing
from nmt.runs.folder import Validation

TAGS = {
    "train_loss": "loss/training",
    "loss": "loss/validation",
    "train_accuracy": "training/accuracy",
    "perplexity": "validation/perplexity",
    "accuracy": "validation/accuracy",
    "bleu": "validation/bleu",
    "learning_rate": "learning_rate",
}


def require_tensorboard() -> None:
    """Raise `UserError` before training if the library is missing."""
    if find_spec("tensorboard") is None:
        raise missing_extra("training.tensorboard", "tensorboard")


class TensorBoard:
    """Logs the validations of a run that continues after `updates`; keeps earlier ones.

    If the folder is new, earlier ones are restored from `metrics`.
    """

    def __init__(self, folder: Path, data: DataConfig, updates: int, metrics: list[Validation]):
        from torch.utils.tensorboard import SummaryWriter

        self._folder, self._data = folder, data
        is_new = not folder.exists()
        self._hook, threading.excepthook = threading.excepthook, self._report
        try:
            with writing(folder):
                # Hide what an interrupted run logged after its checkpoint; it will be repeated.
                self._writer = SummaryWriter(folder, purge_step=updates + 1)
            for line in metrics if is_new else []:
                self.write(line)
        except BaseException:
            threading.excepthook = self._hook
            raise

    def write(self, line: Validation) -> None:
        """Log the metrics and sample translations of one validation."""
        update = line["update"]
        numbers: Mapping[str, Any] = line
        samples = [
            f"{show_tag(self._data, sample['source'])}  →  {sample['translation']}"
            for sample in line["samples"]
        ]
        # As a code block, in which Markdown leaves <unk> and * alone.
        text = "\n".join(f"    {sample}" for sample in samples)
        with writing(self._folder):
            for name, tag in TAGS.items():
                self._writer.add_scalar(tag, numbers[name], update)
            self._writer.add_text("samples", text, update)
            self._writer.flush()

    def close(self) -> None:
        """Close the log."""
        try:
            with writing(self._folder):
                self._writer.close()
        finally:
            threading.excepthook = self._hook

    def _report(self, error: threading.ExceptHookArgs) -> None:
        """Report an error that ended a thread, unless TensorBoard's next call raises it again."""
        if not type(error.thread).__module__.startswith("tensorboard."):
            self._hook(error)
