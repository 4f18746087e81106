"""Training on the simulated device: equal to the CPU, without mixed devices or synchronizations."""

import re
from collections.abc import Callable

import pytest
import scenarios
import torch

from nmt.config.config import Config
from nmt.corpus.preparing.prepare import prepare
from nmt.training.fine_tuning import config_from

MakeConfig = Callable[..., Config]
CPU = torch.device("cpu")
pytestmark = pytest.mark.usefixtures("in_empty_folder")


def configured(toy_config: MakeConfig, **fields: object) -> Config:
    """Return the toy configuration; fields: of the training section."""
    training = {"precision": "float32", "clip_norm": 1.0, "accumulate": 2, **fields}
    return toy_config(training=training)


@pytest.mark.parametrize("r_drop", [0.0, 5.0])
@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
@pytest.mark.parametrize("norm", ["pre", "post"])
def test_updates_equal_those_on_the_cpu(toy_config, pretending, norm, positions, r_drop):
    config = configured(toy_config, r_drop=r_drop).model_copy(
        update={"model": toy_config(model={"norm_position": norm, "positions": positions}).model}
    )
    expected = scenarios.updates(CPU, config, 3, True)
    found = pretending(scenarios.updates, config, 3, True)
    assert found.losses == pytest.approx(expected.losses, abs=1e-5)
    assert found.weights == pytest.approx(expected.weights, rel=1e-5)
    assert not found.waits


def test_padding_sizes_to_multiples_of_8_does_not_change_the_updates(toy_config, pretending):
    config = toy_config(
        tokenizer={"vocabulary_size": 77, "joint": False},
        model={"d_model": 40, "heads": 4, "d_value": 6, "tie": "target"},
        training={"precision": "float32", "r_drop": 1.0},
    )
    size = prepare(config).tokenizers.target.size
    assert size % 8
    found = pretending(scenarios.widths, config)
    assert found == {16, size + 8 - size % 8, 40}  # heads of 10, the vocabulary, d_model
    expected = scenarios.updates(CPU, config, 3, True)
    found = pretending(scenarios.updates, config, 3, True)
    assert found.losses == pytest.approx(expected.losses, abs=1e-5)
    assert found.weights == pytest.approx(expected.weights, rel=1e-5)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_masks_are_created_once_for_all_layers_in_the_format_of_the_kernels(
    toy_config, pretending, precision
):
    model = {"encoder_layers": 2, "decoder_layers": 2}
    config = toy_config(model=model, training={"precision": precision})
    assert pretending(scenarios.masks_of_attention, config, False) == [
        {(f"torch.{precision}", 0)},
        1,  # causal self-attention needs no mask
    ]
    kinds, masks = pretending(scenarios.masks_of_attention, config, True)
    assert kinds == {("torch.float32", 0)}
    # one of the encoder, two of the source (one per step), one of the prefix in the second step
    assert masks == 4


@pytest.mark.parametrize(
    ("optimizer", "precision"),
    [("adam", "float32"), ("adamw", "float16"), ("adam", "bfloat16"), ("nadam", "bfloat16")],
)
def test_updates_do_not_synchronize(toy_config, pretending, optimizer, precision):
    training = {"precision": precision, "optimizer": optimizer, "average_decay": 0.99}
    config = toy_config(
        model={"attention_dropout": 0.1, "feed_forward_dropout": 0.1}, training=training
    )
    for restored in (False, True):
        assert not pretending(scenarios.updates, config, 3, False, restored).waits


def test_dropout_acts_at_the_configured_rates(toy_config, pretending):
    rates = {"dropout": 0.2, "attention_dropout": 0.3, "feed_forward_dropout": 0.4}
    found = pretending(scenarios.dropout_rates, toy_config(model=rates))
    assert found == {"attention": {0.3}, "others": {0.2, 0.4}}


def test_kernels_are_deterministic_or_compiled_if_configured(toy_config, pretending):
    model = {"encoder_layers": 1, "decoder_layers": 2}
    chosen = {"deterministic": True, "compile": True}
    found = pretending(scenarios.switches, toy_config(model=model, training=chosen))
    assert found == ["deterministic", *3 * ["compiled"]]
    assert pretending(scenarios.switches, toy_config(model=model)) == []


def test_updates_from_a_runs_weights_with_frozen_parts_equal_those_on_the_cpu(
    trained_run, pretending
):
    fields = ["training.freeze=[encoder]", "training.precision=float32", "model.dropout=0"]
    config = config_from(trained_run, "best", None, fields)
    expected = scenarios.updates(CPU, config, 2)
    found = pretending(scenarios.updates, config, 2)
    assert found.losses == pytest.approx(expected.losses, abs=1e-5)
    assert not found.waits


def test_training_validates_saves_and_resumes_as_on_the_cpu(toy_config, pretending):
    training = {
        "precision": "float32",
        "learning_rate": 2e-3,
        "validate_updates": 2,
        "average_decay": 0.9,
    }
    decoding = {"max_length_factor": 0.0, "max_length_extra": 4}
    config = toy_config(model={"dropout": 0.0}, training=training, decoding=decoding)
    expected = scenarios.training(CPU, config, 4)
    found = pretending(scenarios.training, config, 4)
    assert [line["samples"] for line in found] == [line["samples"] for line in expected]
    assert any(sample["translation"] for sample in found[-1]["samples"])
    for name in ("train_loss", "train_accuracy", "loss"):
        values = [[line[name] for line in lines] for lines in (found, expected)]
        assert values[0] == pytest.approx(values[1], abs=1e-4)
    *_, resumed = pretending(scenarios.training, config, 3, 4)
    averaged = {name: resumed[name] for name in ("train_loss", "train_accuracy")}  # since update 3
    assert resumed == {**found[-1], **averaged}


@pytest.mark.parametrize(
    ("fault", "message"),
    [
        (scenarios.mask_on_the_cpu, "same device, but found cuda:0 and cpu"),
        (scenarios.value_that_is_read, ""),
    ],
)
def test_faults_are_detected(toy_config, pretending, fault, message):
    if message:
        with pytest.raises(RuntimeError, match=message):
            pretending(scenarios.faulty_updates, toy_config(), fault)
    else:
        [wait] = pretending(scenarios.faulty_updates, toy_config(), fault).waits
        assert re.fullmatch(r"aten\._local_scalar_dense at scenarios\.py:\d+", wait)
