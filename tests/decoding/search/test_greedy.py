"""Greedy search chooses the most probable token at every step."""

import math

import pytest
import torch

from nmt.decoding.search.greedy import greedy_search
from nmt.model.padding import pad
from nmt.special_tokens import BOS, EOS, PAD

A, B = 4, 5
ONE = torch.tensor([[A, EOS]])


def test_the_most_probable_token_is_written_until_eos(scripted):
    script = {(): {A: 0.6, B: 0.4}, (A,): {B: 0.7, EOS: 0.3}, (A, B): {EOS: 0.9, A: 0.1}}
    model = scripted(lambda source, prefix: script[prefix])
    [found] = greedy_search(model, ONE, torch.tensor([5]))
    assert found.ids == [A, B]
    assert found.log_probability == pytest.approx(math.log(0.6 * 0.7 * 0.9))
    assert found.complete


def test_the_length_penalty_changes_only_the_score(scripted):
    model = scripted(lambda source, prefix: {EOS: 0.2, A: 0.8} if len(prefix) < 3 else {EOS: 1.0})
    [plain] = greedy_search(model, ONE, torch.tensor([9]))
    [found] = greedy_search(model, ONE, torch.tensor([9]), alpha=1.0)
    assert plain.score == plain.log_probability
    assert found.ids == plain.ids == [A, A, A]
    assert found.score == pytest.approx(math.log(0.8**3) / ((5 + 4) / 6))


def test_pad_and_sos_are_never_written(scripted):
    def script(source: list[int], prefix: tuple[int, ...]) -> dict[int, float]:
        return {PAD: 0.4, BOS: 0.4, A: 0.15, EOS: 0.05}

    [found] = greedy_search(scripted(script), ONE, torch.tensor([3]))
    assert found.ids == [A, A, A]
    assert found.log_probability == pytest.approx(math.log(0.15**3))


def test_rows_stop_at_their_limit_without_eos(scripted):
    model = scripted(lambda source, prefix: {A: 0.8, EOS: 0.2})
    found = greedy_search(model, ONE.repeat(3, 1), torch.tensor([4, 1, 2]))
    assert [h.ids for h in found] == [[A] * 4, [A], [A] * 2]
    assert [h.complete for h in found] == [False] * 3
    assert found[0].log_probability == pytest.approx(math.log(0.8**4))


def test_finished_rows_leave_the_batch(scripted):
    def script(source: list[int], prefix: tuple[int, ...]) -> dict[int, float]:
        return {EOS: 1.0} if len(prefix) == source[0] else {A: 1.0}

    model = scripted(script)
    found = greedy_search(model, torch.tensor([[3], [0], [1]]), torch.tensor([9, 9, 9]))
    assert [h.ids for h in found] == [[A] * 3, [], [A]]
    assert model.rows == [3, 2, 1, 1]


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_batching_does_not_change_the_results(positions, random_model, random_sources):
    model, sources = random_model(1, positions=positions), random_sources(30, 101)
    limits = torch.tensor([3 + i % 13 for i in range(30)])
    together = greedy_search(model, pad(sources), limits, alpha=0.6)
    assert len({len(h.ids) for h in together}) > 5  # or the test would prove little
    for source, limit, found in zip(sources, limits, together, strict=True):
        [alone] = greedy_search(model, torch.tensor([source]), limit[None], alpha=0.6)
        assert alone.ids == found.ids
        assert alone.complete == found.complete
        assert alone.score == pytest.approx(found.score, abs=1e-4)
