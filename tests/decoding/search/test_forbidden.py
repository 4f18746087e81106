"""Forbidden phrases are not written."""

import torch

from nmt.decoding.search.beam import beam_search
from nmt.decoding.search.forbidden import WithoutForbiddenPhrases
from nmt.decoding.search.greedy import greedy_search
from nmt.special_tokens import EOS

A, B = 4, 5
ONE = torch.tensor([[A, EOS]])


def test_the_last_token_of_a_phrase_is_not_written(scripted):
    script = {(): {A: 0.9, B: 0.1}, (A,): {B: 0.9, A: 0.06, EOS: 0.04}}
    model = scripted(lambda _, prefix: script.get(prefix, {EOS: 0.9, B: 0.1}))
    limits = torch.tensor([9, 9])

    def searched(*forbidden: list[list[int]]) -> list[list[int]]:
        limited = WithoutForbiddenPhrases(model, forbidden)
        greedy = greedy_search(limited, ONE.repeat(2, 1), limits)
        beams = beam_search(limited, ONE.repeat(2, 1), limits, 1, 0.0)
        assert [found.ids for found in greedy] == [found.ids for [found] in beams]
        return [found.ids for found in greedy]

    assert searched([], [[A, B]]) == [[A, B], [A, A]]
    assert searched([[A]], [[B], [A, A]]) == [[B], [A]]
