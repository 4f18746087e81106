"""The model card of a run: its front matter, as the Hub reads it."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml

from nmt.export.model_card import model_card
from nmt.runs.folder import RunFolder

TATOEBA = "CC BY 2.0 FR, https://tatoeba.org, pairs chosen by https://www.manythings.org"
HUB = "cc-by-2.0, see https://huggingface.co/datasets/anna/pairs"


def front_matter(
    run: RunFolder, licences: list[str], folder: Path, **changes: dict[str, str]
) -> Any:
    """Return that of the card of a run that was trained on corpora with these licences."""
    copy = RunFolder(Path(shutil.copytree(run.path, folder / "run")))
    report = json.loads((copy.data / "report.json").read_bytes())
    report["corpora"] = [
        {"name": "tsv", "licence": licence, "read": 9, "train": 9} for licence in licences
    ]
    (copy.data / "report.json").write_text(json.dumps(report))
    config = yaml.safe_load((copy.path / "config.yaml").read_text("utf-8"))
    for section, fields in changes.items():
        config[section] |= fields
    (copy.path / "config.yaml").write_text(yaml.safe_dump(config))
    return yaml.safe_load(model_card(copy, "best", "").split("---")[1])


@pytest.fixture(autouse=True)
def _without_translating(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nmt.export.model_card.load_translator", lambda *_, **__: None)
    monkeypatch.setattr("nmt.export.model_card.evaluate", lambda *_: "BLEU 1")


@pytest.mark.parametrize(
    ("licences", "expected"),
    [
        ([TATOEBA], "cc-by-2.0"),
        ([TATOEBA, HUB], "cc-by-2.0"),
        (["CC BY-SA 4.0"], "cc-by-sa-4.0"),
        (["MIT"], "mit"),
        ([TATOEBA, "CC BY-SA 4.0"], None),  # the user has to choose
        ([TATOEBA, ""], None),  # a file of the user
        (["for non-commercial research and education; https://github.com/multi30k"], None),
        (["see https://opus.nlpl.eu"], None),
    ],
)
def test_the_licence_is_that_of_all_corpora(trained_run, tmp_path, licences, expected):
    assert front_matter(trained_run, licences, tmp_path).get("license") == expected


def test_a_fine_tuned_run_has_no_licence_from_its_new_corpora_alone(trained_run, tmp_path):
    front = front_matter(
        trained_run,
        [TATOEBA],
        tmp_path,
        training={"initial_weights": "former/best.safetensors"},
        tokenizer={"run": "former"},
    )
    assert front == {
        "language": ["en", "de"],
        "pipeline_tag": "translation",
        "tags": ["translation", "nmt"],
    }


def test_the_card_of_a_run_without_a_configuration_file_names_that_of_the_run(
    trained_run, tmp_path
):
    copy = RunFolder(Path(shutil.copytree(trained_run.path, tmp_path / "run")))
    header = json.loads((copy.path / "run.json").read_bytes()) | {"config": "", "overrides": []}
    (copy.path / "run.json").write_text(json.dumps(header))
    assert "nmt train --config config.yaml\n" in model_card(copy, "best", "")


def test_the_scores_are_those_without_neighbours(trained_run, monkeypatch):
    found: list[Any] = []
    monkeypatch.setattr(
        "nmt.export.model_card.load_translator", lambda *_, **given: found.append(given)
    )
    model_card(trained_run, "best", "")
    assert found == [{"weights": "best", "overrides": ["decoding.knn_k=0"]}]
