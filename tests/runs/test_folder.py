"""Run folders: naming, numbering, finding, and their files."""

import json
import math
import os
import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from unittest.mock import Mock

import pytest

from nmt.config.config import Config
from nmt.config.yaml_files import load_config
from nmt.corpus.prepared import PreparedData
from nmt.corpus.preparing.manifest import run_files
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.tokenizers.registry import load_tokenizers
from nmt.errors import UserError
from nmt.files.output_files import replacing
from nmt.runs.finding import last_change, newest_run, newest_training, open_run
from nmt.runs.folder import RunFolder, score_of
from nmt.runs.lifecycle import claimed, create_run, delete_run, discard_beginning

pytestmark = pytest.mark.usefixtures("in_empty_folder")
SAMPLES = [{"source": "a\u2028b", "reference": "x\x85y", "translation": "„c“"}]
MEASURES = ("learning_rate", "train_loss", "train_accuracy", "loss", "perplexity", "accuracy")
NUMBERS = dict.fromkeys(("minutes", *MEASURES, "bleu"), 0.5)
LINES = [
    {"update": 1, "epoch": 1, **NUMBERS, "samples": SAMPLES},
    {"update": 2, "epoch": 1, **NUMBERS, "bleu": 9.5, "samples": []},
]
VALIDATION = {"update": 1, "epoch": 1, **NUMBERS, "loss": 4.0, "bleu": 1.0, "samples": []}


@pytest.fixture
def config(toy_config: Callable[..., Config]) -> Config:
    return toy_config(training={"epochs": 7})


@pytest.fixture
def run(config: Config, prepared: PreparedData) -> RunFolder:
    return create_run(Path("runs/a"), config, prepared)


@pytest.fixture
def prepared(config: Config, tmp_path: Path) -> PreparedData:
    return prepare(config, tmp_path / "prepared")


def make_run(name: str, changed: int, *, file: str = "config.yaml") -> Path:
    """Create a folder that looks like a run last changed at the given time, with this file."""
    path = Path("runs", name)
    path.mkdir(parents=True, exist_ok=True)
    for each in ("config.yaml", file):
        (path / each).touch()
        os.utime(path / each, (changed, changed))
    return path


def limit_while_learning(folder: Path, changes: list[str], *lines: dict[str, object]) -> str:
    """Return the limit that a run with these settings and validations could raise."""
    run = RunFolder(folder)
    run.write_config(load_config("sample.yaml", [f"training.{change}" for change in changes]))
    run.write_metrics([{**VALIDATION, "update": n, **line} for n, line in enumerate(lines, 1)])
    return run.limit_while_learning()


# -------------------------------------------------------------------------- creating and opening


def test_a_new_run_contains_config_and_text_but_no_ids(config, prepared, run):
    names = "frequent_words.json joint.model prepared.json report.json target.model"
    names += " target_words.json test.jsonl train.target.keys validation.jsonl"
    found = {path.relative_to("runs/a").as_posix() for path in run.path.rglob("*.*")}
    assert found == {"config.yaml", "run.json", *(f"data/{name}" for name in names.split())}
    assert run.config == config
    assert run.examples("test") == prepared.examples("test")
    assert run.read_metrics() == []


def test_a_run_keeps_a_copy_of_its_glossary(config, prepared):
    Path("terms.TSV").write_text("bill\tRechnung\n")
    decoding = config.decoding.model_copy(update={"glossary": Path("terms.TSV")})
    config = config.model_copy(update={"decoding": decoding})
    run = create_run(Path("a"), config, prepared)
    Path("terms.TSV").unlink()
    run.write_config(run.config)  # as resuming does
    assert run.glossary == Path("a/glossary.tsv")
    assert run.glossary.read_text() == "bill\tRechnung\n"
    with pytest.raises(UserError, match=r"terms\.TSV"):
        create_run(Path("b"), config, prepared)


def test_data_that_was_prepared_again_meanwhile_is_refused(config, prepared):
    with pytest.raises(UserError, match="prepared again"):
        create_run(Path("a"), config, replace(prepared, fingerprint="another"))


