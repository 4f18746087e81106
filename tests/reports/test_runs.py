"""Tables of runs: true numbers, in order, whatever state the runs are in."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from nmt.config import Config
from nmt.config_files import load_config
from nmt.errors import UserError
from nmt.model.transformer import Transformer, count_parameters
from nmt.model.weights import load_weights
from nmt.reports.runs import (
    RunSummary,
    count_stored,
    format_age,
    format_run,
    format_runs,
    known_configs,
    nearest_config,
    summarize,
    summarize_runs,
)
from nmt.run_folder import RunFolder

MakeRun = Callable[..., RunFolder]


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_row_for_each_run_trained_last_first(make_run: MakeRun) -> None:
    make_run("old", age=3 * 86_400)
    make_run("new", age=7300)
    head, new, old = format_runs(summarize_runs(Path("runs"))).splitlines()
    assert head.split() == [
        "run",
        "config",
        "data",
        "parameters",
        "updates",
        "BLEU",
        "age",
    ]
    expected = ["sample.yaml +2", "sample, 1,000 pairs", "3,000", "12.50", "2 h"]
    assert new.startswith("new")
    assert all(cell in new for cell in expected)
    assert old.startswith("old")
    assert old.endswith("3 days")


def test_a_run_that_has_not_got_far_has_gaps(make_run: MakeRun) -> None:
    row = summarize(make_run("young", validations=0), known_configs())
    assert (row.parameters, row.updates, row.bleu) == (None, None, None)
    assert format_runs([row]).splitlines()[1].count("–") == 3


def test_a_damaged_run_is_a_line_beside_the_others(make_run: MakeRun) -> None:
    make_run("good")
    (make_run("bad").path / "config.yaml").write_text("training: {epochs: 0}")
    found = summarize_runs(Path("runs"))
    assert sorted(type(run) for run in found if isinstance(run, RunSummary)) == [RunSummary]
    assert "bad/config.yaml: training.epochs: 0 is wrong" in format_runs(found).splitlines()[-1]


@pytest.mark.parametrize(
    ("name", "told"),
    [
        (
            "metrics.jsonl",
            r"metrics\.jsonl: damaged: update: Field required; delete its broken line",
        ),
        (
            "data/report.json",
            r"report\.json: cannot be read: read: Field required; copy the run",
        ),
    ],
)
def test_a_run_whose_numbers_are_gone_is_a_line_too(
    make_run: MakeRun, name: str, told: str
) -> None:
    make_run("good")
    bad = make_run("bad")
    (bad.path / name).write_text("{}\n")
    [good, line] = summarize_runs(Path("runs"))
    assert isinstance(good, RunSummary)
    assert isinstance(line, str)
    assert re.search(told, line)
    with pytest.raises(UserError, match=told):
        format_run(bad)


def test_a_run_that_cannot_be_read_is_a_line_too(make_run: MakeRun) -> None:
    make_run("good")
    bad = make_run("bad", validations=0)
    bad.metrics.mkdir()
    [good, line] = summarize_runs(Path("runs"))
    assert isinstance(good, RunSummary)
    assert line == "runs/bad: cannot be read (Is a directory); mend the folder's permissions"


@pytest.mark.parametrize("folder", ["runs", "nowhere"])
def test_no_runs_are_refused(folder: str) -> None:
    Path("runs").mkdir()
    with pytest.raises(UserError, match=f"no runs in {folder}; train one with `nmt train`"):
        summarize_runs(Path(folder))


@pytest.mark.parametrize("tie", ["none", "target", "all"])
def test_stored_parameters_are_the_models(make_run: MakeRun, tie: str) -> None:
    run = make_run("a", f"model.tie={tie}", "model.positions=learned")
    model = load_weights(run.weights("last"), run.config.model, 50, 50, torch.device("cpu"))
    assert count_stored(run) == count_parameters(model)
    assert isinstance(model, Transformer)


def test_damaged_weights_are_told(make_run: MakeRun) -> None:
    run = make_run("a")
    run.weights("last").write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"last\.safetensors: weights cannot be read"):
        count_stored(run)


def test_the_nearest_config_and_what_differs() -> None:
    config = load_config("multi30k.yaml", ["training.max_minutes=20", "data.path=here"])
    assert nearest_config(config, "x", known_configs()) == (
        "multi30k.yaml",
        ['data.path="here"', "training.max_minutes=20.0"],
    )
    assert nearest_config(load_config("base.yaml"), "x", known_configs()) == ("base.yaml", [])


@pytest.mark.parametrize("name", ["tutorials/orahilly.yaml", "theirs/mine.yaml"])
def test_the_name_of_the_nearest_config_is_one_that_config_takes(name: str) -> None:
    Path("configs/theirs").mkdir(parents=True)
    Path("configs/theirs/mine.yaml").write_text("model: {d_model: 12, heads: 3}\n")
    found, changes = nearest_config(load_config(name), "x", known_configs())
    assert (found, changes) == (name, [])
    assert load_config(found) == load_config(name)


def test_a_config_in_the_current_folder_hides_the_shipped_one_of_its_name() -> None:
    shipped = load_config("base.yaml")
    Path("configs").mkdir()
    Path("configs/base.yaml").write_text("model: {d_model: 12, heads: 3}\n")
    assert nearest_config(shipped, "x", known_configs())[1]


def test_configs_are_read_once_for_all_runs(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[Path] = []

    def load(path: Path) -> Config:
        read.append(path)
        return load_config(path)

    monkeypatch.setattr("nmt.reports.runs.load_config", load)
    for name in ("a", "b", "c"):
        make_run(name)
    assert len(summarize_runs(Path("runs"))) == 3
    assert read
    assert len(read) == len(set(read))


def test_a_config_of_ones_own_is_found_by_the_runs_name() -> None:
    Path("mine.yaml").write_text("model: {d_model: 12, heads: 3}\ntraining: {seed: 7}\n")
    config = load_config("mine.yaml", ["training.seed=8"])
    assert nearest_config(config, "mine-2", known_configs()) == ("mine.yaml", ["training.seed=8"])
    Path("mine.yaml").write_text("no: configuration\n")
    assert nearest_config(config, "mine", known_configs())[0] != "mine.yaml"


def test_show_tells_everything(make_run: MakeRun) -> None:
    run = make_run("a", age=120)
    (run.path / "pictures").mkdir()
    (run.path / "pictures" / "training.png").write_bytes(b"x" * 2000)
    text = format_run(run)
    for expected in (
        "sample.yaml with",
        "model.d_model=8",
        "train 1,000, validation 100, test 100",
        "3 + 3 layers, 2 heads, d_model 8, d_ff 512, pre-norm",
        "3,000 updates, epoch 3, 4.5 minutes",
        "of update 2,000, by BLEU on validation: BLEU 12.50, loss 2.000",
        "pictures/training.png (2 kB)",
        "2 min ago",
        "Hello.  →  Hallo 3.",
    ):
        assert expected in text
    [row] = [line.split() for line in text.splitlines() if line.strip().startswith("2,000 ")]
    assert row == ["2,000", "2", "5.00e-04", "2.500", "2.000", "54.50", "25.0%", "12.50"]


def test_the_best_weights_are_those_that_training_kept(make_run: MakeRun) -> None:
    run = make_run("by-loss", "training.best=loss")
    assert "of update 3,000, by loss on validation: BLEU 11.00, loss 1.333" in format_run(run)
    assert summarize(run, known_configs()).bleu == 11


def test_show_of_a_run_without_validations(make_run: MakeRun) -> None:
    assert "perplexity" not in format_run(make_run("young", validations=0))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(-1, "0 s"), (59, "59 s"), (60, "1 min"), (7300, "2 h"), (90_000, "25 h"), (2e5, "2 days")],
)
def test_ages(seconds: float, text: str) -> None:
    assert format_age(seconds) == text
