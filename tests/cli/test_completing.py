"""Shell completion."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.cli import completing


def test_configs_fields_and_runs_are_completed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "sample-mine.yaml").write_text("data: {}")
    (tmp_path / ".pre-commit.yaml").touch()
    for name in ("first", ".second.nmt-deleted"):
        (tmp_path / "runs" / name).mkdir(parents=True)
        (tmp_path / "runs" / name / "config.yaml").touch()
    assert completing.configs("sam") == ["sample.yaml", "sample-mine.yaml"]
    assert not [name for name in completing.configs("") if name.startswith(".")]
    norms = ["model.norm_position=", "model.norm_kind=", "model.norm_epsilon="]
    assert completing.fields("model.norm") == norms
    assert completing.decoding_fields("decoding.beam") == ["decoding.beam_size="]
    assert completing.decoding_fields("model.") == []
    assert completing.runs("runs/") == ["runs/first"]
    assert completing.runs("x") == []


COMMANDS = ("show", "export", "average", "datastore", "rm", "plot training")


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("nmt train --config tutorials/w", "tutorials/wheeler.yaml"),
        *((f"nmt {command} runs/f", "runs/first") for command in COMMANDS),
    ],
)
def test_the_shell_receives_completions(words: str, offered: str, tmp_path: Path) -> None:
    (tmp_path / "runs" / "first").mkdir(parents=True)
    (tmp_path / "runs" / "first" / "config.yaml").touch()
    typed = {"COMP_WORDS": words, "COMP_CWORD": str(words.count(" "))}
    environment = os.environ | {"_NMT_COMPLETE": "complete_bash"} | typed
    program = "import sys; sys.argv[:] = ['nmt']; from nmt.cli.app import app; app(prog_name='nmt')"
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, cwd=tmp_path, capture_output=True, text=True)
    assert offered in done.stdout.split()
