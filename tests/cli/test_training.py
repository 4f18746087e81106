"""`nmt prepare`, `nmt train`, `nmt average` and `nmt datastore`."""

import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.torch import load_file

from nmt.config.yaml_files import _hint
from nmt.runs.folder import RunFolder

from .command_line import PAIR, assert_refused, nmt, printed, text

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_prepare_prints_its_report(toy_corpus: Path) -> None:
    write_config(toy_corpus, "")
    done = nmt("prepare", "--config", "mine.yaml")
    assert done.returncode == 0
    assert "pairs read       200" in text(done.stdout)


def test_without_a_network_the_error_suggests_data_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path("cache").resolve()))
    monkeypatch.delenv("NO_PROXY")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.setattr("nmt.corpus.sources.download._pause", lambda seconds: None)
    done = nmt("prepare")
    assert done.returncode == 2
    [line] = [line for line in text(done.stderr).splitlines() if line.startswith("nmt:")]
    assert "data.path" in line
    assert "Traceback" not in text(done.stderr)


def write_config(corpus: Path, training: str) -> None:
    """Write mine.yaml, with a tiny model and these fields of training."""
    Path("mine.yaml").write_text(
        f"data: {{source: tsv, path: {corpus}, validation_size: 9, test_size: 9}}\n"
        "tokenizer: {vocabulary_size: 300}\n"
        "model: {d_model: 16, heads: 2, d_ff: 16, encoder_layers: 1, decoder_layers: 1}\n"
        f"training: {{{training}}}\n"
    )


def test_quiet_training_shows_no_progress(toy_corpus: Path) -> None:
    write_config(toy_corpus, "max_updates: 2")
    loud = nmt("train", "--config", "mine.yaml")
    # In a process of its own, because `-q` sets a variable that tqdm reads on import.
    command = [sys.executable, "-m", "nmt", "-q", "train", "--config", "mine.yaml"]
    quiet = subprocess.run(command, capture_output=True)
    assert [loud.returncode, quiet.returncode] == [0, 0]
    assert "training: " in text(loud.stderr)
    assert "training: " not in text(quiet.stderr)


