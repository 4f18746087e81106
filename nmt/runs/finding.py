"""Opens runs by path, by address (hf:USER/NAME) or by age."""

import re
import stat
from contextlib import suppress
from pathlib import Path

from nmt.errors import UserError, not_validated
from nmt.runs.folder import HUB, RUNS, RunFolder, read_header


def open_run(path: Path | str) -> RunFolder:
    """Open the run at `path`, or hf:USER/NAME on the Hugging Face Hub.

    Raises `UserError` if there is none.
    """
    path, address = Path(path), str(path)
    if address.startswith(HUB):
        from nmt.runs.hub import download_run

        path = download_run(address)
    if not (path / "config.yaml").is_file():
        broken = path.is_symlink() and not path.exists()
        reason = "a broken link" if broken else "not a run folder (it has no config.yaml)"
        known = (RUNS / path / "config.yaml").is_file()
        remedy = f"did you mean {RUNS / path}?" if known else f"nmt runs lists the runs in ./{RUNS}"
        raise UserError(f"{path}: {reason}; {remedy}")
    read_header(path)
    return RunFolder(path, address)


def newest_run(file: str, option: str = "--run FOLDER") -> RunFolder:
    """Open the most recently trained run under ./runs that has a file such as best.safetensors.

    option: how the user can select a run instead, for the error message
    """
    found = runs_in(RUNS)
    runs = [run for run in found if (run.path / file).is_file()]
    begun = [run for run in found if run.can_be_resumed]
    make = {
        "best.safetensors": not_validated(_latest(begun).path) if begun else None,
        "checkpoint_average.safetensors": "make one with `nmt average`",
        "ema.safetensors": "train one with training.average_decay",
    }
    return _newest(runs, f"no run {RUNS / '*'} with {file} here", option, make.get(file))


def newest_training(name: str = "*") -> RunFolder:
    """Open the most recently trained run under ./runs that can be resumed.

    name: of the run, or of NAME-2, NAME-3, …; `*`: any
    """
    named = re.compile(".*" if name == "*" else rf"{re.escape(name)}(-\d+)?")
    runs = [run for run in runs_in(RUNS) if named.fullmatch(run.path.name) and run.can_be_resumed]
    return _newest(runs, f"no run {RUNS / name} to resume here", "--run FOLDER")


def runs_in(folder: Path) -> list[RunFolder]:
    """Return the runs in a folder, by name; hidden folders may be half deleted."""
    return [RunFolder(path.parent) for path in sorted(folder.glob("[!.]*/config.yaml"))]


def _newest(runs: list[RunFolder], lack: str, option: str, make: str | None = None) -> RunFolder:
    if not runs:
        make = make or "train one with `nmt train`"
        raise UserError(f"{lack}; {make}, or select one with {option}")
    return open_run(_latest(runs).path)


def _latest(runs: list[RunFolder]) -> RunFolder:
    return max(runs, key=lambda run: last_change(run.path))


def last_change(folder: Path) -> float:
    """Return when a run was last trained: the time of its newest file."""
    newest = 0.0
    for path in folder.iterdir():
        # Partial files, the lock, and files that may be written without training.
        if path.name.startswith(".") or path.name in (
            "datastore.safetensors",
            "checkpoint_average.safetensors",
        ):
            continue
        with suppress(FileNotFoundError):  # replaced or deleted meanwhile
            found = path.stat()
            # Files only: drawing into a run's folder of pictures is not training.
            if stat.S_ISREG(found.st_mode):
                newest = max(newest, found.st_mtime)
    return newest
