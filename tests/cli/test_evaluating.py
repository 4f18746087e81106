"""`nmt evaluate`: scores, files, comparisons."""

import json
import shutil
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest

from nmt.corpus.preparing.splitting import sentence_keys
from nmt.errors import UserError
from nmt.evaluation.metrics import METRICS
from nmt.runs.folder import RunFolder

from .command_line import PAIR, assert_refused, nmt, printed, text

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def scores(run: RunFolder, *options: object) -> Any:
    return json.loads(nmt("evaluate", "--run", run.path, "--json", *options).stdout)


def test_an_ensemble_is_scored(trained_run: RunFolder, untrained: Path) -> None:
    both = scores(trained_run, "--run", untrained, "--against", trained_run.path)
    assert both["sentences"] == 16
    assert both["against"]["bleu"]["baseline"] == pytest.approx(scores(trained_run)["bleu"])


def test_the_chosen_split_and_weights_are_scored(trained_run: RunFolder, untrained: Path) -> None:
    run = RunFolder(Path(shutil.copytree(trained_run.path, "run")))
    shutil.copyfile(untrained / "best.safetensors", run.weights("last"))
    lines = (run.data / "validation.jsonl").read_text("utf-8").splitlines(keepends=True)
    (run.data / "validation.jsonl").write_text("".join(lines[:14]), encoding="utf-8")
    (run.data / "prepared.json").unlink()  # has the checksums
    assert scores(run, "--split", "validation")["sentences"] == 14
    assert (found := scores(run))["sentences"] == 16
    assert scores(run, "--weights", "last")["bleu"] < found["bleu"] - 10


def test_evaluate_json_has_scores_and_signatures(trained_run: RunFolder) -> None:
    found = scores(trained_run, "--output", "hypotheses.txt")
    assert found["bleu"] > 60
    assert {type(found[name]) for name in ("bleu", "chrf", "ter")} == {float}
    assert "bs:1000" in found["signatures"]["bleu"]
    low, high = found["intervals"]["bleu"]
    assert low <= found["bleu"] <= high + 1e-9  # a perfect score is rounded to a little over 100
    assert Path("hypotheses.txt").read_text().count("\n") == 16


def test_few_sentences_give_a_warning(trained_run: RunFolder) -> None:
    assert "16 sentences are too few" in text(nmt("evaluate", "--run", trained_run.path).stderr)


def test_evaluate_writes_one_line_per_source(trained_run: RunFolder) -> None:
    Path("in.en").write_text("Anna sings today.\u2028Ben swims often.\n")
    Path("in.de").write_text("Anna singt heute. Ben schwimmt oft.\n")
    files = ["--source", "in.en", "--reference", "in.de", "--output", "out.de"]
    nmt("evaluate", "--run", trained_run.path, *files)
    assert Path("out.de").read_text() == Path("in.de").read_text()
    Path("upper.de").write_text("ANNA SINGT HEUTE. BEN SCHWIMMT OFT.\n")
    options = ["--source", "in.en", "--reference", "upper.de", "--lowercase", "--tokenize", "moses"]
    found = scores(trained_run, *options)
    assert found["bleu"] == pytest.approx(100)
    assert "case:lc" in found["signatures"]["bleu"]
    assert "tok:moses" in found["signatures"]["bleu"]


def test_comparing_a_run_with_itself_is_not_significant(trained_run: RunFolder) -> None:
    command = ["evaluate", "--run", trained_run.path, "--against", trained_run.path]
    shown = printed(*command)
    assert "16 sentences" in shown
    assert "tok:13a" in shown
    assert "not significant" in shown
    done = nmt(*command, "--json")
    found = json.loads(done.stdout)
    assert found["against"].keys() == METRICS.keys()
    for name, comparison in found["against"].items():
        assert comparison["baseline"] == comparison["system"] == pytest.approx(found[name])
        assert (comparison["difference"], comparison["p_value"]) == (0, 1)
    assert "against" not in text(done.stderr)


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
    same = nmt("evaluate", "--run", other.path, "--against", other.path)
    assert "favours" not in text(same.stderr)


