"""The best tokens of each row by their logits, except those that are not allowed."""

import math

import pytest
import torch
from torch import Tensor

from nmt.decoding.search.lexical_constraints import LexicalConstraints
from nmt.decoding.search.next_tokens import _largest, best_tokens
from nmt.special_tokens import BOS, EOS, PAD

A = 4
BEST_FIRST = torch.tensor([[PAD, BOS, EOS, A, 5, 1]])


def logits(rows: int, columns: int = 6) -> Tensor:
    """Random logits; with few columns, those that rank the tokens as in `BEST_FIRST`."""
    if columns > BEST_FIRST.numel():
        generator = torch.Generator().manual_seed(rows)
        return torch.randn(rows, columns, generator=generator) * 3
    ordered = torch.empty(1, columns).scatter_(1, BEST_FIRST, torch.arange(columns, 0.0, -1)[None])
    return ordered.expand(rows, columns)


def test_pad_and_sos_are_never_chosen_but_keep_their_probability():
    log_probabilities, tokens = best_tokens(logits(1).clone(), 3)
    assert tokens.tolist() == [[EOS, A, 5]]
    expected = logits(1).log_softmax(1).gather(1, tokens)
    torch.testing.assert_close(log_probabilities, expected)


def test_a_row_that_lacks_a_token_does_not_end_and_may_continue_with_it():
    constraints = LexicalConstraints([[], [[[5, 1]]]], [], torch.device("cpu"))
    log_probabilities, tokens = best_tokens(logits(2).clone(), 2, constraints)
    assert tokens.tolist() == [[EOS, A, PAD], [A, 1, 5]]
    assert log_probabilities[0, 2] == -math.inf
    torch.testing.assert_close(log_probabilities[1, 2], logits(1).log_softmax(1)[0, 5])


def test_more_candidates_than_tokens_give_all_tokens():
    log_probabilities, tokens = best_tokens(logits(1).clone(), 10)
    assert tokens.shape == (1, 6)
    assert tokens[0, :4].tolist() == [EOS, A, 5, 1]
    assert log_probabilities[0, 4:].tolist() == [-math.inf, -math.inf]


@pytest.mark.parametrize("columns", [7, 64, 65, 1301])
@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_the_best_tokens_are_exact(columns, count):
    given = logits(9, columns)
    given[3] -= 500  # no underflow if all are small
    given[4, 5] = 400  # no overflow if one is large
    found, tokens = best_tokens(given.clone(), count)
    exact = given.double().log_softmax(1)
    allowed = torch.ones_like(exact, dtype=torch.bool)
    allowed[:, [PAD, BOS]] = False
    expected = exact.masked_fill(~allowed, -math.inf).sort(1, descending=True).values[:, :count]
    torch.testing.assert_close(found, expected.float(), rtol=1e-5, atol=1e-5)
    there = found > -math.inf
    of_tokens = exact.gather(1, tokens).float()
    torch.testing.assert_close(found[there], of_tokens[there], rtol=1e-5, atol=1e-5)
    for row, living in zip(tokens, there, strict=True):
        assert len(row[living].unique()) == living.sum()


@pytest.mark.parametrize("columns", [3, 128, 700, 1280, 1301])
@pytest.mark.parametrize("count", [1, 2, 5, 20])
def test_the_largest_values_equal_those_of_topk(columns, count):
    count = min(count, columns)
    x = torch.randperm(7 * columns, generator=torch.Generator().manual_seed(1)).view(7, columns)
    x = x.float().masked_fill(x % 3 == 0, float("-inf"))
    x[0] = float("-inf")
    x[0, 1] = 0.0  # as in a row that must end
    values, places = _largest(x, count)
    assert torch.equal(values, x.topk(count, dim=1).values)
    assert torch.equal(x.gather(1, places), values)
    assert all(len(set(row)) == count for row in places.tolist())
