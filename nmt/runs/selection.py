"""Which validation has the best weights, and how long none has been better."""

import math
from dataclasses import dataclass

from pydantic import FiniteFloat, NonNegativeFloat, NonNegativeInt

_LEAST_BLEU = 1.0  # lower scores are due to a few words
_CLEARLY = 0.99  # of the last clear minimum of the loss
# Times the square root of the pairs. Between the last and the averaged weights of a run, which are
# alike, 6.3 was measured (paired bootstrap, 300 everyday sentences); rounded up.
_NOISE_OF_ONE_PAIR = 10.0


def noise(pairs: int) -> float:
    """Return how much the BLEU of equally good weights differs on this many validation pairs.

    This is about a standard deviation; 0 if the number of pairs is unknown, which is 0
    """
    return _NOISE_OF_ONE_PAIR / math.sqrt(pairs) if pairs else 0.0


@dataclass
class Selection:
    """The best of the validations so far.

    BLEU decides, or chrF in languages that BLEU cannot score; where it differs by no more than its
    noise or is below 1, the loss does. With `training.best: loss`, the loss always decides.
    """

    best: FiniteFloat | None = None
    """Score of the best validation; with `training.best: loss`, its negated loss."""
    best_loss: NonNegativeFloat = 0.0
    """Loss of the best validation."""
    best_update: NonNegativeInt = 0
    """Update of the best validation."""
    highest: NonNegativeFloat = 0.0
    """The highest score so far."""
    lowest_loss: NonNegativeFloat | None = None
    """The last minimum of the loss that was clearly lower than the one before, None if there is
    none.
    """
    stale: NonNegativeInt = 0
    """Number of validations since the best one, the highest score or that minimum, whichever is
    latest.
    """

    def add(self, update: int, loss: float, score: float | None, pairs: int = 0) -> None:
        """Add a validation; score: BLEU or chrF, None if the loss decides; pairs: for `noise`."""
        is_best = self.best is None or self._is_better(loss, score, noise(pairs))
        former = self.best_loss if self.lowest_loss is None else self.lowest_loss
        is_minimum = self.best is None or loss < _CLEARLY * former
        # With few training pairs, BLEU may keep rising, by less than its noise, after the loss has
        # begun to rise as well.
        is_highest = score is not None and score > max(self.highest, _LEAST_BLEU)
        if is_minimum:
            self.lowest_loss = loss
        if is_best:
            self.best = -loss if score is None else score
            self.best_loss, self.best_update = loss, update
        self.highest = max(self.highest, score or 0.0)
        self.stale = 0 if is_best or is_minimum or is_highest else self.stale + 1

    def _is_better(self, loss: float, score: float | None, margin: float) -> bool:
        assert self.best is not None
        if score is not None:
            found, best = max(score, _LEAST_BLEU), max(self.best, _LEAST_BLEU)
            if found > best + margin:
                return True
            # Compared with the highest score, so that many small losses of BLEU do not add up.
            if found < max(self.highest, best) - margin:
                return False
        return loss < self.best_loss
