"""`nmt plot`: what cannot be drawn is refused before the work."""

import pytest
from typer.testing import CliRunner

from nmt.cli.app import app
from nmt.decoding.engines.pytorch import PyTorchSearch
from nmt.run_folder import RunFolder


def test_attention_of_a_long_sentence_is_refused_before_it_is_translated(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[object] = []
    monkeypatch.setattr(PyTorchSearch, "__call__", lambda *arguments: searched.append(arguments))
    command = ["plot", "attention", "Anna sings " * 30, "--run", str(trained_run.path)]
    done = CliRunner().invoke(app, command)
    assert "pieces are too many for a picture (at most 40)" in str(done.exception)
    assert not searched
    CliRunner().invoke(app, [*command, "--kind", "decoder"])  # without the source
    assert searched
