"""`prepare`, from corpus to folder: its files, when it is skipped, and its errors."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import product
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from nmt.config.config import Config
from nmt.config.yaml_files import dump_config, load_config, parse_config
from nmt.corpus.prepared import Sequences
from nmt.corpus.preparing import prepare as module
from nmt.corpus.preparing.manifest import MANIFEST, run_files
from nmt.corpus.preparing.prepare import default_folder, prepare
from nmt.corpus.sources.readers import read_tsv
from nmt.corpus.sources.registry import open_corpora
from nmt.errors import UserError
from nmt.special_tokens import PLACEHOLDERS, UNK

from ..conftest import (
    Make,
    assert_disjoint,
    contents,
    given,
    held_out,
    refusal,
    sentence_pairs,
    train_pairs,
    write_tsv,
)

FullDisk = Callable[[int], AbstractContextManager[None]]


WORDS = {"kind": "whitespace"}


def with_tokenizer(config: Config, tokenizer: dict[str, Any]) -> Config:
    return parse_config({**config.model_dump(mode="json"), "tokenizer": tokenizer}, "test")


def state(folder: Path) -> dict[str, tuple[int, int]]:
    """Return a value that changes when any file of the folder is rewritten."""
    return {p.name: (p.stat().st_ino, p.stat().st_mtime_ns) for p in folder.iterdir()}


def names(folder: Path) -> list[str]:
    """Return the names of the files in a folder, except locks."""
    return sorted(p.name for p in folder.iterdir() if p.suffix != ".lock")


@pytest.fixture
def out(tmp_path: Path) -> Path:
    return tmp_path / "out"


@pytest.fixture
def old(make_config: Make, tmp_path: Path) -> Path:
    """A folder of prepared data, beside the corpus."""
    return prepare(make_config(), tmp_path / "old").folder


# ---------------------------------------------------------------------------------------- contents


def test_the_folder_contains_all_files_and_nothing_else(make_config: Make, tmp_path: Path) -> None:
    prepared = prepare(make_config(), tmp_path / "new" / "folder")
    assert prepared.folder == tmp_path / "new" / "folder"
    parts = product(("train", "validation"), ("source", "target"), ("ids", "offsets"))
    others = ["joint.model", "prepared.json", "report.json", "test.jsonl", "validation.jsonl"]
    others += ["frequent_words.json", "target.model", "target_words.json", "train.target.keys"]
    assert names(prepared.folder) == sorted([*map(".".join, parts), *others])
    assert names(prepared.folder.parent) == ["folder"]


def test_all_files_are_on_the_disk_before_the_folder_counts_as_complete(
    make_config: Make, out: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flushed = set()

    def fsync(descriptor: int) -> None:
        assert not out.exists()
        flushed.add(os.fstat(descriptor).st_ino)

    monkeypatch.setattr(os, "fsync", fsync)
    prepare(make_config(), out)
    assert flushed == {path.stat().st_ino for path in out.iterdir()}


def test_capitals_are_learned_only_from_the_training_pairs(make_config: Make, out: Path) -> None:
    nouns = ["Tisch" + "".join(letters) for letters in product("aeiou", "bdfgk", "aeiou")]
    path = write_tsv(out.with_suffix(".tsv"), [(f"A {noun}.", f"Ein {noun}.") for noun in nouns])
    data = {"path": str(path), "lowercase": "both", "restore_case": True}
    prepared = prepare(make_config(data=data), out)
    casing = prepared.tokenizers.casing
    assert casing is not None
    restored = {casing.restore(f"ein {noun.lower()}.") for noun in nouns}
    training = {target for _, target in train_pairs(prepared)}
    assert len(training) == len(nouns) - 50
    assert {text.lower() for text in restored if "Tisch" in text} == training


def test_parallel_files_and_a_tsv_file_give_the_same_prepared_data(
    make_config: Make, tmp_path: Path
) -> None:
    for side, language in enumerate(("en", "de")):
        text = "".join(pair[side] + "\r\n" for pair in sentence_pairs())
        (tmp_path / f"corpus.{language}").write_bytes(text.encode())
    config = make_config(data={"source": "parallel", "path": str(tmp_path / "corpus")})
    parallel, table = prepare(config, tmp_path / "a"), prepare(make_config(), tmp_path / "b")
    # The names of the corpora differ.
    assert parallel.report == table.report | {"corpora": parallel.report["corpora"]}
    different = dict.fromkeys(("prepared.json", "report.json"))
    assert contents(parallel.folder) | different == contents(table.folder) | different


def test_the_counts_in_the_report_add_up(make_config: Make, out: Path) -> None:
    pairs = sentence_pairs()
    again = [*pairs[:7], ("  " + pairs[9][0], pairs[9][1] + "\u200b")]
    unusable = [("", "leer"), ("word " * 101, "Wort " * 101), ("one", "a b c d e f g h i j k l")]
    path = write_tsv(out.with_suffix(".tsv"), [*pairs, *again, *unusable])
    prepared = prepare(make_config(data={"path": str(path)}), out)
    source, target = prepared.sequences("train")
    assert len(source) == len(target) == 250
    lengths = prepared.report["lengths"]
    assert lengths["source"]["longest"] == source.lengths.max()
    assert lengths["target"]["mean"] == round(float(target.lengths.mean()), 2)
    dropped = {"empty side": 1, "too long": 1, "length ratio": 1, "duplicate": 8}
    expected = {
        "read": 311,
        "dropped": dropped,
        "pairs": {"train": 250, "validation": 20, "test": 30},
        "with_placeholders": 0,
        "corpora": [{"name": "tsv", "licence": "", "read": 311, "train": 250}],
        "vocabulary_size": {"source": 400, "target": 344},
    }
    assert prepared.report | expected == prepared.report
    assert sum(dropped.values()) + 300 == 311
    assert prepared.report["coverage"]["test"] == {"source": 1.0, "target": 1.0}
    assert json.loads((out / "report.json").read_text("utf-8")) == prepared.report


def test_names_are_hidden_in_half_of_the_training_pairs_and_nowhere_else(
    make_config: Make, tmp_path: Path
) -> None:
    prepared = prepare(make_config(data={"placeholders": "all"}), tmp_path / "out")
    without = prepare(make_config(), tmp_path / "without")
    hidden = prepared.report["with_placeholders"]
    with_tom = [pair for pair in train_pairs(without) if "Tom" in pair[0]]
    assert 0.3 * len(with_tom) < hidden < 0.7 * len(with_tom)
    assert prepared.report["pairs"] == {"train": 250, "validation": 20, "test": 30}
    changed = set(train_pairs(prepared)) - set(train_pairs(without))
    assert len(changed) == hidden
    for source, target in changed:
        assert source.split()[0] == target.split()[0] in PLACEHOLDERS
        assert "Tom" not in source + target
    assert held_out(prepared, "test") == held_out(without, "test")


def test_vocabularies_come_only_from_the_training_pairs(
    make_config: Make, tmp_path: Path, out: Path
) -> None:
    config = given(tmp_path, make_config, min_coverage=0)
    write_tsv(tmp_path / "test.tsv", [("I see the zeppelin", "ich sehe das Luftschiff")])
    prepared = prepare(with_tokenizer(config, WORDS), out)
    encoded = prepared.tokenizers.source.encode("I see the zeppelin")
    assert [token == UNK for token in encoded] == [False, False, False, True]
    assert prepared.tokenizers.target.encode("Luftschiff") == [UNK]
    assert prepared.report["coverage"]["test"] == {"source": 0.75, "target": 0.75}


@pytest.mark.parametrize("all_given", [True, False])
def test_each_file_is_read_once(
    make_config: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, all_given: bool
) -> None:
    read: list[str] = []

    def read_and_count(path: Path, **fields: Any) -> Iterator[tuple[str, str]]:
        read.append(path.stem)
        yield from read_tsv(path, **fields)

    monkeypatch.setattr("nmt.corpus.sources.registry.read_tsv", read_and_count)
    fields = {} if all_given else {"validation_path": None}
    config = given(tmp_path, make_config, lowercase="both", restore_case=True, **fields)
    prepare(config, tmp_path / "out")
    assert sorted(read) == ["test", "train"] + ["validation"] * all_given


# --------------------------------------------------------------------- when preparation is skipped


def test_neither_a_second_call_nor_another_model_triggers_preparation(
    make_config: Make, old: Path
) -> None:
    before = state(old)
    assert prepare(make_config(), old).report["read"] == 300
    prepare(make_config(model={"heads": 8}), old)
    assert state(old) == before


def test_the_content_of_a_corpus_triggers_preparation_but_not_its_place(
    make_config: Make, tmp_path: Path, out: Path, tsv: Path
) -> None:
    first = prepare(make_config(), out)
    stat = tsv.stat()
    moved = tsv.rename(tmp_path / "moved.tsv")
    other = prepare(make_config(data={"path": str(moved)}), tmp_path / "other")
    assert other.fingerprint == first.fingerprint
    write_tsv(tsv, [(s.replace("bird", "crow"), t) for s, t in sentence_pairs()])
    os.utime(tsv, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    second = prepare(make_config(), out)
    assert second.fingerprint != first.fingerprint
    assert any("crow" in source for source, _ in train_pairs(second))


@pytest.mark.parametrize(
    "change",
    [{"data": {"seed": 2}}, {"data": {"lowercase": "both"}}, {"tokenizer": {"kind": "unigram"}}],
)
def test_a_changed_configuration_triggers_preparation(
    make_config: Make, old: Path, change: dict[str, Any]
) -> None:
    before = contents(old)
    prepare(make_config(**change), old)
    assert contents(old)["joint.model"] != before["joint.model"]
    assert names(old.parent) == ["corpus.tsv", "old"]


@pytest.mark.parametrize("damage", ["missing", "cut"])
@pytest.mark.parametrize("name", ["train.source.ids", "test.jsonl", "joint.model", "report.json"])
def test_a_damaged_folder_is_rebuilt(make_config: Make, old: Path, name: str, damage: str) -> None:
    before = contents(old)
    (old / name).write_bytes(before[name][:-4])
    if damage == "missing":
        (old / name).unlink()
    prepare(make_config(), old)
    assert contents(old) == before


@pytest.mark.parametrize("kind", ["bpe", "unigram", "whitespace"])
def test_two_runs_write_the_same_bytes(make_config: Make, tmp_path: Path, kind: str) -> None:
    data = {"placeholders": "none" if kind == "whitespace" else "all", "min_coverage": 0}
    config = make_config(tokenizer={"kind": kind}, data=data)
    folders = [prepare(config, tmp_path / name).folder for name in ("a", "b")]
    assert contents(folders[0]) == contents(folders[1])


@pytest.mark.parametrize("error", [RuntimeError, KeyboardInterrupt])
@pytest.mark.parametrize(
    "stage", ["plan_splits", "train_tokenizers", "encode_examples", "write_manifest"]
)
def test_an_interruption_leaves_the_old_result_or_nothing(
    make_config: Make,
    old: Path,
    monkeypatch: pytest.MonkeyPatch,
    stage: str,
    error: type[BaseException],
) -> None:
    before = state(old)
    monkeypatch.setattr(module, stage, Mock(side_effect=error))
    for folder in (old, old.with_name("new")):
        with pytest.raises(error):
            prepare(make_config(data={"seed": 9}), folder)
    assert state(old) == before
    assert names(old.parent) == ["corpus.tsv", "old"]


def test_a_failed_move_restores_the_old_result(
    make_config: Make, old: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = state(old)
    rename = Path.rename

    def fail_for_new(path: Path, target: Path) -> Path:
        if path.name.startswith(".old.partial") and not path.name.endswith(".old"):
            raise OSError("no space left")
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", fail_for_new)
    with pytest.raises(UserError, match=r"cannot be written .*no space left"):
        prepare(make_config(data={"seed": 9}), old)
    assert state(old) == before
    assert names(old.parent) == ["corpus.tsv", "old"]


def test_a_vocabulary_that_other_libraries_build_is_refused(
    make_config: Make, old: Path, tmp_path: Path
) -> None:
    run_data = tmp_path / "run" / "data"
    run_data.mkdir(parents=True)
    for file in run_files(old):
        shutil.copyfile(file, run_data / file.name)
    prepare(make_config(), old, run_data=run_data)
    manifest = json.loads((run_data / MANIFEST).read_text())
    manifest["checksums"]["target.model"] = "of another version"
    (run_data / MANIFEST).write_text(json.dumps(manifest))
    for folder in (old, tmp_path / "new"):
        with pytest.raises(UserError, match="another vocabulary"):
            prepare(make_config(), folder, run_data=run_data)
    assert not (tmp_path / "new").exists()


HELD_UP = """
import time
from pathlib import Path
from nmt.config.config import Config
from nmt.config.yaml_files import load_config
from nmt.corpus.preparing import prepare as module

