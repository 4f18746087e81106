"""Translated documents, kept in memory for a while until they are fetched."""

import secrets
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass

from nmt.serve.errors import ApiError

_SECONDS = 600.0
_MOST_BYTES = 64_000_000
_LONGEST_NAME = 255  # characters


@dataclass(frozen=True)
class Download:
    """A file to download."""

    name: str
    content: bytes
    expires: float

    @property
    def size(self) -> int:
        """Approximate size in memory, in bytes."""
        return len(self.content) + 2000


class Downloads:
    """Keeps files under names that cannot be guessed; drops the oldest if there are too many."""

    def __init__(self, clock: Callable[[], float] = time.monotonic):
        self._clock = clock
        self._files: OrderedDict[str, Download] = OrderedDict()
        self._bytes = 0

    def add(self, name: str, content: bytes) -> str:
        """Keep a file; return the secret part of its address."""
        secret = secrets.token_urlsafe(24)
        file = Download(name[-_LONGEST_NAME:], content, self._clock() + _SECONDS)
        self._files[secret] = file
        self._bytes += file.size
        while self._files and (
            self._bytes > _MOST_BYTES or next(iter(self._files.values())).expires < self._clock()
        ):
            _, oldest = self._files.popitem(last=False)
            self._bytes -= oldest.size
        return secret

    def get(self, secret: str) -> Download:
        """Return a file; raises `ApiError` 404 if it does not exist or has expired."""
        file = self._files.get(secret)
        if file is None or file.expires < self._clock():
            raise ApiError(404, "No such file; translated documents are kept for ten minutes")
        return file
