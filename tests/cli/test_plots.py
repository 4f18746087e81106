"""`nmt plot`: where pictures are saved, and what is refused before the work."""

import json
import os
import shutil
import time
from pathlib import Path

import pytest
import yaml

from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.runs.folder import RunFolder

from .command_line import PAIR, assert_refused, nmt, printed, text

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_attention_of_a_long_sentence_is_refused_before_it_is_translated(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    searched: list[object] = []
    monkeypatch.setattr(PyTorchEngine, "__call__", lambda *arguments: searched.append(arguments))
    command = ["plot", "attention", "Anna sings " * 30, "--run", trained_run.path]
    assert_refused(*command, message="give one sentence at a time")
    assert not searched


def test_attention_is_drawn_into_the_run_folder(a_copy: Path) -> None:
    done = nmt("plot", "attention", PAIR[0])
    path = Path("runs/toy/pictures/attention-clearest.png")
    assert text(done.stdout) == f"picture          {path}\n"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_picture_in_the_current_folder_is_reported() -> None:
    done = nmt("plot", "positions", "--columns", "4-7", "--length", "20")
    assert text(done.stdout) == "picture          positions.png in the current folder\n"


def test_attention_of_a_truncated_translation_gives_a_warning(trained_run: RunFolder) -> None:
    cut = ["--set", "decoding.max_length_factor=0", "--set", "decoding.max_length_extra=2"]
    done = nmt("plot", "attention", PAIR[0], "--run", trained_run.path, "--json", *cut)
    assert text(done.stderr) == "translation truncated; raise decoding.max_length_extra\n"
    assert json.loads(done.stdout)["decoder"]["queries"][-1] == "(cut)"


def test_the_file_extension_selects_svg(trained_run: RunFolder) -> None:
    options = ["--run", trained_run.path, "--kind", "cross", "--output", "a.svg"]
    assert "a.svg in the current folder" in printed("plot", "attention", PAIR[0], *options)
    svg = Path("a.svg").read_text()
    assert "<svg" in svg
    assert ">layer 1, head 4</text>" in svg
    assert not (trained_run.path / "pictures").exists()


def test_attention_is_printed_as_json(trained_run: RunFolder) -> None:
    done = nmt("plot", "attention", "--run", trained_run.path, PAIR[0], "--json")
    found = json.loads(done.stdout)
    assert found["translation"] == PAIR[1]
    for kind in ("encoder", "decoder", "cross"):
        rows, columns = len(found[kind]["queries"]), len(found[kind]["keys"])
        [layer] = found[kind]["weights"]
        assert len(layer) == 4
        for head in [*layer, found[kind]["average"]]:
            assert [len(row) for row in head] == [columns] * rows
            assert [sum(row) for row in head] == pytest.approx([1] * rows, rel=1e-5)


def test_a_missing_matplotlib_names_its_extra(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.reports.figures.find_spec", lambda name: None)
    assert_refused("plot", "training", trained_run.path, message="pip install 'nmt-trainer[plot]'")


def test_curves_of_one_run_are_saved_in_it_of_several_in_the_current_folder(a_copy: Path) -> None:
    before = RunFolder(a_copy).read_metrics()
    assert printed("plot", "training").split()[-1] == "runs/toy/pictures/training.png"
    shutil.copytree(a_copy, "runs/other")
    done = nmt("plot", "training", "runs/toy", "runs/other")
    assert "training.png" in text(done.stdout)
    assert Path("training.png").read_bytes().startswith(b"\x89PNG")
    assert RunFolder(a_copy).read_metrics() == before


def test_drawing_into_a_run_does_not_make_it_the_newest_run(a_copy: Path) -> None:
    shutil.copytree(a_copy, "runs/newer")
    future = time.time() + 100
    os.utime("runs/newer/config.yaml", (future, future))
    nmt("plot", "training", a_copy)
    os.utime(a_copy / "pictures", (future + 100, future + 100))
    assert printed("show").split()[1] == "runs/newer"


def test_positions_of_a_run_are_drawn_without_its_datastore(a_copy: Path) -> None:
    run = RunFolder(a_copy)
    decoding = run.config.decoding.model_copy(update={"knn_k": 4})
    run.write_config(run.config.model_copy(update={"decoding": decoding}))
    assert not run.datastore.exists()
    assert nmt("plot", "positions", "--run", a_copy, "-o", "mine.svg").returncode == 0
    assert "sinusoidal positions, d_model 64" in Path("mine.svg").read_text()


def test_rotary_positions_have_the_width_of_a_head() -> None:
    change = ("--set", "model.positions=rotary", "--set", "model.heads=4", "-o", "a.svg")
    assert nmt("plot", "positions", *change, "--set", "model.d_model=64").returncode == 0
    assert "rotary positions, d_key 16" in Path("a.svg").read_text()


def test_the_picture_of_learned_positions_names_their_side(a_copy: Path) -> None:
    changed = RunFolder(a_copy).config.model_dump(mode="json")
    changed["model"]["positions"] = "learned"
    changed["training"]["max_updates"] = 1
    Path("learned.yaml").write_text(yaml.safe_dump(changed))
    assert nmt("train", "--config", "learned.yaml").returncode == 0
    assert nmt("plot", "positions", "--run", "runs/learned", "-o", "a.svg").returncode == 0
    assert "learned positions, source side, d_model 64" in Path("a.svg").read_text()


def test_plot_lengths_draws_the_data_of_the_last_run(a_copy: Path) -> None:
    done = nmt("plot", "lengths")
    assert text(done.stdout) == f"picture          {a_copy}/pictures/lengths.png\n"


@pytest.mark.usefixtures("mine")
def test_plot_lengths_prepares_data_if_necessary() -> None:
    done = nmt("plot", "lengths", "--config", "mine.yaml")
    assert text(done.stdout) == "picture          lengths.png in the current folder\n"
    assert Path("lengths.png").read_bytes().startswith(b"\x89PNG")
    assert Path("data/prepared").is_dir()
