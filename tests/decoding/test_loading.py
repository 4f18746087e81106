"""A run folder holds all that a translator needs."""

from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from nmt.config import Config
from nmt.corpus.prepare import prepare
from nmt.decoding.loading import load_translator
from nmt.errors import UserError
from nmt.model.transformer import Transformer
from nmt.model.weights import save_weights
from nmt.run_folder import RunFolder, create_run

CPU = torch.device("cpu")
LINES = ["Anna sings today.", "", "Ben reads at home."]


def make_run(config: Config, folder: Path) -> RunFolder:
    prepared = prepare(config, folder / "prepared")
    run = create_run(folder / "run", config, prepared)
    sizes = prepared.tokenizers.source.size, prepared.tokenizers.target.size
    for which, seed in (("best", 1), ("last", 2)):
        torch.manual_seed(seed)
        save_weights(Transformer(config.model, *sizes), run.weights(which))
    return run


@pytest.fixture
def run(toy_config: Callable[..., Config], tmp_path: Path) -> RunFolder:
    return make_run(toy_config(), tmp_path)


@pytest.mark.parametrize(
    "sections",
    [
        {},
        {"tokenizer": {"joint": False, "vocabulary_size": 90}, "model": {"tie": "target"}},
        {"tokenizer": {"kind": "whitespace"}, "data": {"min_coverage": 0.1}},
        {"tokenizer": {"kind": "spacy", "joint": False}, "model": {"tie": "none"}},
    ],
)
def test_a_run_folder_becomes_a_translator(sections, toy_config, tmp_path):
    run = make_run(toy_config(**sections), tmp_path)

    found = load_translator(run, device=CPU).translate(LINES)

    assert len(found) == 3
    assert found[1].text == ""
    assert load_translator(run, device=CPU).translate(LINES) == found


def test_the_run_folder_may_be_moved(run, tmp_path):
    before = load_translator(run, device=CPU).translate(LINES)

    moved = RunFolder(run.path.rename(tmp_path / "elsewhere"))

    assert load_translator(moved, device=CPU).translate(LINES) == before


def test_the_weights_asked_for_are_loaded(run):
    best, last = (
        load_translator(run, weights=which, device=CPU).model.output.weight
        for which in ("best", "last")
    )

    assert not torch.equal(best, last)
    assert torch.equal(best, load_translator(run, device=CPU).model.output.weight)


def test_decoding_may_be_overridden(run):
    assert load_translator(run, device=CPU).decoding.beam_size == 2

    changed = load_translator(run, overrides=["decoding.beam_size=7"], device=CPU)

    assert changed.decoding.beam_size == 7


def test_long_lines_are_known_by_the_training_data(run):
    sentences = ["Anna sings today."] * 4

    [found] = load_translator(run, device=CPU).translate([" ".join(sentences)])

    assert found.parts == 4


@pytest.mark.parametrize(
    "override", ["model.d_model=64", "data.lowercase=both", "training.epochs=1", "decoding"]
)
def test_other_overrides_are_refused(override, run):
    with pytest.raises(UserError, match=r"takes decoding\.\* only") as caught:
        load_translator(run, overrides=["decoding.beam_size=1", override], device=CPU)

    assert override in str(caught.value)


def test_a_wrong_value_is_refused(run):
    with pytest.raises(UserError, match=r"decoding\.beam_size: 0 is wrong"):
        load_translator(run, overrides=["decoding.beam_size=0"], device=CPU)


def test_weights_that_are_not_there_yet_are_refused(run):
    with pytest.raises(UserError, match=r"averaged\.safetensors: no such weights"):
        load_translator(run, weights="averaged", device=CPU)


def test_weights_of_another_vocabulary_are_refused(run, toy_config):
    other = Transformer(toy_config().model, 50, 50)
    save_weights(other, run.weights("best"))

    with pytest.raises(UserError, match=r"best\.safetensors: weights cannot be read"):
        load_translator(run, device=CPU)
