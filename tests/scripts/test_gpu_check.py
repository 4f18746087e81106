"""The check of a GPU, on one that is pretended."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config import Config
from nmt.config_files import dump_config

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "gpu_check.py"
sys.path.insert(0, str(SCRIPT.parent))

import gpu_check  # noqa: E402


def test_a_stage_that_fails_is_told_and_the_next_one_runs(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fails_here(check: object) -> dict[str, object]:
        raise AssertionError("losses differ")

    def passes(check: object) -> dict[str, object]:
        return {"updates": 5}

    monkeypatch.setattr(gpu_check, "STAGES", [fails_here, passes])
    found = gpu_check.run_stages(None)  # type: ignore[arg-type]
    assert [(stage["stage"], stage["passed"]) for stage in found] == [
        ("fails here", False),
        ("passes", True),
    ]
    assert "FAILED" in capsys.readouterr().out


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="there is no C++ compiler")
def test_all_stages_pass_on_a_pretended_device(
    toy_config: Callable[..., Config], tmp_path: Path
) -> None:
    (tmp_path / "toy.yaml").write_text(dump_config(toy_config()), encoding="utf-8")
    command = [sys.executable, str(SCRIPT), "--pretend", "--config", "./toy.yaml"]
    subprocess.run(command, cwd=tmp_path, check=True)
    found = json.loads((tmp_path / "gpu-check.json").read_text())
    assert [stage["stage"] for stage in found if not stage["passed"]] == []
    assert len(found) == 7
