"""The program as a whole: help, errors, signals, and arguments that are refused."""

import errno
import logging
import os
import shlex
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
import typer
from typer.testing import CliRunner

from nmt import __version__
from nmt.cli.app import app
from nmt.cli.command import Command
from nmt.runs.folder import RunFolder

from .command_line import PAIR, assert_refused, imported_by, nmt, printed, text

pytestmark = pytest.mark.usefixtures("in_empty_folder")
runner = CliRunner()
FIELDS = [sys.executable, "-m", "nmt", "config", "fields"]


def test_help_imports_neither_torch_nor_spacy() -> None:
    imported = imported_by("--help")
    assert "nmt.cli.app" in imported
    assert not {"torch", "spacy", "numpy", "sentencepiece", "pydantic", "tqdm"} & imported


@pytest.mark.parametrize(
    "command", [["-q", "doctor"], ["doctor", "--quiet"], ["--", "doctor", "-q"]]
)
def test_quiet_turns_off_progress_bars(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`-q` sets a variable that tqdm reads on import; nmt imports it later, as shown above."""
    variables = "TQDM_DISABLE", "HF_HUB_DISABLE_PROGRESS_BARS"
    for name in variables:
        monkeypatch.setenv(name, "")
    assert nmt(*command).returncode == 0
    assert [os.environ[name] for name in variables] == ["1", "1"]


@pytest.mark.parametrize("engine", ["pytorch", "ctranslate2"])
def test_verbose_reports_the_run_the_engine_and_the_device(
    engine: str, trained_run: RunFolder, caplog: pytest.LogCaptureFixture
) -> None:
    nmt("translate", "--run", trained_run.path, PAIR[0])
    assert caplog.messages == []
    caplog.set_level(logging.NOTSET, logger="nmt")  # undone after the test
    given = ["--run", trained_run.path, "--engine", engine, "--glossary", "terms.tsv"]
    Path("terms.tsv").write_text("Anna\tBen\n")  # which PyTorch places
    nmt("-v", "translate", *given, PAIR[0])
    used = dict(message.split(None, 1) for message in caplog.messages)
    assert used["run"] == str(trained_run.path)
    assert used["engine"] == f"{engine} (decoding.engine)"
    assert used["device"]
    assert len(used) == len(caplog.messages)
    assert "configuration" not in used  # reported only if given by --config
    caplog.clear()
    nmt("-v", "config", "show", "--config", "sample.yaml")
    assert [message.split()[0] for message in caplog.messages] == ["configuration"]


COMMANDS = (
    *("prepare", "train", "average", "datastore", "translate", "evaluate", "export", "augment"),
    *("import", "push", "corpora", "serve", "runs", "show", "rm", "doctor", "plot", "config"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    done = nmt(command, "--help")
    assert done.returncode == 0
    assert "Usage" in text(done.stdout)
    assert "ensemble" in text(done.stdout) or command not in ("translate", "evaluate")


def test_version() -> None:
    assert printed("--version").strip() == __version__


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError(errno.EACCES, "Permission denied", "run/last"), "run/last: Permission"),
        (OSError(errno.ENOSPC, "No space left", "original", None, "copy"), "nmt: copy: cannot be"),
    ],
)
def test_system_errors_are_reported_with_the_path(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch, error: OSError, message: str
) -> None:
    monkeypatch.setattr("nmt.export.export.export_run", Mock(side_effect=error))
    assert_refused("export", trained_run.path, message=message)


def test_the_home_folder_is_expanded_in_options(
    trained_run: RunFolder, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "toy").symlink_to(trained_run.path)
    for more in (["--output=~/out.de"], ["--output", f"{tmp_path}/two.de"]):
        assert nmt("translate", "--run=~/toy", PAIR[0], *more).returncode == 0
    assert (tmp_path / "out.de").read_text() == (tmp_path / "two.de").read_text()
    assert not Path("~").exists()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("error", ["AttributeError", "nmt.errors.UserError"])
def test_a_signal_discarded_by_a_library_does_not_become_an_error(
    number: signal.Signals, error: str
) -> None:
    """PyTorch discards any exception while it imports NumPy, and fails later without it."""
    program = f"""
import os, signal, sys
import nmt.errors
from nmt.cli.app import app, main

signal.signal({number.value}, signal.SIG_DFL)  # nohup and background jobs ignore some

@app.command()
def load():
    try:
        os.kill(os.getpid(), {number.value})
    except BaseException:
        pass
    raise {error}("partially imported")

sys.argv = ["nmt", "load"]
main()
"""
    done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (128 + number, b"")


def test_ctrl_c_during_the_first_imports_is_quiet() -> None:
    program = """
import os, signal, sys

class Interrupting:
    def find_spec(name, *_):
        if name == "typer":
            os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.default_int_handler)