def test_an_existing_file_or_folder_is_refused_and_kept(config, prepared):
    Path("empty").mkdir()
    assert create_run(Path("empty"), config, prepared).config == config
    for place in ("folder/notes.txt", "file"):
        path = Path(place.partition("/")[0])
        Path(place).parent.mkdir(exist_ok=True)
        Path(place).write_text("mine")
        with pytest.raises(UserError, match=f"{path}: already exists"):
            create_run(path, config, prepared)
        assert Path(place).read_text() == "mine"
        assert not (path / "config.yaml").exists()


def test_weights_of_older_runs_are_found_by_their_former_names(tmp_path):
    run = RunFolder(tmp_path)
    (tmp_path / "averaged.safetensors").touch()
    assert run.weights("ema") == tmp_path / "averaged.safetensors"
    (tmp_path / "ema.safetensors").touch()
    assert run.weights("ema") == tmp_path / "ema.safetensors"


def test_opening_a_folder_without_a_run_is_refused():
    Path("a").mkdir()
    Path("link").symlink_to("nowhere")
    for name in ("a", "nowhere", "link"):
        with pytest.raises(UserError, match=f"^{name}: .*nmt runs"):
            open_run(name)


def test_a_run_of_a_later_format_is_refused(run):
    (run.path / "run.json").write_text('{"format": 99, "nmt": "7.1", "more": []}')
    for open_it in (lambda: open_run(run.path), lambda: newest_run("config.yaml")):
        with pytest.raises(UserError, match=r"^runs/a: .*nmt 7\.1 in format 99"):
            open_it()


@pytest.mark.parametrize("content", ["", "[]", '{"format": "new"}', '{"format": 0}'])
def test_a_damaged_format_version_is_reported(run, content):
    (run.path / "run.json").write_text(content)
    with pytest.raises(UserError, match=r"a/run\.json: damaged"):
        open_run(run.path)


def test_a_run_without_a_format_version_can_be_opened(config, run):
    (run.path / "run.json").unlink()
    file = run.path / "config.yaml"
    file.write_text(file.read_text().replace("data:\n", "data:\n  name_copies: 0.5\n"))
    assert open_run(run.path).config == config


@pytest.mark.parametrize("content", [b"{", b"{}", b"[]", None])
def test_damaged_data_of_a_run_is_reported_with_a_remedy_other_than_prepare(config, run, content):
    run.checkpoint.touch()
    readers = {
        "test.jsonl": lambda: run.examples("test"),
        "report.json": lambda: run.report,
        "joint.model": lambda: load_tokenizers(config.data, config.tokenizer, run.data),
    }
    for name in readers:
        (run.data / name).unlink()
        if content:
            (run.data / name).write_bytes(content)
    for name, read in readers.items():
        with pytest.raises(UserError, match=f"^runs/a/data/{name}: cannot be read: .*; copy "):
            read()


def test_a_changed_held_out_sentence_is_noticed(run):
    path = run.data / "test.jsonl"
    text = path.read_text("utf-8")
    path.write_text(text.replace(run.examples("test")[0].reference, "etwas anderes"), "utf-8")
    with pytest.raises(UserError, match=r"test\.jsonl: .*damaged \(checksum mismatch\)"):
        run.examples("test")


# -------------------------------------------------------------------------------- choosing a run


def test_without_a_path_the_most_recently_changed_run_is_opened():
    make_run("b", 3000)
    make_run("a", 9000)
    make_run("c", 6000)
    assert newest_run("config.yaml").path == Path("runs/a")
    (Path("runs/b") / "metrics.jsonl").touch()
    assert newest_run("config.yaml").path == Path("runs/b")


@pytest.mark.parametrize(
    "name",
    [
        *(".checkpoint.pt.partial", ".lock", "pictures/training.png"),
        *("datastore.safetensors", "checkpoint_average.safetensors"),
    ],
)
def test_what_is_written_without_training_does_not_count_as_changes(name):
    path = make_run("a", 3000)
    (path / name).parent.mkdir(exist_ok=True)
    (path / name).touch()
    assert last_change(path) == 3000


