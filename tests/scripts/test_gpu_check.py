"""The GPU check, on a simulated GPU."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config.config import Config
from nmt.config.yaml_files import dump_config

SCRIPT = Path(__file__).resolve().parents[2] / "scripts" / "gpu_check.py"
sys.path.insert(0, str(SCRIPT.parent))

import gpu_check  # noqa: E402
from gpu_stages.setup import Skipped  # noqa: E402
from gpu_stages.speed import made_up_batches  # noqa: E402


def test_a_failed_stage_is_reported_and_the_next_one_runs(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    def fails_here(setup: object) -> dict[str, object]:
        raise AssertionError("losses differ")

    def skipped(setup: object) -> dict[str, object]:
        raise Skipped("there is one GPU")

    def passes(setup: object) -> dict[str, object]:
        return {"updates": 5, "nmt": {"tokens/s": 12.5}}

    stages = [fails_here, skipped, passes]
    output = tmp_path / "found.json"
    found = gpu_check.run_stages(None, stages, output, 10)  # type: ignore[arg-type]
    assert json.loads(output.read_text()) == found
    assert [(stage["stage"], stage["result"]) for stage in found] == [
        ("fails here", "FAILED"),
        ("skipped", "skipped"),
        ("passes", "passed"),
    ]
    printed = capsys.readouterr().out
    assert "AssertionError: losses differ" in printed
    assert "    nmt:\n        tokens/s: 12.5\n" in printed


def test_no_stage_starts_after_the_time_is_up(tmp_path: Path) -> None:
    stages = [lambda setup: {"updates": 5}]
    found = gpu_check.run_stages(None, stages, tmp_path / "found.json", -1)  # type: ignore[arg-type]
    assert [stage["result"] for stage in found] == ["skipped"]


@pytest.mark.slow
@pytest.mark.skipif(not shutil.which("g++"), reason="needs a C++ compiler")
def test_all_stages_pass_on_a_simulated_device(
    toy_config: Callable[..., Config], tmp_path: Path
) -> None:
    (tmp_path / "toy.yaml").write_text(dump_config(toy_config()), encoding="utf-8")
    command = [
        sys.executable,
        str(SCRIPT),
        "--pretend",
        "--config",
        "./toy.yaml",
        "--minutes",
        "60",
    ]
    subprocess.run(command, cwd=tmp_path, check=True)
    found = json.loads((tmp_path / "gpu-check.json").read_text())
    assert [stage["stage"] for stage in found if stage["result"] != "passed"] == []
    assert len(found) == len(gpu_check.stages()) == 14
    [throughput] = [s["found"] for s in found if s["stage"] == "throughput like multi30k"]
    ours = {"nmt, eager", "nmt, graphs", "nmt, graphs, compiled"}
    assert set(throughput) == ours | {"plain loop", "nn.Transformer"}


def test_made_up_batches_have_different_shapes_within_the_limits() -> None:
    batches = made_up_batches(6, tokens=200, longest=30, size=50)
    assert len({batch.source.shape for batch in batches}) == 6
    assert all(batch.source.numel() <= 200 for batch in batches)
    assert all(int(batch.source.max()) < 50 for batch in batches)
