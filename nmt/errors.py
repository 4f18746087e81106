"""What is meant for the person at the keyboard: one exception, and its texts in one line."""

from pathlib import Path


class UserError(Exception):
    """Something the user can mend: the command line prints it in one line and exits with code 2.

    The message names the cause and the remedy, without a trailing traceback.
    """


def one_line(error: object) -> str:
    """Return an error's text without line breaks: libraries write lists and tables."""
    return " ".join(str(error).split())


def unreadable_weights(path: Path, error: Exception) -> UserError:
    """Return the error for weights that a library could not read."""
    return UserError(
        f"{path}: weights cannot be read: {one_line(error)[:200]}; copy the run folder "
        "again, or train it anew"
    )
