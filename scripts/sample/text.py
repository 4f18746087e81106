"""Reading the word lists of the other modules."""

from __future__ import annotations


def listed(words: str) -> tuple[str, ...]:
    """The words of a space-separated list."""
    return tuple(words.split())
