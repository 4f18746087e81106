"""Fake runs: a folder with a configuration, metrics and weights of known size."""

import json
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from nmt.config.yaml_files import load_config
from nmt.model.transformer import Transformer
from nmt.runs.folder import RunFolder
from nmt.runs.weights import save_weights

REPORT = {
    "read": 1234,
    "dropped": {"too long": 30, "duplicate": 4},
    "pairs": {"train": 1000, "validation": 100, "test": 100},
    "with_placeholders": 0,
    "lengths": {
        "source": {"mean": 4.5, "median": 4, "p95": 8, "longest": 9},
        "target": {"mean": 5.25, "median": 5, "p95": 11, "longest": 12},
    },
    "vocabulary_size": {"source": 50, "target": 50},
    "coverage": {split: {"source": 0.99, "target": 1.0} for split in ("validation", "test")},
    "source_in_train": {"validation": 0, "test": 3},
}


@pytest.fixture
def make_run(tmp_path: Path) -> Callable[..., RunFolder]:
    """Return a function that creates a run of a given age in seconds and number of validations."""

    def make(name: str, *overrides: str, validations: int = 3, age: float = 0) -> RunFolder:
        run = RunFolder(tmp_path / "runs" / name)
        run.data.mkdir(parents=True)
        config = load_config("sample.yaml", ["model.d_model=8", "model.heads=2", *overrides])
        run.write_config(config)
        (run.data / "report.json").write_text(json.dumps(REPORT))
        if validations:
            run.write_metrics([validation(number) for number in range(1, validations + 1)])
            torch.manual_seed(0)
            save_weights(Transformer(config.model, 50, 50), run.weights("last"))
        for path in run.path.iterdir():
            os.utime(path, (time.time() - age,) * 2)
        return run

    return make


def validation(number: int) -> dict[str, object]:
    """Return the metrics of a validation; the second of three has the best BLEU."""
    sample = {"source": "Hello.", "reference": "Hallo.", "translation": f"Hallo {number}."}
    return {
        "update": 1000 * number,
        "epoch": number,
        "minutes": 1.5 * number,
        "learning_rate": 1e-3 / number,
        "train_loss": 5.0 / number,
        "train_accuracy": 0.3,
        "loss": 4.0 / number,
        "perplexity": 54.5,
        "accuracy": 0.25,
        "bleu": [10.0, 12.5, 11.0][number - 1],
        "samples": [sample],
    }
