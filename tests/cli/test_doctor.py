"""`nmt doctor` reports what is installed and what is missing."""

import sys
from pathlib import Path
from unittest.mock import Mock

import pytest
import torch
from typer.testing import CliRunner

from nmt import __version__
from nmt.cli import doctor
from nmt.cli.app import app


def printed() -> dict[str, str]:
    done = CliRunner().invoke(app, ["doctor"])
    assert done.exit_code == 0
    return dict(line.split(maxsplit=1) for line in done.stdout.splitlines())


def test_doctor_prints_one_page(monkeypatch: pytest.MonkeyPatch) -> None:
    present = doctor.find_spec
    found = lambda name: None if name == "matplotlib" else present(name)  # noqa: E731
    monkeypatch.setattr(doctor, "find_spec", found)
    facts = printed()
    assert facts["nmt"].startswith(__version__)
    assert torch.__version__.startswith(facts["torch"].partition("+")[0])
    assert facts["matplotlib"] == "missing, for nmt plot: pip install 'nmt-trainer[plot]'"
    assert "cpu" in facts["devices"]
    assert facts["memory"].endswith("GB available")
    assert " GB in " in facts["cache"]
    assert "trains in" in facts["instructions"]
    assert len(facts) < 30


def test_named_extras_exist() -> None:
    declared = (Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8")
    assert all(f"\n{extra} = [" in declared for extra, _ in doctor.EXTRAS.values())


def test_doctor_tells_what_it_cannot_find_out(monkeypatch: pytest.MonkeyPatch) -> None:
    broken = Mock(side_effect=ImportError("libcudart.so.12: cannot open"))
    monkeypatch.setattr(doctor, "_devices", broken)
    facts = printed()
    assert facts["devices"] == "unknown (libcudart.so.12: cannot open)"
    assert facts["memory"].endswith("GB available")


def test_doctor_works_without_pytorch(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "torch", None)
    facts = printed()
    assert "cannot train, because PyTorch is missing" in facts["instructions"]
    assert "CUDA GPUs: " in facts["devices"]
