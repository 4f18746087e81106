"""COMET in an environment of its own; a small program with its interface replaces unbabel-comet."""

import json
import signal
import subprocess
import sys
import venv
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
import torch
from typer.testing import CliRunner

from nmt.cli.app import app
from nmt.errors import UserError
from nmt.evaluation.comet import Comet
from nmt.runs.folder import RunFolder

# Scores a hypothesis by the share of its words that the reference contains.
STAND_IN = """
import argparse, json, os, sys
from pathlib import Path

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("-s", "--sources")
    parser.add_argument("-t", "--translations", nargs="+")
    parser.add_argument("-r", "--references")
    parser.add_argument("--gpus", type=int)
    parser.add_argument("--quiet", action="store_true")
    parser.add_argument("--only_system", action="store_true")
    parser.add_argument("--to_json")
    parser.add_argument("--model")
    given = parser.parse_args()
    missing = given.model.endswith(".ckpt") and not Path(given.model).exists()
    print("\\rdownloading: 50%", end="", file=sys.stderr, flush=True)
    if given.model == "no/model" or missing:
        raise KeyError("the model does not exist")
    read = lambda name: [line.strip() for line in Path(name).open()]
    rows = zip(*map(read, (given.sources, given.translations[0], given.references)), strict=True)
    common = lambda t, r: len({*t.split()} & {*r.split()}) / (len(t.split()) or 1)
    segments = [{"src": s, "mt": t, "ref": r, "COMET": common(t, r)} for s, t, r in rows]
    if given.model == "cpu/model" and given.gpus:
        sys.exit("uses a GPU")
    if "SHOW_DEVICES" in os.environ:
        Path(os.environ["SHOW_DEVICES"]).write_text(os.environ["CUDA_VISIBLE_DEVICES"])
    if given.model == "half/model":
        del segments[0]
    Path(given.to_json).write_text(json.dumps({given.translations[0]: segments}))
    print("t\\tscore: 0.5000")

if __name__ == "__main__":
    main()
"""


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the stand-in."""
    folder = tmp_path_factory.mktemp("comet")
    venv.create(folder)
    [packages] = folder.glob("lib/python*/site-packages")
    (packages / "comet" / "cli").mkdir(parents=True)
    (packages / "comet" / "cli" / "score.py").write_text(STAND_IN)
    described = packages / "unbabel_comet-2.2.7.dist-info" / "METADATA"
    described.parent.mkdir()
    described.write_text("Metadata-Version: 2.1\nName: unbabel-comet\nVersion: 2.2.7\n")
    return folder


SOURCES, REFERENCES = ["Ben swims.", "Anna sleeps."], ["Ben schwimmt.", "Anna schläft."]


def test_the_score_is_the_mean_over_sentences(environment: Path) -> None:
    score = Comet(environment).score(SOURCES, ["Ben schwimmt.", "Anna isst."], REFERENCES)
    assert score.score == 0.75
    assert str(score) == "COMET 0.7500  Unbabel/wmt22-comet-da, unbabel-comet 2.2.7"


def test_a_line_break_within_a_sentence_is_a_space(environment: Path) -> None:
    score = Comet(environment).score(SOURCES, ["Ben\r\nschwimmt.", ""], REFERENCES)
    assert score.score == 0.5


def test_a_full_disk_is_reported_with_the_temporary_folder(
    environment: Path, full_disk: Callable[[int], AbstractContextManager[None]]
) -> None:
    comet = Comet(environment)
    with full_disk(10), pytest.raises(UserError, match=r"cannot be written \(.* free on its disk"):
        comet.score(SOURCES, SOURCES, REFERENCES)


def test_the_program_is_ended_with_nmt(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[subprocess.Popen[bytes]] = []

    class Sleeping(subprocess.Popen[bytes]):
        def __init__(self, command: list[str], **options: Any):
            sleep = "import time; time.sleep(60)"
            super().__init__([command[0], "-c", sleep], stderr=subprocess.PIPE)
            started.append(self)

    def terminate(errors: object) -> None:
        raise SystemExit(143)

    comet = Comet(environment)
    monkeypatch.setattr("subprocess.Popen", Sleeping)
    monkeypatch.setattr("nmt.evaluation.comet._forward", terminate)
    with pytest.raises(SystemExit):
        comet.score(SOURCES, SOURCES, REFERENCES)
    assert [process.poll() for process in started] == [-signal.SIGTERM]


def test_umlauts_do_not_depend_on_the_locale(
    environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in (("PYTHONUTF8", "0"), ("LC_ALL", "C")):
        monkeypatch.setenv(name, value)
    assert Comet(environment).score(SOURCES, REFERENCES, REFERENCES).score == 1


def test_uvx_provides_the_environment(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    uvx = tmp_path / "uvx"
    uvx.write_text(
        f"#!{sys.executable}\nimport os, sys\n"
        "needed = ['--with', 'unbabel-comet==2.2.7', '--with', 'setuptools<81']\n"
        "assert sys.argv[1:8] == ['--python', '3.12', *needed, 'python']\n"
        f"os.execv('{environment}/bin/python', ['{environment}/bin/python', *sys.argv[8:]])\n"
    )
    uvx.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert Comet(model="a/model").score(SOURCES, REFERENCES, REFERENCES).score == 1


def test_without_uvx_the_remedies_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    with pytest.raises(UserError, match=r"needs uvx .* or --comet-env with"):
        Comet()


def test_an_environment_without_comet_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="not a virtual environment; create one"):
        Comet(tmp_path)
    venv.create(tmp_path / "empty")
    with pytest.raises(UserError, match=r"ModuleNotFoundError.*install unbabel-comet==2"):
        Comet(tmp_path / "empty")


def test_an_environment_in_which_comet_cannot_be_imported_is_refused(tmp_path: Path) -> None:
    venv.create(tmp_path / "broken")
    [packages] = tmp_path.glob("broken/lib/python*/site-packages")
    (packages / "comet" / "cli").mkdir(parents=True)
    (packages / "comet" / "cli" / "score.py").write_text("import pkg_resources")
    with pytest.raises(UserError, match=r"no working unbabel-comet .*pkg_resources.*'setuptools"):
        Comet(tmp_path / "broken")


def test_comet_runs_on_the_chosen_device(
    trained_run: RunFolder, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "nmt.evaluation.comet.choose_device", lambda name=None: torch.device(name or "cuda")
    )
    command = ["evaluate", "--run", str(trained_run.path), "--metric", "comet"]
    command += ["--comet-env", str(environment), "--comet-model", "cpu/model"]
    assert isinstance(CliRunner().invoke(app, command).exception, UserError)
    assert CliRunner().invoke(app, [*command, "--device", "cpu"]).exit_code == 0


def test_a_failure_is_told_in_one_line(
    environment: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    reason = r"failed \(KeyError: 'the model does not exist'\); .* access to the model no/model"
    with pytest.raises(UserError, match=reason):
        Comet(environment, "no/model").score(SOURCES, REFERENCES, REFERENCES)
    assert capsys.readouterr().err == "\rdownloading: 50%"  # and no traceback


def test_missing_scores_are_noticed(environment: Path) -> None:
    with pytest.raises(UserError, match="did not score all 2 sentences"):
        Comet(environment, "half/model").score(SOURCES, REFERENCES, REFERENCES)


def test_checkpoint_files_are_found_from_the_current_folder(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.ckpt").touch()
    score = Comet(environment, "mine.ckpt").score(SOURCES, REFERENCES, REFERENCES)
    assert score.model == "mine.ckpt"


def test_a_missing_checkpoint_file_is_noticed_before_translating(environment: Path) -> None:
    with pytest.raises(UserError, match=r"missing\.ckpt: no such file"):
        Comet(environment, "missing.ckpt")


def test_evaluate_prints_comet_with_model_and_version(
    trained_run: RunFolder, environment: Path
) -> None:
    command = ["evaluate", "--run", str(trained_run.path), "--metric", "comet"]
    command += ["--comet-env", str(environment)]
    shown = CliRunner().invoke(app, command)
    assert "COMET" in shown.stdout
    assert "Unbabel/wmt22-comet-da, unbabel-comet 2.2.7" in shown.stdout
    found = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)["comet"]
    assert f"COMET {found['score']:6.4f}" in shown.stdout


def test_an_environment_needs_the_metric(trained_run: RunFolder, tmp_path: Path) -> None:
    command = ["evaluate", "--run", str(trained_run.path), "--comet-env", str(tmp_path)]
    done = CliRunner().invoke(app, command)
    assert isinstance(done.exception, UserError)
    assert "need --metric comet" in str(done.exception)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--run", "nowhere"], "nowhere: not a run folder"),
        (["--source", "typo.en", "--reference", "typo.de"], "typo.en: cannot be read"),
        (["--test-set", "typo"], "typo"),
        (["--set", "decoding.knn_k=4"], "datastore"),
    ],
)
def test_other_mistakes_are_reported_before_comet_is_installed(
    arguments: list[str], message: str, trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.evaluation.comet.Comet", None)
    run = ["--run", str(trained_run.path), "--metric", "comet"]
    done = CliRunner().invoke(app, ["evaluate", *run, *arguments])
    assert isinstance(done.exception, UserError)
    assert message in str(done.exception)


def test_a_failure_of_comet_loses_no_other_result(
    trained_run: RunFolder, environment: Path, tmp_path: Path
) -> None:
    output = tmp_path / "out.de"
    command = ["evaluate", "--run", str(trained_run.path), "--output", str(output)]
    command += ["--metric", "comet", "--comet-env", str(environment), "--comet-model", "no/model"]
    shown = CliRunner().invoke(app, command)
    assert isinstance(shown.exception, UserError)
    assert "BLEU" in shown.stdout
    assert len(output.read_text("utf-8").splitlines()) == len(trained_run.examples("test"))
    as_json = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    assert "bleu" in as_json
    assert "comet" not in as_json


def test_comet_scores_each_test_set(
    trained_run: RunFolder, environment: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    examples = trained_run.examples("test")[:2]
    sources, references = [e.source for e in examples], [e.reference for e in examples]
    sets = {"wmt20": [references], "wmt14/full": [references, sources]}
    read = lambda name, languages: (sources, sets[name])  # noqa: E731
    monkeypatch.setattr("nmt.evaluation.test_sets.read_test_set", read)
    command = ["evaluate", "--run", str(trained_run.path), "--test-set", "wmt20,wmt14/full"]
    command += ["--metric", "comet", "--comet-env", str(environment)]
    lines = CliRunner().invoke(app, command).stdout.splitlines()
    found = json.loads(CliRunner().invoke(app, [*command, "--json"]).stdout)
    scores = {name: found[name]["comet"]["score"] for name in ("wmt20", "wmt14/full")}
    model = "Unbabel/wmt22-comet-da, unbabel-comet 2.2.7"
    assert lines[-2:] == [f"{name} COMET {score:6.4f}  {model}" for name, score in scores.items()]
    assert scores["wmt20"] == scores["wmt14/full"]  # by the first reference


def test_comet_sees_only_the_chosen_gpu(
    environment: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.evaluation.comet.choose_device", lambda _: torch.device("cuda:1"))
    seen = tmp_path / "seen"
    monkeypatch.setenv("SHOW_DEVICES", str(seen))
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    comet = Comet(environment)
    for visible, expected in ((None, "1"), ("4,6", "6")):
        if visible:
            monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
        comet.score(SOURCES, REFERENCES, REFERENCES)
        assert seen.read_text() == expected
