"""Neighbours mix the tokens of similar training positions into a model's probabilities."""

import math

import pytest
import torch

from nmt.decoding.search.beam import beam_search
from nmt.decoding.search.datastore import Datastore
from nmt.decoding.search.ensemble import Ensemble
from nmt.decoding.search.greedy import greedy_search
from nmt.decoding.search.nearest_neighbours import Neighbours, WithNeighbours
from nmt.special_tokens import EOS
from nmt.training.batches import Batch

KEYS = torch.tensor([[0.0, 0.0], [0.0, 1.0], [2.0, 0.0], [9.0, 9.0]])
TOKENS = torch.tensor([4, 5, 4, 3])


def test_probabilities_equal_the_definition():
    neighbours = Neighbours(Datastore.of(KEYS, TOKENS), count=3, share=0.4, temperature=2.0)
    logits = torch.randn(1, 6, generator=torch.Generator().manual_seed(1))
    found = neighbours.mix(torch.tensor([[1.0, 0.0]]), logits).exp()[0]
    # The neighbours' tokens are 4, 5 and 4; the fourth key is too far away.
    weights = [math.exp(-d / 2) for d in (1, 2, 1)]
    expected = 0.6 * logits[0].softmax(0)
    expected[4] += 0.4 * (weights[0] + weights[2]) / sum(weights)
    expected[5] += 0.4 * weights[1] / sum(weights)
    torch.testing.assert_close(found, expected)


def test_more_neighbours_than_keys_means_all_keys():
    neighbours = Neighbours(Datastore.of(KEYS, TOKENS), count=50, share=0.4, temperature=2.0)
    found = neighbours.mix(torch.randn(5, 2), torch.randn(5, 6)).exp()
    torch.testing.assert_close(found.sum(1), torch.ones(5))


@torch.inference_mode()
@pytest.mark.parametrize("beam_size", [1, 4])
def test_an_output_without_eos_ends_at_its_limit(beam_size, random_model):
    model = random_model()
    with torch.no_grad():
        model.output.bias[EOS] = -200.0  # a probability too small for float32
    store = Datastore.of(torch.zeros(4, model.config.d_model), torch.full((4,), 5))
    decoder = WithNeighbours(model, Neighbours(store, count=1, share=0.3, temperature=1.0))
    [[found]] = beam_search(
        decoder, torch.tensor([[4, 5, EOS]]), torch.tensor([10]), beam_size, alpha=1.0
    )
    assert len(found.ids) == 10
    assert not found.complete


@torch.inference_mode()
@pytest.mark.parametrize("together", [False, True])
def test_an_untrained_model_reproduces_its_neighbours_text(together, random_model):
    model = random_model()
    sources = [[4, 5, 6, 7], [8, 9], [10, 4, 8]]
    targets = [[7, 6, 5, 4, 4], [10], [9, 9, 5]]
    batch = Batch.from_ids(sources, targets)
    keys = model.decoder_output(batch.source, batch.target_in).flatten(0, 1)[batch.label_indices]
    store = Datastore.of(keys, batch.target_out.flatten()[batch.label_indices])
    decoder = WithNeighbours(model, Neighbours(store, count=1, share=0.999, temperature=1.0))
    writer = Ensemble([decoder, decoder]) if together else decoder
    limits = torch.full((3,), 10)
    found = [hypothesis.ids for hypothesis in greedy_search(writer, batch.source, limits)]
    assert found == targets
    alone = greedy_search(model, batch.source, limits)
    assert [hypothesis.ids for hypothesis in alone] != targets