sys.meta_path.insert(0, Interrupting)
from nmt.cli import main
main()
"""
    done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (130, b"")


def test_ctrl_c_that_the_shell_ignores_stays_ignored() -> None:
    program = """
import os, signal, sys
from nmt.cli.app import app, main

@app.command()
def load():
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.SIG_IGN)  # as for `nmt … &` in a script
sys.argv = ["nmt", "load"]
main()
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_standard_output_on_a_full_disk_is_reported() -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(FIELDS, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    message = "the output cannot be written (No space left on device); free some space"
    assert text(done.stderr) == f"nmt: {message}\n"


def test_debug_shows_the_traceback() -> None:
    command = [sys.executable, "-m", "nmt", "translate", "--run", "nowhere", "x", "--debug"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert "Traceback" in text(done.stderr)


@pytest.mark.usefixtures("mine")
def test_no_command_prints_control_characters_from_names_of_folders(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.NOTSET, logger="nmt")  # undone after the test
    monkeypatch.setattr("nmt.cli.runs._can_ask", lambda: True)
    run, other = Path("runs\x1b[2J", "a\x9bb\nc"), "other\x07"
    changes = ("max_updates=2", "validate_updates=1", "keep_validated=2", "epochs=1000")
    brief = [part for change in changes for part in ("--set", f"training.{change}")]
    Path("news.txt").write_text(PAIR[0])
    commands: list[list[object]] = [
        ["train", "--config", "mine.yaml", "--run", run, *brief],
        ["train", "--resume", "--run", run],
        ["average", run, "--last", "2"],
        ["-v", "translate", "--run", run, PAIR[0]],
        ["datastore", run],
        ["export", run],
        ["augment", run, "--input", "news.txt", "--output", f"{other}.tsv"],
        ["plot", "training", run],
        ["plot", "training", run, "--output", f"{other}.svg"],
        ["show", run],
        ["runs", run.parent],
        ["rm", run],
        ["rm", "--yes", run],
    ]
    for command in commands:
        done = nmt(*command, stdin=b"n\n")
        shown = text(done.stdout) + text(done.stderr)
        # After two updates, the run translates too badly for `augment` to keep anything.
        assert done.returncode == (2 if command[0] == "augment" else 0), (command, shown)
        assert not set("\x1b\x9b\x07") & set(shown), (command, shown)
        assert "\\x" in shown, command
    assert not run.exists()


def test_no_command_shows_the_help() -> None:
    done = nmt()
    assert done.returncode == 2
    assert "Usage" in text(done.stdout + done.stderr)


def test_a_closed_output_pipe_is_not_reported_as_an_error() -> None:
    process = subprocess.Popen(FIELDS, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    process.stdout.close()
    assert process.communicate()[1] == b""
    assert process.returncode == 128 + signal.SIGPIPE  # as of other programs


def test_only_similar_options_are_suggested() -> None:
    assert "--dry-run" in text(nmt("train", "--dry-rum").stderr)
    assert "put -- before it" not in text(nmt("train", "--bars").stderr)


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_output_that_cannot_be_written_does_not_change_the_exit_code() -> None:
    """As after Ctrl-C, which also ends the reader of a pipe."""
    program = """
import sys
from nmt.cli import app
app.app = lambda **_: sys.stdout.write("x") and 130
app.main()
"""
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-c", program], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert (done.returncode, done.stderr) == (130, "")


@pytest.mark.parametrize(
    "command",
    [
        "translate -i a -i b",
        "translate -o a --output b Hi.",
        "evaluate --against a --against b",
        "evaluate --split test --split test",
        "train --config a --config b",
        "augment run --input a --input b -o c",
        "plot training --output a --output b",
        "config new sample --minutes 1 --minutes 2",
        "config show --set training.seed=1 --set training.seed=2",
        "translate --set decoding.seed=1 --set 'decoding.seed = 1' Hi.",
    ],
)
def test_a_repeated_option_that_takes_one_value_is_refused(command: str) -> None:
    done = runner.invoke(app, shlex.split(command))
    assert done.exit_code == 2
    assert "2 times" in " ".join(done.output.replace("│", " ").split())


def test_every_command_refuses_repeated_options() -> None:
    def commands(group: Any) -> Iterator[Any]:
        for each in group.commands.values():
            yield from commands(each) if hasattr(each, "commands") else [each]

    found = list(commands(typer.main.get_command(app)))
    assert len(found) > len(COMMANDS)
    assert {type(each) for each in found} == {Command}


def test_options_that_take_several_values_and_flags_may_be_repeated(tmp_path: Path) -> None:
    changes = ["--set", "training.seed=2", "--set", "data.seed=3"]
    done = runner.invoke(app, ["config", "show", "--config", "sample", *changes])
    assert done.exit_code == 0
