"""Hypotheses, and their scores with the length penalty."""

from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Hypothesis:
    """A finished translation."""

    ids: list[int]
    """Target tokens without <sos> and <eos>."""
    log_probability: float
    """The sum over the tokens, and <eos> if the model predicted it."""
    score: float
    """Log-probability divided by the length penalty, used for ranking."""
    complete: bool
    """False if the length limit ended it."""


def length_penalty(length: int, alpha: float, offset: float = 5.0) -> float:
    """lp(Y) = ((k + |Y|) / (k + 1))^α   (Wu et al. 2016, equation 14), with |Y| the tokens plus 1.

    offset: k, 5 in the paper; 0 gives |Y|^α, as in Marian and transformers
    """
    return float(((offset + length) / (offset + 1)) ** alpha)


def finish(
    ids: list[int], log_probability: float, alpha: float, complete: bool, offset: float = 5.0
) -> Hypothesis:
    """Score a hypothesis that ended with <eos> or at the limit; alpha, offset: length penalty."""
    score = log_probability / length_penalty(len(ids) + 1, alpha, offset)
    return Hypothesis(ids, log_probability, score, complete)


def best_first(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Return hypotheses by descending score."""
    return sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)
