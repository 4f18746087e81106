"""The map of parameters agrees with the model."""

import pytest
import torch

from nmt.config.model import ModelConfig
from nmt.model.parameters import parameter_shapes
from nmt.model.transformer import Transformer

SMALL = {"d_model": 8, "heads": 2, "d_ff": 12, "encoder_layers": 1, "decoder_layers": 2}


@pytest.mark.parametrize(
    "fields",
    [
        {"tie": "none", "final_norm": True, "norm_position": "pre"},
        {"tie": "inputs", "output_bias": True, "attention_bias": False},
        {"tie": "target", "positions": "learned", "max_length": 5},
        {"tie": "all", "d_key": 6, "d_value": 3, "positions": "rotary"},
        {"norm_kind": "rms", "final_norm": True, "activation": "swiglu"},
        {"key_value_heads": 1, "score_scale": "learned"},
    ],
)
def test_names_and_shapes_are_those_of_the_model(fields):
    config = ModelConfig.model_validate(SMALL | fields)
    with torch.device("meta"):
        model = Transformer(config, 30, 20)
    found = {name: tuple(each.shape) for name, each in model.named_parameters()}
    assert parameter_shapes(config, 30, 20) == found
