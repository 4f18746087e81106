"""Errors meant for the person at the keyboard: one exception, and its messages in one line."""

import errno
import re
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
# What libraries that write files make of the same.
_FULL_WORDS = ("No space left", "quota exceeded", "File too large", " requested and ")


_KEPT, _LONGEST = 300, 3000  # characters of a word and of a line of a message
_ENDLESS = re.compile(rf"\S{{{_KEPT + 1},}}")


class UserError(Exception):
    """Something the user can fix: the command line prints it in one line and exits with code 2.

    The message names the cause and the remedy, without a trailing traceback.
    """


def install_extra(extra: str) -> str:
    """Return the command that adds an extra to what is installed, from any folder."""
    return f"pip install 'nmt-trainer[{extra}]'"


def one_line(error: object) -> str:
    """Return an error's text without line breaks: libraries write lists and tables."""
    return " ".join(str(error).split())


def shown(text: str) -> str:
    """Return text as a terminal can show it: control characters escaped, endless words cut."""
    plain = "".join(c if _is_visible(c) else ascii(c)[1:-1] for c in text)
    cut = _ENDLESS.sub(lambda word: f"{word[0][:_KEPT]}…", plain)
    return cut if len(cut) <= _LONGEST else f"{cut[:_LONGEST]}…"


def shown_lines(text: str) -> str:
    """Return text of several lines, each as `shown` has it."""
    return "\n".join(map(shown, text.split("\n")))


def _is_visible(character: str) -> bool:
    # French has no-break spaces, Japanese wide ones.
    return character.isprintable() or unicodedata.category(character) == "Zs"


def unreadable_weights(path: Path, error: Exception) -> UserError:
    """Return the error for weights that a library could not read."""
    return UserError(
        f"{path}: weights cannot be read: {one_line(error)[:200]}; copy the run folder "
        "again, or train it anew"
    )


@contextmanager
def writing(path: Path) -> Iterator[None]:
    """Raise `UserError` for `path` where the disk does not take what the block writes."""
    try:
        yield
    except OSError as error:
        raise unwritable(path, error) from None


def unwritable(path: Path, error: OSError) -> UserError:
    """Return the error for a file or folder that could not be written."""
    reason = error.strerror or one_line(error)[:200]
    if not is_full_disk(error):
        return UserError(f"{path}: cannot be written ({reason}); check its folder's permissions")
    return UserError(
        f"{path}: cannot be written ({reason}; {_free(path)} free on its disk); free some space, "
        "or write to another disk"
    )


def is_full_disk(error: OSError) -> bool:
    """Tell whether there was no room, on the disk or in the user's quota."""
    return error.errno in _FULL or any(words in str(error) for words in _FULL_WORDS)


def _free(path: Path) -> str:
    place = next(folder for folder in path.absolute().parents if folder.exists())
    return f"{shutil.disk_usage(place).free / 1e6:,.1f} MB"


def no_such_weights(path: Path) -> UserError:
    """Return the error for weights that a run does not have."""
    return UserError(
        f"{path}: no such weights; the run has not got that far: train on with --resume, or "
        "see with nmt show what it has for --weights"
    )


def infinite_weights(path: Path) -> UserError:
    """Return the error for weights that training has spoilt."""
    return UserError(f"{path}: holds numbers that are not finite; take --weights of another kind")
