"""Outputs contain the phrases of their constraints, and the beam keeps a place for every group."""

from collections.abc import Sequence

import pytest
import torch
from torch import Tensor

from nmt.decoding.search.beam import beam_search
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.search.lexical_constraints import LexicalConstraints
from nmt.special_tokens import EOS, PAD, UNK

A, B = 4, 5
CPU = torch.device("cpu")
ONE = torch.tensor([[A, EOS]])


def make(*phrases: list[list[int]], continuing: Sequence[int] = ()) -> LexicalConstraints:
    """The phrases that each sentence requires."""
    constraints = [[[phrase] for phrase in each] for each in phrases]
    return LexicalConstraints(constraints, continuing, CPU)


def any_of(*phrases: list[int], continuing: Sequence[int] = ()) -> LexicalConstraints:
    """A constraint for one sentence: one of these phrases."""
    return LexicalConstraints([[[*phrases]]], continuing, CPU)


def search(
    model: object,
    constraints: LexicalConstraints,
    beam_size: int,
    limit: int,
    n_best: int = 1,
    source: Tensor = ONE,
    alpha: float = 0.0,
) -> list[Hypothesis]:
    limits = torch.tensor([limit])
    [found] = beam_search(model, source, limits, beam_size, alpha, n_best, constraints)
    return found


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ([], [A, UNK]),
        ([A], [B, UNK]),
        ([A, A], [B, UNK]),  # the second may begin the phrase
        ([A, UNK], [A]),  # the first phrase was broken off
        ([A, B], [UNK]),
        ([A, B, UNK], []),
        ([A, B, UNK, A], []),
    ],
)
def test_the_next_token_of_each_incomplete_phrase(written, expected):
    phrases = make([[A, B], [UNK]])
    for token in written:
        phrases.select(torch.tensor([0]), torch.tensor([token]))
    assert [token for token in phrases.next_tokens()[0].tolist() if token != PAD] == expected


def test_phrases_that_begin_alike_share_their_next_token():
    assert make([[A, B], [A, UNK]]).next_tokens().tolist() == [[A, PAD]]


def test_groups_take_turns_and_rows_without_probability_come_last():
    phrases = make([[B]])
    totals = torch.tensor([[-1.0, -2.0, -3.0, -9.0, float("-inf")]])
    tokens = torch.tensor([[A, A, A, B, B]])  # the last two complete the phrase
    found, places = phrases.allocate_beam(totals, tokens, 5)
    assert places.tolist() == [[3, 0, 1, 2, 4]]
    assert found.tolist() == totals[0, places[0]][None].tolist()


def test_no_output_ends_before_it_contains_its_phrases(scripted):
    model = scripted(lambda source, prefix: {EOS: 0.7, A: 0.2, B: 0.1})
    sources, limits = ONE.repeat(4, 1), torch.tensor([9, 9, 9, 1])
    phrases = make([[B]], [], [[B, A, A]], [[A], [B]])
    found = beam_search(model, sources, limits, 2, 0.0, constraints=phrases)
    assert [h.ids for [h] in found] == [[B], [], [B, A, A], [A]]
    assert [h.complete for [h] in found] == [True, True, True, False]


def test_no_sentence_closes_before_its_phrases_are_written(scripted):
    stop = 6
    model = scripted(lambda _, prefix: {stop: 0.9, EOS: 0.01, B: 0.09 if prefix else 0.01}, 7)

    def found(phrase: list[int], closing: list[list[int]]) -> list[int]:
        [best] = search(model, LexicalConstraints([[[phrase]]], [], CPU, closing), 1, 3)
        return best.ids

    assert found([B], [])[0] == stop
    assert found([B], [[stop]])[0] == B
    assert found([stop, B], [[stop]])[:2] == [stop, B]


@pytest.mark.parametrize("beam_size", [1, 3])
def test_at_the_limit_outputs_with_more_of_the_phrases_come_first(beam_size, scripted):
    model = scripted(lambda source, prefix: {A: 0.9, B: 0.1})  # never ends
    best, *_ = search(model, make([[B]]), beam_size, 4, n_best=2)
    assert B in best.ids
    assert not best.complete


