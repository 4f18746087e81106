"""Synthetic pairs: generation, filtering, and resuming an unfinished output."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
import yaml

from nmt.cli.options import TranslatorOptions
from nmt.config.config import Config
from nmt.config.data import DataConfig
from nmt.config.yaml_files import override_config, parse_config
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.sources.registry import open_corpora
from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translation, Translator
from nmt.errors import UserError
from nmt.runs.folder import RunFolder
from nmt.special_tokens import TAGS
from nmt.training import augmenting
from nmt.training.augmenting import Augmentation, augment
from tests.cli.command_line import assert_refused, nmt, text
from tests.conftest import toy_pairs

TRANSLATIONS = dict(toy_pairs())
LINES = list(TRANSLATIONS)[:50]


@pytest.fixture(autouse=True)
def _monolingual_text(in_empty_folder: None) -> None:
    Path("mono.en").write_text("\n".join([*LINES, ""]), encoding="utf-8")


@pytest.fixture(scope="module")
def translator(trained_run: RunFolder) -> Translator:
    return load_translator(trained_run)


BACK = Augmentation(translation_first=False)


def read_pairs(**languages: str) -> list[tuple[str, str]]:
    data = DataConfig(source="tsv", path=Path("pairs.tsv"), **languages)
    [corpus] = open_corpora(data)
    return list(corpus.pairs("train"))


def copied(run: RunFolder, languages: tuple[str, str], *changes: str) -> RunFolder:
    """Copy the run as if it translated between these languages, with changed settings."""
    copy = RunFolder(Path(shutil.copytree(run.path, "run")))
    sides = zip(("source", "target"), languages, strict=True)
    of_languages = [f"data.{side}_language={language}" for side, language in sides]
    copy.write_config(override_config(copy.config, [*of_languages, *changes], "run"))
    return copy


def written(translator: Translator, output: str) -> Counter[str]:
    """Write the synthetic pairs of mono.en; return their counts."""
    return augment(translator, BACK, Path("mono.en"), Path(output), "")


def interrupt_at_the_end(translator: Translator) -> None:
    """Write pairs.tsv, but stop before the partial file gets this name."""
    replace = Path.replace

    def interrupted(self: Path, target: Path) -> Path:
        if self.name == "pairs.tsv.partial":
            raise KeyboardInterrupt
        return replace(self, target)

    with patch.object(Path, "replace", interrupted), pytest.raises(KeyboardInterrupt):
        written(translator, "pairs.tsv")


@pytest.mark.parametrize("forward", [False, True])
@pytest.mark.parametrize(
    "languages", [("en", "de"), ("de", "en"), ("de", "nl"), ("de", "de"), ("en", "en")]
)
def test_pairs_are_for_the_reverse_direction_or_with_forward_for_the_runs_own(
    trained_run: RunFolder, translator: Translator, forward: bool, languages: tuple[str, str]
) -> None:
    source, target = languages
    run = copied(trained_run, languages)
    way = ["--forward"] if forward else []
    done = nmt("augment", run.path, "-i", "mono.en", "-o", "pairs.tsv", *way)
    assert done.returncode == 0
    assert f"kept             {len(LINES)}" in text(done.stdout)
    found = [translation.text for translation in translator.translate(LINES)]
    if forward:
        expected = list(zip(LINES, found, strict=True))
        assert read_pairs(source_language=source, target_language=target) == expected
    else:
        expected = list(zip(found, LINES, strict=True))
        assert read_pairs(source_language=target, target_language=source) == expected
    assert sorted(path.name for path in Path().iterdir()) == ["mono.en", "pairs.tsv", "run"]


def test_only_the_way_there_is_sampled(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[list[str] | None] = []

    def opened(options: TranslatorOptions, run: RunFolder) -> Translator:
        asked.append(options.set_)
        return load_translator(run, overrides=options.set_ or [])

    monkeypatch.setattr(TranslatorOptions, "open", opened)
    copied(trained_run, ("de", "de"), "decoding.temperature=1", "decoding.top_k=3")
    for more in ((), ("--set", "decoding.top_p=0.9")):
        done = nmt("augment", "run", "-i", "mono.en", "-o", "out", "--round-trip", "run", *more)
        assert done.returncode == 0, done.stderr
        Path("out").unlink()
    unsampled = ["decoding.temperature=0", "decoding.top_k=0", "decoding.top_p=1"]
    given = ["decoding.top_p=0.9"]
    assert asked == [unsampled, None, [*given, *unsampled], given]


def test_the_least_chrf_of_the_round_trip_can_be_chosen(trained_run: RunFolder) -> None:
    copied(trained_run, ("de", "de"))
    command = ("augment", "run", "-i", "mono.en", "--round-trip", "run")
    assert nmt(*command, "-o", "all.tsv", "--min-chrf", 0).returncode == 0
    assert len(Path("all.tsv").read_text("utf-8").splitlines()) == len(LINES)
    strict = (*command, "-o", "none.tsv", "--min-chrf", 100)
    assert "no translation was kept" in text(nmt(*strict).stderr)


def test_the_printed_settings_add_a_tagged_corpus_to_training(
    trained_run: RunFolder, toy_config: Callable[..., Config]
) -> None:
    done = nmt("augment", trained_run.path, "-i", "mono.en", "-o", "my #1, pairs.tsv")
    settings = yaml.safe_load(text(done.stdout).partition("train with these settings:")[2])["data"]
    _, synthetic = settings.pop("corpora")
    assert settings == {"disjoint_splits": True}
    genuine = {"source": "tsv", "path": str(trained_run.config.data.path)}
    tree = toy_config().model_dump(mode="json", exclude_defaults=True)
    tree["data"] = {"corpora": [genuine, synthetic], "validation_size": 16, "test_size": 16}
    tree["data"] |= {
        "source_language": "de",
        "target_language": "en",
        "min_coverage": 0,
        "drop_duplicates": False,
        **settings,
    }
    prepared = prepare(parse_config(tree, "test"), "prepared")
    assert prepared.data.tags == ["synthetic"]
    genuine_pairs, synthetic_pairs = [c["train"] for c in prepared.report["corpora"]]
    assert synthetic_pairs
    encoded, tokenizer = prepared.sequences("train")[0], prepared.tokenizers.source
    tokens = ["".join(tokenizer.tokens(encoded[i].tolist())) for i in range(len(encoded))]
    assert [TAGS[0] in each for each in tokens] == (
        [False] * genuine_pairs + [True] * synthetic_pairs
    )


def test_text_in_the_wrong_language_is_noticed(trained_run: RunFolder) -> None:
    Path("wrong.txt").write_text("das ist nicht gut\n", encoding="utf-8")
    done = nmt("augment", trained_run.path, "-i", "wrong.txt", "-o", "pairs.tsv")
    assert "wrong.txt: seems to be in de, but" in text(done.stderr)
    Path("right.txt").write_text("this is the dog\n", encoding="utf-8")
    done = nmt("augment", trained_run.path, "-i", "right.txt", "-o", "pairs-2.tsv")
    assert "seems to be" not in text(done.stderr)


def test_an_output_without_any_translation_is_not_written(trained_run: RunFolder) -> None:
    command = ("augment", trained_run.path, "-i", "mono.en", "-o", "pairs.tsv")
    done = nmt(*command, "--min-probability", "1")
    assert done.returncode == 2
    assert "no translation was kept" in text(done.stderr)
    assert f"dropped          {len(LINES)} below --min-probability" in text(done.stdout)
    assert [path.name for path in Path().iterdir()] == ["mono.en"]
    assert nmt(*command).returncode == 0


@pytest.mark.parametrize("temperature", [0, 1])
def test_a_killed_process_continues_where_it_stopped(
    trained_run: RunFolder,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    temperature: float,
) -> None:
    overrides = [f"decoding.temperature={temperature}"]
    translator = load_translator(trained_run, overrides=overrides)
    for name in ("FIRST_LINES", "LINES_AT_A_TIME"):
        monkeypatch.setattr(augmenting, name, 20)
    arguments = (translator, Augmentation(translation_first=False, n_best=2), Path("mono.en"))
    counts = augment(*arguments, Path("whole.tsv"), "")
    calls = []
    n_best = Translator.n_best

    def killed(self: Translator, lines: list[str], n: int) -> list[list[Translation]]:
        calls.append(lines)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return n_best(self, lines, n)

    monkeypatch.setattr(Translator, "n_best", killed)
    with pytest.raises(KeyboardInterrupt):
        augment(*arguments, Path("pairs.tsv"), "")
    assert "run the same command again" in capsys.readouterr().out
    assert not Path("pairs.tsv").exists()
    with Path("pairs.tsv.partial").open("a") as file:
        file.write("half a li")
    with pytest.raises(UserError, match=r"^pairs\.tsv\.partial: .* unfinished nmt augment command"):
        augment(*arguments, Path("pairs.tsv"), "others")
    assert augment(*arguments, Path("pairs.tsv"), "") == counts
    assert Path("pairs.tsv").read_bytes() == Path("whole.tsv").read_bytes()
    assert [line for call in calls[2:] for line in call] == LINES[40:] * 2


def test_an_unfinished_output_is_not_continued_with_another_input_of_the_same_size(
    translator: Translator,
) -> None:
    interrupt_at_the_end(translator)
    Path("mono.en").write_text("\n".join([*LINES[::-1], ""]), encoding="utf-8")
    with pytest.raises(UserError, match="different options, weights or input"):
        written(translator, "pairs.tsv")


def test_a_record_without_an_unfinished_output_is_ignored(translator: Translator) -> None:
    record = {"settings": "other", "lines": 9, "bytes": 9, "counts": {"kept": 9}}
    Path("pairs.tsv.progress.json").write_text(json.dumps(record))
    assert written(translator, "pairs.tsv") == written(translator, "whole.tsv")
    assert Path("pairs.tsv").read_bytes() == Path("whole.tsv").read_bytes()
    assert not Path("pairs.tsv.progress.json").exists()


@pytest.mark.parametrize("kept", [None, b"half"])
def test_a_lost_partial_output_is_written_again(translator: Translator, kept: bytes | None) -> None:
    """The record of progress remains, but not what it describes."""
    interrupt_at_the_end(translator)
    partial = Path("pairs.tsv.partial")
    partial.write_bytes(kept) if kept else partial.unlink()
    assert written(translator, "pairs.tsv") == written(translator, "whole.tsv")
    assert Path("pairs.tsv").read_bytes() == Path("whole.tsv").read_bytes()


def test_pairs_are_on_disk_before_they_are_recorded(
    translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After a power failure, the record must not count pairs that were lost."""
    on_disk: dict[int, int] = {}
    recorded: list[int] = []
    fsync, replace = os.fsync, Path.replace

    def noting(number: int) -> None:
        fsync(number)
        on_disk[os.fstat(number).st_ino] = os.fstat(number).st_size

    def checking(self: Path, target: Path) -> Path:
        if target.name == "pairs.tsv.progress.json" and Path("pairs.tsv.partial").exists():
            recorded.append(json.loads(self.read_text())["bytes"])
            assert on_disk[Path("pairs.tsv.partial").stat().st_ino] == recorded[-1]
        return replace(self, target)

    for name in ("FIRST_LINES", "LINES_AT_A_TIME"):
        monkeypatch.setattr(augmenting, name, 20)
    monkeypatch.setattr(os, "fsync", noting)
    monkeypatch.setattr(Path, "replace", checking)
    written(translator, "pairs.tsv")
    assert recorded[-1] == Path("pairs.tsv").stat().st_size > 0


