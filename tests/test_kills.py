"""Training and exporting, killed at random moments again and again, always end with the same files.

NMT_KILLS sets the number of kills, and seeds the choice of moments.
"""

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from nmt.config.config import Config
from nmt.config.yaml_files import dump_config

KILLS = int(os.environ.get("NMT_KILLS", "20"))
# A command is killed at any time, or after a change to files that match a pattern.
ANY = ""
MOMENTS = {
    "train": [
        *(ANY, "data/prepared/**/*", "runs/a/*run.json*", "runs/a/*config.yaml*", "runs/a/data/*"),
        *("runs/a/*checkpoint*", "runs/a/*last.safetensors*", "runs/a/*best.safetensors*"),
        *("runs/a/*metrics.jsonl*", "runs/a/validated/*", "runs/a/ctranslate2/**/*"),
    ],
    "export": [ANY, "runs/a/.exported*", "runs/a/.exported*/**/*", "runs/a/exported"],
}
EXIT_CODES = {signal.SIGKILL: {-9}, signal.SIGTERM: {-15, 130, 143}}
TIMED = {"checkpoint.pt", "checkpoint.previous.pt", "metrics.jsonl"}  # contain training times


def start(*arguments: str) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "nmt", "-q", *arguments]
    return subprocess.Popen(
        command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, encoding="utf-8"
    )


def next_try(command: str, resume: bool) -> list[str]:
    """Return arguments with which a person or a scheduler may start a command again."""
    if command == "export":
        return ["export", "runs/a"]
    return ["train", "--run", "runs/a", *(["--resume"] if resume else ["--config", "./toy.yaml"])]


def state(pattern: str) -> set[tuple[Path, int, int]]:
    """Return names, times and sizes of the files that match a pattern."""
    found = set()
    with suppress(FileNotFoundError):  # deleted meanwhile
        for path in Path().glob(pattern):
            status = path.stat()
            found.add((path, status.st_mtime_ns, status.st_size))
    return found


def kill(
    process: "subprocess.Popen[str]", pattern: str, longest: float, chance: random.Random
) -> signal.Signals:
    """Kill a process after a random number of changes to files, or at most `longest` seconds."""
    for _ in range(chance.choice((1, 1, 2, 3, 5)) if pattern else 0):
        before = state(pattern)
        while process.poll() is None and state(pattern) == before:
            time.sleep(0.002)
    time.sleep(chance.random() * (chance.choice((0, 0.3)) if pattern else longest))
    number = chance.choice((signal.SIGKILL, signal.SIGTERM))
    process.send_signal(number)
    return number


def run_to_the_end(command: str, longest: float, chance: random.Random) -> int:
    """Start a command until it succeeds, and kill it on the way; return the number of kills."""
    kills, advised, story = 0, False, ""
    while True:
        begun = Path("runs/a/config.yaml").exists()
        arguments = next_try(command, resume=advised or (begun and chance.random() < 0.5))
        process, number, pattern = start(*arguments), None, ""
        if chance.random() < 0.8**kills:
            pattern = chance.choice(MOMENTS[command])
            number = kill(process, pattern, longest, chance)
        errors = process.communicate(timeout=300)[1]
        story += f"nmt {' '.join(arguments)}: {number} {pattern}, {process.returncode} {errors}\n"
        if process.returncode == 0:
            return kills
        if number and process.returncode in EXIT_CODES[number]:
            kills, advised = kills + 1, False
            continue
        # Only existing results may be refused: a checkpoint, with the advice to resume it, or an
        # export whose process was killed after its last step.
        assert process.returncode == 2, story
        assert re.fullmatch("nmt: runs/a.* already exists; .*\n", errors), story
        if command == "export":
            return kills
        advised = "continue it (--resume" in errors and any(Path("runs/a").glob("checkpoint*.pt"))
        assert advised, story


def files() -> dict[Path, bytes]:
    """Return all files with their content."""
    return {
        path: b"" if path.is_dir() or path.name in TIMED else path.read_bytes()
        for folder in ("data", "runs")
        for path in Path(folder).rglob("*")
    }


@pytest.mark.slow
def test_killed_commands_can_always_be_repeated(
    toy_config: Callable[..., Config], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    settings = {"epochs": 2, "checkpoint_updates": 2, "validate_updates": 3, "keep_validated": 2}
    Path("toy.yaml").write_text(dump_config(toy_config(training=settings)))
    longest = {}
    for command in MOMENTS:
        started = time.monotonic()
        assert start(*next_try(command, resume=False)).wait() == 0
        longest[command] = time.monotonic() - started
    expected = files()
    chance, kills = random.Random(KILLS), 0
    while kills < KILLS:
        for folder in ("data", "runs"):
            shutil.rmtree(folder)
        for command in MOMENTS:
            kills += run_to_the_end(command, longest[command], chance)
        found = files()
        differing = {path for path in expected | found if expected.get(path) != found.get(path)}
        assert not differing, differing
    print(f"{kills} kills, 0 dead ends")