def test_an_analysis_follows_the_scores(trained_run: RunFolder) -> None:
    lines = printed("evaluate", "--run", trained_run.path, "--analyse").splitlines()
    assert lines[0] == "16 sentences"
    assert lines.index("BLEU by words in the source") == 1 + len(METRICS)
    found = scores(trained_run, "--analyse")
    analysis = found["analysis"]
    assert sum(group["sentences"] for group in analysis["by_length"]) == 16
    assert analysis["by_length"][0]["bleu"] == pytest.approx(found["bleu"])  # all are short
    assert [group["name"] for group in analysis["by_rare_words"]] == ["none"]
    assert analysis["empty"] == analysis["truncated"] == 0
    assert len(analysis["worst"]) == 10
    assert "analysis" not in scores(trained_run)


def test_an_output_that_cannot_be_written_loses_no_scores(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    full = Mock(side_effect=UserError("the disk is full"))
    monkeypatch.setattr("nmt.cli.evaluating.write_lines", full)
    done = nmt("evaluate", "--run", trained_run.path, "-o", "x.txt")
    assert done.returncode == 2
    assert text(done.stderr).endswith("nmt: the disk is full\n")
    assert "BLEU" in text(done.stdout)


def test_normalized_references_are_reported(trained_run: RunFolder) -> None:
    Path("s").write_text(f"{PAIR[0]}\n")
    Path("r").write_text("Anna singt fu\u0308r heute.\n", encoding="utf-8")
    done = nmt("evaluate", "--run", trained_run.path, "--source", "s", "--reference", "r")
    assert "references normalized before scoring (NFC): 1," in text(done.stderr)
    assert text(done.stdout).startswith("1 sentence\n")


def test_a_tokenizer_unfit_for_the_language_gives_a_warning(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.config.languages.writes_no_spaces", lambda code: True)
    done = nmt("evaluate", "--run", trained_run.path)
    assert "choose --tokenize flores200" in text(done.stderr)
    done = nmt("evaluate", "--run", trained_run.path, "--tokenize", "zh")
    assert "--tokenize" not in text(done.stderr)
    assert "tok:zh" in text(done.stdout)


def test_several_references_are_scored_together(trained_run: RunFolder) -> None:
    Path("s").write_text("Anna sings today.\nBen swims often.\n")
    Path("good").write_text("Anna singt heute.\nBen badet gern.\n")
    Path("other").write_text("Anna trällert.\nBen schwimmt oft.\n")
    one = ["--source", "s", "--reference", "good"]
    assert scores(trained_run, *one)["bleu"] < 90
    more = ["--reference", "other", "--against", trained_run.path, "--analyse"]
    both = scores(trained_run, *one, *more)
    assert both["bleu"] == both["against"]["bleu"]["baseline"] == pytest.approx(100)
    assert both["chrf"] == pytest.approx(100)
    assert both["ter"] == 0
    assert "nrefs:2" in both["signatures"]["bleu"]
    assert both["analysis"]["by_length"][0]["bleu"] == pytest.approx(100)
    assert both["analysis"]["worst"][0]["chrf"] == pytest.approx(100)


def test_a_further_reference_has_as_many_lines(trained_run: RunFolder) -> None:
    for name, content in (("s", "a\nb\n"), ("good", "a\nb\n"), ("short", "a\n")):
        Path(name).write_text(content)
    files = ["--source", "s", "--reference", "good", "--reference", "short"]
    message = "s and short have different numbers of lines: 2 and 1"
    assert_refused("evaluate", "--run", trained_run.path, *files, message=message)


@pytest.mark.parametrize("file", ["source", "first", "second"])
def test_files_of_pairs_are_refused(file: str, trained_run: RunFolder) -> None:
    for name in ("source", "first", "second"):
        Path(name).write_text("a\tb\nc\td\n" if name == file else "a\tb\nc\n")
    files = ["--source", "source", "--reference", "first", "--reference", "second"]
    command = ["evaluate", "--run", trained_run.path, *files]
    assert_refused(*command, message=f"{file}: has a tab in every line")
