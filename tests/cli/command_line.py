"""Calls of the command line within this process, which avoids repeated imports."""

import io
import logging
import signal
import subprocess
import sys

import pytest

from nmt import cli
from nmt.training.interruption import STOPPING

PAIR = ("Anna sings today.", "Anna singt heute.")


def nmt(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Call `nmt.cli.main` with its own arguments and streams."""
    command = ["nmt", *map(str, arguments)]
    streams = [io.TextIOWrapper(io.BytesIO(content), "utf-8") for content in (stdin, b"", b"")]
    code = 0
    handlers = {number: signal.getsignal(number) for number in STOPPING}
    level = logging.getLogger("nmt").level  # --verbose changes it
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command)
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        try:
            cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
        finally:
            logging.getLogger("nmt").setLevel(level)
            for number, handler in handlers.items():
                signal.signal(number, handler)
    for stream in streams[1:]:
        stream.flush()
    output, errors = (stream.detach().getvalue() for stream in streams[1:])
    return subprocess.CompletedProcess(command, code, output, errors)


def imported_by(*arguments: object) -> set[str]:
    """Return the modules that a command imports, in a process of its own."""
    code = (
        f"import sys; from nmt import cli; sys.argv = {['nmt', *map(str, arguments)]}\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "print(); print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    return set(text(done.stdout).splitlines()[-1].split())


def text(output: bytes) -> str:
    return output.decode("utf-8")


def printed(*arguments: object) -> str:
    """Return the standard output of a call."""
    return text(nmt(*arguments).stdout)


def assert_refused(*arguments: object, message: str, stdin: bytes = b"") -> None:
    """One line on standard error that says `message`, exit code 2, no traceback."""
    done = nmt(*arguments, stdin=stdin)
    assert (done.returncode, text(done.stdout)) == (2, "")
    [line] = text(done.stderr).splitlines()
    assert message in line
