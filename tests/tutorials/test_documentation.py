"""docs/tutorials.md refers to existing tests and fields; its numbers are checked by those tests."""

import re
from pathlib import Path

import pytest

from nmt.config.yaml_files import describe_fields, find_config, load_config
from nmt.corpus.preparing.prepare import prepare
from nmt.model.transformer import Transformer, count_parameters
from nmt.shipped import SHIPPED_CONFIGS

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "docs" / "tutorials.md").read_text(encoding="utf-8")
DEVIATIONS = re.findall(r"^- .*?(?=^- |^$)", TEXT, re.MULTILINE | re.DOTALL)
TUTORIALS = sorted(path.stem for path in (SHIPPED_CONFIGS / "tutorials").glob("*.yaml"))


def test_every_deviation_names_an_existing_test() -> None:
    assert len(DEVIATIONS) > 20
    for deviation in DEVIATIONS:
        [(path, name)] = re.findall(r"`(tests/\S+\.py)::(\w+)`", deviation)
        code = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^def {name}\(", code, re.MULTILINE), name


def test_every_number_of_a_deviation_is_checked_by_its_test() -> None:
    for deviation in DEVIATIONS:
        [(path, name)] = re.findall(r"`(tests/\S+\.py)::(\w+)`", deviation)
        if re.search(r"\d[.,]\d|\d%", deviation.split("`tests/")[0]):
            code = (ROOT / path).read_text(encoding="utf-8")
            body = code.split(f"def {name}(")[1].split("\ndef ")[0]
            assert "documented(" in body, name


@pytest.mark.parametrize("name", TUTORIALS)
def test_every_tutorial_has_a_row_and_a_command(name: str) -> None:
    assert f"\n| [{name}](../configs/tutorials/{name}.yaml) |" in TEXT
    assert f"\nnmt train --config tutorials/{name}.yaml" in TEXT
    assert find_config(f"tutorials/{name}").samefile(SHIPPED_CONFIGS / f"tutorials/{name}.yaml")


def test_named_fields_exist() -> None:
    known = {name for name, *_ in describe_fields()}
    named = set(re.findall(r"\b((?:data|tokenizer|model|training|decoding)\.[a-z_]+)\b", TEXT))
    assert len(named) > 10
    assert named - known == set()


SPLITS = [
    "data.train_path={corpora}/english-german-train.pkl",
    "data.test_path={corpora}/english-german-test.pkl",
]


@pytest.mark.parametrize(
    ("name", "overrides"),
    [
        ("orahilly", SPLITS),
        ("wheeler", SPLITS),
        ("modi", SPLITS),
        ("walsh", [*SPLITS, "data.source=pickle", "data.path=null"]),
        pytest.param(
            "multi30k-learned-positions", ["data.path={corpora}/multi30k"], marks=pytest.mark.slow
        ),
    ],
)
def test_the_parameters_of_the_table_are_the_models(
    name: str, overrides: list[str], corpora: Path, tmp_path: Path
) -> None:
    filled = [override.format(corpora=corpora) for override in overrides]
    config = load_config(f"tutorials/{name}.yaml", filled)
    tokenizers = prepare(config, tmp_path / "prepared").tokenizers
    model = Transformer(config.model, tokenizers.source.size, tokenizers.target.size)
    [row] = [line for line in TEXT.splitlines() if line.startswith(f"| [{name}]")]
    assert f"| {count_parameters(model):,} |" in row
