"""Tables of runs: correct and sorted, even if runs are incomplete or damaged."""

import json
import re
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from nmt.errors import UserError
from nmt.model.transformer import Transformer, count_parameters
from nmt.reports.summaries import (
    RUN_COLUMNS,
    count_stored,
    format_age,
    format_count,
    run_as_json,
    run_facts,
    summarize,
    summarize_runs,
    validation_table,
)
from nmt.runs.folder import RunFolder
from nmt.runs.weights import load_weights
from tests.fake_runs import REPORT

MakeRun = Callable[..., RunFolder]
pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_runs_are_listed_from_the_most_recent(make_run: MakeRun) -> None:
    make_run("old", age=3 * 86_400)
    run = make_run("new", age=7300)
    (new, old), damaged = summarize_runs(Path("runs"))
    size = format_count(count_stored(run) or 0)
    assert [*new.row()] == ["new", "sample.yaml +2", "1,000", size, "3,000", "12.50", "2 h"]
    assert len(new.row()) == len(RUN_COLUMNS)
    assert (old.row()[0], old.row()[-1]) == ("old", "3 days")
    assert damaged == []


def test_a_run_that_was_interrupted_before_its_first_validation_shows_how_to_continue(
    make_run: MakeRun,
) -> None:
    run = make_run("a", "training.max_updates=5000", validations=0)
    assert summarize(run).row()[4:6] == ["–", "–"]
    run.checkpoint.touch()
    run.updates.write_text('{"update": 43, "loss": 5.5, "learning_rate": 1e-3}\n')
    assert summarize(run).row()[4:6] == ["43 of 5,000", "–"]
    facts = dict(run_facts(run))
    assert facts["trained"] == "43 of 5,000 updates, not validated yet"
    assert facts["continue with"] == f"nmt train --resume --run {run.path}"