@pytest.mark.parametrize(
    "content",
    [
        *("", "model:\n  initialization: xavier_unifo", "\xff"),
        "decoding: {beam_size: 0, max_length_extra: 0}",
    ],
)
def test_every_mistake_in_the_configuration_of_a_run_is_named(content):
    path = make_run("a (copy)", 3000)
    (path / "config.yaml").write_bytes(content.encode("latin-1"))
    with pytest.raises(UserError, match=r"; .*copy the run folder again") as caught:
        RunFolder(path).config  # noqa: B018
    lines = str(caught.value).splitlines()
    assert all(line.startswith(f"{path}/config.yaml: ") for line in lines)
    named = re.findall(r"decoding\.(\w+): 0", str(caught.value))
    assert named == re.findall(r"(\w+): 0", content)


def test_files_that_disappear_meanwhile_are_ignored(monkeypatch):
    path = make_run("a", 3000)
    (path / "gone-before").symlink_to("nowhere")
    (path / "gone-after").touch()
    stat = Path.stat

    def stat_and_delete(self: Path, **options: bool) -> os.stat_result:
        found = stat(self, **options)
        if self.name == "gone-after":
            os.utime(self, (1000, 1000))
            found = stat(self, **options)
            self.unlink()
        return found

    monkeypatch.setattr(Path, "stat", stat_and_delete)
    assert last_change(path) == 3000


def test_runs_without_the_requested_file_are_ignored():
    make_run("a", 3000, file="last.safetensors")
    make_run("just-started", 9000, file="checkpoint.pt")
    assert newest_run("last.safetensors").path == Path("runs/a")
    assert newest_run("checkpoint.pt").path == Path("runs/just-started")
    for file, remedy in (
        ("best.safetensors", "train"),
        ("checkpoint_average.safetensors", "nmt average"),
        ("ema.safetensors", "training.average_decay"),
    ):
        with pytest.raises(UserError, match=rf"{re.escape(file)} here; .*{re.escape(remedy)}"):
            newest_run(file)


def test_a_run_whose_data_is_being_prepared_is_not_to_be_resumed():
    run = RunFolder(make_run("a", 1))
    run.write_config(load_config("sample.yaml"))
    with pytest.raises(UserError, match="no checkpoint"):
        run.report  # noqa: B018
    with run.held(), pytest.raises(UserError, match="a: is being prepared"):
        run.report  # noqa: B018


def test_a_full_disk_keeps_the_metrics(full_disk):
    run = RunFolder(make_run("a", 1))
    run.write_metrics([VALIDATION])
    before = run.metrics.read_bytes()
    with full_disk(10), pytest.raises(UserError, match="cannot be written"):
        run.write_metrics([VALIDATION] * 100)
    assert run.metrics.read_bytes() == before


def test_newest_training_considers_only_numbered_runs_of_that_name():
    for number, name in enumerate(["base", "base-2", "base-large", "base-8k", "other", "mine[2]"]):
        make_run(name, 3000 + number, file="checkpoint.pt")
    make_run("mine2", 9000, file="checkpoint.pt")
    Path("runs/base-3").mkdir()
    assert newest_training("base").path == Path("runs/base-2")
    assert newest_training("mine[2]").path == Path("runs/mine[2]")


def test_a_previous_checkpoint_is_enough_to_resume():
    make_run("a", 1, file="checkpoint.previous.pt")
    assert newest_training().path == Path("runs/a")


@pytest.mark.parametrize("folder", [".", "runs", "runs/a"])
def test_the_absence_of_runs_is_reported(folder):
    Path(folder).mkdir(parents=True, exist_ok=True)
    with pytest.raises(UserError, match=r"no run .*nmt train"):
        newest_run("config.yaml")


# ----------------------------------------------------------------------------- claiming a folder


def claim(name: str) -> Path:
    """Claim a folder for a new run of this name, release it, and return it."""
    with claimed(Path("runs", name), numbered=True) as run:
        return run.path


