"""The rate limit of each client."""

import pytest

from nmt.serve.errors import ApiError
from nmt.serve.limits import RateLimiter


def test_each_client_has_a_per_minute_budget_that_refills_gradually() -> None:
    now = 0.0
    limiter = RateLimiter(60, lambda: now)
    for _ in range(60):
        limiter.count("a")
    with pytest.raises(ApiError) as refused:
        limiter.count("a")
    assert refused.value.status == 429
    assert refused.value.headers == {"Retry-After": "2"}
    limiter.count("b")
    now = 1.5
    limiter.count("a")
    with pytest.raises(ApiError):
        limiter.count("a")


def test_without_a_limit_no_request_is_refused() -> None:
    limiter = RateLimiter(0)
    for _ in range(1000):
        limiter.count("a")
