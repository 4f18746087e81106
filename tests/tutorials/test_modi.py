"""Modi, after the Annotated Transformer: pre-norm with final norms; the notebook's mistakes."""

import math

import numpy as np
import pytest
import torch
from torch.nn import functional

from nmt.model.masks import padding_mask, target_mask
from nmt.model.padding import pad
from nmt.model.transformer import Transformer
from nmt.special_tokens import PAD
from nmt.training.schedules import learning_rate

SECTION = "Modi"


def slow_logits(eq, source, target):
    def embed(name, ids):
        return eq.rows(name, ids) * math.sqrt(eq.config.d_model) + eq.waves(range(len(ids)))

    return eq.logits(source, target, embed, layers=6, pre_norm=True)


@pytest.mark.parametrize(("source", "target"), [(2000, 2000), (700, 900)])
def test_the_parameter_count_follows_the_formula(source, target, parameters, documented):
    expected = 44_140_544 + 512 * (source + 2 * target) + target
    assert parameters("modi", source, target) == expected
    documented(SECTION, f"{44_140_544:,} + 512·(V_source + 2·V_target) + V_target")


def test_sharing_embeddings_and_output_is_an_option(parameters):
    assert parameters("modi", 2000, 2000, "model.tie=all") == 44_140_544 + 512 * 2000 + 2000


def test_the_model_equals_the_equations(tiny_model, assert_equal_to):
    assert_equal_to(tiny_model("modi"), slow_logits)


# One layer per side, because six take half a minute.
SHALLOW = ["model.encoder_layers=1", "model.decoder_layers=1"]


@pytest.mark.parametrize("tie", ["none", "all"])
def test_the_model_learns_to_copy(tie, copied):
    quick = ["training.learning_rate=5e-3", "training.warmup_updates=50", f"model.tie={tie}"]
    assert copied("modi", *SHALLOW, *quick) >= 0.95


def test_dropout_acts_everywhere(dropout_rates):
    places = [
        "embeddings",
        "attention weights",
        "attention output",
        "inside feed-forward",
        "feed-forward output",
    ]
    assert dropout_rates("modi") == dict.fromkeys(places, 0.1)


def test_the_rate_is_noams_with_the_annotated_transformers_peak(load, documented):
    training = load("modi").training

    def noam(update, warmup):
        return 512**-0.5 * min(update**-0.5, update * warmup**-1.5)

    ratios = {
        round(learning_rate(training, update, 9999) / noam(update, training.warmup_updates), 9)
        for update in (1, 100, 300, 301, 1000, 5000)
    }
    assert len(ratios) == 1
    assert training.learning_rate == pytest.approx(noam(3000, 3000), rel=0.01)
    documented(SECTION, f"{ratios.pop():.2f} times the rate that it gives")


# --------------------------------------------------------------------------------------- deviations


