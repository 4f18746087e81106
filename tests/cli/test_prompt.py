"""The prompt: sentences and commands that a user types."""

import errno
import io
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from prompt_toolkit.application import create_app_session
from prompt_toolkit.input import create_pipe_input
from prompt_toolkit.output import DummyOutput

from nmt.cli.prompt import converse, typed_lines
from nmt.decoding.glossary import parse_glossary
from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translator
from nmt.runs.folder import RunFolder

from .command_line import text

SENTENCE, TRANSLATION = "Anna sings today.", "Anna singt heute."


@pytest.fixture
def run(tmp_path: Path, trained_run: RunFolder) -> RunFolder:
    return RunFolder(Path(shutil.copytree(trained_run.path, tmp_path / "run")))


@pytest.fixture
def translator(run: RunFolder) -> Translator:
    return load_translator(run, device="cpu")


def test_sentences_are_translated_until_quit(
    translator: Translator, run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    converse(translator, run, None, lines=[SENTENCE, "", "quit", "Ben sings today."])
    assert capsys.readouterr().out == f"{TRANSLATION}\n\n"


@pytest.mark.parametrize("end", ["quit", "Exit", ":quit", " :q "])
def test_exit_words_are_not_translated(
    end: str, translator: Translator, run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    converse(translator, run, None, lines=[end, SENTENCE])
    assert capsys.readouterr().out == ""


def test_every_sentence_gets_the_prefix(run: RunFolder) -> None:
    read: list[str] = []

    class Recorder:
        def n_best(self, lines: list[str], n: int) -> list[object]:
            read.extend(lines)
            return []

    converse(Recorder(), run, None, "\ue011 ", lines=["Anna sings."])  # type: ignore[arg-type]
    assert read == ["\ue011 Anna sings."]


def test_terms_that_could_not_be_placed_are_named(
    run: RunFolder, caplog: pytest.LogCaptureFixture
) -> None:
    sampling = load_translator(run, device="cpu", overrides=["decoding.temperature=1e-3"])
    glossary = parse_glossary("Anna\tBen", ("en", "de"))
    converse(sampling.adapted(glossary), run, None, lines=[SENTENCE])
    assert "could not place 1 of the glossary's terms: Anna → Ben" in caplog.text


def test_beam_changes_the_search(
    translator: Translator, run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    converse(translator, run, 3, lines=[":beam 8", SENTENCE])
    assert translator.decoding.beam_size == 8
    shown = capsys.readouterr()
    assert "beam of 8" in shown.err
    assert len(shown.out.splitlines()) == 3


@pytest.mark.parametrize("value", ["", "0", "501", "x", "8 9", "²", "9" * 5000])
def test_an_invalid_beam_is_reported_and_the_prompt_continues(
    value: str, translator: Translator, run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    before = translator.decoding
    converse(translator, run, None, lines=[f":beam {value}", SENTENCE])
    shown = capsys.readouterr()
    assert "takes a number from 1 to 500" in shown.err
    assert shown.out == f"{TRANSLATION}\n"
    assert translator.decoding == before


def test_help_and_unknown_commands_print_only_to_stderr(
    translator: Translator, run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    converse(translator, run, None, lines=[":help", ":sing"])
    shown = capsys.readouterr()
    assert ":beam N" in shown.err
    assert "unknown command :sing" in shown.err
    assert shown.out == ""


def test_attention_of_the_last_sentence_is_drawn(
    translator: Translator, run: RunFolder, capsys: pytest.CaptureFixture[str]
) -> None:
    pytest.importorskip("matplotlib")
    converse(translator, run, None, lines=[":attention", SENTENCE, ":attention"])
    assert "translate a sentence first" in capsys.readouterr().err
    assert (run.path / "pictures" / "attention-clearest.png").stat().st_size > 5000


def test_a_typed_sentence_that_is_not_utf8_is_reported_and_the_prompt_continues(
    translator: Translator,
    run: RunFolder,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    typed = io.BytesIO(b"\xff\xfe\n" + SENTENCE.encode() + b"\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed, "utf-8", errors="strict"))
    converse(translator, run, None)
    shown = capsys.readouterr()
    assert "the sentence is not UTF-8; check the terminal's encoding" in shown.err
    assert shown.out == f"{TRANSLATION}\n"


def test_pasted_lines_are_separate_sentences_and_a_history_is_optional(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("platformdirs.user_state_path", lambda _: tmp_path)
    monkeypatch.setattr("prompt_toolkit.output.create_output", lambda stdout: DummyOutput())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    (tmp_path / "history").mkdir()  # so that no history can be opened
    with create_pipe_input() as keys, create_app_session(input=keys):
        keys.send_text("\x1b[200~Anna sings.\nBen reads.\x1b[201~\r\x04")
        assert list(typed_lines()) == ["Anna sings.", "Ben reads."]


def test_a_full_disk_does_not_disturb_the_prompt(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("platformdirs.user_state_path", lambda _: tmp_path)
    monkeypatch.setattr("prompt_toolkit.output.create_output", lambda stdout: DummyOutput())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    monkeypatch.setattr("prompt_toolkit.history.FileHistory.store_string", full)
    with create_pipe_input() as keys, create_app_session(input=keys):
        keys.send_text("Anna sings.\rBen reads.\r\x04")
        assert list(typed_lines()) == ["Anna sings.", "Ben reads."]


def test_the_prompt_supports_editing_and_a_history(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Backspace corrects, Ctrl-D ends the session, and the line is saved for the next one."""
    monkeypatch.setattr("platformdirs.user_state_path", lambda _: tmp_path / "state")
    monkeypatch.setattr("prompt_toolkit.output.create_output", lambda stdout: DummyOutput())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with create_pipe_input() as keys, create_app_session(input=keys):
        keys.send_text("Anna sings todaz\x7fy.\r\x04")
        assert list(typed_lines()) == [SENTENCE]
    assert f"+{SENTENCE}" in (tmp_path / "state" / "history").read_text()


def test_the_prompt_translates_line_by_line(trained_run: RunFolder) -> None:
    """Standard input is a terminal."""
    import pty

    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "nmt", "translate", "--run", str(trained_run.path)]
    process = subprocess.Popen(
        [*command, "--scores"], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    os.write(controller, b"Ben swims often.\n\x04")
    try:
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 0
    *scores, translation = text(output).rstrip("\n").split("\t")
    assert (len(scores), translation) == (2, "Ben schwimmt oft.")
    assert "Ctrl-D quits" in text(errors)
    to_file = subprocess.run([*command, "--output", "x"], stdin=terminal, stderr=subprocess.PIPE)
    assert to_file.returncode == 2
    assert "--output does not work with the prompt" in text(to_file.stderr)
    os.close(controller)
    os.close(terminal)
