"""What may follow settled words: one continuation for each probable next token."""

import pytest
import torch

from nmt.decoding.search.next_words import continuations
from nmt.special_tokens import EOS

A, B, C, SPACE = range(4, 8)
ONE = torch.tensor([[A, EOS]])


@pytest.fixture
def model(scripted):
    """After the token A: B twice and a space, or C and a space, or the end, or hardly ever A."""

    def probabilities(_, prefix):
        rest = list(prefix[1:])
        if not rest:
            return {B: 0.6, C: 0.3, EOS: 0.0999, A: 0.0001}
        return {B: 0.9, C: 0.1} if rest == [B] else {SPACE: 0.9, EOS: 0.1}

    return scripted(probabilities, 8)


def ends_in_space(ids: list[int]) -> bool:
    return ids[-1] == SPACE


def test_each_probable_next_token_is_continued_to_the_end_of_its_word(model):
    found = continuations(model, ONE, [A], 4, 9, ends_in_space)
    assert found == [[B, B, SPACE], [C, SPACE], []]


@pytest.mark.parametrize(
    ("count", "limit", "found"), [(1, 9, [[B, B, SPACE]]), (2, 3, [[B, B], [C, SPACE]])]
)
def test_their_number_and_length_are_limited(model, count, limit, found):
    assert continuations(model, ONE, [A], count, limit, ends_in_space) == found