def test_the_output_of_his_layer_norm_is_a_thousandth_smaller(documented):
    x = torch.randn(512, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    ours = functional.layer_norm(x, (512,))
    his = (x - x.mean()) / (x.std() + 1e-6)  # torch's `std` is the unbiased one
    smaller = 1 - float((his / ours).mean())
    assert smaller == pytest.approx(1 - math.sqrt(511 / 512), abs=1e-5)
    documented(SECTION, f"{smaller:.2%} smaller")


def test_biases_start_as_those_of_linear_layers(load, documented):
    torch.manual_seed(1)
    bias = Transformer(load("modi").model, 9, 9).encoder[0].attention.output.bias.detach()
    limit = 1 / math.sqrt(512)
    assert 0.9 * limit < float(bias.abs().max()) <= limit
    documented(SECTION, f"within ±{limit:.3f} for 512 inputs")


def test_our_label_smoothing_leaves_slightly_more_to_the_label(load, documented):
    smoothing, size = load("modi").training.label_smoothing, 2000
    logits = torch.zeros(1, size, dtype=torch.float64, requires_grad=True)
    loss = functional.cross_entropy(logits, torch.tensor([7]), label_smoothing=smoothing)
    [gradient] = torch.autograd.grad(loss, logits)
    ours = 1 / size - gradient[0]  # the gradient is softmax - label distribution
    his = torch.full((size,), smoothing / (size - 2)).double()
    his[7], his[PAD] = 1 - smoothing, 0
    assert float(his.sum()) == pytest.approx(1)
    documented(SECTION, f"the label gets {float(ours[7]):.5f} instead of {float(his[7]):.5f}")


def test_a_decoder_that_returns_inside_its_loop_runs_one_layer(tiny_model, parameters, documented):
    model = tiny_model("modi")
    source, target = pad([[5, 6, 3]]), torch.tensor([[2, 7, 4]])

    def notebook():
        mask = padding_mask(source)
        memory, x = model.encode(source, mask), model.target_embedding(target)
        for layer in model.decoder_layers():
            keys_values = layer.cross_attention.keys_values(memory)
            x = layer(x, target_mask(target), keys_values, mask)
            return model.logits(model.decoder_norm(x))

    before, ours = notebook(), model(source, target)
    for layer in model.decoder_layers()[1:]:
        for parameter in layer.parameters():
            torch.nn.init.normal_(parameter)
    assert torch.equal(notebook(), before)
    assert not torch.allclose(model(source, target), ours)
    idle = parameters("modi", 9, 9) - parameters("modi", 9, 9, "model.decoder_layers=1")
    documented(SECTION, f"{idle:,} parameters are never used")


def test_attention_without_softmax_is_not_a_distribution(equations, documented):
    query, keys = np.array([[1.0]]), np.array([[2.0], [-1.0], [0.5]])
    his = query @ keys.T
    ours = equations.weigh(query, keys, lambda i, j: True, 1.0)
    assert his.min() < 0
    assert ours.min() > 0
    assert ours.sum() == pytest.approx(1)
    documented(SECTION, f"sum to {his.sum():.1f} and include a negative number")
    documented(SECTION, "softmax gives {:.3f}, {:.3f} and {:.3f}".format(*ours[0]))


def test_log_softmax_over_positions_is_not_a_distribution_over_words(documented):
    logits = torch.zeros(1, 4, 10)  # 4 positions, 10 words
    words, positions = (logits.log_softmax(dim).exp()[0, 0].sum().item() for dim in (-1, 1))
    assert words == pytest.approx(1)
    documented(
        SECTION,
        f'10 equally likely words at 4 positions, "probabilities" sum to {positions:.1f} at each',
    )
    # Later positions also affect earlier ones:
    logits[0, 3, 0] = 9.0
    assert logits.log_softmax(1)[0, 0, 0] < torch.zeros(1, 4, 10).log_softmax(1)[0, 0, 0]
    assert logits.log_softmax(-1)[0, 0, 0] == torch.zeros(10).log_softmax(-1)[0]


def test_decoding_without_the_source_mask_attends_to_padding(tiny_model, documented):
    model = tiny_model("modi")
    alone, padded = pad([[5, 6, 3]]), torch.tensor([[5, 6, 3] + [PAD] * 6])
    target = torch.tensor([[2, 7, 4]])

    def decode(source, mask):
        memory, x = model.encode(source, padding_mask(source)), model.target_embedding(target)
        for layer in model.decoder_layers():
            x = layer(x, target_mask(target), layer.cross_attention.keys_values(memory), mask)
        return model.logits(model.decoder_norm(x))

    everything = torch.ones(1, 1, 1, 9, dtype=torch.bool)
    torch.testing.assert_close(decode(padded, padding_mask(padded)), model(alone, target))
    assert not torch.allclose(decode(padded, everything), model(alone, target), atol=0.01)
    even = float(torch.zeros(9).softmax(-1)[3:].sum())
    documented(SECTION, f"uniform attention puts {even:.0%} on padding")


def test_initial_embeddings_are_xaviers_for_the_vocabulary(load, documented):
    torch.manual_seed(1)
    config = load("modi", *SHALLOW)
    size = config.tokenizer.vocabulary_size
    weight = Transformer(config.model, size, size).source_embedding.tokens.weight.detach()
    xavier = torch.nn.init.xavier_uniform_(torch.empty(size, 512))
    assert float(weight.std()) == pytest.approx(float(xavier.std()), rel=0.01)
    assert float(weight.abs().max()) == pytest.approx(float(xavier.abs().max()), rel=0.01)
    target = math.sqrt(2 / (1528 + 512))
    documented(SECTION, f"it is {float(xavier.std()):.3f} for the {size:,} of the source")
    documented(SECTION, f"{target:.3f} for the {1528:,} of the target")
