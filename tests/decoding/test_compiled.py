"""`CompiledDecoder` computes what `Transformer.step` does."""

import copy

import pytest
import torch

from nmt.decoding.datastore import Datastore
from nmt.decoding.fast_decoder import FastDecoder
from nmt.decoding.neighbours import Neighbours
from nmt.decoding.search import ModelSearch, can_compile
from nmt.model.padding import pad

pytest.importorskip("numba", reason="Numba, the extra `compiled`, is not installed")
from nmt.decoding import kernels
from nmt.decoding.compiled import CompiledDecoder

SOURCES = pad([[5, 6, 7, 3], [8, 3], [9, 4, 3]])
# Of the rows before, which go on: one a source; two, then swapped and a source less; many; one.
MOVES = [
    [[0], [1], [2]],
    [[0, 0], [1, 1], [2, 2]],
    [[5, 4], [0, 0]],
    [[0, 1, 1, 0, 0, 1, 0, 0, 1, 1], [2, 3, 3, 3, 2, 2, 2, 3, 2, 2]],
    [[13]],
    *[[[0]]] * 8,
]


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"norm": "post", "activation": "gelu", "final_norm": False},
        {"positions": "learned", "scale_embeddings": False, "d_key": 3, "d_value": 5},
        {"positions": "rotary", "encoder_layers": 2, "decoder_layers": 3},
        {"positions": "rotary", "d_model": 6, "heads": 3, "d_key": 4, "d_value": 5},
        {"attention_bias": False, "score_scale": "d_model"},
        {"first_position": 1, "d_model": 10, "d_ff": 7},
    ],
)
def test_steps_are_those_of_the_plain_model(changes, random_model):
    model = random_model(**changes)
    plain, compiled = copy.deepcopy(model).double(), CompiledDecoder(model)
    states = plain.start(SOURCES), compiled.start(SOURCES)
    generator = torch.Generator().manual_seed(1)

    for rows in map(torch.tensor, MOVES):
        for state in states:
            state.select(rows)
        tokens = torch.randint(4, 11, (rows.numel(),), generator=generator)
        expected, found = plain.step(tokens, states[0]), compiled.step(tokens, states[1])
        # As near to the true sums as PyTorch's float32 comes.
        torch.testing.assert_close(found, expected.float(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_searches_find_the_same(beam_size, random_model, random_sources):
    model, sources = random_model(positions="rotary"), random_sources(60, 1)
    limits = [2 + i % 15 for i in range(60)]

    plain, compiled = (
        ModelSearch([model], 0.6, compiled=each)(sources, limits, beam_size, beam_size)
        for each in (False, True)
    )

    assert len({tuple(best[0].ids) for best in plain}) > 20  # or the test would show little
    for expected, found in zip(plain, compiled, strict=True):
        assert [h.ids for h in found] == [h.ids for h in expected]
        assert [h.complete for h in found] == [h.complete for h in expected]
        scores = [h.score for h in expected]
        assert [h.score for h in found] == [pytest.approx(score, abs=1e-4) for score in scores]


def test_a_batch_gives_what_each_sentence_gives_alone(random_model, random_sources):
    model, sources = random_model(), random_sources(30, 101)
    search, limits = ModelSearch([model], 0.6, compiled=True), [3 + i % 13 for i in range(30)]

    together = search(sources, limits, 3, 1)

    for source, limit, [found] in zip(sources, limits, together, strict=True):
        [[alone]] = search([source], [limit], 3, 1)
        assert alone.ids == found.ids
        assert alone.score == pytest.approx(found.score, abs=1e-4)


def test_models_of_an_ensemble_are_all_compiled(random_model, random_sources):
    models, sources = [random_model(seed) for seed in (1, 2)], random_sources(20, 3)

    plain, compiled = (
        ModelSearch(models, 0.6, compiled=each)(sources, [9] * 20, 3, 1) for each in (False, True)
    )

    assert [best[0].ids for best in compiled] == [best[0].ids for best in plain]


def test_neighbours_are_mixed_in(random_model):
    model = random_model()
    keys = torch.randn(20, model.config.d_model, generator=torch.Generator().manual_seed(1))
    store = Datastore.of(keys, torch.arange(20) % 7 + 4)
    neighbours = Neighbours(store, count=2, share=0.5, temperature=1.0)
    plain, compiled = (each(model, neighbours) for each in (FastDecoder, CompiledDecoder))
    tokens = torch.tensor([2, 2, 2])

    expected, found = (each.step(tokens, each.start(SOURCES)) for each in (plain, compiled))

    without = CompiledDecoder(model)
    assert not torch.allclose(found, without.step(tokens, without.start(SOURCES)).log_softmax(1))
    torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-4)


def test_a_copy_of_the_weights_is_kept(random_model):
    model = random_model()
    compiled, tokens = CompiledDecoder(model), torch.tensor([2, 2, 2])
    before = compiled.step(tokens, compiled.start(SOURCES))

    with torch.no_grad():
        for layer in model.decoder_layers():
            layer.feed_forward.inner.weight.mul_(0.5)

    assert torch.equal(compiled.step(tokens, compiled.start(SOURCES)), before)


def test_nothing_is_compiled_after_the_start(random_model, random_sources):
    model, sources = random_model(), random_sources(60, 1)
    search = ModelSearch([model], 0.6, compiled=True)
    loops = [each for each in vars(kernels).values() if hasattr(each, "signatures")]
    before = [len(loop.signatures) for loop in loops]

    for beam_size in (1, 4):
        search(sources, [9] * 60, beam_size, 1)
        search(sources, [9] * 60, beam_size, 1, required=[[5]] * 60)

    assert [len(loop.signatures) for loop in loops] == before
    assert len(loops) > 10


def test_other_numbers_than_float32_are_left_to_pytorch(random_model):
    model = random_model()
    assert can_compile(model)
    assert not can_compile(copy.deepcopy(model).double())
    assert not can_compile(copy.deepcopy(model).to("meta"))


def test_without_numba_pytorch_decodes(random_model, monkeypatch):
    monkeypatch.setattr("nmt.decoding.search.find_spec", lambda name: None)
    model = random_model()

    [[found]] = ModelSearch([model], 0.6, compiled=True)([[5, 6, 3]], [9], 1, 1)

    assert found.ids
    assert not can_compile(model)
