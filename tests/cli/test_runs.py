"""`nmt runs`, `nmt show` and `nmt rm`, on a terminal and in a pipe."""

import json
import re
import shutil
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nmt.cli.app import app
from nmt.config.yaml_files import dump_config, load_config, parse_config
from nmt.corpus.text.tags import tag_of
from nmt.errors import UserError
from nmt.runs.folder import RunFolder

from .command_line import imported_by, printed

runner = CliRunner()
pytestmark = pytest.mark.usefixtures("in_empty_folder")


@pytest.fixture
def run(trained_run: RunFolder) -> Path:
    return Path(shutil.copytree(trained_run.path, "runs/first"))


def test_runs_as_json_are_complete(run: Path) -> None:
    [found] = json.loads(printed("runs", "--json"))
    assert (found["name"], found["pairs"]) == ("first", 168)
    shown = json.loads(printed("show", "--json"))
    assert found["changed"] == shown["changed"]
    assert shown["path"] == "runs/first"
    assert shown["settings"]["model"]["d_model"] == 64


def test_values_that_another_version_did_not_write_are_null(run: Path) -> None:
    config = (run / "config.yaml").read_text(encoding="utf-8")
    (run / "config.yaml").write_text(config.replace("best: bleu", "best: loss"), encoding="utf-8")
    (run / "metrics.jsonl").write_text('{"update": 1, "loss": 2.5}\n', encoding="utf-8")

    def refuse(constant: str) -> None:
        raise AssertionError(f"{constant} is not JSON")

    [found] = json.loads(printed("runs", "--json"), parse_constant=refuse)
    assert (found["updates"], found["bleu"]) == (1, None)
    shown = json.loads(printed("show", "--json"), parse_constant=refuse)
    assert (shown["best"]["loss"], shown["best"]["bleu"]) == (2.5, None)


def test_in_a_pipe_each_run_is_printed_on_one_line(run: Path) -> None:
    name = "a-name-that-is-much-too-long-for-a-column-" * 3
    run.rename(run.with_name(name))
    head, line = printed("runs").splitlines()
    assert head.split()[:2] == ["run", "config"]
    assert line.split()[0] == name


