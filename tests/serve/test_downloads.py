"""Translated documents are kept for a limited time."""

import pytest

from nmt.serve.downloads import Downloads
from nmt.serve.errors import ApiError


def test_files_expire_and_their_total_size_is_limited() -> None:
    now = 0.0
    downloads = Downloads(lambda: now)
    first = downloads.add("a.txt", b"a")
    assert downloads.get(first).content == b"a"
    now = 601.0
    with pytest.raises(ApiError):
        downloads.get(first)
    large = [downloads.add("b.txt", bytes(30_000_000)) for _ in range(3)]
    with pytest.raises(ApiError):
        downloads.get(large[0])
    assert len(downloads.get(large[2]).content) == 30_000_000


def test_empty_files_and_long_names_count_too() -> None:
    downloads = Downloads(lambda: 0.0)
    secrets = [downloads.add("x" * 5000 + ".txt", b"") for _ in range(40_000)]
    with pytest.raises(ApiError):
        downloads.get(secrets[0])
    assert downloads.get(secrets[-1]).name == "x" * 251 + ".txt"
