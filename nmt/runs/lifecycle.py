"""Creates run folders, holds them while a process trains, and deletes them."""

import os
import shutil
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from itertools import count
from pathlib import Path

from nmt.config.config import Config
from nmt.corpus.prepared import PreparedData
from nmt.corpus.preparing.manifest import require_manifest, run_files
from nmt.errors import UserError
from nmt.files.output_files import replacing
from nmt.files.small_files import read_small
from nmt.runs.folder import CARD, HEADER, LICENCE, LOCK, REPORT, RUNS, RunFolder, is_header_of_nmt

_LARGEST_CARD = 5_000_000  # bytes; some models list thousands of scores
_DELETED = ".nmt-deleted"  # ending of the hidden folder in which a run is deleted


@contextmanager
def claimed(folder: Path, numbered: bool = False) -> Iterator[RunFolder]:
    """Hold the folder of a new run within the context.

    If FOLDER exists: with `numbered`, use FOLDER-2, FOLDER-3, …; without, raise `UserError`.
    """
    for number in count(1):
        run = RunFolder(folder if number == 1 else folder.with_name(f"{folder.name}-{number}"))
        with ExitStack() as stack:
            try:
                _require_free(run)
                stack.enter_context(run.held())
                _require_free(run)  # check again, now that no other process can use it
            except UserError:
                if not numbered:
                    raise
                continue
            yield run
            return


def _require_free(run: RunFolder) -> None:
    """Refuse a folder that contains anything except a run without a checkpoint."""
    path = run.path
    # A killed process may have left its lock and a partial header.
    empty = not path.exists() or (
        path.is_dir()
        and all(p.name == LOCK or p.match(f".{HEADER}.*.partial") for p in path.iterdir())
    )
    if path.is_symlink() and not path.exists():
        raise UserError(f"{path}: is a broken link; delete it or choose another --run")
    if not empty and not run.has_only_begun:
        raise UserError(
            f"{path}: already exists; choose another folder, or continue it (--resume, in Python "
            "resume=True)"
        )


def create_run(path: Path, config: Config, prepared: PreparedData) -> RunFolder:
    """Create a run folder, and copy the prepared data that translation needs into it.

    Replaces the files of a run without a checkpoint. Call this while holding the folder, so that no
    other process writes to it.
    """
    run = RunFolder(path)
    _require_free(run)
    shutil.rmtree(run.data, ignore_errors=True)
    run.data.mkdir(parents=True)
    # The report is copied last: if it exists, no file is missing.
    for file in sorted(run_files(prepared.folder), key=lambda file: file.name == REPORT):
        with replacing(run.data / file.name) as partial:
            partial.write_bytes(file.read_bytes())
    if require_manifest(run.data).fingerprint != prepared.fingerprint:
        raise UserError(f"{prepared.folder}: was prepared again meanwhile; train again")
    run.write_config(config)
    former = config.training.initial_weights
    if former:
        copy_card(former.parent, run.path)
    return run


def copy_card(folder: Path, to: Path) -> None:
    """Copy the model card and the licence of a model, which whatever is made of it must keep.

    The folder may come from anyone. Raises `UserError` if one of these files is too large, or
    links to a file outside the folder, except to those of a repository in a cache of the Hub.
    """
    repository = cached_repository(folder.resolve())
    places = [folder.resolve(), *([repository / "blobs"] if repository else [])]
    for file in filter(Path.is_file, (folder / name for name in (CARD, LICENCE))):
        if not any(file.resolve().is_relative_to(place) for place in places):
            raise UserError(
                f"{file}: links to a file outside its folder; replace the link by a copy"
            )
        try:
            content = read_small(file, _LARGEST_CARD)
        except OSError as error:
            raise UserError(f"{file}: cannot be read: {error.strerror}; delete it") from None
        (to / file.name).write_bytes(content)


def cached_repository(folder: Path) -> Path | None:
    """Return the folder of a repository if `folder` is one of its versions in a cache of the Hub.

    The files of a version are links to its folder `blobs`.
    """
    if folder.parent.name != "snapshots":
        return None
    repository = folder.absolute().parents[1]
    is_cached = repository.name.startswith("models--") and (repository / "blobs").is_dir()
    return repository if is_cached else None


def discard_beginning(run: RunFolder) -> None:
    """Delete a run without checkpoint and weights, and its folder unless it has other files.

    Call this while holding the folder.
    """
    if not run.has_only_begun:
        return
    shutil.rmtree(run.data, ignore_errors=True)
    for name in ("config.yaml", HEADER, LOCK):
        with suppress(OSError):  # Windows does not delete open files
            (run.path / name).unlink()
    with suppress(OSError):
        run.path.rmdir()
        if run.path.parent == RUNS:
            RUNS.rmdir()  # unless it has other runs


def delete_run(run: RunFolder) -> None:
    """Delete a run, unless a process is training in it.

    Raises `UserError` for a folder that nmt did not write: other programs write a config.yaml, too.
    """
    # Runs of format 1 have no run.json.
    if not is_header_of_nmt(run.path / HEADER) and not (run.data / REPORT).is_file():
        raise UserError(
            f"{run.path}: not deleted, because it does not look like a run (it has neither nmt's "
            f"{HEADER} nor data/{REPORT}); delete it yourself"
        )
    if run.path.is_symlink():
        raise UserError(f"{run.path}: is a link; delete {run.path.resolve()} instead")
    if Path.cwd().is_relative_to(run.path.resolve()):  # an empty argument means this folder, too
        raise UserError(f"{run.path}: contains the current folder; change to another one first")
    _require_deletable(run.path)
    for remains in run.path.parent.glob(f".*{_DELETED}"):  # of deletions that were killed
        shutil.rmtree(remains, ignore_errors=True)
    with run.held():
        # First, so that whatever a failed deletion leaves is not taken for a run.
        gone = run.path.rename(run.path.with_name(f".{run.path.name}{_DELETED}"))
        shutil.rmtree(gone)


def _require_deletable(run: Path) -> None:
    """Refuse a run of which only some files could be deleted."""
    folders = (path for path in run.rglob("*") if path.is_dir() and not path.is_symlink())
    for folder in (run.parent, run, *folders):
        if not os.access(folder, os.R_OK | os.W_OK | os.X_OK):
            raise UserError(
                f"{run}: not deleted, because {folder} is read-only; change its permissions first"
            )
