"""The error that a client gets if its request cannot be answered."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from nmt.documents.errors import DocumentError
from nmt.errors import UserError


class ApiError(Exception):
    """A refusal in LibreTranslate's shape: a status, and `{"error": message}`."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None):
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})


@contextmanager
def refusing() -> Iterator[None]:
    """Raise `ApiError` for what the client can fix: 413 for a document too large, otherwise 400."""
    try:
        yield
    except UserError as error:
        too_large = isinstance(error, DocumentError) and error.too_large
        raise ApiError(413 if too_large else 400, f"Invalid request: {error}") from None
