"""Walsh: Keras' layers, heads as wide as the model, dropout at the same places as in Keras."""

import math

import pytest
import torch
from torch.nn import functional

from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.text.cleaning import Cleaner
from nmt.model.transformer import Transformer
from nmt.training.optimizers import make_optimizer

SECTION = "Walsh"
TINY = ["model.d_key=8", "model.d_value=8"]


def slow_logits(eq, source, target):
    def embed(name, ids):
        return eq.rows(name, ids) + eq.waves(range(len(ids)))

    return eq.logits(source, target, embed, layers=2, epsilon=1e-3)


@pytest.mark.parametrize(("source", "target"), [(10_000, 10_000), (700, 900)])
def test_the_parameter_count_follows_the_formula(source, target, parameters, documented):
    expected = 3_299_584 + 128 * (source + 2 * target) + target
    assert parameters("walsh", source, target) == expected
    documented(SECTION, f"{3_299_584:,} + 128·(V_source + 2·V_target) + V_target")


def test_the_model_equals_the_equations(tiny_model, assert_equal_to):
    assert_equal_to(tiny_model("walsh", *TINY), slow_logits)


def test_the_model_learns_to_copy(copied):
    assert copied("walsh", "model.d_key=64", "model.d_value=64") >= 0.95


def test_dropout_acts_on_attention_weights_and_the_feed_forward_output(dropout_rates):
    assert dropout_rates("walsh") == {"attention weights": 0.1, "feed-forward output": 0.1}


@pytest.mark.slow
def test_tatoebas_file_is_prepared(corpora, load, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared = prepare(load("walsh", f"data.path={corpora / 'tatoeba-deu.txt'}"))
    assert prepared.report["pairs"]["train"] > 40_000


# --------------------------------------------------------------------------------------- deviations


def test_text_is_lower_cased_without_punctuation_and_split_at_spaces(load, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [f"It's Tom, isn't it? {i}\t¿Es Tom, no? {i}\n" for i in range(40)]
    (tmp_path / "pairs.tsv").write_text("".join(lines))
    sizes = ["data.validation_size=5", "data.test_size=5", "data.min_coverage=0"]
    config = load("walsh", "data.target_language=es", *sizes)
    tokenizers = prepare(config).tokenizers
    cleaner = Cleaner(config.data)
    source, target = cleaner.source("It's Tom, isn't it? 7"), cleaner.target("¿Es Tom, no? 7")
    assert tokenizers.source.split(source) == ["its", "tom", "isnt", "it", "7"]
    assert tokenizers.target.split(target) == ["¿es", "tom", "no", "7"]
    assert tokenizers.source.size < 50


def test_heads_as_wide_as_the_model_make_attention_eight_times_as_large(load, documented):
    def attention(*overrides):
        with torch.device("meta"):
            layer = Transformer(load("walsh", *overrides).model, 9, 9).encoder[0].attention
        return sum(parameter.numel() for parameter in layer.parameters())

    wide, usual = attention(), attention("model.d_key=16", "model.d_value=16")
    documented(
        SECTION, f"has {wide:,} parameters; with d_model / heads = 16, it would have {usual:,}"
    )


def test_an_epsilon_of_a_thousandth_shrinks_inputs_with_small_variance(documented):
    x = torch.randn(128, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    x = 0.1 * (x - x.mean()) / x.std(unbiased=False)
    keras, pytorch = (
        float(functional.layer_norm(x, (128,), eps=epsilon).std(unbiased=False))
        for epsilon in (1e-3, 1e-5)
    )
    documented(SECTION, f"0.1 to {keras:.3f}; with PyTorch's ε, it becomes {pytorch:.4f}")


def test_initial_embeddings_are_those_of_keras(load, documented):
    torch.manual_seed(1)
    weight = Transformer(load("walsh").model, 10_000, 9).source_embedding.tokens.weight.detach()
    assert float(weight.min()) == pytest.approx(-0.05, rel=1e-3)
    assert float(weight.max()) == pytest.approx(0.05, rel=1e-3)
    assert float(weight.std()) == pytest.approx(0.05 / math.sqrt(3), rel=0.01)
    documented(SECTION, "between −0.05 and 0.05")


def test_nadams_momentum_grows_more_slowly_than_in_keras(load, documented):
    training = load("walsh").training
    parameter = torch.nn.Parameter(torch.ones(1))
    optimizer = make_optimizer(torch.nn.ParameterList([parameter]), training)
    products = []
    for _ in range(100):
        parameter.grad = torch.ones(1)
        optimizer.step()
        products.append(float(optimizer.state[parameter]["mu_product"]))
    pytorch = products[-1] / products[-2]  # float32, so low precision
    keras = training.betas[0] * (1 - 0.5 * 0.96**100)
    assert pytorch == pytest.approx(0.9 * (1 - 0.5 * 0.96 ** (100 * 0.004)), rel=1e-4)
    documented(SECTION, f"after 100 updates it is {pytorch:.2f}, in Keras {keras:.2f}")


def test_keras_attention_kernels_start_smaller(load, documented):
    shape = model, heads, width = 128, 8, 128
    # Keras' compute_fans: the last two dimensions, times all others.
    fan_in, fan_out = heads * model, width * model
    keras = math.sqrt(2 / (fan_in + fan_out))
    network = Transformer(load("walsh").model, 50, 50)
    ours = network.encoder[0].attention
    found = ours.query_key_value.weight.std().item()
    assert found == pytest.approx(math.sqrt(2 / (model + 3 * heads * width)), rel=0.02)
    documented(SECTION, f"{shape}, a standard deviation of {keras:.3f}")
    documented(SECTION, f"starts with {found:.3f}")
    cross = network.decoder[0].cross_attention
    query, joint = (x.weight.std().item() for x in (cross.query, cross.key_value))
    documented(
        SECTION, f"queries starts with {query:.3f}, and that for keys and values with {joint:.3f}"
    )
    # The kernel of the output has the shape (heads, width, model).
    keras, output = math.sqrt(2 / (heads * width + heads * model)), ours.output.weight.std().item()
    documented(SECTION, f"start with {keras:.3f} in Keras and with {output:.3f} here")