@pytest.mark.parametrize("beam_size", [1, 2])
def test_an_improbable_phrase_is_written_where_it_fits_best(beam_size, scripted):
    name = 6
    script = {
        (): {A: 0.9, B: 0.09},
        (A,): {B: 0.9, A: 0.09},
        (A, B): {EOS: 0.9, A: 0.09, name: 0.01},
        (A, B, name): {EOS: 1.0},
    }
    model = scripted(lambda _, prefix: script.get(prefix, {A: 0.6, B: 0.39, name: 0.001}), 7)
    [found] = search(model, make([[name]]), beam_size, 9)
    assert found.ids == [A, B, name]
    assert found.complete


def test_groups_without_a_living_hypothesis_take_no_place_in_the_beam(scripted):
    name = 6
    script = {(): {A: 0.6, B: 0.4}, (B,): {EOS: 0.9, name: 0.1}, (B, name): {EOS: 1.0}}
    model = scripted(lambda _, prefix: script.get(prefix, {A: 1.0}), 7)
    [found] = search(model, make([[name]]), 1, 9)
    assert found.ids == [B, name]  # the group with the name is empty after the first step


def test_a_phrase_within_a_longer_word_does_not_count(scripted):
    model = scripted(lambda source, prefix: {A: 0.6, B: 0.3, EOS: 0.1})
    free, bound = (
        search(model, make([[B]], continuing=continuing), 20, 3, n_best=9)
        for continuing in ([], [A])
    )
    assert [B, A] in [h.ids for h in free]
    assert {tuple(h.ids) for h in bound} == {(B,), (A, B), (B, B)}


@pytest.mark.parametrize(
    "constraints",
    [
        [[[A]]],
        [[[A, B]]],
        [[[A, B]], [[A, A]]],
        [[[B]], [[A]], [[UNK]]],
        [[[A, B], [B, B]], [[UNK], [A, A]]],  # one of several phrases each
    ],
)
@torch.inference_mode()
def test_an_exhaustive_beam_finds_the_best_outputs_with_all_phrases(
    constraints, random_model, all_outputs
):
    def has(ids: list[int], phrase: list[int]) -> bool:
        return any(ids[i : i + len(phrase)] == phrase for i in range(len(ids)))

    model, source = random_model(3, target_size=6), [7, 9, 5, EOS]
    expected = [
        (score, ids)
        for score, ids in all_outputs(model, source, 4, 0.6)
        if len(ids) < 4 and all(any(has(ids, phrase) for phrase in each) for each in constraints)
    ]
    phrases = LexicalConstraints([constraints], [], CPU)
    found = search(model, phrases, 1000, 4, 1000, torch.tensor([source]), 0.6)
    assert [h.ids for h in found] == [ids for _, ids in expected]
    assert [h.score for h in found] == pytest.approx([s for s, _ in expected], abs=1e-4)


def test_one_of_several_phrases_is_enough_and_the_most_probable_is_written(scripted):
    model = scripted(lambda source, prefix: {EOS: 0.7, A: 0.1, B: 0.2})
    found = search(model, any_of([A], [B]), 3, 5, n_best=3)
    assert [h.ids for h in found][:2] == [[B], [A]]


def test_a_form_that_begins_another_form_may_become_it(scripted):
    ending = 6
    script = {(): {A: 0.9, EOS: 0.1}, (A,): {ending: 0.8, B: 0.1, EOS: 0.1}}
    model = scripted(lambda _, prefix: script.get(prefix, {EOS: 0.9, B: 0.1}), 7)
    for forms, best in (
        ([[A], [A, ending]], [A, ending]),
        ([[A]], [A]),
        ([[A], [A, ending, ending]], [A]),  # [A, ending] is neither
    ):
        [found] = search(model, any_of(*forms, continuing=[ending]), 4, 5)
        assert found.ids == best
