"""Training runs killed at random moments can be resumed, with the same result as without a kill.

NMT_KILLS sets the number of kills.
"""

import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config import Config
from nmt.config_files import dump_config
from nmt.run_folder import RunFolder

KILLS = int(os.environ.get("NMT_KILLS", "30"))
# Files whose appearance triggers a kill: preparing, starting, saving, validating, converting.
MOMENTS = [
    *("data/prepared", "runs/a/.lock", "runs/a/config.yaml", "runs/a/data/prepared.json"),
    *("runs/a/checkpoint.pt", "runs/a/checkpoint.previous.pt", "runs/a/metrics.jsonl"),
    *("runs/a/best.safetensors", "runs/a/ctranslate2"),
]
TRAIN = [sys.executable, "-m", "nmt", "train", "--run", "runs/a"]


def start(*arguments: str) -> "subprocess.Popen[bytes]":
    return subprocess.Popen([*TRAIN, *arguments], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def results() -> dict[str, bytes]:
    run = RunFolder(Path("runs/a"))
    return {which: run.weights(which).read_bytes() for which in ("best", "last")}


def kill_once(chance: random.Random) -> str:
    """Start a training run, kill it at a random moment, and describe the moment."""
    moment, delay = chance.choice(MOMENTS), chance.uniform(0, 0.3)
    process = start("--config", "./toy.yaml")
    while process.poll() is None and not Path(moment).exists():
        time.sleep(0.002)
    time.sleep(delay)
    process.kill()
    process.communicate()
    return f"{delay:.3f} s after {moment} appeared"


@pytest.mark.slow
def test_killed_training_runs_can_always_continue(
    toy_config: Callable[..., Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = {"epochs": 3, "checkpoint_updates": 3, "validate_updates": 5}
    Path("toy.yaml").write_text(dump_config(toy_config(training=settings)))
    whole = start("--config", "./toy.yaml")
    assert whole.wait() == 0
    reference = results()
    chance = random.Random(KILLS)
    for _ in range(KILLS):
        for folder in ("runs", "data"):
            shutil.rmtree(folder, ignore_errors=True)
        when = kill_once(chance)
        begun = Path("runs/a/config.yaml").exists()
        again = start(*(["--resume"] if begun else ["--config", "./toy.yaml"]))
        errors = again.communicate()[1].decode()
        assert again.returncode == 0, f"{when}: {errors}"
        assert results() == reference, when
        assert not list(Path("runs/a").glob(".*.partial")), when