def write_and_wait(*arguments):
    write(*arguments)
    with Path("written").open("a") as file:
        file.write("once ")
    while not Path("go").exists():
        time.sleep(0.01)

write, module._write = module._write, write_and_wait
module.prepare(load_config("config.yaml"), Path("out"))
"""


@pytest.fixture
def held_up(make_config: Make, tmp_path: Path) -> Iterator[Callable[[], subprocess.Popen[str]]]:
    """Return a function that starts a process that prepares `out` and waits at the end for `go`."""
    (tmp_path / "config.yaml").write_text(dump_config(make_config()), encoding="utf-8")
    started: list[subprocess.Popen[str]] = []

    def start() -> subprocess.Popen[str]:
        code = [sys.executable, "-c", HELD_UP]
        started.append(subprocess.Popen(code, cwd=tmp_path, stderr=subprocess.PIPE, text=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    while not path.exists():
        assert process.poll() is None
        time.sleep(0.01)


def test_a_second_process_says_that_it_is_waiting(
    held_up: Callable[[], subprocess.Popen[str]], tmp_path: Path
) -> None:
    first = held_up()
    wait_for(tmp_path / "written", first)
    assert not (tmp_path / "out").exists()
    second = held_up()
    assert second.stderr
    said = ""
    while "waiting for another process to prepare out" not in said:
        said += (character := second.stderr.read(1))
        assert character, said
    (tmp_path / "go").touch()
    assert [process.wait() for process in (first, second)] == [0, 0]
    assert (tmp_path / "written").read_text() == "once "
    assert names(tmp_path) == ["config.yaml", "corpus.tsv", "go", "out", "written"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="Windows has no such signal")
def test_files_of_a_killed_process_are_deleted(
    held_up: Callable[[], subprocess.Popen[str]], make_config: Make, tmp_path: Path
) -> None:
    process = held_up()
    wait_for(tmp_path / "written", process)
    process.kill()
    process.wait()
    assert (tmp_path / f".out.partial-{process.pid}" / "prepared.json").exists()
    assert prepare(make_config(), tmp_path / "out").report["read"] == 300
    assert names(tmp_path) == ["config.yaml", "corpus.tsv", "out", "written"]


def test_leftovers_are_deleted_even_when_there_is_nothing_to_do(
    make_config: Make, tmp_path: Path
) -> None:
    before = state(prepare(make_config(), tmp_path / "out[1]").folder)
    (tmp_path / ".out[1].partial-1.old").mkdir()
    (tmp_path / ".out1.partial-1").mkdir()
    prepare(make_config(), tmp_path / "out[1]")
    assert state(tmp_path / "out[1]") == before
    assert names(tmp_path) == [".out1.partial-1", "corpus.tsv", "out[1]"]
    (tmp_path / "out[1]" / ".DS_Store").write_bytes(b"\0")  # of a file manager
    assert prepare(make_config(data={"seed": 9}), tmp_path / "out[1]").report["read"] == 300


def test_without_locks_the_leftovers_of_others_are_kept(
    make_config: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    no_locks = Mock(side_effect=OSError(37, "No locks available"))
    monkeypatch.setattr("filelock.FileLock.acquire", no_locks)
    (tmp_path / ".out.partial-1").mkdir()  # it may belong to a running process
    (tmp_path / f".out.partial-{os.getpid()}").mkdir()
    prepare(make_config(), tmp_path / "out")
    assert names(tmp_path) == [".out.partial-1", "corpus.tsv", "out"]


def test_the_output_may_be_an_empty_folder_or_the_current_one(
    make_config: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "empty").mkdir()
    assert prepare(make_config(), tmp_path / "empty").report["read"] == 300
    monkeypatch.chdir(tmp_path / "empty")
    assert prepare(make_config(data={"seed": 9}), Path("../empty")).report["read"] == 300
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="is not empty, but holds no prepared data"):
        prepare(make_config(), Path())
    assert names(tmp_path) == ["corpus.tsv", "empty"]


@pytest.mark.parametrize("room", [10, 1000, 3000])
def test_a_full_disk_is_reported_and_leaves_no_files(
    make_config: Make, out: Path, full_disk: FullDisk, room: int
) -> None:
    config = make_config()
    with full_disk(room), pytest.raises(UserError, match=r"out: cannot be written"):
        prepare(config, out)
    assert names(out.parent) == ["corpus.tsv"]


@pytest.mark.parametrize("also_prepared", [True, False])
@pytest.mark.parametrize("name", ["notes.txt", "best.safetensors", "notes.json", "folder.json"])
def test_a_folder_with_other_files_is_not_overwritten(
    make_config: Make, out: Path, name: str, also_prepared: bool
) -> None:
    if also_prepared:
        prepare(make_config(), out)
    out.mkdir(exist_ok=True)
    (out / name).mkdir() if name == "folder.json" else (out / name).write_text("mine")
    with pytest.raises(UserError, match=name if also_prepared else "no prepared data"):
        prepare(make_config(data={"seed": 9}), out)
    assert (out / name).exists()
    assert len(list(out.iterdir())) == (18 if also_prepared else 1)


def test_a_file_at_the_output_path_and_a_missing_corpus_are_refused(
    make_config: Make, out: Path
) -> None:
    missing = make_config(data={"path": str(out.with_name("none.tsv"))})
    assert "none.tsv" in refusal(missing, out)
    out.write_text("mine")
    assert "is a file, not a folder" in refusal(make_config(), out)
    assert out.read_text() == "mine"


def test_a_language_without_spacy_rules_is_refused_before_the_corpus_is_read(
    make_config: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.corpus.preparing.prepare.read_given", pytest.fail)
    changes = {"data": {"target_language": "qq"}, "tokenizer": {"kind": "spacy"}}
    assert "spaCy cannot tokenize language qq" in refusal(make_config(**changes), tmp_path / "out")


def test_renamed_fields_do_not_change_the_default_folder() -> None:
    data = {"placeholders": "all", "number_placeholders": True}
    tokenizer = {"kind": "bpe", "whitespace_as_suffix": True, "subword_regularization": 0.1}
    config = parse_config({"data": data, "tokenizer": tokenizer}, "test")
    assert default_folder(config).name == "pickle-b1f64d6b54"  # as under their former names


@pytest.mark.usefixtures("in_empty_folder")
def test_the_default_folder_depends_on_data_and_tokenizer(make_config: Make) -> None:
    prepared = prepare(make_config())
    assert prepared.folder == default_folder(make_config(model={"heads": 8}))
    assert re.fullmatch(r"data/prepared/tsv-[0-9a-f]{10}", prepared.folder.as_posix())
    assert default_folder(make_config(data={"seed": 2})) != prepared.folder
    assert default_folder(make_config(tokenizer={"kind": "unigram"})) != prepared.folder


# ---------------------------------------------------------------------------------------- refusals


@pytest.mark.parametrize(
    ("tokenizer", "pair", "covered"),
    [
        (WORDS, ("a totally other kind of green text", "das alte Haus."), [14.3, 66.7]),
        ({"byte_fallback": True}, ("αβγδ εζηθ", "ικλμ νξοπ"), None),  # spelled as bytes
    ],
)
def test_low_coverage_is_refused(
    make_config: Make,
    tmp_path: Path,
    tokenizer: dict[str, Any],
    pair: tuple[str, str],
    covered: list[float] | None,
) -> None:
    config = with_tokenizer(given(tmp_path, make_config), tokenizer)
    write_tsv(tmp_path / "test.tsv", [pair])
    message = refusal(config, tmp_path / "out")
    shares = re.findall(r"test source ([\d.]+)%.*test target ([\d.]+)%", message)[0]
    assert covered in (None, [float(share) for share in shares])


# ------------------------------------------------------------------------------------ real corpora


def test_the_real_tutorial_is_prepared_with_its_own_split(corpora: Path, out: Path) -> None:
    paths = {f"{n}_path": str(corpora / f"english-german-{n}.pkl") for n in ("train", "test")}
    data = {**paths, "validation_size": 500, "placeholders": "all"}
    tree = {"data": data, "tokenizer": {"vocabulary_size": 2000}}
    prepared = prepare(parse_config(tree, "test"), out)
    report = prepared.report
    assert report["read"] == 9000
    assert report["pairs"]["test"] == 1000
    assert report["source_in_train"] == {"validation": 0, "test": 322}
    assert sum(example.source_in_train for example in prepared.examples("test")) == 322
    assert sum(report["pairs"].values()) - 1000 == 9000 - sum(report["dropped"].values())


def test_the_real_multi30k_is_prepared(corpora: Path, tmp_path: Path) -> None:
    tree = {"data": {"source": "multi30k", "path": str(corpora / "multi30k")}}
    report = prepare(parse_config(tree, "test"), tmp_path / "out").report
    assert report["read"] == 29_000
    assert (report["pairs"]["validation"], report["pairs"]["test"]) == (1_014, 1_000)
    assert report["pairs"]["train"] == 29_000 - sum(report["dropped"].values())
    assert len(Sequences.open(tmp_path / "out" / "train.source")) == report["pairs"]["train"]


@pytest.mark.slow
def test_tatoeba_has_no_sentence_in_two_splits(corpora: Path, tmp_path: Path) -> None:
    tatoeba = ["data.source=tatoeba", f"data.path={corpora / 'tatoeba-deu.txt'}"]
    config = load_config("everyday.yaml", [*tatoeba, "data.disjoint_splits=true"])
    prepared = prepare(config, tmp_path / "data")
    # Read again, since half of the names in prepared training text are hidden.
    [corpus] = open_corpora(config.data)
    tests = held_out(prepared, "validation"), held_out(prepared, "test")
    pairs = {(" ".join(s.split()), " ".join(t.split())) for s, t in corpus.pairs("train")}
    training = list(pairs.difference(*tests))
    assert len(training) + sum(map(len, tests)) == len(pairs)
    assert_disjoint([training, *tests])
