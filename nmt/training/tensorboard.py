"""TensorBoard: the numbers of each validation, written by its own library as training goes on.

tensorboard --logdir runs
"""

from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nmt.errors import UserError

TAGS = {
    "train_loss": "loss/training",
    "loss": "loss/validation",
    "perplexity": "validation/perplexity",
    "accuracy": "validation/accuracy",
    "bleu": "validation/bleu",
    "learning_rate": "learning_rate",
}


def require_tensorboard() -> None:
    """Raise `UserError` where the library is missing, before training begins."""
    if find_spec("tensorboard") is None:
        raise UserError(
            "training.tensorboard needs the package tensorboard, which is not installed; install "
            "nmt with its extra `tensorboard`: pip install '.[tensorboard]', or set it to false"
        )


class TensorBoard:
    """Writes the lines of a run's metrics from after `updates` on; earlier ones are kept."""

    def __init__(self, folder: Path, updates: int):
        from torch.utils.tensorboard import SummaryWriter

        # What an interrupted run had written beyond its checkpoint is made again, and hidden.
        self._writer = SummaryWriter(folder, purge_step=updates + 1)

    def write(self, line: dict[str, Any]) -> None:
        """Add the numbers and sample translations of one validation."""
        update = line["update"]
        for name, tag in TAGS.items():
            if line[name] is not None:
                self._writer.add_scalar(tag, line[name], update)
        samples = [f"{sample['source']}  →  {sample['translation']}" for sample in line["samples"]]
        text = "\n\n".join(samples)  # Markdown
        self._writer.add_text("samples", text, update)
        self._writer.flush()

    def close(self) -> None:
        """End the file."""
        self._writer.close()
