"""Beam search finds the best hypotheses, and equals greedy search at width one."""

import math

import pytest
import torch

from nmt.decoding.search.beam import beam_search
from nmt.decoding.search.greedy import greedy_search
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.model.padding import pad
from nmt.model.transformer import Transformer
from nmt.special_tokens import BOS, EOS, PAD, UNK

A, B = 4, 5
ONE = torch.tensor([[A, EOS]])


POST, LEARNED, ROTARY = {"norm_position": "post"}, {"positions": "learned"}, {"positions": "rotary"}


@pytest.mark.parametrize(
    ("seed", "changes"),
    [(0, {}), (1, {}), (2, LEARNED), (7, LEARNED), (10, ROTARY), (1, POST), (4, POST)],
)
def test_a_beam_of_one_equals_greedy_search(seed, changes, random_model, random_sources):
    model, sources = random_model(seed, **changes), random_sources(40, seed + 100)
    limits = torch.tensor([2 + i % 15 for i in range(40)])
    greedy = greedy_search(model, pad(sources), limits, alpha=0.6)
    beam = beam_search(model, pad(sources), limits, beam_size=1, alpha=0.6)
    assert len({tuple(h.ids) for h in greedy}) > 20  # or the test would prove little
    for expected, [found] in zip(greedy, beam, strict=True):
        assert (found.ids, found.complete) == (expected.ids, expected.complete)
        assert found.log_probability == pytest.approx(expected.log_probability, abs=1e-4)
        assert found.score == pytest.approx(expected.score, abs=1e-4)


@pytest.mark.parametrize("alpha", [0.0, 0.6, 1.0, 3.0])
@pytest.mark.parametrize("limit", [1, 2, 3, 4])
@torch.inference_mode()
def test_an_exhaustive_beam_equals_enumeration(alpha, limit, random_model, all_outputs):
    model, source = random_model(seed=limit, target_size=6), [7, 9, 5, EOS]
    expected = all_outputs(model, source, limit, alpha)
    arguments = (model, torch.tensor([source]), torch.tensor([limit]), 1000, alpha)
    for n_best in (1, 3, len(expected)):
        [found] = beam_search(*arguments, n_best)
        scores, outputs = zip(*expected[:n_best], strict=True)
        assert [h.ids for h in found] == [*outputs]
        assert [h.score for h in found] == pytest.approx([*scores], abs=1e-4)
        assert [h.complete for h in found] == [len(h.ids) < limit for h in found]


def test_a_better_hypothesis_is_found_after_the_first_is_finished(scripted):
    script = {(): {A: 0.6, EOS: 0.4}, (A,): {EOS: 0.9, B: 0.1}}
    model = scripted(lambda source, prefix: script.get(prefix, {EOS: 1.0}))
    [[found]] = beam_search(model, ONE, torch.tensor([5]), beam_size=3, alpha=0.0)
    assert found.ids == [A]  # 0.54; the empty hypothesis was finished a step earlier with 0.4
    assert found.log_probability == pytest.approx(math.log(0.54))


def test_a_longer_hypothesis_may_win_with_the_length_penalty(scripted):
    script = {(): {A: 0.45, EOS: 0.55}}
    model = scripted(
        lambda source, prefix: script.get(prefix, {A: 1.0} if len(prefix) < 5 else {EOS: 1.0})
    )
    [found] = beam_search(model, ONE, torch.tensor([5]), beam_size=2, alpha=1.0, n_best=2)
    assert [h.ids for h in found] == [[A] * 5, []]
    assert found[0].score == pytest.approx(math.log(0.45) / ((5 + 6) / 6))
    assert found[1].score == pytest.approx(math.log(0.55))


def test_a_beam_of_two_keeps_a_hypothesis_with_a_less_probable_start(scripted):
    script = {(): {A: 0.6, B: 0.4}, (A,): {EOS: 0.5, A: 0.5}, (B,): {EOS: 1.0}}
    model = scripted(lambda source, prefix: script.get(prefix, {EOS: 1.0}))
    [[greedy]] = beam_search(model, ONE, torch.tensor([5]), beam_size=1, alpha=0.0)
    [[found]] = beam_search(model, ONE, torch.tensor([5]), beam_size=2, alpha=0.0)
    assert greedy.ids[0] == A
    assert found.ids == [B]


def test_the_search_ends_when_beam_size_hypotheses_are_finished(scripted):
    model = scripted(lambda source, prefix: {EOS: 0.6, A: 0.4})
    [found] = beam_search(model, ONE, torch.tensor([50]), beam_size=3, alpha=0.0, n_best=3)
    assert [h.ids for h in found] == [[], [A], [A, A]]
    assert len(model.rows) == 3