def test_a_file_of_others_is_not_overwritten(translator: Translator) -> None:
    Path("pairs.tsv.partial").write_text("mine", encoding="utf-8")
    with pytest.raises(UserError, match=r"pairs.tsv.partial: already exists"):
        written(translator, "pairs.tsv")
    assert Path("pairs.tsv.partial").read_text() == "mine"


@pytest.mark.slow
def test_killed_and_restarted_processes_write_the_same_output_as_one(
    trained_run: RunFolder,
) -> None:
    Path("mono.en").write_text("".join(f"{line}\n" for line in LINES * 200), encoding="utf-8")
    command = [sys.executable, "-m", "nmt", "augment", str(trained_run.path), "-i", "mono.en"]
    command += ["--n-best", "2", "--set", "decoding.temperature=1", "-o"]
    subprocess.run([*command, "whole.tsv"], check=True)
    killed = 0
    for seconds in (0.5, 0.1, 0.3, 0.2):
        record = Path("pairs.tsv.progress.json")
        before = record.read_bytes() if record.exists() else b""
        process = subprocess.Popen([*command, "pairs.tsv"])
        while process.poll() is None and (not record.exists() or record.read_bytes() == before):
            time.sleep(0.002)
        time.sleep(seconds)
        process.kill()
        killed += process.wait() == -signal.SIGKILL
    assert killed > 1
    if not Path("pairs.tsv").exists():
        subprocess.run([*command, "pairs.tsv"], check=True)
    assert Path("pairs.tsv").read_bytes() == Path("whole.tsv").read_bytes()
    expected = 2 * 200 * len(LINES)  # fewer if a sample is empty or too long
    assert 0.99 * expected < len(Path("whole.tsv").read_bytes().splitlines()) <= expected