def test_a_new_run_gets_the_first_free_number():
    assert claim("base") == Path("runs/base")
    assert claim("rate-0.001") == Path("runs/rate-0.001")
    make_run("base", 1)
    assert claim("base") == Path("runs/base-2")
    make_run("base-3", 1)
    assert claim("base") == Path("runs/base-2")
    make_run("base-2", 1)
    assert claim("base") == Path("runs/base-4")


def test_choosing_a_name_claims_it():
    with claimed(Path("runs/base"), numbered=True) as first:
        assert claim("base") == Path("runs/base-2")
        with pytest.raises(UserError, match="another process is training"), claimed(first.path):
            pass
    assert claim("base") == Path("runs/base")


def test_claiming_an_existing_run_or_a_broken_link_is_refused():
    path = make_run("base", 1)
    Path("link").symlink_to("nowhere")
    for place, reason in ((path, "already exists"), (Path("link"), "broken link")):
        with pytest.raises(UserError, match=f"{place}: .*{reason}"), claimed(place):
            pass
    assert [file.name for file in path.iterdir()] == ["config.yaml"]


def test_a_run_killed_before_its_first_checkpoint_can_start_again(run):
    assert run.has_only_begun
    assert newest_training().path == claim("a") == run.path
    run.checkpoint.touch()
    assert not run.has_only_begun
    assert claim("a") == Path("runs/a-2")


def test_a_run_killed_while_its_data_was_copied_says_how_to_start_it_again(
    config, prepared, monkeypatch
):
    run = RunFolder(Path("run"))
    run.path.mkdir()
    run.write_config(config)
    for copied in range(len(run_files(prepared.folder))):
        copies = [Mock(side_effect=KeyboardInterrupt), *[replacing] * copied]
        with monkeypatch.context() as patched:
            patched.setattr("nmt.runs.lifecycle.replacing", lambda path, c=copies: c.pop()(path))
            with pytest.raises(KeyboardInterrupt):
                create_run(run.path, config, prepared)
        assert len(list(run.data.iterdir())) == copied
        with pytest.raises(UserError, match="nmt train --resume --run run"):
            _ = RunFolder(run.path).report


def test_a_run_whose_checkpoint_and_weights_were_deleted_is_not_taken_over(run):
    assert run.has_only_begun
    run.metrics.write_text("{}\n")  # of the first validation, which follows the first checkpoint
    assert not run.has_only_begun
    run.metrics.unlink()
    run.validated_weights(10).parent.mkdir()
    run.validated_weights(10).touch()
    assert claim("a") == Path("runs/a-2")


def test_copies_of_kept_weights_are_ignored():
    folder = Path("run/validated")
    folder.mkdir(parents=True)
    for name in ("400", "400-old", "1000", "4²"):
        (folder / f"{name}.safetensors").touch()
    assert [path.stem for path in RunFolder(Path("run")).validated()] == ["400", "1000"]


