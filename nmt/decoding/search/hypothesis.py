"""The record of a finished translation."""

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