class Fixed:
    """Translates lines by looking them up in a table."""

    def __init__(self, table: dict[str, Translation], **fields: object):
        self.table = table
        self.data = DataConfig(**fields)

    def n_best(self, lines: list[str], n: int) -> list[list[Translation]]:
        return [[self.table[line]] for line in lines]

    def translate(self, lines: list[str]) -> list[Translation]:
        return [self.table[line] for line in lines]


def test_translations_that_are_probably_wrong_are_dropped_and_counted() -> None:
    forth = {
        "good": Translation("gut", 0.0, log_probability=-0.1, tokens=1),
        "nothing": Translation("", 0.0),
        "endless": Translation("ohne Ende", 0.0, complete=False),
        "guessed": Translation("geraten", 0.0, log_probability=-1.0, tokens=1),
        "bank": Translation("Ufer", 0.0, log_probability=-0.1, tokens=1),
    }
    again = {"gut": "good", "Ufer": "shore", "": "", "ohne Ende": "", "geraten": "guessed"}
    back = Fixed({line: Translation(found, 0.0) for line, found in again.items()})
    how = Augmentation(True, min_probability=0.5, back=back, min_chrf=50)  # type: ignore[arg-type]
    counts: Counter[str] = Counter()
    assert list(how.pairs(Fixed(forth), list(forth), counts)) == [("gut", "good")]  # type: ignore[arg-type]
    dropped = {"empty": 1, "truncated at the length limit": 1}
    dropped |= {"below --min-probability": 1, "below --min-chrf": 1}
    assert counts == {"kept": 1, **dropped}


