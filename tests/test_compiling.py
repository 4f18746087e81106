"""What is done where loops cannot be compiled."""

import sys

import pytest

from nmt.compiling import with_loops


def test_what_is_made_ready_is_returned(capsys):
    pytest.importorskip("numba", reason="Numba, the extra `compiled`, is not installed")

    assert with_loops("training", lambda: "ready") == "ready"
    assert capsys.readouterr().err == ""


def test_without_numba_nothing_is_made_ready_or_said(monkeypatch, capsys):
    monkeypatch.setitem(sys.modules, "nmt.kernels", None)  # as where it fails to import

    assert with_loops("training", lambda: pytest.fail("no loops to call")) is None
    assert capsys.readouterr().err == ""


def test_machine_code_that_cannot_be_kept_or_read_is_told_with_its_folder(capsys):
    pytest.importorskip("numba", reason="Numba, the extra `compiled`, is not installed")

    def damaged():
        raise EOFError("Ran out\nof input")

    assert with_loops("training", damaged) is None
    [line] = capsys.readouterr().err.splitlines()
    assert "training without compiled loops" in line
    assert "Ran out of input; make room for Numba in /" in line
