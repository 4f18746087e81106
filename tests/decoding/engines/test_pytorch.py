"""The PyTorch engine: batches of any number of sentences, one model or several."""

import itertools
import shutil
from types import SimpleNamespace

import pytest
import torch

from nmt.config.decoding import DecodingConfig
from nmt.decoding.engines import pytorch
from nmt.decoding.engines.interface import Constraints
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.search.datastore import Datastore
from nmt.files.checksums import identity
from nmt.runs.folder import RunFolder
from nmt.special_tokens import EOS


def test_a_run_is_opened_with_its_datastore(trained_run, tmp_path):
    shutil.copytree(trained_run.path, tmp_path / "run")
    run = RunFolder(tmp_path / "run")
    keys, nine = torch.randn(30, run.config.model.d_model), torch.full((30,), 9)
    Datastore.of(keys, nine).save(run.datastore, identity(run.weights("best")))
    # A share of nearly 1 always writes the datastore's only value.
    decoding = DecodingConfig(knn_k=4, knn_weight=1 - 1e-6, knn_temperature=3.0)
    engine = pytorch.open_runs([run], "best", decoding, torch.device("cpu"))
    [[found]] = engine([[4, 5, EOS]], [6], decoding)
    assert found.ids == [9] * 6


def test_a_run_is_opened_with_the_settings_of_its_neighbours(trained_run, monkeypatch):
    monkeypatch.setattr(pytorch, "Neighbours", lambda *settings: settings)
    monkeypatch.setattr(pytorch.Datastore, "load", lambda *_: "datastore")
    monkeypatch.setattr(pytorch, "PyTorchEngine", lambda models, neighbours: neighbours)
    decoding = DecodingConfig(knn_k=4, knn_weight=0.3, knn_temperature=3.0)
    found = pytorch.open_runs([trained_run], "best", decoding, torch.device("cpu"))
    assert found == [("datastore", 4, 0.3, 3.0)]


@pytest.mark.parametrize("batch_tokens", [1, 40, 8192])
@pytest.mark.parametrize(("beam_size", "n_best"), [(1, 1), (3, 1), (1, 3)])
def test_batching_does_not_change_the_results(
    batch_tokens, beam_size, n_best, random_model, random_sources
):
    engine, sources = PyTorchEngine([random_model(1)]), random_sources(40, 101)
    limits = [3 + i % 13 for i in range(40)]
    decoding = DecodingConfig(beam_size=beam_size, batch_tokens=batch_tokens)
    together = engine(sources, limits, decoding, n_best)
    for source, limit, found in zip(sources, limits, together, strict=True):
        [alone] = engine([source], [limit], decoding, n_best)
        assert len(found) == n_best
        assert [h.ids for h in found] == [h.ids for h in alone]


@pytest.mark.parametrize(("beam_size", "most"), [(1, 8), (2, 4)])
def test_batches_are_limited_by_source_tokens_times_beam_size(beam_size, most, scripted):
    model = scripted(lambda source, prefix: {5: 0.5, EOS: 0.5})
    model.output, model.training = SimpleNamespace(weight=torch.zeros(1)), False
    decoding = DecodingConfig(beam_size=beam_size, batch_tokens=24)
    PyTorchEngine([model])([[4, 5, EOS]] * 30, [3] * 30, decoding)
    assert max(model.rows) == most * beam_size


def test_each_sentence_gets_its_own_samples_within_its_limit(random_model, random_sources):
    engine, sources = PyTorchEngine([random_model(1)]), random_sources(5, 101)
    decoding = DecodingConfig(temperature=1.0)
    found = engine(sources, [2, 4, 6, 8, 10], decoding, 3)
    assert [len(samples) for samples in found] == [3] * 5
    for limit, samples in zip([2, 4, 6, 8, 10], found, strict=True):
        assert all(len(h.ids) <= limit for h in samples)
        assert [h.score for h in samples] == sorted((h.score for h in samples), reverse=True)


def test_without_sentences_there_are_no_hypotheses(random_model):
    assert PyTorchEngine([random_model(1)])([], [], DecodingConfig()) == []


@pytest.mark.parametrize("beam_size", [1, 5])
@pytest.mark.parametrize("batch_tokens", [1, 4096])
def test_required_phrases_are_written(batch_tokens, beam_size, random_model, random_sources):
    engine, sources = PyTorchEngine([random_model(1)]), random_sources(10, 5)
    constraints = Constraints([[[[4 + i % 5, 4]]] for i in range(9)] + [[]])
    decoding = DecodingConfig(beam_size=beam_size, batch_tokens=batch_tokens)
    found = engine(sources, [12] * 10, decoding, 1, constraints)
    assert any(h.complete for [h] in found)
    for [h], [[[first, second]]] in zip(found[:9], constraints.phrases[:9], strict=True):
        assert not h.complete or (first, second) in itertools.pairwise(h.ids)
    assert found[9] == engine(sources[9:], [12], decoding)[0]


@pytest.mark.parametrize("beam_size", [1, 3])
def test_the_phrases_of_other_sentences_do_not_change_a_translation(
    beam_size, random_model, random_sources
):
    engine, sources = PyTorchEngine([random_model(1)]), random_sources(12, 5)
    constraints = Constraints([[[[4 + i]] for i in range(1 + number % 4)] for number in range(12)])
    decoding, limits = DecodingConfig(beam_size=beam_size), [12] * 12
    together = engine(sources, limits, decoding, 1, constraints)
    alone = [
        engine([source], [12], decoding, 1, constraints.of([i]))[0]
        for i, source in enumerate(sources)
    ]
    assert [h.ids for [h] in together] == [h.ids for [h] in alone]


def test_decoding_disables_dropout(random_model, random_sources):
    model, sources = random_model(1, dropout=0.5), random_sources(10, 5)
    expected = PyTorchEngine([model])(sources, [8] * 10, DecodingConfig())
    assert PyTorchEngine([model.train()])(sources, [8] * 10, DecodingConfig()) == expected


def test_the_smallest_max_length_of_an_ensemble_applies(random_model):
    models = [random_model(1, max_length=length) for length in (24, 9)]
    assert PyTorchEngine(models).max_length == 9
