"""The program `nmt`: assembles the commands and reports errors."""

import difflib
import io
import logging
import os
import re
import signal
import sys
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Annotated, TextIO

import typer

from nmt import __version__
from nmt.cli import (
    augmenting,
    configs,
    corpora,
    doctor,
    evaluating,
    exporting,
    plots,
    runs,
    scoring,
    serve,
    training,
    translating,
)
from nmt.cli.command import Command
from nmt.echo import echo
from nmt.errors import (
    UserError,
    is_full_disk,
    is_out_of_memory,
    one_line,
    pytorch_missing,
    write_error,
)
from nmt.training.interruption import HANGUP, STOPPING

app = typer.Typer(
    name="nmt",
    help="Train an English–German Transformer from scratch, and translate with it.\n\n"
    "Start with: nmt train --config sample.yaml",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (
    training.prepare,
    training.train,
    training.average,
    training.datastore,
    translating.translate,
    evaluating.evaluate,
    exporting.export,
    augmenting.augment,
    scoring.score,
    exporting.push,
    corpora.corpora,
    serve.serve,
    runs.runs,
    runs.show,
    runs.rm,
    doctor.doctor,
):
    app.command(cls=Command)(command)
app.command("import", cls=Command)(exporting.import_)
app.add_typer(plots.app, name="plot")
app.add_typer(configs.app, name="config")

OWN_OPTIONS = {"--debug", "--quiet", "-q", "--verbose", "-v"}  # accepted after a command, too


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the stack trace of an error.")
    ] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress bars.")] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Report the files, engine and device in use.")
    ] = False,
) -> None:
    if quiet:
        os.environ["TQDM_DISABLE"] = "1"  # read when tqdm is imported
        os.environ["HF_HUB_DISABLE_PROGRESS_BARS"] = "1"
    if verbose:
        logging.getLogger("nmt").setLevel(logging.INFO)


class _LogHandler(logging.Handler):
    """Prints log messages on standard error, as commands print their warnings."""

    def emit(self, record: logging.LogRecord) -> None:
        echo(*self.format(record).split("\n"), err=True)


_LOG_HANDLER = _LogHandler()
_SIGPIPE = 13  # which ends other programs that write to a closed pipe; Windows has none


def main() -> None:
    """Run the command line. An error that the user can fix becomes one line and exit code 2."""
    try:
        _run()
    except SystemExit as end:
        if isinstance(end.__context__, BrokenPipeError):  # such as by `head`; Typer's code is 1
            end.code = 128 + _SIGPIPE
        if end.code:  # Python would replace it by 120 if it cannot write the rest of the output
            for stream in (sys.stdout, sys.stderr):
                try:
                    stream.flush()
                except OSError:
                    _discard_output(stream)
        raise


