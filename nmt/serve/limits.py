"""Limits of a request, of a client, and of the queue."""

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from nmt.serve.errors import ApiError

MOST_OPTIONS = 10  # translations per sentence, and beam size
_MOST_CALLERS = 10_000  # the least recently active are dropped


@dataclass(frozen=True)
class Limits:
    """Limits of a request and of the queue."""

    body: int = 4_000_000
    """Bytes per request."""
    characters: int = 100_000
    """Characters per request."""
    sentences: int = 2_000
    """Sentences per request."""
    seconds: float = 60.0
    """Time limit for reading a request, and again for answering it."""
    waiting: int = 4_000
    """Sentences in the queue."""
    per_minute: int = 0
    """Requests per client and minute, 0 for no limit."""


class RateLimiter:
    """Limits each client's requests per minute; unused ones accumulate up to one minute's worth."""

    def __init__(self, per_minute: int, clock: Callable[[], float] = time.monotonic):
        self._per_minute = per_minute
        self._clock = clock
        self._callers: OrderedDict[str, tuple[float, float]] = OrderedDict()  # left, time

    def count(self, caller: str) -> None:
        """Count a request; raises `ApiError` 429 if the client exceeds the limit."""
        if not self._per_minute:
            return
        now = self._clock()
        left, before = self._callers.pop(caller, (float(self._per_minute), now))
        left = min(self._per_minute, left + (now - before) * self._per_minute / 60)
        self._callers[caller] = (max(0.0, left - 1) if left >= 1 else left, now)
        if len(self._callers) > _MOST_CALLERS:
            self._callers.popitem(last=False)
        if left < 1:
            seconds = int((1 - left) * 60 / self._per_minute) + 1
            raise ApiError(
                429,
                f"Slowdown: {self._per_minute} per 1 minute",
                headers={"Retry-After": str(seconds)},
            )
