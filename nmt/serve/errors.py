"""The error that a client gets if its request cannot be answered."""

from collections.abc import Mapping


class ApiError(Exception):
    """A refusal in LibreTranslate's shape: a status, and `{"error": message}`."""

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None):
        super().__init__(message)
        self.status = status
        self.message = message
        self.headers = dict(headers or {})
