"""Glossaries that clients have stored; they are lost when the server stops."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timezone

from nmt.decoding.glossary import parse_glossary
from nmt.serve.errors import ApiError

_MOST = 100
_MOST_CHARACTERS = 1_000_000  # of one glossary


@dataclass(frozen=True)
class StoredGlossary:
    """A glossary with its entries as text with tabs."""

    id: str
    name: str
    source: str
    target: str
    entries: str
    count: int
    created: datetime


class Glossaries:
    """Stores a limited number of glossaries by unguessable names."""

    def __init__(self) -> None:
        self._stored: dict[str, StoredGlossary] = {}

    def add(self, name: str, source: str, target: str, entries: str) -> StoredGlossary:
        """Check and store entries; raises `UserError` for faulty ones, `ApiError` for too many."""
        if len(entries) > _MOST_CHARACTERS:
            raise ApiError(413, f"The glossary has more than {_MOST_CHARACTERS} characters")
        if len(self._stored) >= _MOST:
            raise ApiError(400, f"There are {_MOST} glossaries already; delete one of them")
        terms = parse_glossary(entries, (source, target)).terms
        now = datetime.now(timezone.utc)
        made = StoredGlossary(secrets.token_hex(16), name, source, target, entries, len(terms), now)
        self._stored[made.id] = made
        return made

    def get(self, glossary: str) -> StoredGlossary:
        """Return a glossary; raises `ApiError` 404."""
        if glossary not in self._stored:
            raise ApiError(404, f"There is no glossary {glossary[:100]}")
        return self._stored[glossary]

    def delete(self, glossary: str) -> None:
        """Delete a glossary; raises `ApiError` 404."""
        del self._stored[self.get(glossary).id]

    def list(self) -> list[StoredGlossary]:
        """Return all glossaries, the oldest first."""
        return [*self._stored.values()]
