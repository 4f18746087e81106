"""Output files: checked before the work starts, and written atomically; temporary folders."""

import glob
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from tempfile import TemporaryDirectory

from nmt.errors import UserError, is_full_disk, one_line, write_error, writing

_A_DAY = 24 * 60 * 60.0  # seconds


def require_folder(output: Path) -> None:
    """Refuse an output in a folder that does not exist."""
    if not output.parent.is_dir():
        raise UserError(f"{output}: there is no folder {output.parent}; create it first")


def require_file(output: Path) -> None:
    """Refuse an unwritable output before doing the work."""
    require_folder(output)
    if output.is_dir():
        raise UserError(f"{output}: is a folder; name a file to write")
    # A file is replaced by a temporary one in the same folder.
    place = output if output.exists() and not output.is_file() else output.resolve().parent
    if output.exists() and not os.access(output, os.W_OK):
        raise UserError(f"{output}: is read-only; choose another file")
    if not os.access(place, os.W_OK):
        raise UserError(f"{output}: the folder {place} is read-only; choose another one")


@contextmanager
def replacing(path: Path, previous: Path | None = None) -> Iterator[Path]:
    """Yield a temporary path in the same folder; move it to `path` if the block succeeds.

    An existing file moves to `previous`, if given. Raises `UserError` if writing fails, and leaves
    the existing file unchanged.
    """
    partial = path.with_name(f".{path.name}.{os.getpid()}.partial")  # other processes may write too
    try:
        with writing(path):
            _remove_remains(path)
            partial.touch()
            # Not that of safetensors, which creates files that other users cannot read.
            mode = (path if path.is_file() else partial).stat().st_mode
            yield partial
            with partial.open("rb+") as file:
                os.fsync(file.fileno())
            partial.chmod(mode)
            if previous and path.exists():
                path.replace(previous)
            partial.replace(path)
    finally:
        partial.unlink(missing_ok=True)


def _remove_remains(path: Path) -> None:
    """Delete temporary files that processes killed over a day ago left for `path`."""
    for partial in path.parent.glob(f".{glob.escape(path.name)}.*.partial"):
        with suppress(FileNotFoundError):
            if time.time() - partial.stat().st_mtime > _A_DAY:
                partial.unlink()


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Yield a folder that is deleted at the end.

    Raises `UserError` if its disk is full, before or while the block writes to it.
    """
    remedy = "set the variable TMPDIR"
    try:
        scratch = TemporaryDirectory()
    except FileNotFoundError as error:  # Python tries to write to several
        raise UserError(f"{one_line(error.strerror)}; free some space, or {remedy}") from None
    with scratch as name:
        folder = Path(name)
        try:
            yield folder
        except OSError as error:
            if is_full_disk(error):
                raise UserError(f"{write_error(folder, error)}: {remedy}") from None
            raise
