"""Errors that the user can fix: the exception class, and common messages, each one line."""

import errno
import re
import shlex
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# Messages of libraries for the same errors.
_FULL_WORDS = ("No space left", "quota exceeded", "File too large", " requested and ")


_KEPT, _LONGEST = 300, 3000  # characters of a word and of a line of a message
_ENDLESS = re.compile(rf"\S{{{_KEPT + 1},}}")


class UserError(Exception):
    """An error that the user can fix. The command line prints its message and exits with code 2.

    The message has one line per problem, with the cause and the remedy.
    """


def install_extra(extra: str) -> str:
    """Return the command that installs an extra, from any folder."""
    return f"pip install 'nmt-trainer[{extra}]'"


def resume(run: Path, command: str = "nmt") -> str:
    """Return the command that continues the training of a run."""
    return f"{command} train --resume --run {shlex.quote(str(run))}"


def not_validated(run: Path) -> str:
    """Return the remedy for a run without its best weights, because it has not been validated."""
    return f"{run} has not been validated yet: continue it with {resume(run)}"


def missing_extra(feature: str, extra: str) -> UserError:
    """Return the error for a feature whose packages are not installed."""
    return UserError(
        f"{feature} needs packages that are not installed; install them: {install_extra(extra)}"
    )


def pytorch_missing() -> UserError:
    """Return the error for what needs PyTorch in an installation without it."""
    return UserError("this needs PyTorch, which is not installed: pip install torch")


def one_line(error: object) -> str:
    """Return the text of an error in one line; libraries use several."""
    return " ".join(str(error).split())


def escape_terminal(text: str) -> str:
    """Return text for a terminal: escape control characters, truncate very long words."""
    plain = "".join(c if _is_visible(c) else ascii(c)[1:-1] for c in text)
    cut = _ENDLESS.sub(lambda word: f"{word[0][:_KEPT]}…", plain)
    return cut if len(cut) <= _LONGEST else f"{cut[:_LONGEST]}…"


def require_utf8(sentence: str) -> None:
    """Refuse a sentence from the command line that was not UTF-8; Python marks such bytes."""
    if not sentence.isascii() and any("\ud800" <= c <= "\udfff" for c in sentence):
        raise UserError("the sentence is not UTF-8; check the terminal's encoding")


def _is_visible(character: str) -> bool:
    # French has no-break spaces, Japanese wide ones; Persian, Hindi and emoji need joiners.
    return (
        character.isprintable()
        or unicodedata.category(character) == "Zs"
        or character in "\u200c\u200d"
    )


def unreadable_weights(path: Path, error: Exception) -> UserError:
    """Return the error for weights that a library could not read."""
    return UserError(
        f"{path}: weights cannot be read: {one_line(error)[:200]}; copy the run folder "
        "again, or train it again"
    )


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise `UserError` for `path` if the block cannot write to the disk."""
    try:
        yield
    except OSError as error:
        raise write_error(path, error) from None


def write_error(path: Path, error: Exception) -> UserError:
    """Return the error for a file or folder that could not be written."""
    reason = getattr(error, "strerror", None) or one_line(error)[:200]
    if not is_full_disk(error):
        return UserError(f"{path}: cannot be written ({reason}); check its folder's permissions")
    return UserError(
        f"{path}: cannot be written ({reason}; {_free(path)} free on its disk); free some space, "
        "or write to another disk"
    )


def is_full_disk(error: Exception) -> bool:
    """Return whether the disk is full or the quota exceeded."""
    return getattr(error, "errno", None) in _FULL or any(
        words in str(error) for words in _FULL_WORDS
    )


def is_out_of_memory(error: Exception) -> bool:
    """Return whether memory ran out. CUDA has an error class for it; CPU and MPS do not."""
    text = str(error)
    names = ("OutOfMemoryError", "MemoryError")
    texts = ("allocate memory", "out of memory", "CUBLAS_STATUS_ALLOC_FAILED")
    return type(error).__name__ in names or any(each in text for each in texts)


def _free(path: Path) -> str:
    place = next(folder for folder in path.absolute().parents if folder.exists())
    return f"{shutil.disk_usage(place).free / 1e6:,.1f} MB"


def no_such_weights(path: Path) -> UserError:
    """Return the error for weights that a run lacks."""
    if path.stem == "best" and path.with_stem("last").exists():
        return UserError(
            f"{path}: no such weights; {not_validated(path.parent)}, or use --weights last"
        )
    remedy = {
        "checkpoint_average": f"average them with nmt average {shlex.quote(str(path.parent))}",
        "ema": "runs with training.average_decay have them after a validation",
    }.get(path.stem, "nmt show lists the weights of the run; if there are none, train it longer")
    return UserError(f"{path}: no such weights; {remedy}")


def no_such_device(name: str) -> UserError:
    """Return the error for a device that this machine lacks."""
    return UserError(f"--device {name}: not available here; omit it or use cpu")


def infinite_weights(path: Path) -> UserError:
    """Return the error for weights with infinities or NaN."""
    return UserError(f"{path}: contains numbers that are not finite; choose other --weights")
