"""Hypotheses are ranked by their log-probability under the length penalty."""

import pytest

from nmt.decoding.search.length_penalty import length_penalty, scored_hypothesis


@pytest.mark.parametrize(
    ("length", "alpha", "expected"),
    [(1, 0.6, 1.0), (7, 1.0, 2.0), (7, 0.5, 1.4142136), (19, 2.0, 16.0), (7, 0.0, 1.0)],
)
def test_the_length_penalty_equals_that_of_wu_et_al(length, alpha, expected):
    assert length_penalty(length, alpha) == pytest.approx(expected)


def test_the_length_includes_eos():
    hypothesis = scored_hypothesis([4, 5, 4, 5, 4, 5], -3.0, 1.0, True)
    assert hypothesis.score == pytest.approx(-3.0 / ((5 + 7) / 6))
    assert hypothesis.log_probability == -3.0


def test_an_empty_hypothesis_has_length_one():
    assert scored_hypothesis([], -3.0, 1.0, True).score == -3.0
