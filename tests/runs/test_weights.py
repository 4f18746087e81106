"""Weights are restored bit for bit; other files are refused in one line."""

import re
from collections.abc import Callable
from pathlib import Path
from unittest.mock import patch

import pytest
import torch
from safetensors.torch import load_file, save_file

from nmt.config.model import ModelConfig
from nmt.errors import UserError
from nmt.files.checksums import recorded_checksum
from nmt.model.transformer import Transformer, count_parameters
from nmt.runs.weights import average_weights, load_weights, save_weights

CPU = torch.device("cpu")


def refusal(path: Path, config: ModelConfig, size: int = 11) -> str:
    with pytest.raises(UserError, match=rf"^{re.escape(str(path))}: [^\n]*$") as caught:
        load_weights(path, config, size, size, CPU)
    return str(caught.value)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "best.safetensors"


@pytest.fixture
def model(random_model: Callable[..., Transformer], path: Path) -> Transformer:
    """A model whose weights are saved."""
    made = random_model(dropout=0.5)
    save_weights(made, path)
    return made


@pytest.mark.parametrize(
    "changes",
    [
        {"tie": "none", "output_bias": True},
        {"tie": "inputs"},
        {"tie": "target"},
        {"tie": "all"},
        {"positions": "learned", "norm_position": "post"},
        {"positions": "rotary"},
    ],
)
def test_loaded_weights_equal_the_saved_ones(changes, random_model, path):
    model = random_model(**changes)
    save_weights(model, path)
    loaded = load_weights(path, model.config, 11, 11, CPU)
    before, after = model.state_dict(), loaded.state_dict()
    assert before.keys() == after.keys()
    assert all(torch.equal(before[name], after[name]) for name in before)
    assert count_parameters(loaded) == count_parameters(model)


def test_tied_weights_are_tied_after_loading(random_model, path):
    model = random_model(tie="all")
    save_weights(model, path)
    loaded = load_weights(path, model.config, 11, 11, CPU)
    assert loaded.output.weight is loaded.source_embedding.tokens.weight
    assert loaded.output.weight is loaded.target_embedding.tokens.weight


def test_equal_weights_give_identical_files(random_model, tmp_path):
    for number in range(10):
        save_weights(random_model(tie="all"), tmp_path / str(number))
    assert len({path.read_bytes() for path in tmp_path.iterdir()}) == 1


def test_tied_weights_are_saved_once(random_model, tmp_path):
    sizes = {}
    for tie in ("none", "all"):
        save_weights(random_model(tie=tie, source_size=500, target_size=500), tmp_path / tie)
        sizes[tie] = (tmp_path / tie).stat().st_size
    assert sizes["none"] - sizes["all"] >= 2 * 500 * 8 * 4


def test_a_loaded_model_is_ready_to_translate(model, path):
    loaded = load_weights(path, model.config, 11, 11, CPU)
    assert not loaded.training
    source, target = torch.tensor([[5, 3]]), torch.tensor([[2, 6]])
    assert torch.equal(loaded(source, target), model(source, target))


def test_any_changed_byte_is_reported(model, path):
    content = path.read_bytes()
    load_weights(path, model.config, 11, 11, CPU)
    for place in range(0, len(content), 97):
        damaged = bytearray(content)
        damaged[place] ^= 1
        path.write_bytes(damaged)
        if recorded_checksum(path) is None:  # the change hit the checksum's key or its JSON
            continue
        message = refusal(path, model.config)
        assert "cannot be read" in message or "checksum mismatch" in message


def test_weights_without_a_checksum_can_be_loaded(model, path, tmp_path):
    older = tmp_path / "old.safetensors"
    save_file(load_file(path), older)
    assert recorded_checksum(older) is None
    loaded = load_weights(older, model.config, 11, 11, CPU)
    assert torch.equal(loaded.output.weight, model.output.weight)


def test_missing_weights_are_refused(config, path):
    assert "no such weights" in refusal(path, config())


@pytest.mark.parametrize("content", [b"", b"not safetensors at all", bytes(100)])
def test_other_files_are_refused(content, config, path):
    path.write_bytes(content)
    assert "weights cannot be read" in refusal(path, config())


def test_a_folder_is_refused(config, tmp_path):
    assert "weights cannot be read" in refusal(tmp_path, config())


def test_a_truncated_file_is_refused(model, path):
    path.write_bytes(path.read_bytes()[:-100])
    message = refusal(path, model.config)
    assert "weights cannot be read: damaged" in message
    assert "copy the run folder again, or train it again" in message


@pytest.mark.parametrize(
    ("changes", "size"),
    [
        ({}, 12),
        ({"d_ff": 13}, 11),
        ({"encoder_layers": 3}, 11),
        ({"encoder_layers": 1}, 11),
        ({"tie": "none"}, 11),
        ({"output_bias": True}, 11),
    ],
)
@pytest.mark.usefixtures("model")
def test_weights_of_another_model_are_refused(changes, size, config, path):
    assert "weights cannot be read" in refusal(path, config(**changes), size)


def test_average_weights_takes_the_element_wise_mean(random_model, tmp_path):
    models = [random_model() for _ in range(3)]
    paths = [tmp_path / f"{number}.safetensors" for number in range(3)]
    for shift, (model, path) in enumerate(zip(models, paths, strict=True)):
        with torch.no_grad():
            for parameter in model.parameters():
                parameter += shift
        save_weights(model, path)
    average_weights(paths, tmp_path / "mean.safetensors")
    mean = load_weights(tmp_path / "mean.safetensors", models[0].config, 11, 11, CPU)
    for found, *each in zip(mean.parameters(), *(m.parameters() for m in models), strict=True):
        torch.testing.assert_close(found, sum(each) / 3)
    content = bytearray(paths[1].read_bytes())
    content[-1] ^= 1
    for damaged, message in ((content[:-1], "cannot be read"), (content, "checksum mismatch")):
        paths[1].write_bytes(damaged)
        with pytest.raises(UserError, match=message):
            average_weights(paths, tmp_path / "mean.safetensors")


def test_no_table_is_made_for_weights_that_do_not_fit(config, path):
    given = config(positions="sinusoidal")
    path.write_bytes(b"x" * 50)
    hostile = given.model_copy(update={"max_length": 30_000})
    with patch("nmt.model.positions.sinusoids") as made:
        assert "too small" in refusal(path, hostile)
    assert not made.called
