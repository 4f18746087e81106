"""Commands that take names: `nmt corpora`, `nmt evaluate --test-set`, `nmt translate --tag`."""

import json
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

from nmt.cli.app import app
from nmt.corpus.catalogue import list_corpora
from nmt.errors import UserError
from nmt.metrics import LABELS
from nmt.run_folder import RunFolder

runner = CliRunner()


def test_corpora_are_listed_by_language(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt.corpus.catalogue.cache_folder", lambda: tmp_path)
    (tmp_path / "tatoeba").mkdir()
    (tmp_path / "tatoeba" / "fra-eng.zip").touch()
    german = runner.invoke(app, ["corpora"]).stdout
    assert "source: sample" in german
    assert "OPUS-News-Commentary/v16/moses/de-en.txt.zip" in german
    french = runner.invoke(app, ["corpora", "-l", "fr-en"]).stdout
    assert "sample" not in french
    [tatoeba] = [line for line in french.splitlines() if "source: tatoeba" in line]
    assert tatoeba.split()[3] == "yes"
    assert tatoeba.endswith("fra-eng.zip")


def test_on_a_terminal_addresses_are_not_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "80")
    printed = runner.invoke(app, ["corpora"]).stdout
    lines = re.sub(r"\x1b\[[0-9;]*m", "", printed).splitlines()
    found = list(list_corpora(("en", "de")))
    assert [line.strip() for line in lines[2::2]] == [corpus.address for corpus in found]
    for line, corpus in zip(lines[1::2], found, strict=True):
        assert line.startswith(corpus.fields)
        assert line.endswith(corpus.licence)
        assert len(line) <= 80


def test_test_sets_are_listed_by_direction() -> None:
    lines = runner.invoke(app, ["corpora", "--test-sets", "-l", "en-de"]).stdout.splitlines()
    assert {"wmt14/full", "multi30k/2018"} <= {line.split()[0] for line in lines}


@pytest.mark.parametrize("languages", ["en", "en-en", "-", "en_de"])
def test_invalid_language_pairs_are_refused(languages: str) -> None:
    result = runner.invoke(app, ["corpora", "-l", languages])
    assert isinstance(result.exception, UserError)


@pytest.fixture
def test_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two test sets, with sentences that the run has learned; the second has two references."""
    sets = {
        "first": (["Anna sings today."], [["Anna singt heute."]]),
        "second": (["Ben reads often."] * 2, [["Ben liest oft."] * 2, ["Oft liest Ben."] * 2]),
    }
    read = lambda name, languages: sets[name]  # noqa: E731
    monkeypatch.setattr("nmt.corpus.test_sets.read_test_set", read)


@pytest.mark.usefixtures("test_sets")
def test_several_test_sets_are_reported_in_one_table(trained_run: RunFolder) -> None:
    command = ["evaluate", "--run", str(trained_run.path), "--test-set", "first, second"]
    result = runner.invoke(app, command)
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["test", "set", "sentences", *LABELS.values()]
    assert [line.split()[:2] for line in lines[1:3]] == [["first", "1"], ["second", "2"]]
    assert "|test:first|lang:en-de|" in result.stdout
    assert "nrefs:2|" in result.stdout
    assert "|test:second|lang:en-de|" in result.stdout
    command[-1:] = ["first", "--test-set", "second"]
    found = json.loads(runner.invoke(app, [*command, "--json"]).stdout)
    assert found["second"]["sentences"] == 2
    assert found["first"]["chrf"] > 50


def test_a_test_set_cannot_be_combined_with_files(trained_run: RunFolder) -> None:
    command = ["evaluate", "--run", str(trained_run.path), "--test-set", "wmt20", "--analyse"]
    result = runner.invoke(app, command)
    assert isinstance(result.exception, UserError)


def test_an_unknown_tag_is_refused(trained_run: RunFolder) -> None:
    command = ["translate", "--run", str(trained_run.path), "--tag", "news", "Anna sings."]
    result = runner.invoke(app, command)
    assert isinstance(result.exception, UserError)
    assert "this model has no tags" in str(result.exception)
