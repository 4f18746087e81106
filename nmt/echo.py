"""How nmt speaks: `echo` for what the user asked for; `logging` for what may be silenced."""

import sys
from contextlib import nullcontext, suppress

from nmt.errors import escape_terminal


def echo(*lines: str, err: bool = False) -> None:
    """Print lines for the user, above any progress bar; they may contain names of files.

    err: on standard error, where hints do not mix with results

    Errors from a full disk or a closed pipe, which must not stop training, are ignored; results
    then go to standard error.
    """
    tqdm = sys.modules.get("tqdm")  # without it, there is no bar
    for stream in (sys.stderr,) if err else (sys.stdout, sys.stderr):
        if stream is None or not lines:
            return
        with suppress(OSError):
            with tqdm.tqdm.external_write_mode(stream) if tqdm else nullcontext():
                print(*map(escape_terminal, lines), sep="\n", file=stream)
            stream.flush()  # at once, also into a file
            return
