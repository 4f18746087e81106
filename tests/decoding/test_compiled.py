"""`CompiledDecoder` computes what `Transformer.step` does."""

import copy
import os
import re
import subprocess
import sys

import pytest
import torch

from nmt.decoding.datastore import Datastore
from nmt.decoding.fast_decoder import FastDecoder
from nmt.decoding.neighbours import Neighbours
from nmt.decoding.search import ModelSearch, compiled_decoders
from nmt.model.padding import pad

pytest.importorskip("numba", reason="Numba, the extra `compiled`, is not installed")
from nmt import kernels
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


@pytest.mark.parametrize("required", [False, True])
@pytest.mark.parametrize("beam_size", [1, 4, 15])
def test_searches_find_the_same(beam_size, required, random_model, random_sources):
    model, sources = random_model(positions="rotary"), random_sources(60, 1)
    limits = [2 + i % 15 for i in range(60)]
    pieces = [[5 + i % 6] for i in range(60)] if required else None

    plain, compiled = (
        ModelSearch([model], 0.6, compiled=each)(sources, limits, beam_size, beam_size, pieces)
        for each in (False, True)
    )

    assert len({tuple(h.ids) for best in plain for h in best}) > 20  # or it would show little
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
    models = [random_model(1), random_model(2, d_model=10, heads=5, decoder_layers=2)]
    sources = random_sources(20, 3)

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
        for parameter in model.parameters():
            parameter.mul_(0.5)

    assert torch.equal(compiled.step(tokens, compiled.start(SOURCES)), before)


def test_ids_and_positions_that_the_model_lacks_are_refused(random_model):
    compiled = CompiledDecoder(random_model(positions="rotary", max_length=4))

    with pytest.raises(IndexError):
        compiled.start(torch.tensor([[4, 500, 3]]))
    with pytest.raises(IndexError):
        compiled.start(torch.tensor([[4, 5, 6, 7, 3]]))
    state = compiled.start(torch.tensor([[4, 3]]))
    for _ in range(4):
        compiled.step(torch.tensor([2]), state)
    with pytest.raises(IndexError):
        compiled.step(torch.tensor([2]), state)


def test_loops_are_compiled_for_one_layout_of_arrays_only(random_model, random_sources):
    model, sources = random_model(), random_sources(60, 1)
    search = ModelSearch([model], 0.6, compiled=True)

    for beam_size in (1, 4):
        search(sources, [9] * 60, beam_size, 1)
        search(sources, [9] * 60, beam_size, 1, required=[[5]] * 60)

    loops = [each for each in vars(kernels).values() if hasattr(each, "signatures")]
    layouts = re.findall(r"Array\(\w+, \d, '(\w)'", str([loop.signatures for loop in loops]))
    assert set(layouts) == {"C"}  # with another one, a search would stop to compile


BYTES = """
import sys, numpy as np
from nmt import kernels
x = np.random.default_rng(1).standard_normal((3, 48), np.float32)
if "first" in sys.argv:
    kernels.normalise(x, x[0], x[1], np.float32(1e-5), np.empty_like(x))
none = np.empty((0, 0, 0), np.float32)
norms = kernels.Norms(x[:1, :16].copy(), x[1:2, :16].copy())
def products(outer, inner):
    w = np.random.default_rng(outer + inner).standard_normal((1, outer, inner), np.float32)
    return kernels.Products(w, w[:, :, 0].copy())
nothing = kernels.Attentions(norms, products(1, 1), products(1, 1))
itself = kernels.Attentions(norms, products(48, 16), products(16, 16))
layers = kernels.Layers(itself, nothing, norms, products(24, 16), products(16, 24), norms)
shape = kernels.Shape(2, 8, 8, np.float32(0.3), np.float32(1e-5), True, False)
out = kernels.encode(x[:, :16].copy(), np.array([0, 1, 3]), none, layers, shape)
sys.stdout.write(out.tobytes().hex())
"""


def test_the_bytes_do_not_depend_on_what_was_compiled_or_called_before(tmp_path):
    found = {
        subprocess.run(
            [sys.executable, "-c", BYTES, *order],
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for order in ([], [], ["first"])
    }

    assert len(found) == 1


@pytest.mark.parametrize("change", [lambda model: model.double(), lambda model: model.bfloat16()])
def test_other_numbers_than_float32_are_left_to_pytorch(change, random_model):
    model = random_model()
    assert compiled_decoders([(model, None)])
    changed = change(copy.deepcopy(model))

    [[found]] = ModelSearch([changed], 0.6, compiled=True)([[5, 6, 3]], [9], 1, 1)

    assert not compiled_decoders([(changed, None)])
    assert found.ids
    assert not compiled_decoders([(model.to("meta"), None)])


def test_without_numba_pytorch_decodes(random_model, monkeypatch):
    monkeypatch.delitem(sys.modules, "nmt.decoding.compiled")
    monkeypatch.delattr("nmt.decoding.compiled")
    monkeypatch.setitem(sys.modules, "nmt.kernels", None)  # as where it fails to import
    model = random_model()

    [[found]] = ModelSearch([model], 0.6, compiled=True)([[5, 6, 3]], [9], 1, 1)

    assert found.ids
    assert not compiled_decoders([(model, None)])


def test_machine_code_that_cannot_be_used_is_told_and_done_without(
    random_model, monkeypatch, capsys
):
    def damaged(*_):
        raise EOFError("Ran out of input")

    monkeypatch.setattr(CompiledDecoder, "warm_up", damaged)

    [[found]] = ModelSearch([random_model()], 0.6, compiled=True)([[5, 6, 3]], [9], 1, 1)

    assert found.ids
    assert re.search(
        r"Ran out of input; make room .*, or delete its \*.nbi", capsys.readouterr().err
    )
