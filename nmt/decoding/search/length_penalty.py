"""The length penalty, and the scores of hypotheses with it."""

from collections.abc import Iterable

from nmt.decoding.search.hypothesis import Hypothesis


def length_penalty(length: int, alpha: float, offset: float = 5.0) -> float:
    """lp(Y) = ((k + |Y|) / (k + 1))^α   (Wu et al. 2016, equation 14), with |Y| the tokens plus 1.

    offset: k, 5 in the paper; 0 gives |Y|^α, as in Marian and transformers
    """
    return float(((offset + length) / (offset + 1)) ** alpha)


def scored_hypothesis(
    ids: list[int], log_probability: float, alpha: float, complete: bool, offset: float = 5.0
) -> Hypothesis:
    """Score a hypothesis that ended with <eos> or at the limit; alpha, offset: length penalty."""
    score = log_probability / length_penalty(len(ids) + 1, alpha, offset)
    return Hypothesis(ids, log_probability, score, complete)


def best_first(hypotheses: Iterable[Hypothesis]) -> list[Hypothesis]:
    """Return hypotheses by descending score."""
    return sorted(hypotheses, key=lambda hypothesis: -hypothesis.score)