def _run() -> None:
    _signals.clear()
    for number in STOPPING:
        if signal.getsignal(number) != signal.SIG_IGN:  # by nohup, or in a script's background job
            signal.signal(number, _stop)
    logging.getLogger("nmt").addHandler(_LOG_HANDLER)
    own, others = _split_own_options(sys.argv[1:])
    sys.argv[1:] = [*own, *others]  # where Typer expects them
    debug = "--debug" in own
    nowhere = Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115 open to the end
    sys.stdout, sys.stderr = sys.stdout or nowhere, sys.stderr or nowhere  # closed by the shell
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())  # closed by the shell: <&-
    try:
        sys.exit(app(prog_name="nmt", standalone_mode=False))  # also for `python -m nmt`
    except UserError as error:
        if debug:
            raise
        if _signals:  # interrupted: the error is a consequence
            sys.exit(128 + _signals[0])
        _fail(str(error), 2)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except Exception as error:
        if debug:
            raise
        if _signals:  # PyTorch discards exceptions while it imports NumPy, and fails later
            sys.exit(128 + _signals[0])
        # Typer bundles click in some versions and imports it in others: compare names, not types.
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
            sys.exit(2)
        if hasattr(error, "format_message"):
            context = getattr(error, "ctx", None)  # of the command with the usage error
            command = context.command_path if context else "nmt"
            text = _usage_error(error).replace(": Value error, ", ": ")  # pydantic's words
            if any(re.match("-[^=]* ", argument) for argument in sys.argv[1:]):
                text += "; if this is a sentence, put -- before it"
            see = " See" if text.endswith("?") else "; see"
            _fail(f"{text}{see} {command} --help", 2)
        if isinstance(error, ModuleNotFoundError) and error.name == "torch":
            _fail(str(pytorch_missing()), 2)
        cause = one_line(error)[:300] or type(error).__name__
        if is_out_of_memory(error):
            _fail(f"out of memory: {cause}; {_LESS_MEMORY}", 2)
        if isinstance(error, OSError):
            name = error.filename2 or error.filename  # of a copy: the destination
            if is_full_disk(error) and name:
                _fail(str(write_error(Path(name), error)), 2)
            if is_full_disk(error):  # errors without a file name; most files use `writing`
                _discard_output(sys.stdout)
                _fail(f"the output cannot be written ({error.strerror}); free some space", 2)
            if error.filename and error.strerror:
                advice = "check the path, its permissions and the free space"
                _fail(f"{error.filename}: {error.strerror}; {advice}", 2)
            _fail(cause, 2)
        _fail(
            f"unexpected {type(error).__name__}: {cause}; add --debug for details, and please "
            "report it",
            1,
        )


def _discard_output(stream: TextIO) -> None:
    """Discard what a stream still buffers, which Python would fail to write at exit."""
    with suppress(OSError), Path(os.devnull).open("wb") as nowhere:
        os.dup2(nowhere.fileno(), stream.fileno())


def _split_own_options(arguments: list[str]) -> tuple[list[str], list[str]]:
    """Separate the options that every command accepts from the other arguments.

    What follows `--` is text, unless `--` comes first, as torchrun passes it.
    """
    end = arguments.index("--", 1) if "--" in arguments[1:] else len(arguments)
    own = [argument for argument in arguments[:end] if argument in OWN_OPTIONS]
    others = [_with_home(each) for each in arguments[:end] if each not in OWN_OPTIONS]
    return own, [*others, *arguments[end:]]


def _with_home(argument: str) -> str:
    """Expand the home folder in `--option=~/path`, where few shells do."""
    option, _, value = argument.partition("=")
    is_path = option.startswith("--") and option != "--api-key" and value.startswith("~/")
    return f"{option}={os.path.expanduser(value)}" if is_path else argument  # noqa: PTH111


_signals: list[int] = []  # received so far, unless training handles them itself


def _stop(number: int, frame: FrameType | None) -> None:
    """Exit normally, so that nothing half-written is left behind."""
    _signals.append(number)
    if number == HANGUP:
        signal.signal(number, signal.SIG_IGN)
    if number == signal.SIGINT:
        raise KeyboardInterrupt
    sys.exit(128 + number)


def _usage_error(error: Exception) -> str:
    """Return a usage error's text; it suggests only what resembles what was typed."""
    name, guesses = getattr(error, "option_name", None), getattr(error, "possibilities", None)
    if name and guesses:
        error.possibilities = difflib.get_close_matches(name, guesses, cutoff=0.7)  # type: ignore[attr-defined]
    text = str(error.format_message()).rstrip(".")  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)  # of the command with the usage error
    names = [each.name for each in context.command.params] if context else []
    if name == "--run" and not {"run", "runs"}.isdisjoint(names):
        text += "; give the run folder without --run"
    return text


_LESS_MEMORY = (
    "to train, use smaller batches (training.batch_tokens or batch_sentences); to translate, lower "
    "decoding.batch_tokens or --beam-size"
)


def _fail(message: str, code: int) -> None:
    echo(*(f"nmt: {line}" for line in message.split("\n")), err=True)
    sys.exit(code)
