"""The command line: its output and its exit codes.

Most commands run in this process, to avoid repeated imports; tests of signals and terminals start a
separate process.
"""

import errno
import io
import json
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import yaml
from safetensors.torch import load_file, save_file

from nmt import cli
from nmt.config_files import dump_config
from nmt.corpus.splitting import sentence_keys
from nmt.metrics import LABELS
from nmt.run_folder import RunFolder

PAIR = ("Anna sings today.", "Anna singt heute.")
pytestmark = pytest.mark.usefixtures("in_empty_folder")


def nmt(*arguments: object, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Call `nmt.cli.main` with its own arguments and streams."""
    command = ["nmt", *map(str, arguments)]
    streams = [io.TextIOWrapper(io.BytesIO(content), "utf-8") for content in (stdin, b"", b"")]
    code = 0
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", command)
        for name, stream in zip(("stdin", "stdout", "stderr"), streams, strict=True):
            patch.setattr(sys, name, stream)
        try:
            cli.main()
        except SystemExit as end:
            code = end.code if isinstance(end.code, int) else int(end.code is not None)
    for stream in streams[1:]:
        stream.flush()
    output, errors = (stream.detach().getvalue() for stream in streams[1:])
    return subprocess.CompletedProcess(command, code, output, errors)


def text(output: bytes) -> str:
    return output.decode("utf-8")


def assert_refused(*arguments: object, message: str, stdin: bytes = b"") -> None:
    """One line on standard error that says `message`, exit code 2, no traceback."""
    done = nmt(*arguments, stdin=stdin)
    assert (done.returncode, text(done.stdout)) == (2, "")
    [line] = text(done.stderr).splitlines()
    assert message in line


# ------------------------------------------------------------------------------------------- help


def test_help_imports_neither_torch_nor_spacy() -> None:
    code = (
        "import sys; from nmt import cli; sys.argv = ['nmt', '--help']\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "slow = {'torch', 'spacy', 'numpy', 'sentencepiece', 'pydantic', 'tqdm'}\n"
        "print(sorted(slow & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert text(done.stdout).splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    "command", [["-q", "doctor"], ["doctor", "--quiet"], ["--", "doctor", "-q"]]
)
def test_quiet_turns_off_progress_bars(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """`-q` sets a variable that tqdm reads on import; nmt imports it later, as shown above."""
    monkeypatch.setenv("TQDM_DISABLE", "")
    assert nmt(*command).returncode == 0
    assert os.environ["TQDM_DISABLE"] == "1"


def test_text_after_two_dashes_is_translated_even_if_it_is_an_option(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TQDM_DISABLE", "")
    done = nmt("translate", "--run", trained_run.path, "--", "-q")
    assert done.returncode == 0
    assert text(done.stdout).strip()
    assert os.environ["TQDM_DISABLE"] == ""


def test_verbose_reports_the_run_the_engine_and_the_device(
    trained_run: RunFolder, caplog: pytest.LogCaptureFixture
) -> None:
    nmt("translate", "--run", trained_run.path, PAIR[0])
    assert caplog.messages == []
    caplog.set_level(logging.NOTSET, logger="nmt")  # undone after the test
    nmt("-v", "translate", "--run", trained_run.path, "--engine", "pytorch", PAIR[0])
    used = dict(message.split(None, 1) for message in caplog.messages)
    assert used["run"] == str(trained_run.path)
    assert used["engine"] == "pytorch (decoding.engine)"
    assert used["device"]
    assert "configuration" not in used  # reported only if given by --config
    caplog.clear()
    nmt("-v", "config", "show", "--config", "sample.yaml")
    assert [message.split()[0] for message in caplog.messages] == ["configuration"]


COMMANDS = (
    *("prepare", "train", "average", "datastore", "translate", "evaluate", "export", "augment"),
    *("push", "corpora", "serve", "runs", "show", "rm", "doctor", "plot", "config"),
)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help(command: str) -> None:
    done = nmt(command, "--help")
    assert done.returncode == 0
    assert "Usage" in text(done.stdout)


@pytest.mark.parametrize("command", ["translate", "evaluate"])
def test_help_mentions_ensembles(command: str) -> None:
    assert "ensemble" in text(nmt(command, "--help").stdout)


def test_version() -> None:
    assert text(nmt("--version").stdout).strip() == "0.1.0"


# ----------------------------------------------------------------------------------------- config


def test_config_show_prints_resolved_yaml() -> None:
    done = nmt("config", "show", "--config", "base.yaml", "--set", "training.epochs=3")
    tree = yaml.safe_load(done.stdout)
    assert tree["training"]["epochs"] == 3
    assert tree["model"]["norm"] == "pre"


def test_config_fields_shows_types_and_defaults() -> None:
    fields = text(nmt("config", "fields").stdout)
    assert "training.label_smoothing: float = 0.1\n" in fields
    assert "decoding.beam_size: int = 4\n" in fields


def test_all_mistakes_in_a_config_are_reported_at_once() -> None:
    Path("mine.yaml").write_text("training:\n  lable_smoothing: 0.1\nmodel:\n  heads: many\n")
    done = nmt("train", "--config", "mine.yaml")
    lines = text(done.stderr).splitlines()
    assert done.returncode == 2
    assert len(lines) == 2
    assert any(
        "mine.yaml: training.lable_smoothing: unknown field; did you mean label_smoothing?" in line
        for line in lines
    )
    assert not Path("runs").exists()


def test_a_missing_config_is_refused() -> None:
    assert_refused("prepare", "--config", "nothing.yaml", message="config nothing.yaml not found")


# ---------------------------------------------------------------------------------------- prepare


def test_prepare_prints_its_report(toy_corpus: Path) -> None:
    Path("mine.yaml").write_text(
        f"data: {{source: tsv, path: {toy_corpus}, validation_size: 9, test_size: 9}}\n"
        "tokenizer: {vocabulary_size: 300}\n"
    )
    done = nmt("prepare", "--config", "mine.yaml")
    assert done.returncode == 0
    assert "pairs read       200" in text(done.stdout)


def test_without_a_network_the_error_suggests_data_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(Path("cache").resolve()))
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")  # nothing listens there
    monkeypatch.setattr("nmt.corpus.download._pause", lambda seconds: None)
    done = nmt("prepare")
    assert done.returncode == 2
    [line] = [line for line in text(done.stderr).splitlines() if line.startswith("nmt:")]
    assert "data.path" in line
    assert "Traceback" not in text(done.stderr)


# ------------------------------------------------------------------------------------------ train


def test_ctrl_c_saves_and_prints_the_command_to_continue(toy_corpus: Path) -> None:
    Path("mine.yaml").write_text(
        f"data: {{source: tsv, path: {toy_corpus}, validation_size: 9, test_size: 9}}\n"
        "tokenizer: {vocabulary_size: 300}\n"
        "model: {d_model: 16, heads: 2, d_ff: 16, encoder_layers: 1, decoder_layers: 1}\n"
        "training: {epochs: 100000, checkpoint_updates: 1}\n"
    )
    command = [sys.executable, "-m", "nmt", "train", "--config", "mine.yaml"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 60
    while not Path("runs/mine/checkpoint.pt").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "nmt train --resume --run runs/mine" in text(output)
    assert "Traceback" not in text(errors)
    done = nmt("train", "--resume", "--set", "training.max_minutes=0.0001")
    assert done.returncode == 0


def test_training_can_start_from_another_run(trained_run: RunFolder) -> None:
    Path("mine.yaml").write_text(dump_config(trained_run.config))
    command = ("train", "--from", trained_run.path, "--weights", "last", "--config", "mine.yaml")
    done = nmt(*command, "--mix", "0.3", "--set", "training.max_updates=1")
    assert done.returncode == 0
    assert "vocabulary of" in text(done.stdout)
    assert "learning rate    0.001" in text(done.stderr)
    run = RunFolder(Path("runs/mine"))
    assert run.config.training.initial_weights == trained_run.weights("last")
    assert [part.weight for part in run.config.data.corpora] == [0.7, 0.3]
    assert run.origin.file == "mine.yaml"
    assert_refused(*command, "--resume", message="omit one of them")
    assert_refused("train", "--mix", "0.3", message="--from")
    assert_refused("train", "--weights", "last", message="--from")
    assert_refused("train", "--from", "nowhere", message="nowhere: not a run folder")
    assert_refused(
        *("train", "--from", trained_run.path, "--weights", "averaged"), message="no such weights"
    )


def test_the_weights_of_the_last_validations_are_averaged(trained_run: RunFolder) -> None:
    Path("mine.yaml").write_text(dump_config(trained_run.config))
    changes = ("max_updates=4", "validate_updates=1", "keep_validated=3", "average_decay=0.5")
    set_ = [part for change in changes for part in ("--set", f"training.{change}")]
    assert nmt("train", "--config", "mine.yaml", *set_).returncode == 0
    run = RunFolder(Path("runs/mine"))
    assert [path.stem for path in run.validated()] == ["2", "3", "4"]
    assert load_file(run.validated()[-1]).keys() == load_file(run.weights("averaged")).keys()
    assert run.validated()[-1].read_bytes() == run.weights("averaged").read_bytes()
    assert_refused("average", message="training.keep_validated=5, or give --last 3")
    assert "updates 3, 4" in text(nmt("average", "--last", 2).stdout)
    assert nmt("translate", "--weights", "mean", PAIR[0]).returncode == 0
    refused = text(nmt("average", trained_run.path).stderr)
    assert refused.endswith("with --set training.keep_validated=5\n")


def test_a_dry_run_reports_memory_and_speed_and_leaves_no_run(trained_run: RunFolder) -> None:
    Path("mine.yaml").write_text(dump_config(trained_run.config))
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
    assert_refused("train", "--dry-run", "--resume", message="omit --resume")
    assert_refused("train", "--dry-run", "--run", "mine", message="omit --run")


def test_running_out_of_memory_is_reported_in_one_line(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    import torch

    from nmt.training.state import TrainingState

    Path("mine.yaml").write_text(dump_config(trained_run.config))
    nmt("prepare", "--config", "mine.yaml")
    # This allocation really fails.
    monkeypatch.setattr(TrainingState, "update", lambda *_: torch.empty(1 << 50))
    message = "lower training.batch_tokens"
    assert_refused("train", "--config", "mine.yaml", "--dry-run", message=message)


def test_system_errors_are_reported_with_the_path_and_what_to_check(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(errno.EACCES, "Permission denied", "runs/mine/last.safetensors")

    monkeypatch.setattr("nmt.export.export_run", refuse)
    message = "runs/mine/last.safetensors: Permission denied; check the path, its permissions"
    assert_refused("export", trained_run.path, message=message)


def test_a_full_disk_is_reported_with_the_copy_that_failed(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fill(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device", "original", None, "copy")

    monkeypatch.setattr("nmt.export.export_run", fill)
    message = "nmt: copy: cannot be written (No space left on device; "
    assert_refused("export", trained_run.path, message=message)


def test_resuming_without_a_run_is_refused() -> None:
    assert_refused("train", "--resume", message="no run")


def test_an_existing_run_folder_is_not_overwritten(trained_run: RunFolder) -> None:
    before = sorted(file.name for file in trained_run.path.iterdir())
    Path("mine.yaml").write_text(dump_config(trained_run.config))
    assert_refused(
        "train", "--config", "mine.yaml", "--run", trained_run.path, message="already exists"
    )
    assert sorted(file.name for file in trained_run.path.iterdir()) == before


def test_an_unavailable_device_is_refused() -> None:
    assert_refused("train", "--device", "warp", message="--device warp: not available here")


# -------------------------------------------------------------------------------------- translate


def test_arguments_are_translated(trained_run: RunFolder) -> None:
    done = nmt("translate", "--run", trained_run.path, PAIR[0], "Ben swims often.")
    assert text(done.stdout) == "Anna singt heute.\nBen schwimmt oft.\n"


def test_the_sentences_of_a_line_are_translated_one_by_one(trained_run: RunFolder) -> None:
    line = f"{PAIR[0]}  Ben swims often."
    done = nmt("translate", "--run", trained_run.path, line)
    assert text(done.stdout) == f"{PAIR[1]}  Ben schwimmt oft.\n"
    assert not done.stderr
    whole = ["--set", "decoding.split_sentences=false"]
    done = nmt("translate", "--run", trained_run.path, line, *whole)
    assert "  " not in text(done.stdout)


def test_there_is_one_output_line_per_input_line_in_order(trained_run: RunFolder) -> None:
    lines = ["", "Ben swims often.", "  ", "Anna\u2028sings\x0btoday.", "Ben swims often.\r", ""]
    done = nmt("translate", "--run", trained_run.path, stdin="\n".join(lines).encode() + b"\n")
    output = text(done.stdout).split("\n")
    assert output == ["", "Ben schwimmt oft.", "", "Anna singt heute.", "Ben schwimmt oft.", "", ""]


def test_a_file_is_translated_into_a_file(trained_run: RunFolder) -> None:
    Path("in.txt").write_text("Ben swims often.\n\nAnna sings today.")
    done = nmt("translate", "--run", trained_run.path, "--input", "in.txt", "--output", "out.txt")
    assert done.returncode == 0
    assert Path("out.txt").read_text() == "Ben schwimmt oft.\n\nAnna singt heute.\n"


def test_output_to_a_named_pipe_does_not_replace_it(trained_run: RunFolder) -> None:
    os.mkfifo("pipe")
    reader = os.open("pipe", os.O_RDONLY | os.O_NONBLOCK)
    nmt("translate", "--run", trained_run.path, PAIR[0], "--output", "pipe")
    assert text(os.read(reader, 100)) == PAIR[1] + "\n"
    assert Path("pipe").is_fifo()


def test_a_terminated_translation_leaves_no_partial_file(trained_run: RunFolder) -> None:
    command = [sys.executable, "-m", "nmt", "translate", "--run", str(trained_run.path)]
    command += ["-o", "out.txt"]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as process:
        deadline = time.monotonic() + 60
        while not list(Path().glob(".out.txt.*.partial")) and time.monotonic() < deadline:
            time.sleep(0.05)
        process.terminate()
        assert process.wait(60) == 128 + signal.SIGTERM
    assert list(Path().iterdir()) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("error", ["AttributeError", "nmt.errors.UserError"])
def test_a_signal_discarded_by_a_library_does_not_become_an_error(
    number: signal.Signals, error: str
) -> None:
    """PyTorch discards any exception while it imports NumPy, and fails later without it."""
    program = f"""
import os, sys
import nmt.errors
from nmt.cli.app import app, main

@app.command()
def load():
    try:
        os.kill(os.getpid(), {number.value})
    except BaseException:
        pass
    raise {error}("partially imported")

sys.argv = ["nmt", "load"]
main()
"""
    done = subprocess.run([sys.executable, "-c", program], stderr=subprocess.PIPE, check=False)
    assert (done.returncode, done.stderr) == (128 + number, b"")


def test_ctrl_c_that_the_shell_ignores_stays_ignored() -> None:
    program = """
import os, signal, sys
from nmt.cli.app import app, main

@app.command()
def load():
    os.kill(os.getpid(), signal.SIGINT)

signal.signal(signal.SIGINT, signal.SIG_IGN)  # as for `nmt … &` in a script
sys.argv = ["nmt", "load"]
main()
"""
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_standard_output_on_a_full_disk_is_reported() -> None:
    command = [sys.executable, "-m", "nmt", "config", "fields"]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False)
    assert done.returncode == 2
    assert text(done.stderr) == (
        "nmt: the output cannot be written (No space left on device); free some space\n"
    )


def test_a_line_too_long_for_the_model_is_never_dropped(trained_run: RunFolder) -> None:
    longest = "Anna sings today. " * 60
    one_sentence = "Anna and " * 600
    lines = longest, "Ben swims often.", one_sentence
    done = nmt("translate", "--run", trained_run.path, *lines)
    first, second, third = text(done.stdout).splitlines()
    assert first == " ".join(["Anna singt heute."] * 60)
    assert second == "Ben schwimmt oft."
    assert third
    assert "line 3: longer than any training sentence, translated in" in text(done.stderr)
    assert "line 1" not in text(done.stderr)


def test_n_best_prints_line_number_score_and_text_best_first(trained_run: RunFolder) -> None:
    done = nmt("translate", "--run", trained_run.path, "--n-best", 3, PAIR[0], "Ben swims often.")
    rows = [line.split("\t") for line in text(done.stdout).splitlines()]
    assert [row[0] for row in rows] == ["1"] * 3 + ["2"] * 3
    assert rows[0][2] == PAIR[1]
    scores = [float(row[1]) for row in rows[:3]]
    assert scores == sorted(scores, reverse=True)


def test_scores_precede_the_text(trained_run: RunFolder) -> None:
    options = ["--run", trained_run.path, "--scores", PAIR[0]]
    [row] = [line.split("\t") for line in text(nmt("translate", *options).stdout).splitlines()]
    log_probability, probability = float(row[0]), float(row[1])
    assert log_probability < 0
    assert 0.5 < probability < 1
    assert row[2] == PAIR[1]
    rows = text(nmt("translate", "--n-best", 2, *options).stdout).splitlines()
    assert [line.count("\t") for line in rows] == [4, 4]


def test_words_are_aligned(trained_run: RunFolder) -> None:
    options = ["--run", trained_run.path, "--alignment"]
    done = nmt("translate", *options, PAIR[0], "")
    first, empty = text(done.stdout).split("\n")[:2]
    translation, pairs = first.split("\t")
    assert translation == PAIR[1]
    assert "0-0" in pairs.split()
    assert empty == "\t"
    done = nmt("translate", *options, f"{PAIR[0]}\t{PAIR[0]}\u2028(", "(")
    assert [line.count("\t") for line in text(done.stdout).splitlines()] == [1, 1]
    short = ["--set", "decoding.max_length_factor=0", "--set", "decoding.max_length_extra=1"]
    done = nmt("translate", *options, *short, PAIR[0])
    assert "line 1: translation truncated" in text(done.stderr)
    message = "cannot be combined with --n-best, --scores"
    assert_refused("translate", *options, "--n-best", 2, "x", message=message)
    message = "omit --engine"
    assert_refused("translate", *options, "--engine", "ctranslate2", "x", message=message)


def test_a_run_works_from_another_folder_without_its_corpus(
    trained_run: RunFolder, tmp_path: Path
) -> None:
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(trained_run.path, copy)
    (copy / "checkpoint.pt").unlink()
    assert text(nmt("translate", "--run", copy, PAIR[0]).stdout) == PAIR[1] + "\n"


def test_input_that_is_not_utf8_is_reported_with_its_line(trained_run: RunFolder) -> None:
    assert_refused(
        "translate", "--run", trained_run.path, message="line 1 is not UTF-8", stdin=b"\xff\xfe\n"
    )


def test_a_sentence_that_is_not_utf8_is_refused(trained_run: RunFolder) -> None:
    message = "the sentence is not UTF-8; check the terminal's encoding"
    for command in (
        ["translate"],
        ["translate", "--alignment", "x"],
        ["plot", "attention", "--json"],
    ):
        assert_refused(
            *command, "--run", trained_run.path, os.fsdecode(b"\xff\xfe"), message=message
        )


def test_a_repository_name_that_is_not_utf8_is_refused(trained_run: RunFolder) -> None:
    pytest.importorskip("huggingface_hub")
    message = "cannot be uploaded: Repo id must use alphanumeric chars"
    assert_refused("push", trained_run.path, os.fsdecode(b"\xff\xfe"), message=message)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--run", "nowhere", "x"], "nowhere: not a run folder"),
        (["--run", "{run}", "--input", "missing.txt"], "missing.txt: cannot be read"),
        (["--run", "{run}", "x", "--set", "model.heads=2"], "only fields of decoding can be set"),
        (["--run", "{run}", "x", "--set", "decoding.beam=2"], "did you mean beam_size?"),
        (["--run", "{run}", "x", "--set", "decoding.top_p=1e-300"], "greater than or equal to"),
        (["--run", "{run}", "x", "--weights", "averaged"], "averaged.safetensors: no such weights"),
        (["--run", "{run}", "x", "--weights", "mean"], "average them with nmt average "),
        (["--run", "{run}", "x", "--output", "no/such/folder/out.txt"], "no/such/folder"),
        (["x"], "no run"),
    ],
)
def test_invalid_arguments_of_translate(
    trained_run: RunFolder, arguments: list[str], message: str
) -> None:
    filled = [argument.format(run=trained_run.path) for argument in arguments]
    assert_refused("translate", *filled, message=message)


def test_a_damaged_run_is_refused_in_one_line(trained_run: RunFolder, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained_run.path, copy)
    (copy / "data" / "test.jsonl").write_bytes(b"{")
    assert_refused("evaluate", "--run", copy, message="or copy the run folder again")
    (copy / "best.safetensors").write_bytes(b"not weights")
    assert_refused("translate", "--run", copy, "x", message="weights cannot be read")
    (copy / "data" / "joint.model").write_bytes(b"not a model")
    assert_refused("translate", "--run", copy, "x", message="joint.model")


@pytest.mark.parametrize("engine", ["pytorch", "ctranslate2"])
@pytest.mark.parametrize(
    ("size", "message"),
    [
        (-5, "report.json"),
        (10**12, "report.json"),
        (9_000_000, "weights cannot be read: too small for the"),
    ],
)
def test_a_forged_vocabulary_size_takes_no_memory(
    trained_run: RunFolder, tmp_path: Path, engine: str, size: int, message: str
) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(trained_run.path, copy)
    report = json.loads((copy / "data" / "report.json").read_bytes())
    report["vocabulary_size"] = {"source": size, "target": size}
    (copy / "data" / "report.json").write_text(json.dumps(report))
    assert_refused("translate", "--run", copy, "x", "--engine", engine, message=message)


def test_ctranslate2_translates_and_is_scored(trained_run: RunFolder) -> None:
    options = ["--run", trained_run.path, "--engine", "ctranslate2", "--compute-type", "int8"]
    done = nmt("translate", *options, "--n-best", 2, PAIR[0])
    first, _ = text(done.stdout).splitlines()
    assert first.split("\t")[2] == PAIR[1]
    scores = json.loads(nmt("evaluate", *options, "--json").stdout)
    assert scores["bleu"] > 50


def test_export_writes_into_the_run_or_the_given_folder(trained_run: RunFolder) -> None:
    shutil.copytree(trained_run.path, "runs/copy")
    assert text(nmt("export").stdout) == "exported         runs/copy/exported\n"
    assert Path("runs/copy/exported/model.bin").is_file()
    assert_refused("export", "runs/copy", message="runs/copy/exported: already exists")
    nmt("export", "runs/copy", "--format", "ctranslate2", "--output", "elsewhere")
    assert Path("elsewhere/model.bin").is_file()
    message = "there is no folder no; create it first"
    assert_refused("export", "runs/copy", "--output", "no/where", message=message)


def test_export_warns_of_settings_that_it_does_not_support(trained_run: RunFolder) -> None:
    run = RunFolder(Path(shutil.copytree(trained_run.path, "runs/copy")))
    sampling = run.config.decoding.model_copy(update={"temperature": 1.0, "neighbours": 4})
    run.write_config(run.config.model_copy(update={"decoding": sampling}))
    warned = text(nmt("export", run.path, "--output", "sampling").stderr)
    for field in ("decoding.neighbours", "decoding.temperature"):
        assert f"exported without {field}, which the export does not support" in warned


def test_invalid_options_of_engines(trained_run: RunFolder) -> None:
    run = ["--run", trained_run.path]
    message = "--compute-type is for CTranslate2, but the engine is pytorch"
    pytorch = ["--engine", "pytorch", "--compute-type", "int8"]
    assert_refused("translate", *run, "x", *pytorch, message=message)
    message = "CTranslate2 cannot be used: it supports only one run"
    assert_refused("translate", *run, *run, "--engine", "ctranslate2", "x", message=message)


def test_a_datastore_is_built_and_used(a_copy: Path) -> None:
    looked_up = ["translate", *PAIR[:1], "--set", "decoding.neighbours=4"]
    assert_refused(*looked_up, message="needs a datastore; build it with `nmt datastore runs/toy")
    assert text(nmt("datastore").stdout).endswith("positions in runs/toy/datastore.safetensors\n")
    assert text(nmt(*looked_up).stdout) == PAIR[1] + "\n"
    message = "it does not support decoding.neighbours"
    assert_refused(*looked_up, "--engine", "ctranslate2", message=message)


def test_a_datastore_is_built_from_a_corpus_that_has_moved(a_copy: Path, toy_corpus: Path) -> None:
    import shutil

    shutil.copy(toy_corpus, "moved.tsv")
    assert nmt("datastore", a_copy, "--set", "data.path=moved.tsv").returncode == 0
    assert (a_copy / "datastore.safetensors").exists()
    message = "only data.path, the other paths of data, and data.corpora can be set here"
    assert_refused("datastore", a_copy, "--set", "data.seed=3", message=message)


def test_by_default_the_newest_run_with_the_requested_weights_is_used(
    trained_run: RunFolder,
) -> None:
    import shutil

    shutil.copytree(trained_run.path, "runs/older")
    shutil.copytree(trained_run.path, "runs/just-started")
    Path("runs/just-started/best.safetensors").unlink()
    Path("runs/just-started/metrics.jsonl").touch()
    assert text(nmt("translate", PAIR[0]).stdout) == PAIR[1] + "\n"
    assert nmt("evaluate", "--split", "validation").returncode == 0
    message = "no run runs/* with averaged.safetensors here"
    assert_refused("translate", "x", "--weights", "averaged", message=message)


def test_resume_selects_the_newest_run_with_a_checkpoint(trained_run: RunFolder) -> None:
    import shutil

    shutil.copytree(trained_run.path, "runs/older")
    Path("runs/older/best.safetensors").unlink()
    shutil.copytree(trained_run.path, "runs/copied")
    Path("runs/copied/checkpoint.pt").unlink()
    Path("runs/copied/checkpoint.previous.pt").unlink(missing_ok=True)
    Path("runs/copied/metrics.jsonl").touch()
    done = nmt("train", "--resume")
    assert done.returncode == 0
    assert "runs/older is already trained" in text(done.stdout + done.stderr)


def test_debug_shows_the_traceback() -> None:
    command = [sys.executable, "-m", "nmt", "translate", "--run", "nowhere", "x", "--debug"]
    done = subprocess.run(command, capture_output=True, check=False)
    assert "Traceback" in text(done.stderr)


def test_debug_as_text_is_no_option() -> None:
    message = "nowhere: not a run folder"
    assert_refused("translate", "--run", "nowhere", "--", "--debug", message=message)


def test_the_prompt_translates_line_by_line(trained_run: RunFolder) -> None:
    """Standard input is a terminal."""
    import pty

    controller, terminal = pty.openpty()
    command = [sys.executable, "-m", "nmt", "translate", "--run", str(trained_run.path)]
    process = subprocess.Popen(
        [*command, "--scores"], stdin=terminal, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    os.write(controller, b"Ben swims often.\n\x04")
    output, errors = process.communicate(timeout=60)
    assert process.returncode == 0
    *scores, translation = text(output).rstrip("\n").split("\t")
    assert (len(scores), translation) == (2, "Ben schwimmt oft.")
    assert "Ctrl-D quits" in text(errors)
    to_file = subprocess.run([*command, "--output", "x"], stdin=terminal, stderr=subprocess.PIPE)
    assert to_file.returncode == 2
    assert "--output does not work with the prompt" in text(to_file.stderr)


@pytest.fixture
def untrained(in_empty_folder: None, trained_run: RunFolder) -> Path:
    """An untrained run of the same prepared data."""
    copy = RunFolder(Path(shutil.copytree(trained_run.path, "runs/untrained")))
    weights = load_file(copy.weights("best"))
    save_file({name: value * 0 for name, value in weights.items()}, copy.weights("best"))
    return copy.path


def test_an_ensemble_translates(trained_run: RunFolder, untrained: Path) -> None:
    options = ["--engine", "pytorch", "--run", trained_run.path, "--n-best", 1, PAIR[0]]
    rows = [
        text(nmt("translate", *more, *options).stdout).strip().split("\t")
        for more in ([], ["--run", trained_run.path], ["--run", untrained])
    ]
    assert [row[2] for row in rows] == [PAIR[1]] * 3
    alone, twice, diluted = (float(row[1]) for row in rows)
    assert twice == pytest.approx(alone, abs=1e-3)
    assert diluted < alone - 0.1  # the uniform model halves the probabilities


@pytest.mark.parametrize("command", [["translate", "x"], ["evaluate"]])
def test_runs_with_different_preprocessing_cannot_form_an_ensemble(
    command: list[str], trained_run: RunFolder, a_copy: Path
) -> None:
    runs = ["--run", trained_run.path, "--run", a_copy]
    changed = dump_config(trained_run.config).replace("lowercase: none", "lowercase: both")
    (a_copy / "config.yaml").write_text(changed)
    message = f"{a_copy}: cannot form an ensemble with {trained_run.path}"
    assert_refused(*command, *runs, message=message)
    assert_refused(*command, *runs, message="differ in data.lowercase;")
    shutil.copy(trained_run.path / "config.yaml", a_copy / "config.yaml")
    with (a_copy / "data" / "joint.model").open("ab") as file:
        file.write(b"\0")
    assert_refused(*command, *runs, message="differ in joint.model;")


def test_every_run_of_an_ensemble_needs_the_requested_weights(
    trained_run: RunFolder, a_copy: Path
) -> None:
    (a_copy / "last.safetensors").unlink()
    runs = ["--run", trained_run.path, "--run", a_copy, "--weights", "last"]
    message = f"{a_copy}/last.safetensors: no such weights"
    assert_refused("translate", *runs, "x", message=message)
    runs = ["--run", trained_run.path, "--run", "nowhere"]
    assert_refused("translate", *runs, "x", message="nowhere: not a run folder")


# --------------------------------------------------------------------------------------- evaluate


def test_an_ensemble_is_scored(trained_run: RunFolder, untrained: Path) -> None:
    runs = ["--run", trained_run.path, "--run", untrained]
    done = nmt("evaluate", *runs, "--against", trained_run.path, "--json")
    scores = json.loads(done.stdout)
    assert scores["sentences"] == 16
    alone = json.loads(nmt("evaluate", "--run", trained_run.path, "--json").stdout)
    assert scores["against"]["bleu"]["baseline"] == pytest.approx(alone["bleu"])


def test_evaluate_scores_the_test_set(trained_run: RunFolder) -> None:
    done = nmt("evaluate", "--run", trained_run.path)
    assert done.returncode == 0
    assert "16 sentences" in text(done.stdout)
    assert "tok:13a" in text(done.stdout)


def test_evaluate_json_has_scores_and_signatures(trained_run: RunFolder) -> None:
    done = nmt("evaluate", "--run", trained_run.path, "--json", "--output", "hypotheses.txt")
    scores = json.loads(done.stdout)
    assert scores["bleu"] > 60
    assert {type(scores[name]) for name in ("bleu", "chrf", "ter")} == {float}
    assert "bs:1000" in scores["signatures"]["bleu"]
    low, high = scores["intervals"]["bleu"]
    assert low <= scores["bleu"] <= high + 1e-9  # a perfect score is rounded to a little over 100
    assert Path("hypotheses.txt").read_text().count("\n") == 16


def test_evaluate_writes_one_line_per_source(trained_run: RunFolder) -> None:
    Path("in.en").write_text("Anna sings today.\u2028Ben swims often.\n")
    Path("in.de").write_text("Anna singt heute. Ben schwimmt oft.\n")
    files = ["--source", "in.en", "--reference", "in.de", "--output", "out.de"]
    nmt("evaluate", "--run", trained_run.path, *files)
    assert Path("out.de").read_text() == Path("in.de").read_text()


def test_evaluate_scores_files_lowercased_and_with_moses_tokenization(
    trained_run: RunFolder,
) -> None:
    Path("source.txt").write_text("Ben swims often.\nAnna sings today.\n")
    Path("reference.txt").write_text("BEN SCHWIMMT OFT.\nANNA SINGT HEUTE.\n")
    files = ["--source", "source.txt", "--reference", "reference.txt"]
    lower = ["--lowercase", "--tokenize", "moses", "--json"]
    done = nmt("evaluate", "--run", trained_run.path, *files, *lower)
    scores = json.loads(done.stdout)
    assert scores["bleu"] == pytest.approx(100)
    assert "case:lc" in scores["signatures"]["bleu"]
    assert "tok:moses" in scores["signatures"]["bleu"]


def test_comparing_a_run_with_itself_is_not_significant(trained_run: RunFolder) -> None:
    done = nmt("evaluate", "--run", trained_run.path, "--against", trained_run.path)
    assert "not significant" in text(done.stdout)


def test_a_comparison_with_a_run_that_was_trained_on_the_test_set_gives_a_warning(
    trained_run: RunFolder, tmp_path: Path
) -> None:
    other = RunFolder(Path(shutil.copytree(trained_run.path, tmp_path / "other")))
    references = [pair.reference for pair in trained_run.examples("test")]
    keys = np.sort(sentence_keys(references, trained_run.config.data.seed))
    (other.data / "train.target.keys").write_bytes(keys.astype("<i8").tobytes())
    (other.data / "prepared.json").unlink()  # has the checksums
    done = nmt("evaluate", "--run", trained_run.path, "--against", other.path)
    warning = text(done.stderr).splitlines()[0]
    assert f"16 of 16 references occur in the training data of {other.path}, but 0 in" in warning
    assert "favours the former" in warning
    assert nmt("evaluate", "--run", other.path, "--against", other.path).stderr == b""


def test_a_comparison_is_part_of_the_json(trained_run: RunFolder) -> None:
    done = nmt("evaluate", "--run", trained_run.path, "--against", trained_run.path, "--json")
    scores = json.loads(done.stdout)
    assert scores["against"].keys() == LABELS.keys()
    for name, comparison in scores["against"].items():
        assert comparison["baseline"] == comparison["system"] == pytest.approx(scores[name])
        assert (comparison["difference"], comparison["p_value"]) == (0, 1)
    assert "against" not in text(done.stderr)


def test_an_analysis_follows_the_scores(trained_run: RunFolder) -> None:
    options = ["--run", trained_run.path, "--analyse"]
    lines = text(nmt("evaluate", *options).stdout).splitlines()
    assert lines[0] == "16 sentences"
    assert lines.index("BLEU by words in the source") == 1 + len(LABELS)
    found = json.loads(nmt("evaluate", *options, "--json").stdout)
    analysis = found["analysis"]
    assert sum(group["sentences"] for group in analysis["by_length"]) == 16
    assert analysis["by_length"][0]["bleu"] == pytest.approx(found["bleu"])  # all are short
    assert [group["name"] for group in analysis["by_rare_words"]] == ["none"]
    assert analysis["empty"] == analysis["cut"] == 0
    assert len(analysis["worst"]) == 10
    assert "analysis" not in json.loads(nmt("evaluate", *options[:2], "--json").stdout)


def test_files_of_different_lengths_are_refused(trained_run: RunFolder) -> None:
    Path("source.txt").write_text("a\nb\n")
    Path("reference.txt").write_text("a\n")
    files = ["--source", "source.txt", "--reference", "reference.txt"]
    assert_refused("evaluate", "--run", trained_run.path, *files, message="2 lines")


def test_a_source_without_a_reference_is_refused(trained_run: RunFolder) -> None:
    Path("source.txt").write_text("a\n")
    assert_refused(
        "evaluate",
        "--run",
        trained_run.path,
        "--source",
        "source.txt",
        message="must be given together",
    )


def test_a_split_is_for_the_pairs_of_the_run(trained_run: RunFolder) -> None:
    command = ["evaluate", "--run", trained_run.path, "--split", "validation"]
    for others in (["--source", "a", "--reference", "b"], ["--test-set", "wmt20"]):
        assert_refused(*command, *others, message="--split scores held-out pairs of the run")


def test_a_test_set_needs_a_name(trained_run: RunFolder) -> None:
    command = ["evaluate", "--run", trained_run.path, "--test-set", " ,"]
    assert_refused(*command, message="--test-set: no name given; nmt corpora --test-sets lists")


# ------------------------------------------------------------------------------------------- plot


@pytest.fixture
def a_copy(in_empty_folder: None, trained_run: RunFolder) -> Path:
    """A copy of the trained run, to draw into."""
    return Path(shutil.copytree(trained_run.path, "runs/toy"))


def test_attention_is_drawn_into_the_run_folder(a_copy: Path) -> None:
    done = nmt("plot", "attention", PAIR[0])
    path = Path("runs/toy/pictures/attention-clearest.png")
    assert text(done.stdout) == f"picture          {path}\n"
    assert path.read_bytes().startswith(b"\x89PNG")


def test_a_picture_in_the_current_folder_is_reported() -> None:
    done = nmt("plot", "positions", "--columns", "4-7", "--length", "20")
    assert text(done.stdout) == "picture          positions.png in the current folder\n"


@pytest.mark.parametrize("columns", ["4-", "7-4", "x", "1,,2", "0-99", "300"])
def test_invalid_columns_are_refused(columns: str) -> None:
    assert_refused("plot", "positions", "--columns", columns, message="column")
    assert not Path("positions.png").exists()


def test_attention_of_a_truncated_translation_gives_a_warning(trained_run: RunFolder) -> None:
    cut = ["--set", "decoding.max_length_factor=0", "--set", "decoding.max_length_extra=2"]
    done = nmt("plot", "attention", PAIR[0], "--run", trained_run.path, "--json", *cut)
    assert text(done.stderr) == "translation truncated; see decoding.max_length_factor\n"
    assert json.loads(done.stdout)["decoder"]["queries"][-1] == "(cut)"


def test_the_file_extension_selects_svg(trained_run: RunFolder) -> None:
    options = ["--run", trained_run.path, "--kind", "cross", "--output", "a.svg"]
    assert "a.svg in the current folder" in text(nmt("plot", "attention", PAIR[0], *options).stdout)
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


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["attention", "", "--run", "{run}"], "the sentence is empty"),
        (["attention", "x", "--run", "nowhere"], "nowhere: not a run folder"),
        (["attention", "x", "--run", "{run}", "--run", "{run}"], "give a single --run"),
        (["attention", "Anna sings today. " * 20, "--run", "{run}"], "one sentence at a time"),
        (["attention", "x", "--run", "{run}", "-o", "a.jpg"], "ends in .png or .svg"),
        (["attention", "x", "--run", "{run}", "-o", "no/a.png"], "no folder no"),
        (["attention", "x", "--run", "{run}", "-o", "a.png", "--json"], "neither --output"),
        (["training", "nowhere"], "nowhere: not a run folder"),
        (["training"], "or select one with nmt plot training FOLDER"),
        (["positions", "--set", "model.positions=learned"], "select a trained run"),
        (["positions", "--run", "{run}", "--config", "base.yaml"], "not both"),
        (["positions", "--weights", "last"], "add --run, or omit --weights"),
        (["lengths", "--config", "nothing.yaml"], "nothing.yaml not found"),
    ],
)
def test_invalid_arguments_of_plot(
    trained_run: RunFolder, arguments: list[str], message: str
) -> None:
    filled = [argument.format(run=trained_run.path) for argument in arguments]
    assert_refused("plot", *filled, message=message)
    assert list(Path().iterdir()) == []


def test_a_missing_matplotlib_names_its_extra(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.reports.figures.find_spec", lambda name: None)
    assert_refused("plot", "training", trained_run.path, message="pip install 'nmt-trainer[plot]'")


def test_curves_of_one_run_are_saved_in_it_and_of_several_in_the_current_folder(
    a_copy: Path,
) -> None:
    before = RunFolder(a_copy).read_metrics()
    assert text(nmt("plot", "training").stdout).split()[-1] == "runs/toy/pictures/training.png"
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
    assert text(nmt("show").stdout).split()[1] == "runs/newer"


def test_positions_of_a_config_and_of_a_run_are_drawn(a_copy: Path) -> None:
    assert "positions.png in the current folder" in text(nmt("plot", "positions").stdout)
    done = nmt("plot", "positions", "--run", a_copy, "-o", "mine.svg")
    assert done.returncode == 0
    assert "sinusoidal positions, d_model 64" in Path("mine.svg").read_text()


def test_positions_of_a_run_need_no_datastore(a_copy: Path) -> None:
    run = RunFolder(a_copy)
    decoding = run.config.decoding.model_copy(update={"neighbours": 4})
    run.write_config(run.config.model_copy(update={"decoding": decoding}))
    assert not run.datastore.exists()
    assert nmt("plot", "positions", "--run", a_copy).returncode == 0


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


@pytest.mark.parametrize(
    ("command", "place"),
    [
        ("attention", "default: in the run folder's `pictures`."),
        ("training", "for several runs ./training.png."),
        ("positions", "without --run ./positions.png."),
        ("lengths", "default: ./lengths.png."),
    ],
)
def test_help_says_where_each_picture_is_saved(
    command: str, place: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "300")
    assert place in text(nmt("plot", command, "--help").stdout)


def test_plot_lengths_prepares_data_if_necessary(trained_run: RunFolder) -> None:
    Path("mine.yaml").write_text(dump_config(trained_run.config))
    done = nmt("plot", "lengths", "--config", "mine.yaml")
    assert text(done.stdout) == "picture          lengths.png in the current folder\n"
    assert Path("lengths.png").read_bytes().startswith(b"\x89PNG")
    assert Path("data/prepared").is_dir()


# ------------------------------------------------------------------------------------------- runs


def test_runs_and_show(a_copy: Path) -> None:
    head, row = text(nmt("runs").stdout).splitlines()
    assert head.split()[0] == "run"
    best = max(line["bleu"] for line in RunFolder(a_copy).read_metrics())
    assert row.split()[0] == "toy"
    assert f"{best:.2f}" in row
    shown = text(nmt("show", a_copy).stdout)
    assert f"by BLEU on validation: BLEU {best:.2f}, loss " in shown
    assert "best.safetensors" in shown


def test_runs_are_listed_without_torch(a_copy: Path) -> None:
    code = (
        "import sys; from nmt import cli; sys.argv = ['nmt', 'runs']\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
        "print('torch' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert text(done.stdout).splitlines()[-1] == "False"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["runs"], "no runs in runs"),
        (["show"], "or select one with nmt show FOLDER"),
        (["translate", "x"], "or select one with --run FOLDER"),
        (["show", "nowhere"], "nowhere: not a run"),
    ],
)
def test_missing_runs_are_reported(arguments: list[str], message: str) -> None:
    assert_refused(*arguments, message=message)


def test_a_missing_tensorboard_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt.training.tensorboard.find_spec", lambda name: None)
    on = ["--config", "sample.yaml", "--set", "training.tensorboard=true"]
    assert_refused("train", *on, message="pip install 'nmt-trainer[tensorboard]'")
    assert list(Path().iterdir()) == []


def test_no_command_prints_control_characters_from_names_of_folders(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.NOTSET, logger="nmt")  # undone after the test
    monkeypatch.setattr("nmt.cli.runs._can_ask", lambda: True)
    Path("mine.yaml").write_text(dump_config(trained_run.config))
    run, other = Path("runs\x1b[2J", "a\x9bb\nc"), "other\x07"
    brief = [
        part
        for change in ("max_updates=2", "validate_updates=1", "keep_validated=2", "epochs=1000")
        for part in ("--set", f"training.{change}")
    ]
    Path("news.txt").write_text(PAIR[0])
    commands: list[list[object]] = [
        ["train", "--config", "mine.yaml", "--run", run, *brief],
        ["train", "--resume", "--run", run],
        ["average", run, "--last", "2"],
        ["-v", "translate", "--run", run, PAIR[0]],
        ["datastore", run],
        ["export", run],
        ["augment", run, "--input", "news.txt", "--output", f"{other}.tsv"],
        ["plot", "training", run],
        ["plot", "training", run, "--output", f"{other}.svg"],
        ["show", run],
        ["runs", run.parent],
        ["rm", run],
        ["rm", "--yes", run],
    ]
    for command in commands:
        done = nmt(*command, stdin=b"n\n")
        printed = text(done.stdout) + text(done.stderr)
        # After two updates, the run translates too badly for `augment` to keep anything.
        assert done.returncode == (2 if command[0] == "augment" else 0), (command, printed)
        assert not set("\x1b\x9b\x07") & set(printed), (command, printed)
        assert "\\x" in printed, command
    assert not run.exists()


# ------------------------------------------------------------------------------ invalid arguments


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["trian"], " --help"),
        (["translate", "--beam-size", "0", "x"], "--beam-size"),
        (["plot", "attentoin"], " plot --help"),
        (["train", "--no-such-option"], " train --help"),
    ],
)
def test_invalid_arguments_are_reported_in_one_line(arguments: list[str], message: str) -> None:
    assert_refused(*arguments, message=message)


def test_no_command_shows_the_help() -> None:
    done = nmt()
    assert done.returncode == 2
    assert "Usage" in text(done.stdout + done.stderr)


def test_resuming_with_another_configuration_is_refused(
    toy_corpus: Path, trained_run: RunFolder
) -> None:
    shutil.copytree(trained_run.path, "runs/mine")
    Path("mine.yaml").write_text(f"data: {{source: tsv, path: {toy_corpus}}}\n")
    assert_refused("train", "--resume", "--config", "mine.yaml", message="omit --config")


def test_an_invalid_output_path_is_refused(trained_run: RunFolder) -> None:
    evaluate = "evaluate", "--run", trained_run.path, "-o"
    assert_refused(*evaluate, "no/where.txt", message="no folder no")
    assert_refused(*evaluate, ".", message=".: is a folder; name a file to write")


def test_a_closed_output_pipe_is_not_reported_as_an_error() -> None:
    command = [sys.executable, "-m", "nmt", "config", "fields"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout
    process.stdout.close()
    assert process.communicate()[1] == b""
    assert process.returncode == 1


def test_only_similar_options_are_suggested() -> None:
    assert_refused("train", "--bars", message="No such option: --bars; see nmt train --help")
    done = nmt("train", "--dry-rum")
    assert "--dry-run" in text(done.stderr)


def test_a_choice_that_does_not_exist_is_refused() -> None:
    assert_refused("train", "--weights", "x", message="'--weights': 'x' is not one of 'best', ")


def test_n_best_raises_the_beam_size_and_gives_no_empty_translation(trained_run: RunFolder) -> None:
    options = ["--run", trained_run.path, "--n-best", "9", "--beam-size", "3"]
    done = nmt("translate", *options, PAIR[0])
    assert "--n-best 9 raises the beam size to 9" in text(done.stderr)
    assert all(line.split("\t")[2] for line in text(done.stdout).splitlines())


def test_training_suggests_a_sentence_that_the_model_translates_correctly(
    trained_run: RunFolder,
) -> None:
    from nmt.cli.training import _print_next_steps

    with pytest.MonkeyPatch.context() as patch:
        printed: list[str] = []
        patch.setattr("typer.echo", printed.append)
        _print_next_steps(trained_run)
    samples = trained_run.read_metrics()[-1]["samples"]
    right = [s["source"] for s in samples if s["translation"] == s["reference"]]
    assert printed[-1].startswith("translate with   nmt translate --run ")
    assert any(source in printed[-1] for source in right)
