"""Every shipped configuration loads, has the documented size, and trains."""

import json
import re
from pathlib import Path

import pytest
import torch

from nmt.config.config import Config
from nmt.config.yaml_files import SCHEMA_LINE, _read_yaml, load_config, shipped_configs
from nmt.model.transformer import Transformer, count_parameters
from nmt.shipped import SHIPPED_CONFIGS
from nmt.training.train import train

CONFIGS = shipped_configs()
SCHEMA = SHIPPED_CONFIGS / "schema.json"


def name(path: Path) -> str:
    """Return the name of the configuration in `--config`."""
    return path.relative_to(SHIPPED_CONFIGS).as_posix()


# Full size, with vocabularies as large as the config allows; add a line for each new config.
PARAMETERS = {
    "base.yaml": 3_148_800,
    "everyday-tatoeba.yaml": 8_368_384,
    "everyday.yaml": 8_368_384,
    "multi30k.yaml": 7_320_576,
    "sample.yaml": 1_645_056,
    "tutorials/modi.yaml": 47_214_544,
    "tutorials/multi30k-learned-positions.yaml": 74_903_072,
    "tutorials/orahilly.yaml": 19_652_416,
    "tutorials/walsh.yaml": 7_149_584,
    "tutorials/wheeler.yaml": 2_869_200,
    "wmt-base.yaml": 63_045_632,
}

pytestmark = pytest.mark.parametrize("path", CONFIGS, ids=name)


def test_starts_with_its_schema_and_its_command(path):
    schema, second = path.read_text(encoding="utf-8").split("\n")[:2]
    assert (path.parent / schema.removeprefix(SCHEMA_LINE)).samefile(SCHEMA)
    command = re.fullmatch(r"# nmt train --config (\S+)((?: --set \S+)*)(?:  # .+)?", second)
    assert command
    assert command[1] == name(path)
    overrides = command[2].split(" --set ")[1:]
    assert load_config(command[1], overrides) == load_config(path)


def test_is_valid_according_to_the_schema(path):
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.validate(_read_yaml(path), json.loads(SCHEMA.read_text(encoding="utf-8")))


def test_has_the_documented_number_of_parameters(path):
    config = load_config(path)
    size = config.tokenizer.vocabulary_size
    with torch.device("meta"):
        model = Transformer(config.model, size, size)
    assert count_parameters(model) == PARAMETERS[name(path)]


def test_trains_two_updates_on_200_pairs(path, toy_corpus, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = train(_shrunk(path, toy_corpus), tmp_path / "run")
    [line] = run.read_metrics()
    assert line["update"] == 2
    assert run.weights("best").exists()


def _shrunk(path: Path, corpus: Path) -> Config:
    by_tokens = load_config(path).training.batch_tokens is not None
    batch_size = "training.batch_tokens=256" if by_tokens else "training.batch_sentences=32"
    return load_config(
        path,
        [
            "data.corpora=[]",
            "data.source=tsv",
            f"data.path={corpus}",
            "data.disjoint_splits=false",  # the toy sentences are all linked
            "data.validation_size=20",
            "data.test_size=20",
            "tokenizer.vocabulary_size=120",
            "tokenizer.byte_fallback=false",
            "model.d_model=16",
            "model.heads=2",
            "model.d_ff=32",
            "model.encoder_layers=1",
            "model.decoder_layers=1",
            "training.max_updates=2",
            batch_size,
            "training.validate_updates=2",
        ],
    )