def test_the_round_trip_compares_with_the_line_as_the_model_writes_it() -> None:
    lines = ["Scho\u0308n\u00ad!", "Haus"]  # a diaeresis of its own, and a soft hyphen
    forth = Fixed({line: Translation(f"to {line}", 0.0) for line in lines})
    for fields, found in (({}, ["Schön!", "Haus"]), ({"lowercase": "both"}, ["schön!", "haus"])):
        back = Fixed(
            {f"to {line}": Translation(text, 0.0) for line, text in zip(lines, found, strict=True)},
            **fields,
        )
        how = Augmentation(True, back=back, min_chrf=100)  # type: ignore[arg-type]
        assert len(list(how.pairs(forth, lines, Counter()))) == 2  # type: ignore[arg-type]


def test_pairs_too_long_to_be_read_again_are_dropped() -> None:
    line = "a" * 600_000
    counts: Counter[str] = Counter()
    forth = Fixed({line: Translation(line, 0.0)})
    assert not list(Augmentation(True).pairs(forth, [line], counts))  # type: ignore[arg-type]
    assert counts == {"too long to be read again": 1}


def test_invalid_arguments_are_refused(trained_run: RunFolder) -> None:
    command = ("augment", trained_run.path, "-o", "pairs.tsv", "-i")
    assert_refused(*command, "nowhere", message="no such file")
    Path("blank.en").write_text(" \n\n")
    assert_refused(*command, "blank.en", message="blank.en: has no text")
    assert sorted(path.name for path in Path().iterdir()) == ["blank.en", "mono.en"]
    wrong = (*command, "mono.en", "--round-trip", trained_run.path)
    assert_refused(*wrong, message="needs a run that translates de → en")
    alone = (*command, "mono.en", "--min-chrf", "0")
    assert_refused(*alone, message="--min-chrf needs --round-trip RUN; add it, or omit --min-chrf")
    packed = ("augment", trained_run.path, "-i", "mono.en", "-o", "pairs.tsv.gz")
    assert_refused(*packed, message="pairs.tsv.gz: the output is not compressed; omit .gz")
    Path("pairs.tsv").touch()
    assert_refused(*command, "mono.en", message="already exists")