def test_on_a_terminal_the_table_fits_its_width(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(run, "runs/multi30k-learned-positions-with-more-dropout-2")
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    table = printed("runs")
    lines = re.sub(r"\x1b\[[0-9;]*m", "", table).splitlines()
    assert "\x1b[" in table  # coloured
    assert max(map(len, lines)) <= 80
    assert "BLEU" in lines[0]


@pytest.mark.parametrize("width", [40, 60, 74])
def test_numbers_are_never_cut_off(run: Path, monkeypatch: pytest.MonkeyPatch, width: int) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", str(width))
    best = max(line["bleu"] for line in RunFolder(run).read_metrics())
    assert f"{best:.2f}" in printed("show", str(run))
    table = printed("runs")
    assert f"{best:.2f}" in table
    assert "first" in table


def test_only_damaged_runs_give_exit_code_2(run: Path) -> None:
    (run / "run.json").write_text("{")
    for command in (["runs"], ["runs", "--json"]):
        assert runner.invoke(app, command).exit_code == 2


def test_names_are_literal_on_a_terminal(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    name = r"a[bold]:car:\[b"
    run.rename(run.with_name(name))
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setenv("NO_COLOR", "1")
    assert name in printed("runs")
    assert name in printed("show", f"runs/{name}")


def test_show_names_all_corpora_and_the_tag_of_a_sentence(run: Path) -> None:
    config = load_config(run / "config.yaml").model_dump(mode="json")
    path = config["data"].pop("path")
    parts = [{"source": "tsv", "path": path, "name": name, "tag": name} for name in ("news", "web")]
    config["data"] |= {"source": "pickle", "corpora": parts}
    changed = parse_config(config, "test")
    (run / "config.yaml").write_text(dump_config(changed), encoding="utf-8")
    [*_, last] = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    source = tag_of(changed.data, "web") + "I see."
    sample = {"source": source, "reference": "Ja.", "translation": "Ja."}
    tagged = json.dumps(json.loads(last) | {"samples": [sample]})
    (run / "metrics.jsonl").write_text(tagged + "\n", encoding="utf-8")
    shown = printed("show", str(run))
    assert "news, web, en → de" in shown
    assert shown.splitlines()[-1] == "[web] I see.  →  Ja."


def test_file_contents_cannot_inject_control_characters(run: Path) -> None:
    [*_, last] = (run / "metrics.jsonl").read_text(encoding="utf-8").splitlines()
    sample = {"source": "a\x1b[2Jb", "reference": "c", "translation": "\u202ed" * 5000}
    hostile = json.dumps(json.loads(last) | {"samples": [sample]})
    (run / "metrics.jsonl").write_text(hostile + "\n", encoding="utf-8")
    header = json.loads((run / "run.json").read_text(encoding="utf-8"))
    (run / "run.json").write_text(json.dumps(header | {"config": "x\x1b]0;title\x07.yaml"}))
    (run.parent / "bad\x1b[2J").mkdir()
    (run.parent / "bad\x1b[2J" / "config.yaml").write_text("{")
    for command in (["show", str(run)], ["runs"]):
        found = runner.invoke(app, command)
        assert found.exit_code == 0
        assert not {"\x1b", "\x07", "\u202e"} & set(found.stdout + found.stderr)
        assert "\\x1b" in found.stdout
        assert max(map(len, found.stdout.splitlines())) < 4000


def test_rm_asks_for_confirmation(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt.cli.runs._can_ask", lambda: True)
    runner.invoke(app, ["rm", "runs/first"], input="n\n")
    assert run.exists()
    done = runner.invoke(app, ["rm", "runs/first"], input="y\n")
    assert "delete runs/first?" in done.stdout
    assert not run.exists()


@pytest.mark.parametrize(
    ("names", "message"),
    [
        (["runs/first"], "add --yes"),
        (["--yes", "runs/first", "precious"], "precious: "),
        (["--yes", "other"], "other: not deleted"),
        (["--yes", "project"], "project: not deleted"),
        (["--yes", "link"], "is a link; delete"),
        (["--yes", ""], "contains the current folder"),
        (["--yes", "."], "contains the current folder"),
        (["--yes", "{here}"], "contains the current folder"),
    ],
)
def test_rm_deletes_nothing_but_runs_and_only_if_told_to(
    run: Path, names: list[str], message: str
) -> None:
    for folder in ("precious", "project", "other"):
        Path(folder).mkdir()
    for file in ("project/config.yaml", "other/config.yaml"):
        Path(file).write_text("model: resnet\n")
    Path("other/run.json").write_text('{"status": "done"}')
    Path("link").symlink_to(run)
    shutil.copytree(run, ".", dirs_exist_ok=True)  # the current folder is a run, too
    before = sorted(Path().rglob("*"))
    done = runner.invoke(app, ["rm", *(name.format(here=Path().resolve()) for name in names)])
    assert isinstance(done.exception, UserError)
    assert message in str(done.exception)
    assert sorted(Path().rglob("*")) == before


def test_rm_deletes_a_run_when_its_training_has_ended(run: Path) -> None:
    with RunFolder(run).held():
        done = runner.invoke(app, ["rm", "--yes", "runs/first"])
    assert "another process is training here" in str(done.exception)
    assert (run / "best.safetensors").exists()
    runner.invoke(app, ["rm", "runs/first", "--yes"])
    assert list(Path("runs").iterdir()) == []


def test_rm_deletes_a_run_of_the_first_format_that_is_named_twice(run: Path) -> None:
    (run / "run.json").unlink()
    done = runner.invoke(app, ["rm", "--yes", "runs/first", "runs/first/", str(run.resolve())])
    assert done.exit_code == 0
    assert not run.exists()


def test_a_name_without_its_folder_is_answered_with_the_path(run: Path) -> None:
    done = runner.invoke(app, ["show", run.name])
    assert str(done.exception).endswith("; did you mean runs/first?")


def test_runs_and_show(a_copy: Path) -> None:
    head, row = printed("runs").splitlines()
    assert head.split()[0] == "run"
    best = max(line["bleu"] for line in RunFolder(a_copy).read_metrics())
    assert row.split()[0] == "toy"
    assert f"{best:.2f}" in row
    shown = printed("show", a_copy)
    assert f"by BLEU on validation: BLEU {best:.2f}, loss " in shown
    assert "best.safetensors" in shown


def test_runs_are_listed_without_torch(a_copy: Path) -> None:
    imported = imported_by("runs")
    assert "nmt.reports.summaries" in imported
    assert "torch" not in imported
