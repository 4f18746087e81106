"""The error of a document that cannot be translated."""

from nmt.errors import UserError


class DocumentError(UserError):
    """Why a document cannot be read; too_large: it takes too much time or memory."""

    def __init__(self, message: str, too_large: bool = False):
        super().__init__(message)
        self.too_large = too_large