def test_ctrl_c_saves_and_prints_the_command_to_continue(toy_corpus: Path) -> None:
    write_config(toy_corpus, "epochs: 100000, checkpoint_updates: 1")
    command = [sys.executable, "-m", "nmt", "train", "--config", "mine.yaml"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        deadline = time.monotonic() + 60
        while not Path("runs/mine/checkpoint.pt").exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        output, errors = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == 130
    assert "nmt train --resume --run runs/mine" in text(output)
    assert "Traceback" not in text(errors)
    done = nmt("train", "--resume", "--set", "training.max_minutes=0.0001")
    assert done.returncode == 0


@pytest.mark.usefixtures("mine")
def test_training_can_start_from_another_run(trained_run: RunFolder) -> None:
    command = ("train", "--from", trained_run.path, "--weights", "last", "--config", "mine.yaml")
    done = nmt(*command, "--mix", "0.3", "--set", "training.max_updates=1")
    assert done.returncode == 0
    assert "vocabulary of" in text(done.stdout)
    assert "\ndropped          duplicate " in text(done.stdout)
    assert "learning rate    0.001" in text(done.stderr)
    run = RunFolder(Path("runs/mine"))
    assert run.config.training.initial_weights == trained_run.weights("last")
    assert [part.weight for part in run.config.data.corpora] == [0.7, 0.3]
    assert run.origin.file == "mine.yaml"


def test_training_from_another_run_names_the_data_that_it_uses(a_copy: Path) -> None:
    done = nmt("train", "--from", a_copy, "--set", "training.max_updates=1")
    assert done.returncode == 0
    assert "toy.tsv, as runs/toy; --config names other data" in text(done.stderr)


@pytest.mark.usefixtures("mine")
def test_the_weights_of_the_last_validations_are_averaged(trained_run: RunFolder) -> None:
    changes = ("max_updates=4", "validate_updates=1", "keep_validated=3", "average_decay=0.5")
    set_ = [part for change in changes for part in ("--set", f"training.{change}")]
    assert nmt("train", "--config", "mine.yaml", *set_).returncode == 0
    run = RunFolder(Path("runs/mine"))
    assert [path.stem for path in run.validated()] == ["2", "3", "4"]
    assert load_file(run.validated()[-1]).keys() == load_file(run.weights("ema")).keys()
    assert run.validated()[-1].read_bytes() == run.weights("ema").read_bytes()
    assert_refused("average", message="training.keep_validated=5, or give --last 3")
    assert "updates 3, 4" in printed("average", "--last", 2)
    assert nmt("translate", "--weights", "checkpoint_average", PAIR[0]).returncode == 0
    run.validated()[0].unlink()
    assert_refused("average", "--last", 3, message="validate more often")
    refused = text(nmt("average", trained_run.path).stderr)
    assert refused.endswith("with --set training.keep_validated=5\n")


@pytest.mark.usefixtures("mine")
def test_a_dry_run_reports_memory_and_speed_and_leaves_no_run() -> None:
    done = nmt("train", "--config", "mine.yaml", "--dry-run")
    assert done.returncode == 0
    lines = dict(line.split("  ", 1) for line in text(done.stdout).splitlines())
    lines.pop("busy", None)  # printed only if other processes are busy
    assert lines.keys() == {
        *("parameters", "device", "largest batch", "one update", "speed", "peak memory"),
        *("one sentence", "whole run"),
    }
    assert "excluding validation" in lines["whole run"]
    assert [path.name for path in Path().iterdir() if path.is_dir()] == ["data"]


@pytest.mark.usefixtures("mine")
def test_running_out_of_memory_is_reported_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    import torch

    from nmt.training.step import TrainingState

    nmt("prepare", "--config", "mine.yaml")
    # This allocation really fails.
    monkeypatch.setattr(TrainingState, "update", lambda *_: torch.empty(1 << 50))
    message = "use smaller batches (training.batch_tokens or batch_sentences)"
    assert_refused("train", "--config", "mine.yaml", "--dry-run", message=message)


@pytest.mark.usefixtures("mine")
def test_an_existing_run_folder_is_not_overwritten(trained_run: RunFolder) -> None:
    before = sorted(file.name for file in trained_run.path.iterdir())
    command = ("train", "--config", "mine.yaml", "--run", trained_run.path)
    assert_refused(*command, message="already exists")
    assert sorted(file.name for file in trained_run.path.iterdir()) == before


def test_a_datastore_is_built_and_used(a_copy: Path) -> None:
    looked_up = ["translate", *PAIR[:1], "--set", "decoding.knn_k=4"]
    assert_refused(*looked_up, message="needs a datastore; build it with nmt datastore runs/toy")
    assert printed("datastore").endswith("positions in runs/toy/datastore.safetensors\n")
    assert printed(*looked_up) == PAIR[1] + "\n"
    message = "it does not support decoding.knn_k"
    assert_refused(*looked_up, "--engine", "ctranslate2", message=message)


def test_a_datastore_is_built_from_a_corpus_that_has_moved(a_copy: Path, toy_corpus: Path) -> None:
    shutil.copy(toy_corpus, "moved.tsv")
    assert nmt("datastore", a_copy, "--set", "data.path=moved.tsv").returncode == 0
    assert (a_copy / "datastore.safetensors").exists()
    message = "only data.path, the other paths of data, data.corpora and tokenizer.run can be"
    assert_refused("datastore", a_copy, "--set", "data.seed=3", message=message)


def test_a_datastore_of_a_former_run_gives_no_hint_at_its_fields(a_copy: Path) -> None:
    _hint.cache_clear()
    file = a_copy / "config.yaml"
    former = file.read_text(encoding="utf-8").replace("  placeholders:", "  carry_over:")
    file.write_text(former, encoding="utf-8")
    done = nmt("datastore", a_copy)
    assert done.returncode == 0
    assert "carry_over" in former
    assert "carry_over" not in text(done.stderr)


def test_resume_selects_the_newest_run_with_a_checkpoint(trained_run: RunFolder) -> None:
    shutil.copytree(trained_run.path, "runs/older")
    Path("runs/older/best.safetensors").unlink()
    shutil.copytree(trained_run.path, "runs/copied")
    Path("runs/copied/checkpoint.pt").unlink()
    Path("runs/copied/checkpoint.previous.pt").unlink(missing_ok=True)
    Path("runs/copied/metrics.jsonl").touch()
    done = nmt("train", "--resume")
    assert done.returncode == 0
    assert "runs/older is already trained" in text(done.stdout + done.stderr)


def test_a_missing_tensorboard_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt.training.tensorboard.find_spec", lambda name: None)
    on = ["--config", "sample.yaml", "--set", "training.tensorboard=true"]
    assert_refused("train", *on, message="pip install 'nmt-trainer[tensorboard]'")
    assert list(Path().iterdir()) == []


def test_resuming_with_another_configuration_is_refused(
    toy_corpus: Path, trained_run: RunFolder
) -> None:
    shutil.copytree(trained_run.path, "runs/mine")
    Path("mine.yaml").write_text(f"data: {{source: tsv, path: {toy_corpus}}}\n")
    assert_refused("train", "--resume", "--config", "mine.yaml", message="omit --config")


def test_training_suggests_a_sentence_that_the_model_translates_correctly(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from nmt.cli.training import _print_next_steps

    monkeypatch.setattr(RunFolder, "limit_while_learning", lambda _: "training.epochs")
    _print_next_steps(trained_run, "torchrun … -m nmt -- train --resume --run R")
    printed = capsys.readouterr().out.splitlines()
    wanted = "continue with    torchrun … -m nmt -- train --resume --run R --set training.epochs=…"
    assert wanted in printed
    samples = trained_run.read_metrics()[-1]["samples"]
    right = [s["source"] for s in samples if s["translation"] == s["reference"]]
    assert printed[-1].startswith("translate with   nmt translate --run ")
    assert any(source in printed[-1] for source in right)
