"""TensorBoard: the numbers of each validation, written by its own library as training goes on.

tensorboard --logdir runs
"""

from collections.abc import Mapping
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from nmt.errors import UserError, install_extra
from nmt.run_folder import Validation

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
            "training.tensorboard needs the package tensorboard, which is not installed; set it to "
            f"false, or install it: {install_extra('tensorboard')}"
        )


class TensorBoard:
    """Writes the validations of a run that goes on after `updates`; earlier ones are kept.

    In a new folder, they are written from `metrics`.
    """

    def __init__(self, folder: Path, updates: int, metrics: list[Validation]):
        from torch.utils.tensorboard import SummaryWriter

        is_new = not folder.exists()
        # What an interrupted run had written beyond its checkpoint is made again, and hidden.
        self._writer = SummaryWriter(folder, purge_step=updates + 1)
        for line in metrics if is_new else []:
            self.write(line)

    def write(self, line: Validation) -> None:
        """Add the numbers and sample translations of one validation."""
        update = line["update"]
        numbers: Mapping[str, Any] = line
        for name, tag in TAGS.items():
            self._writer.add_scalar(tag, numbers[name], update)
        samples = [f"{sample['source']}  →  {sample['translation']}" for sample in line["samples"]]
        # As a block of code, in which Markdown leaves <unk> and * as they are.
        text = "\n".join(f"    {sample}" for sample in samples)
        self._writer.add_text("samples", text, update)
        self._writer.flush()

    def close(self) -> None:
        """End the file."""
        self._writer.close()
