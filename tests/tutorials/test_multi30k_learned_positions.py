"""The tutorial on Multi30k: learned positions, separate key and value sizes, beam search."""

import math

import pytest
import torch

from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.text.cleaning import Cleaner
from nmt.model.transformer import Transformer

NAME = "multi30k-learned-positions"
SECTION = "Multi30k with learned positions"
TINY = ["model.d_key=3", "model.d_value=5"]  # d_model / heads would be 4


def slow_logits(eq, source, target):
    def embed(name, ids):
        return eq.rows(name, ids) + eq.weights[f"{name}.positions.table"][: len(ids)]

    return eq.logits(source, target, embed, layers=6)


@pytest.mark.parametrize(
    ("source", "target", "context"), [(4000, 4000, 60), (700, 900, 60), (700, 900, 50)]
)
def test_the_parameter_count_follows_the_formula(source, target, context, parameters, documented):
    expected = 44_101_632 + 512 * (source + 2 * target + 2 * context) + target
    assert parameters(NAME, source, target, f"model.max_length={context}") == expected
    documented(SECTION, f"{44_101_632:,} + 512·(V_source + 2·V_target + 2·C) + V_target")


def test_key_and_value_sizes_are_independent(parameters):
    changed = ["model.d_key=48", "model.d_value=80"]
    layers = 6 + 2 * 6  # each has matrices for queries and keys, and for values and the output
    difference = layers * 2 * 512 * 8 * ((48 - 64) + (80 - 64))
    assert parameters(NAME, 9, 9, *changed) - parameters(NAME, 9, 9) == difference == 0
    wider = parameters(NAME, 9, 9, "model.d_value=80") - parameters(NAME, 9, 9)
    assert wider == layers * 2 * 512 * 8 * 16


def test_the_model_equals_the_equations_with_different_key_and_value_sizes(
    tiny_model, assert_equal_to
):
    assert_equal_to(tiny_model(NAME, *TINY), slow_logits)


def test_cached_steps_equal_the_full_pass_with_different_key_and_value_sizes(tiny_model):
    model = tiny_model(NAME, *TINY)
    source, target = torch.tensor([[5, 6, 3]]), torch.tensor([[2, 7, 4, 8]])
    state = model.init_state(source)
    steps = [model.step(target[:, i], state) for i in range(4)]
    torch.testing.assert_close(torch.stack(steps, 1), model(source, target))


def test_the_model_learns_to_copy_by_beam_search(copied, load):
    shallow = ["model.encoder_layers=2", "model.decoder_layers=2"]
    widths = ["model.d_key=12", "model.d_value=20"]
    quick = ["training.learning_rate=1e-3", "training.warmup_updates=50"]
    assert load(NAME).decoding.beam_size > 1
    assert copied(NAME, *shallow, *widths, *quick) >= 0.95


def test_dropout_acts_only_on_the_sublayers_outputs(dropout_rates):
    assert dropout_rates(NAME) == {"attention output": 0.1, "feed-forward output": 0.1}


@pytest.mark.slow
def test_multi30k_is_prepared_in_english_and_french(corpora, load, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    prepared = prepare(load(NAME, f"data.path={corpora / 'multi30k'}"))
    pairs = prepared.report["pairs"]
    assert (pairs["validation"], pairs["test"]) == (1014, 1000)
    context = load(NAME).model.max_length
    longest = max(side["longest"] for side in prepared.report["lengths"].values())
    assert longest + 1 <= context


# --------------------------------------------------------------------------------------- deviations


def test_each_side_learns_its_own_positions(load):
    with torch.device("meta"):
        model = Transformer(load(NAME).model, 9, 9)
    source, target = model.source_embedding.positions.table, model.target_embedding.positions.table
    assert source is not target
    assert source.shape == target.shape == (60, 512)


def test_embeddings_and_positions_are_initialized_like_nn_embedding(load):
    torch.manual_seed(1)
    small = ["model.encoder_layers=1", "model.decoder_layers=1"]
    embedding = Transformer(load(NAME, *small).model, 500, 500).source_embedding
    for weight in (embedding.tokens.weight, embedding.positions.table):
        assert float(weight.detach().std()) == pytest.approx(1, rel=0.02)


def test_vocabularies_contain_whole_words(load):
    tokenizer = load(NAME).tokenizer
    assert not tokenizer.subword
    assert not tokenizer.joint
    assert load(NAME, "tokenizer.kind=bpe", "tokenizer.vocabulary_size=4000").tokenizer.subword


def test_only_the_attention_projections_are_xavier_normal(load, documented):
    torch.manual_seed(1)
    small = ["model.encoder_layers=1", "model.decoder_layers=1"]
    model = Transformer(load(NAME, *small).model, 9, 9)
    query = model.decoder[0].cross_attention.query.weight.detach()
    deviation = math.sqrt(2 / (512 + 512))
    assert float(query.std()) == pytest.approx(deviation, rel=0.01)
    assert float(query.abs().max()) > 3 * deviation  # uniform ends at √3
    for layer in (model.encoder[0].feed_forward.inner, model.output):
        for parameter in (layer.weight.detach(), layer.bias.detach()):
            assert 0 < float(parameter.abs().max()) <= 1 / math.sqrt(512)
    documented(SECTION, f"beyond {math.sqrt(3):.2f} standard deviations")


def test_both_sides_are_in_lower_case(load):
    cleaner = Cleaner(load(NAME).data)
    assert cleaner.source("Two Dogs.") == "two dogs."
    assert cleaner.target("Deux Chiens.") == "deux chiens."


def test_logits_of_two_hypotheses_cannot_be_compared(documented):
    logits = torch.tensor([[8.0, 8.0], [3.0, -3.0]])  # (hypotheses, words); both scores are 0
    by_logits, by_probability = (
        divmod(int(scores.argmax()), 2) for scores in (logits, logits.log_softmax(1))
    )
    assert (by_logits[0], by_probability) == (0, (1, 0))
    one, other = (float(row.softmax(0).max()) for row in logits)
    documented(SECTION, f"probability of {one:.2f}, although a word of the second has {other:.2f}")


def test_adding_the_old_score_twice_weights_early_words(documented):
    first = torch.tensor(-1.0, requires_grad=True)  # log-probability of the first word
    score = first
    for _ in range(5):
        extended = score - 1.0
        score = score + extended
    [times] = torch.autograd.grad(score, first)
    documented(SECTION, f"After 5 steps, the first word counts {times:.0f} times")


def test_a_joint_matrix_for_queries_keys_and_values_has_smaller_initial_weights(load, documented):
    torch.manual_seed(1)
    small = ["model.encoder_layers=1", "model.decoder_layers=1"]
    model = Transformer(load(NAME, *small).model, 9, 9)
    ours = float(model.encoder[0].attention.query_key_value.weight.detach().std())
    across = float(model.decoder[0].cross_attention.key_value.weight.detach().std())
    apart = float(torch.nn.init.xavier_normal_(torch.empty(512, 512)).std())
    assert ours / apart == pytest.approx(math.sqrt((512 + 512) / (512 + 3 * 512)), rel=0.01)
    assert across / apart == pytest.approx(math.sqrt((512 + 512) / (512 + 2 * 512)), rel=0.01)
    start = f"start {math.sqrt(1 / 2):.2f} and {math.sqrt(2 / 3):.2f} times as large"
    documented("General differences", start)
