"""Every command works with an imported run, or says in a line why it cannot."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config.config import Config
from nmt.decoding.loading import load_translator
from nmt.export.export import export_run
from nmt.runs.folder import RunFolder
from nmt.runs.importing import import_run
from nmt.training.train import train
from tests.cli.command_line import PAIR, assert_refused, nmt, text
from tests.marian_models import LANGUAGE_TOKENS, PAIRS, make_model

pytest.importorskip("transformers")
pytestmark = pytest.mark.usefixtures("in_empty_folder")


@pytest.fixture(scope="module")
def imported(
    tmp_path_factory: pytest.TempPathFactory, toy_config: Callable[..., Config]
) -> RunFolder:
    """A run of a model that has learned the pairs; tests must not change it."""
    folder = tmp_path_factory.mktemp("imported")
    model = {"norm_position": "post", "final_norm": False}
    limits = {"max_updates": 250, "epochs": 200, "learning_rate": 5e-3, "validate_updates": 250}
    trained = train(toy_config(model=model, training=limits), folder / "trained")
    export_run(trained, folder / "published", format_="transformers")
    return import_run(folder / "published", folder / "run")


@pytest.fixture(scope="module")
def multilingual(tmp_path_factory: pytest.TempPathFactory) -> RunFolder:
    """A run of a model with random weights and two target languages."""
    folder = tmp_path_factory.mktemp("multilingual")
    return import_run(make_model(tokens=LANGUAGE_TOKENS, folder=folder / "mul"), folder / "run")


@pytest.fixture
def pairs() -> tuple[Path, Path, Path]:
    """A tab-separated file, and one for each side."""
    paths = Path("pairs.tsv"), Path("pairs.en"), Path("pairs.de")
    lines = ([f"{s}\t{t}" for s, t in PAIRS], [s for s, _ in PAIRS], [t for _, t in PAIRS])
    for path, content in zip(paths, lines, strict=True):
        path.write_text("\n".join(content) + "\n", encoding="utf-8")
    return paths


def printed(*arguments: object) -> str:
    done = nmt(*arguments)
    assert done.returncode == 0, done.stderr
    return text(done.stdout)


def test_prefix_glossary_and_precision(imported):
    translate = ("translate", "--run", imported.path, PAIR[0])
    assert printed(*translate, "--compute-type", "int8") == f"{PAIR[1]}\n"
    assert printed(*translate, "--prefix", "Ben ").startswith("Ben ")
    Path("terms.tsv").write_text("sings\tkocht\n", encoding="utf-8")
    assert "kocht" in printed(*translate, "--glossary", "terms.tsv")


def test_scores_and_comparisons(imported, pairs):
    Path("two.tsv").write_text(f"{PAIR[0]}\t{PAIR[1]}\n{PAIR[0]}\tBen kocht oft.\n")
    right, wrong = printed("score", "--run", imported.path, "two.tsv").splitlines()
    assert float(right.split("\t")[0]) > float(wrong.split("\t")[0])
    given = ("--source", pairs[1], "--reference", pairs[2], "--json")
    scores = json.loads(printed("evaluate", "--run", imported.path, *given))
    assert scores["bleu"] > 50
    against = ("evaluate", "--run", imported.path, "--against", imported.path, *given)
    assert json.loads(printed(*against))["sentences"] == len(PAIRS)
    assert_refused("evaluate", "--run", imported.path, message="--test-set")


def test_public_test_sets_are_scored_in_the_language_of_the_tag(
    imported, multilingual, monkeypatch
):
    read: list[tuple[str, str]] = []

    def read_test_set(_: str, languages: tuple[str, str]) -> tuple[list[str], list[list[str]]]:
        read.append(languages)
        return [source for source, _ in PAIRS[:20]], [[target for _, target in PAIRS[:20]]]

    monkeypatch.setattr("nmt.evaluation.test_sets.read_test_set", read_test_set)
    scored = printed("evaluate", "--run", imported.path, "--test-set", "wmt20", "--json")
    assert json.loads(scored)["wmt20"]["bleu"] > 50
    tagged = ("--test-set", "wmt20", "--tag", "cmn_Hans")
    printed("evaluate", "--run", multilingual.path, *tagged)
    assert read == [("en", "de"), ("en", "cmn")]


def test_attention_is_drawn(imported):
    printed("plot", "attention", PAIR[0], "--run", imported.path, "--output", "attention.svg")
    assert Path("attention.svg").stat().st_size > 1000


def test_an_export_translates_without_nmt(imported):
    export_run(imported, "exported")
    done = subprocess.run(
        [sys.executable, "exported/translate.py", PAIR[0]], capture_output=True, check=True
    )
    assert text(done.stdout) == f"{PAIR[1]}\n"


def exported(run: object, format_: str) -> str:
    """Export a run; return the warnings."""
    done = nmt("export", run, "--format", format_, "--output", f"for-{format_}")
    assert done.returncode == 0, done.stderr
    return text(done.stderr)


def test_an_export_for_ctranslate2_cannot_choose_the_target_language(multilingual, imported):
    assert "exported without tags (--tag)" in exported(multilingual.path, "ctranslate2")
    assert "tags" not in exported(multilingual.path, "transformers")
    shutil.rmtree("for-ctranslate2")
    assert "tags" not in exported(imported.path, "ctranslate2")


def test_a_datastore_of_own_pairs(pairs, multilingual):
    run = import_run(make_model(), Path("runs/marian"))
    Path("mine.yaml").write_text(
        "data: {source: tsv, path: pairs.tsv, validation_size: 9, test_size: 9, min_coverage: 0}\n"
    )
    assert_refused("datastore", run.path, message="--config")
    printed("datastore", run.path, "--config", "mine.yaml")
    nearest = ["decoding.knn_k=4", "decoding.knn_weight=0.99"]
    learned = load_translator(run, overrides=nearest).translate([PAIR[0]])
    before = load_translator(run).translate([PAIR[0]])
    assert learned[0].text != before[0].text


def test_a_memory_has_no_tag_for_a_multilingual_model(multilingual, pairs):
    refused = ("datastore", multilingual.path, "--from", pairs[0])
    assert_refused(*refused, message="with its tag in a file for --config")


def test_it_is_fine_tuned_and_averaged(imported, pairs):
    options = ("--corpus", pairs[0], "--minutes", 1, "--from", imported.path)
    Path("mine.yaml").write_text(printed("config", "new", *options), encoding="utf-8")
    changes = {"max_updates": 4, "validate_updates": 2, "keep_validated": 2, "batch_tokens": 256}
    set_ = [each for name, x in changes.items() for each in ("--set", f"training.{name}={x}")]
    estimate = printed("train", "--from", imported.path, "--config", "mine.yaml", "--dry-run")
    assert "peak memory" in estimate
    printed("train", "--from", imported.path, "--config", "mine.yaml", "--run", "tuned", *set_)
    tuned = RunFolder(Path("tuned"))
    assert tuned.config.decoding == imported.config.decoding
    assert tuned.config.training.learning_rate == 1e-4
    assert_refused("average", imported.path, "--last", "2", message="keep_validated")
    printed("average", "tuned", "--last", "2")
    weights = ("--weights", "checkpoint_average")
    assert printed("translate", "--run", "tuned", PAIR[0], *weights) == f"{PAIR[1]}\n"


def test_the_target_languages_are_listed(multilingual, imported, pairs):
    def warned(*arguments: object) -> bool:
        done = nmt(*arguments)
        assert done.returncode == 0, done.stderr
        return "cmn_Hans, deu" in text(done.stderr)

    sides = ("--source", pairs[1], "--reference", pairs[2])
    for command in (("translate", PAIR[0]), ("score", pairs[0]), ("evaluate", *sides)):
        assert warned(*command, "--run", multilingual.path)
        assert not warned(*command, "--run", multilingual.path, "--tag", "deu")
    assert not warned("translate", PAIR[0], "--run", imported.path)
    unknown = ("translate", "--run", multilingual.path, "--tag", "fra", PAIR[0])
    assert_refused(*unknown, message="cmn_Hans, deu")


def test_settings_for_a_multilingual_model_name_the_target_language(multilingual, pairs):
    given = ("--corpus", pairs[0], "--from", multilingual.path)
    Path("mine.yaml").write_text(printed("config", "new", *given), encoding="utf-8")
    limit = ("--set", "training.max_updates=1", "--set", "data.min_coverage=0")
    options = ("--config", "mine.yaml", "--run", "tuned", *limit)
    printed("train", "--from", multilingual.path, *options)
    assert "tags" not in exported("tuned", "transformers")  # a token for each target language
    examples = RunFolder(Path("tuned")).examples("test")
    assert {example.source[:1] for example in examples} == {"\ue012"}  # the second tag, deu


def test_a_target_language_that_is_not_known_must_be_chosen(pairs):
    model = make_model(tokens=LANGUAGE_TOKENS, languages=("en", "mul"))
    run = import_run(model, Path("runs/mul"))
    recipe = printed("config", "new", "--corpus", pairs[0], "--from", run.path)
    Path("mine.yaml").write_text(recipe, encoding="utf-8")
    train = ("train", "--from", run.path, "--config", "mine.yaml")
    assert_refused(*train, message="expected one of cmn_Hans, deu")
    Path("mine.yaml").write_text(recipe.replace("tag: CHOOSE", "tag: deu"), encoding="utf-8")
    assert "peak memory" in printed(*train, "--dry-run", "--set", "data.min_coverage=0")