def test_a_run_shows_its_original_config_from_any_folder(
    make_run: MakeRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = make_run("a", "training.seed=8")
    Path("elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    given = ["model.d_model=8", "model.heads=2", "training.seed=8"]
    assert (summarize(run).config, summarize(run).overrides) == ("sample.yaml", given)


def test_runs_of_earlier_versions_have_no_known_config_and_half_deleted_ones_are_not_listed(
    make_run: MakeRun,
) -> None:
    (make_run("a").path / "run.json").unlink()
    make_run(".b.nmt-deleted")
    [run], damaged = summarize_runs(Path("runs"))
    assert (run.row()[:2], damaged) == (["a", "–"], [])


def test_a_run_without_results_has_empty_cells_and_can_be_shown(make_run: MakeRun) -> None:
    run = make_run("young", validations=0)
    row = summarize(run)
    assert (row.parameters, row.updates, row.bleu) == (None, None, None)
    assert row.row().count("–") == 3
    assert "trained" not in dict(run_facts(run))


@pytest.mark.parametrize(
    ("name", "content", "named"),
    [
        ("config.yaml", "training: {epochs: 0}", "bad/config.yaml: training.epochs: 0"),
        ("metrics.jsonl", "{}\n", "metrics.jsonl: damaged: line 1: update"),
        ("data/report.json", "{}\n", "report.json: cannot be read: read"),
        ("metrics.jsonl", None, "runs/bad: cannot be read (Is a directory)"),
    ],
)
def test_a_damaged_run_is_listed_with_its_error(
    make_run: MakeRun, name: str, content: str | None, named: str
) -> None:
    make_run("good")
    bad = make_run("bad", validations=0 if content is None else 3)
    if content is None:
        (bad.path / name).mkdir()
    else:
        (bad.path / name).write_text(content)
        with pytest.raises(UserError, match=re.escape(named)):
            run_facts(RunFolder(bad.path))
    [good], [line] = summarize_runs(Path("runs"))
    assert good.name == "good"
    assert named in line


@pytest.mark.parametrize("folder", ["runs", "nowhere"])
def test_the_absence_of_runs_is_reported(folder: str) -> None:
    Path("runs").mkdir()
    with pytest.raises(UserError, match=rf"no runs in {folder}; .*nmt train"):
        summarize_runs(Path(folder))


@pytest.mark.parametrize("tie", ["none", "target", "all"])
def test_the_count_of_stored_parameters_is_correct(make_run: MakeRun, tie: str) -> None:
    run = make_run("a", f"model.tie={tie}", "model.positions=learned")
    model = load_weights(run.weights("last"), run.config.model, 50, 50, torch.device("cpu"))
    assert count_stored(run) == count_parameters(model)
    assert isinstance(model, Transformer)


def test_damaged_weights_are_reported(make_run: MakeRun) -> None:
    run = make_run("a")
    run.weights("last").write_bytes(b"nothing")
    with pytest.raises(UserError, match=r"last\.safetensors: weights cannot be read"):
        count_stored(run)


def test_show_prints_everything_but_hidden_files(make_run: MakeRun) -> None:
    run = make_run("runs/a", age=120)
    (run.path / "pictures").mkdir()
    (run.path / "pictures" / "training.png").write_bytes(b"x" * 2000)
    hidden = run.path / ".cache" / "huggingface" / "best.safetensors.metadata"
    hidden.parent.mkdir(parents=True)
    hidden.touch()
    text = "\n".join(f"{name}: {fact}" for name, fact in run_facts(run))
    assert "metadata" not in text
    for expected in (
        "config: sample.yaml",
        "--set model.d_model=8",
        "train 1,000, validation 100, test 100",
        "3 + 3 layers, 2 heads, d_model 8, d_ff 512, pre-norm",
        "3,000 updates, epoch 3, 4.5 minutes",
        "at update 2,000, by BLEU on validation: BLEU 12.50, loss 2.000",
        "pictures/training.png (2 kB)",
        "2 min ago",
    ):
        assert expected in text
    columns, (_, row, _) = validation_table(run.read_metrics())
    assert len(row) == len(columns)
    assert columns[-1] == "BLEU"
    assert row == ["2,000", "2", "5.00e-04", "2.500", "2.000", "54.50", "25.0%", "12.50"]


def test_chrf_is_shown_where_it_selects_weights(make_run: MakeRun) -> None:
    run = make_run("a")
    metrics = run.path / "metrics.jsonl"
    lines = [json.loads(line) for line in metrics.read_text("utf-8").splitlines()]
    scored = [json.dumps(line | {"chrf": 30.25 + i}) for i, line in enumerate(lines)]
    metrics.write_text("\n".join([*scored, ""]), encoding="utf-8")
    run = RunFolder(run.path)
    columns, rows = validation_table(run.read_metrics())
    assert (columns[-1], [row[-1] for row in rows]) == ("chrF", ["30.25", "31.25", "32.25"])
    assert summarize(run).row()[5] == "chrF 32.25"


def test_show_names_each_corpus_with_its_licence(make_run: MakeRun) -> None:
    run = make_run("a")
    corpora = [
        {"name": "tatoeba", "licence": "CC BY 2.0 FR", "read": 1034, "train": 800},
        {"name": "mine", "licence": "", "read": 200, "train": 200},
    ]
    (run.data / "report.json").write_text(json.dumps({**REPORT, "corpora": corpora}))
    facts = run_facts(run)
    at = [name for name, _ in facts].index("pairs")
    assert facts[at + 1 : at + 4] == [
        ("corpus", "tatoeba: read 1,034, train 800"),
        ("licence", "CC BY 2.0 FR"),
        ("corpus", "mine: read 200, train 200"),
    ]


def test_everything_about_a_run_is_in_the_json(make_run: MakeRun) -> None:
    run = make_run("a")
    found = run_as_json(run)
    assert found["config"] == "sample.yaml"
    assert found["settings"]["model"]["d_model"] == 8
    assert found["best"]["update"] == 2000
    assert [line["update"] for line in found["validations"]] == [1000, 2000, 3000]
    assert found["parameters"] == count_stored(run)
    assert found["files"]["last.safetensors"] == run.weights("last").stat().st_size


def test_the_best_weights_are_chosen_as_in_training(make_run: MakeRun) -> None:
    run = make_run("by-loss", "training.best=loss")
    facts = dict(run_facts(run))
    assert "at update 3,000, by loss on validation: BLEU 11.00, loss 1.333" in facts["best weights"]
    assert summarize(run).bleu == 11


def test_counts_and_ages_are_formatted() -> None:
    numbers = [999, 1500, 999_949, 999_951, 2_747_896, 3 * 10**9]
    assert [*map(format_count, numbers)] == ["999", "1.5k", "999.9k", "1.0M", "2.7M", "3.0G"]
    seconds = [-1, 59, 60, 7300, 90_000, 2e5]
    assert [*map(format_age, seconds)] == ["0 s", "59 s", "1 min", "2 h", "25 h", "2 days"]


def test_a_run_shows_its_engine_and_why(trained_run: RunFolder, tmp_path: Path) -> None:
    fast = dict(run_facts(trained_run))["engine"]
    assert run_as_json(trained_run)["engine"] == fast
    assert fast.startswith("ctranslate2 (")
    copy = RunFolder(Path(shutil.copytree(trained_run.path, tmp_path / "copy")))
    decoding = copy.config.decoding.model_copy(update={"knn_k": 4})
    copy.write_config(copy.config.model_copy(update={"decoding": decoding}))
    slow = dict(run_facts(copy))["engine"]
    assert slow.startswith("pytorch (")
    assert "decoding.knn_k" in slow
