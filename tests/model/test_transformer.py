"""The whole model equals its equations; padding and the future do not leak into it."""

import pytest
import torch

from nmt.model.padding import pad
from nmt.model.transformer import Transformer, count_parameters
from nmt.special_tokens import PAD

SOURCES = [[5, 6, 7, 8, 3], [9, 3], [4, 10, 3]]
TARGETS = [[2, 7, 4], [2, 5, 6, 7, 8, 9], [2]]
VARIANTS = [
    {"norm_position": norm, "positions": positions}
    for norm in ("pre", "post")
    for positions in ("sinusoidal", "learned", "rotary")
]
VARIANTS += [
    {"score_scale": "d_model", "first_position": 1, "position_exponent": "column"},
    {"score_scale": "learned", "norm_kind": "rms", "activation": "swiglu"},
    {"heads": 4, "key_value_heads": 2},
]


@pytest.mark.parametrize(
    "changes",
    [
        {"norm_position": "pre", "tie": "all", "d_key": 3, "d_value": 5},
        {
            "norm_position": "post",
            "tie": "none",
            "positions": "learned",
            "activation": "gelu",
            "attention_bias": False,
            "output_bias": True,
            "final_norm": False,
            "scale_embeddings": False,
        },
        {
            "norm_position": "post",
            "tie": "inputs",
            "score_scale": "d_model",
            "position_exponent": "column",
            "first_position": 1,
            "norm_epsilon": 0.1,
        },
        {"positions": "rotary"},
        {"positions": "rotary", "heads": 4, "key_value_heads": 2, "norm_kind": "rms"},
        {"positions": "rotary", "d_key": 6, "d_value": 3, "max_length": 6},
    ],
)
def test_logits_of_a_padded_batch_equal_the_equations_for_each_sentence(
    changes, random_model, reference
):
    model = random_model(**changes).double()
    logits = model(pad(SOURCES), pad(TARGETS))
    slow = reference(model.config, model.state_dict())
    for row, source, target in zip(logits, SOURCES, TARGETS, strict=True):
        expected = torch.from_numpy(slow.logits(source, target))
        torch.testing.assert_close(row[: len(target)], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("changes", VARIANTS)
def test_a_target_token_does_not_change_earlier_logits(changes, random_model):
    model = random_model(**changes)
    source = torch.tensor([[5, 6, 3]])
    before = model(source, torch.tensor([[2, 5, 6, 7, 8]]))
    after = model(source, torch.tensor([[2, 5, 6, 9, 8]]))
    assert torch.equal(before[:, :3], after[:, :3])
    assert not torch.allclose(before[:, 3:], after[:, 3:])


@pytest.mark.parametrize("changes", VARIANTS)
def test_additional_padding_has_no_effect(changes, random_model):
    model = random_model(**changes)
    source, target = pad(SOURCES), pad(TARGETS)
    wide_source = torch.nn.functional.pad(source, (0, 4), value=PAD)
    wide_target = torch.nn.functional.pad(target, (0, 3), value=PAD)
    logits = model(source, target)
    torch.testing.assert_close(model(wide_source, target), logits)
    torch.testing.assert_close(model(source, wide_target)[:, : target.shape[1]], logits)


def test_the_embedding_of_source_padding_has_no_effect(random_model):
    model = random_model(tie="none")
    before = model(pad(SOURCES), pad(TARGETS))
    with torch.no_grad():
        model.source_embedding.tokens.weight[PAD] = 100.0
    torch.testing.assert_close(model(pad(SOURCES), pad(TARGETS)), before)


@pytest.mark.parametrize(("source", "target"), [([PAD, PAD], [2, 5]), ([5, 3], [PAD, PAD])])
@pytest.mark.parametrize("training", [False, True])
def test_a_side_of_only_padding_gives_finite_logits_and_gradients(
    training, source, target, random_model
):
    model = random_model(dropout=0.1, attention_dropout=0.1).train(training)
    logits = model(torch.tensor([source, [5, 3]]), torch.tensor([target, [2, 6]]))
    logits.square().sum().backward()
    assert logits.isfinite().all()
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


# ------------------------------------------------------------------------------- step by step


@pytest.mark.parametrize("changes", VARIANTS)
def test_cached_steps_give_the_logits_of_teacher_forcing(changes, random_model):
    model = random_model(**changes, d_key=6, d_value=5)
    source = pad(SOURCES)
    target = torch.randint(4, 11, (3, 16), generator=torch.Generator().manual_seed(1))
    state = model.init_state(source)
    steps = [model.step(target[:, i], state) for i in range(16)]
    torch.testing.assert_close(torch.stack(steps, 1), model(source, target), rtol=1e-4, atol=1e-5)


def test_selected_rows_continue_independently_of_the_others(random_model):
    model = random_model()
    target = torch.tensor([[2, 5, 6], [2, 7, 8], [2, 9, 4]])
    rows = torch.tensor([[0], [2]])  # the second source is dropped
    state = model.init_state(pad(SOURCES))
    model.step(target[:, 0], state)
    model.step(target[:, 1], state)
    state.select(rows)
    logits = model.step(target[rows.flatten(), 2], state)
    expected = model(pad(SOURCES)[rows.flatten()], target[rows.flatten()])[:, 2]
    torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("changes", VARIANTS)
def test_each_hypothesis_attends_to_its_own_prefix(changes, random_model):
    model, generator = random_model(**changes), torch.Generator().manual_seed(1)
    sources = pad(SOURCES)
    written = torch.empty(3, 0, dtype=torch.long)  # (rows, length)
    # One hypothesis per source; two; the same two, reordered; three for two of the sources; one.
    moves = [
        [[0], [1], [2]],
        [[0, 0], [1, 1], [2, 2]],
        [[1, 0], [2, 3], [5, 4]],
        [[0, 1, 0], [4, 5, 5]],
        [[1], [5]],
    ]
    state = model.init_state(sources)
    for rows in map(torch.tensor, moves):
        sources = sources[rows[:, 0] // (len(written) // len(sources))]
        state.select(rows)
        drawn = torch.randint(4, 11, (rows.numel(), 1), generator=generator)
        written = torch.cat([written[rows.flatten()], drawn], 1)
        logits = model.step(written[:, -1], state)
        expected = model(sources.repeat_interleave(rows.shape[1], 0), written)[:, -1]
        torch.testing.assert_close(logits, expected, rtol=1e-4, atol=1e-5)


def test_the_state_counts_the_decoded_positions(random_model):
    model = random_model()
    state = model.init_state(torch.tensor([[5, 3]]))
    for length, token in enumerate((2, 5, 6)):
        assert state.length == length
        model.step(torch.tensor([token]), state)


# --------------------------------------------------------------------------------- parameters


@pytest.mark.parametrize(
    "changes",
    [
        {"tie": "none"},
        {"tie": "inputs"},
        {"tie": "target"},
        {"tie": "all"},
        {"attention_bias": False},
        {"output_bias": True},
        {"output_bias": True, "tie": "none"},
        {"d_key": 3},
        {"d_value": 5},
        {"d_key": 7, "d_value": 6, "heads": 3, "attention_bias": False},
        {"positions": "learned"},
        {"final_norm": False, "norm_position": "post"},
        {"encoder_layers": 1, "decoder_layers": 3},
    ],
)
def test_parameter_counts_follow_the_formula(changes, config):
    settings = config(**changes)
    source_size = 20
    target_size = 20 if settings.tie in ("inputs", "all") else 30
    model = Transformer(settings, source_size, target_size)

    d, ff, bias = settings.d_model, settings.d_ff, int(settings.attention_bias)
    keys = settings.heads * (settings.d_key or d // settings.heads)
    values = settings.heads * (settings.d_value or d // settings.heads)
    attention = 2 * (d + bias) * keys + (d + bias) * values + (values + bias) * d
    feed_forward = d * ff + ff + ff * d + d
    encoder = attention + feed_forward + 2 * 2 * d
    decoder = 2 * attention + feed_forward + 3 * 2 * d
    embeddings = {
        "none": (source_size + 2 * target_size) * d,
        "target": (source_size + target_size) * d,
        "inputs": (source_size + target_size) * d,
        "all": source_size * d,
    }[settings.tie]
    expected = (
        settings.encoder_layers * encoder
        + settings.decoder_layers * decoder
        + (2 * 2 * d if settings.final_norm else 0)
        + embeddings
        + (target_size if settings.output_bias else 0)
        + (2 * settings.max_length * d if settings.positions == "learned" else 0)
    )
    assert count_parameters(model) == expected


def test_the_base_model_of_the_paper_has_63_million_parameters(config):
    base = config(
        d_model=512, heads=8, d_ff=2048, encoder_layers=6, decoder_layers=6, final_norm=False
    )
    with torch.device("meta"):
        model = Transformer(base, 37_000, 37_000)
    # 6 encoder layers of 3 152 384, 6 decoder layers of 4 204 032, 37 000 * 512 embeddings
    assert count_parameters(model) == 63_082_496


@pytest.mark.parametrize("positions", ["sinusoidal", "learned", "rotary"])
def test_the_model_can_be_created_on_the_meta_device(positions, config):
    with torch.device("meta"):
        model = Transformer(config(positions=positions), 20, 20)
    assert {parameter.device.type for parameter in model.parameters()} == {"meta"}


@pytest.mark.parametrize("tie", ["none", "inputs", "target", "all"])
def test_tied_weights_are_one_parameter(tie, config):
    model = Transformer(config(tie=tie), 20, 20)
    source, target = model.source_embedding.tokens.weight, model.target_embedding.tokens.weight
    assert (source is target) == (tie in ("inputs", "all"))
    assert (model.output.weight is target) == (tie in ("target", "all"))


def test_the_output_layer_contains_only_the_target_tokens_of_a_joint_vocabulary(random_model):
    model = random_model(source_size=11, target_size=7, tie="all")
    source, target_in = torch.tensor([[10, 8, 2]]), torch.tensor([[2, 6, 5]])
    logits = model(source, target_in)
    table = model.source_embedding.tokens.weight
    assert logits.shape == (1, 3, 7)
    torch.testing.assert_close(logits, model.decoder_output(source, target_in) @ table[:7].T)
    whole = random_model(source_size=11, target_size=11, tie="all")
    torch.testing.assert_close(logits, whole(source, target_in)[..., :7])
    (gradient,) = torch.autograd.grad(model.output(torch.ones(8)).sum(), table)
    assert gradient[:7].ne(0).all()
    assert gradient[7:].eq(0).all()


@pytest.mark.parametrize("tie", ["none", "inputs", "target", "all"])
def test_the_padding_embedding_is_initialized_to_zero(tie, config):
    model = Transformer(config(tie=tie), 20, 20)
    for embedding in (model.source_embedding, model.target_embedding):
        assert embedding.tokens.weight[PAD].eq(0).all()
        assert embedding.tokens.weight[PAD + 1 :].ne(0).all()


def embedding_weights(model: Transformer) -> tuple[torch.Tensor, torch.Tensor]:
    """Return those of source tokens and of learned positions."""
    embedding = model.requires_grad_(False).source_embedding
    return embedding.tokens.weight[1:], embedding.positions.table


def test_initial_weights_are_scaled_to_their_width(config):
    torch.manual_seed(1)
    wide = config(d_model=64, d_ff=256, positions="learned", encoder_layers=1)
    model = Transformer(wide, 500, 500)
    tokens, positions = embedding_weights(model)
    assert float(tokens.std()) == pytest.approx(1 / 8, rel=0.05)
    assert float(positions.std()) == pytest.approx(1 / 8, rel=0.1)
    inner = model.encoder[0].feed_forward.inner
    assert float(inner.weight.abs().max()) == pytest.approx((6 / (64 + 256)) ** 0.5, rel=0.01)
    assert inner.bias.eq(0).all()
    assert model.encoder_norm.weight.eq(1).all()


@pytest.mark.parametrize("distribution", ["normal", "uniform"])
def test_embeddings_are_initialized_with_the_configured_standard_deviation(distribution, config):
    torch.manual_seed(1)
    settings = {
        "positions": "learned",
        "embedding_std": 3.0,
        "embedding_distribution": distribution,
    }
    tokens, positions = embedding_weights(Transformer(config(d_model=64, **settings), 500, 500))
    assert float(tokens.std()) == pytest.approx(3, rel=0.05)
    assert float(positions.std()) == pytest.approx(3, rel=0.1)
    for weight in (tokens, positions):
        assert (float(weight.abs().max()) <= 3 * 3**0.5) == (distribution == "uniform")


def test_uniform_and_normal_initialization_have_the_same_variance(config):
    torch.manual_seed(1)
    wide = {"d_model": 64, "d_ff": 256, "encoder_layers": 1}
    uniform, normal = (
        Transformer(config(initialization=kind, **wide), 20, 20).encoder[0].feed_forward.inner
        for kind in ("xavier_uniform", "xavier_normal")
    )
    deviation = (2 / (64 + 256)) ** 0.5
    for layer in (uniform, normal):
        assert float(layer.weight.detach().std()) == pytest.approx(deviation, rel=0.02)
    assert float(uniform.weight.detach().abs().max()) < 1.74 * deviation  # √3
    assert float(normal.weight.detach().abs().max()) > 3 * deviation


def test_pytorchs_initialization_is_that_of_linear_layers(config):
    torch.manual_seed(1)
    made = Transformer(config(initialization="pytorch", d_model=64, d_ff=256), 20, 20)
    for layer, width in ((made.encoder[0].feed_forward.inner, 64), (made.output, 64)):
        weight = layer.weight.detach()
        if layer is not made.output:  # which is tied to the embedding
            assert 0.95 * width**-0.5 < float(weight.abs().max()) <= width**-0.5
            assert 0 < float(layer.bias.detach().abs().max()) <= width**-0.5


def test_biases_start_as_configured_whatever_the_matrices(config):
    def bias(**settings):
        torch.manual_seed(1)
        inner = Transformer(config(d_model=64, **settings), 20, 20).encoder[0].feed_forward.inner
        return inner.bias.detach()

    assert not bias().any()
    assert not bias(initialization="pytorch", initial_biases="zero").any()
    assert 0 < float(bias(initial_biases="pytorch").abs().max()) <= 64**-0.5


def test_embedding_dropout_is_independent_of_layer_dropout(config):
    model = Transformer(config(embedding_dropout=0.5, tie="none"), 20, 20)
    ids = torch.full((1, 16), 5)
    for embedding in (model.source_embedding, model.target_embedding):
        assert 0 < int(embedding(ids).eq(0).sum()) < ids.numel() * 8
    assert model.encoder[0].feed_forward_residual.dropout.rate == 0


def test_the_same_seed_gives_the_same_weights(config):
    def weights(seed: int) -> torch.Tensor:
        torch.manual_seed(seed)
        return torch.nn.utils.parameters_to_vector(Transformer(config(), 20, 20).parameters())

    assert torch.equal(weights(3), weights(3))
    assert not torch.equal(weights(3), weights(4))


def test_every_parameter_gets_a_gradient(random_model):
    model = random_model(tie="none", positions="learned", output_bias=True)
    model(pad(SOURCES), pad(TARGETS)).square().sum().backward()
    unused = [n for n, p in model.named_parameters() if p.grad is None or not p.grad.any()]
    assert unused == []