def test_the_best_hypothesis_may_have_ended_several_steps_before_the_search_ends(scripted):
    script = {(): {EOS: 0.6, A: 0.4}, (A,): {A: 0.6, EOS: 0.4}}
    model = scripted(lambda source, prefix: script.get(prefix, {A: 0.5, EOS: 0.5}))
    [found] = beam_search(model, ONE, torch.tensor([50]), beam_size=2, alpha=0.0, n_best=2)
    assert [h.ids for h in found] == [[], [A]]
    assert len(model.rows) == 2


def test_the_search_continues_while_an_unfinished_hypothesis_may_win(scripted):
    model = scripted(lambda source, prefix: {A: 0.9, EOS: 0.1} if len(prefix) < 4 else {EOS: 1.0})
    [[found]] = beam_search(model, ONE, torch.tensor([50]), beam_size=2, alpha=0.0)
    assert found.ids == [A] * 4
    assert len(model.rows) == 5  # two hypotheses were finished after two steps


def test_the_beam_stays_full_when_a_hypothesis_ends(scripted):
    model = scripted(lambda source, prefix: {EOS: 0.4, A: 0.35, B: 0.25})
    [found] = beam_search(model, ONE, torch.tensor([9]), beam_size=2, alpha=0.0, n_best=2)
    assert model.rows[:2] == [1, 2]  # A and B continue after the empty hypothesis is finished
    assert [h.ids for h in found] == [[], [A]]


def test_pad_and_sos_are_never_written(scripted):
    model = scripted(lambda source, prefix: {PAD: 0.4, BOS: 0.4, A: 0.1, UNK: 0.05, EOS: 0.05})
    [found] = beam_search(model, ONE, torch.tensor([3]), beam_size=50, alpha=0.0, n_best=50)
    assert len(found) == 1 + 2 + 4 + 8
    assert {i for h in found for i in h.ids} == {A, UNK}


@pytest.mark.parametrize("beam_size", [1, 2, 4])
def test_every_sentence_has_its_own_length_limit(beam_size, scripted):
    model = scripted(lambda source, prefix: {A: 0.9, B: 0.05, EOS: 0.05})
    found = beam_search(model, ONE.repeat(3, 1), torch.tensor([4, 1, 2]), beam_size, 0.6, beam_size)
    assert [max(len(h.ids) for h in options) for options in found] == [4, 1, 2]
    for limit, options in zip([4, 1, 2], found, strict=True):
        assert all(h.complete == (len(h.ids) < limit) for h in options)


def test_finished_sentences_leave_the_batch(scripted):
    def script(source: list[int], prefix: tuple[int, ...]) -> dict[int, float]:
        if len(prefix) == source[0]:
            return {EOS: 1.0}
        return {A: 0.9, B: 0.1}

    model = scripted(script)
    sources = torch.tensor([[3], [1], [2]])
    found = beam_search(model, sources, torch.tensor([9, 9, 9]), beam_size=2, alpha=0.0)
    assert [h.ids for [h] in found] == [[A] * 3, [A], [A] * 2]
    assert model.rows == [3, 6, 4, 2]


@pytest.mark.parametrize(("beam_size", "n_best"), [(2, 1), (4, 1), (4, 4), (7, 3)])
def test_batching_does_not_change_the_results(beam_size, n_best, random_model, random_sources):
    model, sources = random_model(1), random_sources(25, 101)
    limits = torch.tensor([3 + i % 13 for i in range(25)])
    together = beam_search(model, pad(sources), limits, beam_size, 0.6, n_best)
    assert len({len(options[0].ids) for options in together}) > 5  # or the test would prove little
    for source, limit, found in zip(sources, limits, together, strict=True):
        [alone] = beam_search(model, torch.tensor([source]), limit[None], beam_size, 0.6, n_best)
        assert [h.ids for h in alone] == [h.ids for h in found]
        assert [h.score for h in alone] == pytest.approx([h.score for h in found], abs=1e-4)


def test_reported_scores_equal_those_of_teacher_forcing(random_model, random_sources):
    model, sources = random_model(4), random_sources(20, 6)
    limits = torch.full((20,), 12)
    found = beam_search(model, pad(sources), limits, beam_size=4, alpha=0.6, n_best=4)
    for source, options in zip(sources, found, strict=True):
        for h in options:
            assert h.score == pytest.approx(rescore(model, source, h, 0.6), abs=1e-4)
        assert options == sorted(options, key=lambda h: -h.score)
        assert len({tuple(h.ids) for h in options}) == len(options)


@torch.inference_mode()
def rescore(model: Transformer, source: list[int], found: Hypothesis, alpha: float) -> float:
    logits = model(torch.tensor([source]), torch.tensor([[BOS, *found.ids]]))[0]
    ids = [*found.ids, EOS] if found.complete else found.ids  # <eos> is not forced at the limit
    chosen = logits.log_softmax(-1)[range(len(ids)), ids]
    return float(chosen.sum()) / ((5 + len(found.ids) + 1) / 6) ** alpha