def test_a_killed_deletion_leaves_no_run_and_the_next_one_finishes_it(
    config, prepared, run, monkeypatch
):
    second = create_run(Path("runs/b"), config, prepared)
    with monkeypatch.context() as patch:
        patch.setattr("nmt.runs.lifecycle.shutil.rmtree", Mock(side_effect=KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            delete_run(run)
    assert [path.name for path in Path("runs").iterdir() if path.name[0] != "."] == ["b"]
    assert newest_run("config.yaml").path == second.path
    assert claim("a") == run.path
    delete_run(second)
    assert not [path for path in Path("runs").iterdir() if path != run.path]


def test_a_run_that_is_partly_read_only_is_not_half_deleted(run, monkeypatch):
    before = sorted(Path().rglob("*"))
    monkeypatch.setattr("nmt.runs.lifecycle.os.access", lambda path, mode: path != run.data)
    with pytest.raises(UserError, match=r"^runs/a: not deleted, because runs/a/data is read-only"):
        delete_run(run)
    assert sorted(Path().rglob("*")) == before


def test_a_folder_with_a_lock_and_a_partial_header_is_free():
    Path("runs/a").mkdir(parents=True)
    for name in (".lock", ".run.json.123.partial"):
        Path("runs/a", name).touch()
    with claimed(Path("runs/a")) as run:
        assert [path.name for path in run.path.iterdir()] == [".lock"]


@pytest.mark.parametrize("content", ["", "{}", '{"format": "png", "nmt": "x"}', '{"runs": 3}'])
def test_a_folder_of_another_program_is_refused_untouched(content):
    Path("work/data").mkdir(parents=True)
    Path("work/run.json").write_text(content)
    Path("work/data/mine.txt").write_text("precious")
    with pytest.raises(UserError, match="work: already exists"), claimed(Path("work")):
        pass
    assert Path("work/data/mine.txt").read_text() == "precious"


@pytest.mark.parametrize("name", ["checkpoint.pt", "checkpoint.previous.pt", "best.safetensors"])
def test_only_a_run_without_results_is_discarded(config, run, name):
    (run.path / name).touch()
    discard_beginning(run)
    assert run.config == config
    (run.path / name).unlink()
    discard_beginning(run)
    assert not run.path.parent.exists()  # ./runs, which has no other run


def test_partial_files_of_killed_processes_are_deleted_when_a_run_is_locked():
    path = make_run("a", 1)
    (path / "validated").mkdir()
    (path / "validated" / "5.safetensors").touch()
    own = ("run.json", "config.yaml", "metrics.jsonl", "updates.jsonl", "checkpoint.pt")
    for name in (*own, "best.safetensors", "datastore.safetensors"):
        (path / f".{name}.123.partial").touch()
    for name in ("validated/.10.safetensors.123.partial", ".tmpw3Kx9Q", "validated/.tmpROkRPK"):
        (path / name).touch()
    with RunFolder(path).held():
        files = {str(file.relative_to(path)) for file in path.rglob("*") if file.is_file()}
        assert files == {".lock", "config.yaml", "validated/5.safetensors"}


def test_locking_a_run_keeps_the_partial_output_of_another_process():
    path = make_run("a", 1)
    with replacing(path / "translations.txt") as partial:  # as `nmt translate --output` does
        partial.write_text("Hallo!")
        with RunFolder(path).held():
            assert partial.exists()
    assert (path / "translations.txt").read_text() == "Hallo!"


# --------------------------------------------------------------------------------------- metrics


def test_metrics_are_written_and_read_unchanged():
    run = RunFolder(Path())
    for lines in (LINES, LINES[:1], []):
        run.write_metrics(lines)
        assert run.read_metrics() == lines


def test_metrics_of_other_versions_can_be_read():
    run = RunFolder(Path())
    run.write_config(Config())
    stored = [{"update": 3, "comet": [1, "new"]}, {"update": 4, "bleu": 9.5}, {"update": 5}]
    run.metrics.write_text("".join(json.dumps(line) + "\n" for line in stored))
    lines = run.read_metrics()
    assert [(line["epoch"], line["samples"]) for line in lines] == [(0, [])] * 3
    assert math.isnan(lines[0]["loss"])
    assert run.best_validation(lines)["update"] == 4
    run.write_metrics(lines)
    written = [json.loads(line) for line in run.metrics.read_text().splitlines()]
    assert written == [{"epoch": 0, "samples": []} | line for line in stored]


def changed(**fields: object) -> bytes:
    return json.dumps(LINES[0] | fields).encode() + b"\n"


@pytest.mark.parametrize(
    "line",
    [
        *(b'{"update": 3, "lo', b"\xff\n", b"\n", b"{}\n", b"[]\n", b"7\n", b"[" * 100_000 + b"\n"),
        *(b'{"update": "3"}\n', b'{"update": 3, "epoch": 1.5}\n', changed(samples=[1])),
        *(changed(bleu=10**400), changed(update=10**400), changed(loss=float("nan"))),
    ],
)
def test_damaged_metrics_are_refused_in_one_line(line):
    run = RunFolder(Path())
    run.write_metrics(LINES)
    run.metrics.write_bytes(run.metrics.read_bytes() + line)
    with pytest.raises(UserError, match=rf"metrics\.jsonl: .*line {len(LINES) + 1}") as caught:
        run.read_metrics()
    assert "\n" not in str(caught.value)


def test_a_run_records_the_configuration_and_overrides_of_its_start_and_resumption():
    Path("mine.yaml").write_text("training: {seed: 3}\n")
    run = RunFolder(Path("run"))
    run.path.mkdir()
    run.write_config(load_config("mine.yaml", ["training.epochs=2", "model.heads=2"]))
    resumed = load_config(run.path / "config.yaml", ["training.epochs=5"])
    assert resumed == load_config("mine.yaml", ["training.epochs=5", "model.heads=2"])
    assert run.config.training.epochs == 2
    run.write_config(resumed)
    assert run.config == resumed
    assert run.origin.file == "mine.yaml"
    assert run.origin.overrides == ("training.epochs=5", "model.heads=2")


@pytest.mark.parametrize(
    ("losses", "schedule", "field"),
    [
        ([3.0, 2.0], "constant", "training.max_updates"),
        ([3.0, 2.0], "cosine", ""),  # the schedule was complete
        ([2.0, 1.99], "constant", ""),  # hardly improving
        ([2.0, 3.0], "constant", ""),
        ([2.0], "constant", ""),
        ([], "constant", ""),
    ],
)
def test_limit_while_learning_names_the_limit_only_if_the_loss_still_fell(
    losses, schedule, field, tmp_path
):
    changes = [f"max_updates={len(losses) or 1}", f"schedule={schedule}"]
    lines = ({"loss": loss} for loss in losses)
    assert limit_while_learning(tmp_path, changes, *lines) == field


@pytest.mark.parametrize(
    ("epoch", "bleu", "field"), [(4, 8.0, "training.epochs"), (2, 8.0, ""), (4, 9.0, "")]
)
def test_a_run_that_target_bleu_ended_has_no_limit_to_raise(epoch, bleu, field, tmp_path):
    changes = ["epochs=4", "max_updates=null", "schedule=constant", "target_bleu=9"]
    lines = ({"epoch": n * epoch // 2, "loss": 4 - n, "bleu": bleu} for n in (1, 2))
    assert limit_while_learning(tmp_path, changes, *lines) == field


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ([], "training.max_updates"),
        (["patience=2"], "training.max_updates"),  # waits for minima of the loss
        (["target_bleu=7"], ""),
    ],
)
def test_a_run_that_has_met_its_goal_at_the_last_update_has_no_limit_to_raise(
    settings, field, tmp_path
):
    changes = ["max_updates=3", "schedule=constant", "best=bleu", *settings]
    lines = ({"loss": 3 - n, "bleu": bleu} for n, bleu in enumerate([8.0, 7.0, 7.0]))
    assert limit_while_learning(tmp_path, changes, *lines) == field


@pytest.mark.parametrize(
    ("losses", "field"),
    [([3.0, 2.99, 2.98], "training.patience"), ([3.0, 2.98, 2.99], ""), ([3.0, 3.1, 3.2], "")],
)
def test_patience_that_ended_training_is_named_if_the_loss_still_fell(losses, field, tmp_path):
    changes = ["max_updates=null", "patience=2", "best=bleu"]
    lines = ({"loss": loss, "bleu": 8.0 - n} for n, loss in enumerate(losses))
    assert limit_while_learning(tmp_path, changes, *lines) == field


def test_chrf_selects_weights_where_bleu_cannot_score_the_language(tmp_path):
    run = RunFolder(tmp_path)
    run.write_config(Config())
    lines = [{**VALIDATION, "update": n, "bleu": 9.0 - n, "chrf": 20.0 + n} for n in (1, 2)]
    run.write_metrics(lines)
    best = run.best_validation(run.read_metrics())
    assert (best["update"], score_of(best)) == (2, "chrF 22.00")
