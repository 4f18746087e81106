"""`nmt translate`: arguments, files, options and ensembles."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from nmt.cli.options import TranslatorOptions
from nmt.config.decoding import DecodingConfig
from nmt.config.yaml_files import dump_config
from nmt.runs.folder import RunFolder

from .command_line import PAIR, assert_refused, nmt, text

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_text_after_two_dashes_is_translated_even_if_it_is_an_option(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TQDM_DISABLE", "")
    done = nmt("translate", "--run", trained_run.path, "--", "-q")
    assert done.returncode == 0
    assert text(done.stdout).strip()
    assert os.environ["TQDM_DISABLE"] == ""


def test_arguments_are_translated(trained_run: RunFolder) -> None:
    done = nmt("translate", "--run", trained_run.path, PAIR[0], "Ben swims often.")
    assert text(done.stdout) == "Anna singt heute.\nBen schwimmt oft.\n"
    assert not done.stderr


def test_words_without_quotation_marks_are_told_to_be_translated_one_by_one(
    trained_run: RunFolder,
) -> None:
    done = nmt("translate", "--run", trained_run.path, "Anna", "sings", "today.")
    assert "quotation marks" in text(done.stderr)
    assert not nmt("translate", "--run", trained_run.path, "Anna").stderr


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


def test_a_translation_begins_with_a_prefix(trained_run: RunFolder) -> None:
    done = nmt("translate", "--run", trained_run.path, "--prefix", "Ben si", PAIR[0])
    assert text(done.stdout).startswith("Ben si")
    Path("in.txt").write_text("Ben swims often.\nBen swims often.\n")
    Path("begun.txt").write_text("\nAnna s\n")
    given = ["--input", "in.txt", "--prefix", "begun.txt"]
    free, begun = text(nmt("translate", "--run", trained_run.path, *given).stdout).splitlines()
    assert free == "Ben schwimmt oft."
    assert begun.startswith("Anna s")


def test_a_file_is_translated_into_a_file(trained_run: RunFolder) -> None:
    Path("in.txt").write_text("Ben swims often.\n\nAnna sings today.")
    done = nmt("translate", "--run", trained_run.path, "--input", "in.txt", "--output", "out.txt")
    assert done.returncode == 0
    assert Path("out.txt").read_text() == "Ben schwimmt oft.\n\nAnna singt heute.\n"


def test_the_input_is_not_replaced_by_its_translation(trained_run: RunFolder) -> None:
    Path("in.txt").write_text(PAIR[0])
    Path("link.txt").symlink_to("in.txt")
    os.link("in.txt", "same.txt")
    command = ["translate", "--run", trained_run.path, "--input", "in.txt", "--output"]
    for name in ("in.txt", "link.txt", "same.txt"):
        assert_refused(*command, name, message=f"{name}: is the input; choose another file")
    assert Path("in.txt").read_text() == PAIR[0]


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


def test_a_line_too_long_for_the_model_is_never_dropped(trained_run: RunFolder) -> None:
    longest = "Anna sings today. " * 60
    one_sentence = "Anna and " * 600
    lines = longest, "Ben swims often.", one_sentence
    done = nmt("translate", "--run", trained_run.path, *lines)
    first, second, third = text(done.stdout).splitlines()
    assert first == " ".join(["Anna singt heute."] * 60)
    assert second == "Ben schwimmt oft."
    assert third
    assert "line 3: unusually long, translated in" in text(done.stderr)
    assert "line 1" not in text(done.stderr)


def test_verbose_names_the_characters_that_the_model_cannot_read(trained_run: RunFolder) -> None:
    done = nmt("-v", "translate", "--run", trained_run.path, "Anna sings.", "Anna sings æ today.")
    assert [line for line in text(done.stderr).splitlines() if "cannot read" in line] == [
        "line 2: the model cannot read: æ"
    ]


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


def test_a_run_works_from_another_folder_without_its_corpus(
    trained_run: RunFolder, tmp_path: Path
) -> None:
    copy = tmp_path / "elsewhere" / "copy"
    shutil.copytree(trained_run.path, copy)
    (copy / "checkpoint.pt").unlink()
    settings = (copy / "config.yaml").read_text()
    corpus = str(trained_run.config.data.path)
    assert corpus in settings
    (copy / "config.yaml").write_text(settings.replace(corpus, "/nowhere/toy.tsv"))
    assert text(nmt("translate", "--run", copy, PAIR[0]).stdout) == PAIR[1] + "\n"


def test_input_that_is_not_utf8_is_refused(trained_run: RunFolder) -> None:
    run = ["--run", trained_run.path]
    assert_refused("translate", *run, message="line 1 is not UTF-8", stdin=b"\xff\xfe\n")
    for command in (
        ["translate"],
        ["translate", "--alignment", "x"],
        ["plot", "attention", "--json"],
    ):
        assert_refused(*command, *run, os.fsdecode(b"\xff\xfe"), message="not UTF-8")


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


def test_a_dash_is_standard_input(trained_run: RunFolder) -> None:
    for arguments in (["-"], ["--input", "-"], ["-", "--output", "-"]):
        command = ("translate", "--run", trained_run.path, *arguments)
        done = nmt(*command, stdin=f"{PAIR[0]}\n".encode())
        assert text(done.stdout) == f"{PAIR[1]}\n", done.stderr
    assert not Path("-").exists()


def test_the_beam_size_is_passed_on(trained_run: RunFolder) -> None:
    translator = TranslatorOptions(beam_size=7, device="cpu", engine="pytorch").open(trained_run)
    assert translator.decoding.beam_size == 7


def test_a_configuration_replaces_the_decoding_section(trained_run: RunFolder) -> None:
    Path("short.yaml").write_text("decoding: {max_length_factor: 0.1, max_length_extra: 1}\n")
    options = ("--run", trained_run.path, "--config", "short.yaml")
    assert len(text(nmt("translate", *options, PAIR[0]).stdout)) < len(PAIR[1])
    longer = ("--set", "decoding.max_length_extra=20")
    assert text(nmt("translate", *options, *longer, PAIR[0]).stdout) == PAIR[1] + "\n"
    scores = [
        json.loads(nmt("evaluate", *given, "--json").stdout)["bleu"]
        for given in (options, options[:2])
    ]
    assert scores[0] < scores[1]


def test_a_configuration_without_a_decoding_section_replaces_nothing(a_copy: Path) -> None:
    run = RunFolder(a_copy)
    narrow = run.config.model_copy(update={"decoding": DecodingConfig(beam_size=1)})
    run.write_config(narrow)
    Path("other.yaml").write_text("training: {epochs: 1}\n")
    options = TranslatorOptions(config="other.yaml", device="cpu")
    assert options.open(RunFolder(a_copy)).decoding.beam_size == 1


def test_by_default_the_newest_run_with_the_requested_weights_is_used(
    trained_run: RunFolder,
) -> None:
    shutil.copytree(trained_run.path, "runs/older")
    shutil.copytree(trained_run.path, "runs/just-started")
    Path("runs/just-started/best.safetensors").unlink()
    Path("runs/just-started/metrics.jsonl").touch()
    assert text(nmt("translate", PAIR[0]).stdout) == PAIR[1] + "\n"
    assert nmt("evaluate", "--split", "validation").returncode == 0
    message = "no run runs/* with ema.safetensors here"
    assert_refused("translate", "x", "--weights", "ema", message=message)


def test_a_run_without_a_validation_is_refused_with_the_command_that_continues_it(
    trained_run: RunFolder,
) -> None:
    run = shutil.copytree(trained_run.path, "runs/interrupted")
    for name in ("best.safetensors", "metrics.jsonl"):
        Path(run, name).unlink()
    command = "nmt train --resume --run runs/interrupted, or "
    assert_refused("translate", "x", message=command)
    assert_refused("translate", "x", "--run", run, message=f"{command}use --weights last")


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
    assert_refused(*command, *runs, message="data.lowercase;")
    shutil.copy(trained_run.path / "config.yaml", a_copy / "config.yaml")
    vocabulary = (a_copy / "data" / "joint.model").read_bytes()
    (a_copy / "data" / "joint.model").write_bytes(vocabulary + b"\0")
    assert_refused(*command, *runs, message="joint.model;")
    (a_copy / "data" / "joint.model").write_bytes(vocabulary)
    (a_copy / "last.safetensors").unlink()
    assert_refused(*command, *runs, "--weights", "last", message=f"{a_copy}/last.safetensors: ")


@pytest.mark.parametrize("beam_size", ["3", "9"])
def test_n_best_raises_the_beam_size_and_gives_no_empty_translation(
    trained_run: RunFolder, beam_size: str
) -> None:
    options = ["--run", trained_run.path, "--n-best", "9", "--beam-size", beam_size]
    done = nmt("translate", *options, PAIR[0])
    assert done.returncode == 0
    assert ("raises the beam size to 9" in text(done.stderr)) == (beam_size == "3")
    lines = text(done.stdout).splitlines()
    assert lines
    assert all(line.split("\t")[2] for line in lines)


def test_a_file_is_translated_with_progress(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.progress._DELAY", 0)
    Path("in.txt").write_text(f"{PAIR[0]}\n" * 1025)
    command = ["translate", "--run", trained_run.path, "--output", "out.de"]
    done = nmt(*command, "--input", "in.txt")
    assert "translating: 100%|" in text(done.stderr)
    assert "| 1,025/1,025 lines [" in text(done.stderr)
    done = nmt(*command, stdin=b"Ben swims often.\n")
    assert "translating: 1 lines [" in text(done.stderr)


WRAPPED = "Ben reads often, and in the evening he likes to swim\nwith Ida."


def test_lines_that_were_wrapped_are_joined_in_txt(trained_run: RunFolder) -> None:
    command = ["translate", "--run", trained_run.path, "--input"]
    Path("my mail.txt").write_text(f"Anna sings today.\n\n{WRAPPED}\n")
    done = nmt(*command, "my mail.txt", "--output", "out")
    assert text(done.stderr).count("my mail.txt: sentences continue on the next line") == 1
    assert text(done.stderr).splitlines()[0].endswith(": nmt translate < 'my mail.txt'")
    texts = ["Anna sings today.", WRAPPED.replace("\n", " ")]
    wanted = text(nmt("translate", "--run", trained_run.path, *texts).stdout).splitlines()
    first, blank, *rest = Path("out").read_text().splitlines()
    assert [first, blank, " ".join(rest)] == [wanted[0], "", wanted[1]]
    Path("my mail.txt").write_text(f"Anna sings today.\n\n{WRAPPED.replace('with', 'With')}\n")
    assert "continue" not in text(nmt(*command, "my mail.txt").stderr)


@pytest.mark.parametrize(
    ("options", "remedy"),
    [(["in"], "name the file .txt"), (["in.txt", "--scores"], "omit --scores")],
)
def test_sentences_that_continue_on_the_next_line_come_with_a_warning(
    trained_run: RunFolder, options: list[str], remedy: str
) -> None:
    Path(options[0]).write_text(f"Anna sings today.\n\n{WRAPPED}\n")
    done = nmt("translate", "--run", trained_run.path, "--input", *options)
    assert len(text(done.stdout).splitlines()) == 4
    line = text(done.stderr).splitlines()[0]
    assert line.startswith(f"{options[0]}: the sentence on line 3 continues on the next")
    assert line.endswith(remedy)


@pytest.mark.parametrize("name", ["in.txt", "in.md"])
def test_text_in_the_target_language_comes_with_a_warning(
    trained_run: RunFolder, name: str
) -> None:
    command = ["translate", "--run", trained_run.path, "--input", name]
    Path(name).write_text("Das ist nicht von mir.\n")
    message = f"{name}: seems to be in de, but {trained_run.path} translates from en; if so, use"
    assert message in text(nmt(*command).stderr)
    Path(name).write_text(PAIR[0])
    assert text(nmt(*command).stderr) == ""


def test_advised_commands_quote_the_folder(trained_run: RunFolder) -> None:
    folder = shutil.copytree(trained_run.path, "my run")
    start = ["translate", "--run", folder, PAIR[0]]
    assert_refused(*start, "--weights", "checkpoint_average", message="nmt average 'my run'")
    neighbours = ["--set", "decoding.knn_k=4"]
    assert_refused(*start, *neighbours, message="nmt datastore 'my run' --weights best")


def test_a_glossary_prescribes_translations_and_tells_what_it_could_not_place(
    trained_run: RunFolder,
) -> None:
    Path("terms.tsv").write_text("swim\tschwimmen\nBen\tAnna\n")
    arguments = ["translate", "--run", trained_run.path, "--glossary", "terms.tsv"]
    done = nmt(*arguments, "Ben swims often.", "Anna sings today.")
    first, second = text(done.stdout).splitlines()
    assert "Anna" in first
    assert second == PAIR[1]
    done = nmt(*arguments, "--set", "decoding.temperature=1e-3", "Ben swims often.")
    assert "Ben → Anna" in text(done.stderr)
    done = nmt(*arguments, "--alignment", "--set", "decoding.temperature=1e-3", "Ben swims often.")
    assert "Ben → Anna" in text(done.stderr)
    Path("terms.tsv").write_text("swim\n")
    assert_refused(*arguments, "Ben swims often.", message="terms.tsv: line 1")


def test_why_a_term_could_not_be_placed_is_told(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "nmt.decoding.translator.Translator.out_of_vocabulary", lambda self, terms: ["ę"]
    )
    Path("terms.tsv").write_text("Ben\tBęn\n", encoding="utf-8")
    arguments = ["translate", "--run", trained_run.path, "--glossary", "terms.tsv"]
    done = nmt(*arguments, "--set", "decoding.temperature=1e-3", "Ben swims often.")
    assert "Ben → Bęn; the model does not know ę" in text(done.stderr)


def test_what_stands_in_the_memory_is_not_translated(trained_run: RunFolder) -> None:
    Path("memory.tsv").write_text("Ben swims often.\tBen geht schwimmen.\n")
    arguments = ["translate", "--run", trained_run.path, "--memory", "memory.tsv"]
    done = nmt(*arguments, "-v", PAIR[0], "ben swims often!", "")
    assert text(done.stdout) == f"{PAIR[1]}\nBen geht schwimmen!\n\n"
    assert "line 2 is from the memory" in text(done.stderr)
