"""Translations begin as prescribed, also within a word."""

import pytest
import torch

from nmt.decoding.search.beam import beam_search
from nmt.decoding.search.beginnings import WithBeginnings
from nmt.decoding.search.greedy import greedy_search
from nmt.special_tokens import EOS

SPELLINGS = [b"", b"", b"", b"", b" a", b" b", b" ab", b"b", b"\xc3", b"\xbc"]
A, B, AB, MORE, FIRST, SECOND = range(4, 10)
ONE = torch.tensor([[A, EOS]])


@pytest.fixture
def preferring(scripted):
    """Return a model that writes the token A twice and then ends, if it may."""

    def probabilities(_, prefix):
        if len(prefix) >= 2:
            return {EOS: 0.9, **dict.fromkeys(range(4, 10), 0.01)}
        return {A: 0.5, EOS: 0.3, **dict.fromkeys(range(5, 10), 0.01)}

    return scripted(probabilities, len(SPELLINGS))


@pytest.mark.parametrize(
    ("beginning", "written"),
    [
        (b"", b" a a"),
        (b" b", b" b a"),
        (b" b b a", b" b b a"),
        (b" b\xc3\xbc", b" b\xc3\xbc"),  # a character in bytes
        (b" ", b" a a"),
    ],
)
def test_searches_keep_to_the_beginning(preferring, beginning, written):
    model = WithBeginnings(preferring, [beginning], SPELLINGS)
    limits = torch.tensor([9])
    [greedy] = greedy_search(model, ONE, limits)
    [[best]] = beam_search(model, ONE, limits, 3, 0.0)
    for found in (greedy, best):
        text = b"".join(SPELLINGS[token] for token in found.ids)
        assert text.startswith(beginning)
        assert found.complete
    assert b"".join(SPELLINGS[token] for token in greedy.ids) == written


def test_a_token_may_go_on_beyond_the_beginning(scripted):
    model = scripted(lambda _, prefix: {EOS: 1.0} if prefix else {B: 0.9, AB: 0.1}, len(SPELLINGS))
    [found] = greedy_search(WithBeginnings(model, [b" a"], SPELLINGS), ONE, torch.tensor([9]))
    assert found.ids == [AB]


def test_other_sentences_of_a_batch_are_free(preferring):
    model = WithBeginnings(preferring, [b" b", b""], SPELLINGS)
    first, second = greedy_search(model, ONE.repeat(2, 1), torch.tensor([9, 9]))
    assert (first.ids[0], second.ids[0]) == (B, A)
