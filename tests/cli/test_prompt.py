"""The prompt: sentences and commands that a user types."""

import errno
import io
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import Mock

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
Prompt = Callable[..., tuple[str, str]]


@pytest.fixture
def run(tmp_path: Path, trained_run: RunFolder) -> RunFolder:
    return RunFolder(Path(shutil.copytree(trained_run.path, tmp_path / "run")))


@pytest.fixture
def translator(run: RunFolder) -> Translator:
    return load_translator(run, device="cpu")


@pytest.fixture
def prompt(translator: Translator, run: RunFolder, capsys: pytest.CaptureFixture[str]) -> Prompt:
    """Return a function that types lines and returns standard output and standard error."""

    def typed(*lines: str, n_best: int | None = None) -> tuple[str, str]:
        converse(translator, run, n_best, lines=lines or None)
        shown = capsys.readouterr()
        return shown.out, shown.err

    return typed


def test_sentences_are_translated_until_quit(prompt: Prompt) -> None:
    assert prompt(SENTENCE, "", "quit", "Ben sings today.")[0] == f"{TRANSLATION}\n\n"


@pytest.mark.parametrize("end", ["quit", "Exit", ":quit", " :q "])
def test_exit_words_are_not_translated(end: str, prompt: Prompt) -> None:
    assert prompt(end, SENTENCE)[0] == ""


def test_every_sentence_gets_the_tag(run: RunFolder) -> None:
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
    converse(sampling.customized(glossary), run, None, lines=[SENTENCE])
    assert "could not place 1 of the glossary's terms: Anna → Ben" in caplog.text


def test_beam_changes_the_search(
    translator: Translator, prompt: Prompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    kind, asked = type(translator.engine), []
    search = kind.__call__

    def recording(self: Any, sources: Any, limits: Any, decoding: Any, *rest: Any) -> Any:
        asked.append(decoding.beam_size)
        return search(self, sources, limits, decoding, *rest)

    monkeypatch.setattr(kind, "__call__", recording)
    output, errors = prompt(":beam 8", SENTENCE, n_best=3)
    assert translator.decoding.beam_size == 8
    assert set(asked) == {8}
    assert "beam of 8" in errors
    assert len(output.splitlines()) == 3


@pytest.mark.parametrize("value", ["", "0", "501", "x", "8 9", "²", "9" * 5000])
def test_an_invalid_beam_is_reported_and_the_prompt_continues(
    value: str, translator: Translator, prompt: Prompt
) -> None:
    before = translator.decoding
    output, errors = prompt(f":beam {value}", SENTENCE)
    assert "takes a number from 1 to 500" in errors
    assert output == f"{TRANSLATION}\n"
    assert translator.decoding == before


def test_help_and_unknown_commands_print_only_to_stderr(
    prompt: Prompt,
) -> None:
    output, errors = prompt(":help", ":sing")
    assert ":beam N" in errors
    assert "unknown command :sing" in errors
    assert output == ""


def test_attention_of_the_last_sentence_is_drawn(run: RunFolder, prompt: Prompt) -> None:
    pytest.importorskip("matplotlib")
    assert "translate a sentence first" in prompt(":attention", SENTENCE, ":attention")[1]
    assert (run.path / "pictures" / "attention-clearest.png").stat().st_size > 5000


def test_a_typed_sentence_that_is_not_utf8_is_reported_and_the_prompt_continues(
    prompt: Prompt, monkeypatch: pytest.MonkeyPatch
) -> None:
    typed = io.BytesIO(b"\xff\xfe\n" + SENTENCE.encode() + b"\n")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(typed, "utf-8", errors="strict"))
    output, errors = prompt()
    assert "the sentence is not UTF-8; check the terminal's encoding" in errors
    assert output == f"{TRANSLATION}\n"


@pytest.fixture
def typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[str], list[str]]]:
    """Return a function that presses keys on a terminal and returns the lines that are read."""
    monkeypatch.setattr("platformdirs.user_state_path", lambda _: tmp_path / "state")
    monkeypatch.setattr("prompt_toolkit.output.create_output", lambda stdout: DummyOutput())
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
    with create_pipe_input() as keys, create_app_session(input=keys):
        yield lambda pressed: keys.send_text(pressed) or list(typed_lines())


def test_pasted_lines_are_separate_sentences_and_a_history_is_optional(
    tmp_path: Path, typed: Callable[[str], list[str]]
) -> None:
    (tmp_path / "state/history").mkdir(parents=True)  # so that no history can be opened
    pasted = "\x1b[200~Anna sings.\nBen reads.\x1b[201~\r\x04"
    assert typed(pasted) == ["Anna sings.", "Ben reads."]


def test_a_full_disk_does_not_disturb_the_prompt(
    typed: Callable[[str], list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Mock(side_effect=OSError(errno.ENOSPC, "No space left on device"))
    monkeypatch.setattr("prompt_toolkit.history.FileHistory.store_string", full)
    assert typed("Anna sings.\rBen reads.\r\x04") == ["Anna sings.", "Ben reads."]
    full.assert_called()


def test_the_prompt_supports_editing_and_a_history(
    tmp_path: Path, typed: Callable[[str], list[str]]
) -> None:
    """Backspace corrects, Ctrl-D ends the session, and the line is saved for the next one."""
    assert typed("Anna sings todaz\x7fy.\r\x04") == [SENTENCE]
    assert f"+{SENTENCE}" in (tmp_path / "state/history").read_text()


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
