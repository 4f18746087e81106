"""Wheeler: one input embedding for both sides, positions from 1, scores divided by √d_model."""

import math

import numpy as np
import pytest
import torch

from nmt.model.layers import EncoderLayer
from nmt.model.padding import pad
from nmt.model.positions import sinusoids
from nmt.model.transformer import Transformer
from nmt.special_tokens import PAD

SECTION = "Wheeler"


def slow_logits(eq, source, target, may_see_source=None):
    def embed(_, ids):  # both sides share the embedding
        return eq.rows("source_embedding", ids) + eq.waves(range(1, len(ids) + 1))

    root = math.sqrt(eq.config.d_model)
    return eq.logits(source, target, embed, layers=1, divisor=root, may_see_source=may_see_source)


@pytest.mark.parametrize("size", [2000, 700])
def test_the_parameter_count_follows_the_formula(size, parameters):
    d, ff = 256, 4 * 256
    attention = 4 * (d * d + d)
    feed_forward = d * ff + ff + ff * d + d
    norm = 2 * d
    layers = attention + feed_forward + 2 * norm + 2 * attention + feed_forward + 3 * norm
    assert parameters("wheeler", size, size) == layers + size * d + size * d + size


def test_the_model_equals_the_equations(tiny_model, assert_equal_to):
    assert_equal_to(tiny_model("wheeler"), slow_logits)


def test_cached_steps_equal_the_full_pass(tiny_model):
    model = tiny_model("wheeler")
    source, target = pad([[5, 6, 3], [9, 3]]), torch.tensor([[2, 7, 4, 8], [2, 5, 6, 7]])
    state = model.init_state(source)
    steps = [model.step(target[:, i], state) for i in range(4)]
    torch.testing.assert_close(torch.stack(steps, 1), model(source, target))


def test_the_model_learns_to_copy(copied):
    assert copied("wheeler", "training.learning_rate=5e-3", "training.warmup_updates=50") >= 0.95


def test_dropout_acts_only_on_the_embeddings(dropout_rates):
    assert dropout_rates("wheeler") == {"embeddings": 0.1}


# --------------------------------------------------------------------------------------- deviations


def test_both_sides_share_one_embedding_and_the_output_has_its_own(load, documented):
    model = Transformer(load("wheeler").model, 2000, 2000)
    shared = model.source_embedding.tokens.weight
    assert model.target_embedding.tokens.weight is shared
    assert model.output.weight is not shared
    documented(SECTION, f"{shared.numel():,} parameters")


def test_positions_from_one_equal_the_papers_shifted_by_one(load, documented):
    model = Transformer(load("wheeler").model, 11, 11)
    table = model.source_embedding.positions(0, 5)
    assert torch.equal(table, sinusoids(6, 256)[1:])
    documented(SECTION, f"{float(table[0, 0]):.3f}, {float(table[0, 1]):.3f}")


def test_one_norm_for_two_sublayers_leaves_the_other_untrained(load, documented):
    layer = EncoderLayer(load("wheeler").model)
    x, mask = torch.randn(1, 3, 256), torch.ones(1, 1, 1, 3, dtype=torch.bool)
    ours, idle = layer(x, mask), layer.feed_forward_residual.norm
    layer.feed_forward_residual.norm = layer.attention_residual.norm
    his = layer(x, mask)
    his[0, 0, 0].backward()
    torch.testing.assert_close(his, ours)
    assert idle.weight.grad is None
    assert layer.attention_residual.norm.weight.grad is not None
    documented(
        SECTION, f"{idle.weight.numel() + idle.bias.numel()} parameters would never be trained"
    )


def test_dividing_by_the_root_of_d_model_flattens_attention(load, equations, documented):
    model = load("wheeler").model
    d_key, d_model = model.key_size, model.d_model
    query = np.full((1, d_key), 1.0)
    # The first key's score is d_key / 2, the nine others' is 0.
    keys = np.array([[0.5] * d_key, *[[0.0] * d_key] * 9])
    by_key, by_model = (
        equations.weigh(query, keys, lambda i, j: True, math.sqrt(width))[0, 0]
        for width in (d_key, d_model)
    )
    assert by_key > by_model > 1 / 10
    documented(SECTION, f"gets {by_key:.2f} of the attention with √d_key, and {by_model:.2f} with")


def test_without_a_padding_mask_a_translation_depends_on_its_batch(
    tiny_model, equations, documented
):
    eq = equations(tiny_model("wheeler"))
    alone, padded, target = [5, 6, 3], [5, 6, 3] + [PAD] * 6, [2, 7, 4]
    unmasked = [slow_logits(eq, source, target, lambda i, j: True) for source in (alone, padded)]
    masked = [slow_logits(eq, source, target) for source in (alone, padded)]
    assert not np.allclose(*unmasked, atol=0.01)
    assert np.allclose(*masked)
    even = eq.weigh(np.zeros((1, 4)), np.zeros((9, 4)), lambda i, j: True, 1.0)[0, 3:].sum()
    documented(SECTION, f"uniform attention puts {even:.0%} on padding")
