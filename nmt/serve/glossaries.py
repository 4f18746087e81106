"""Glossaries that clients have stored, in memory and perhaps in a folder."""

import secrets
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from pydantic import TypeAdapter

from nmt.decoding.glossary import parse_glossary
from nmt.errors import UserError
from nmt.files.output_files import replacing
from nmt.files.small_files import read_small
from nmt.serve.errors import ApiError

_MOST = 100
_MOST_CHARACTERS = 1_000_000  # of one glossary
_MOST_BYTES = 7_000_000  # of its file: a character takes at most 6 in JSON


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


_JSON = TypeAdapter(StoredGlossary)


class Glossaries:
    """Stores a limited number of glossaries by unguessable names.

    folder: keeps each in a JSON file; None: they are lost when the server stops. Raises `UserError`
    for damaged files.
    """

    def __init__(self, folder: Path | None = None):
        self._folder = folder
        paths = folder.glob("*.json") if folder else ()
        found = sorted(map(_read, paths), key=lambda each: each.created)
        if len(found) > _MOST:
            raise UserError(f"{folder}: has more than {_MOST} glossaries; delete some of them")
        self._stored = {each.id: each for each in found}

    def add(self, name: str, source: str, target: str, entries: str) -> StoredGlossary:
        """Check and store entries; raises `UserError` for faulty ones, `ApiError` for too many."""
        if len(entries) > _MOST_CHARACTERS:
            raise ApiError(413, f"The glossary has more than {_MOST_CHARACTERS} characters")
        if len(self._stored) >= _MOST:
            raise ApiError(400, f"There are {_MOST} glossaries already; delete one of them")
        terms = parse_glossary(entries, (source, target)).terms
        now = datetime.now(timezone.utc)
        made = StoredGlossary(secrets.token_hex(16), name, source, target, entries, len(terms), now)
        if self._folder:
            try:
                with replacing(self._path(made.id)) as path:
                    path.write_bytes(_JSON.dump_json(made))
            except UserError:  # its message has a path, which is none of the client's business
                raise ApiError(507, "The server cannot write to its folder of glossaries") from None
        self._stored[made.id] = made
        return made

    def get(self, glossary: str) -> StoredGlossary:
        """Return a glossary; raises `ApiError` 404."""
        if glossary not in self._stored:
            raise ApiError(404, f"There is no glossary {glossary[:100]}")
        return self._stored[glossary]

    def delete(self, glossary: str) -> None:
        """Delete a glossary; raises `ApiError` 404."""
        found = self.get(glossary)
        if self._folder:
            self._path(found.id).unlink(missing_ok=True)
        del self._stored[found.id]

    def list(self) -> list[StoredGlossary]:
        """Return all glossaries, the oldest first."""
        return [*self._stored.values()]

    def _path(self, glossary: str) -> Path:
        assert self._folder
        return self._folder / f"{glossary}.json"


def _read(path: Path) -> StoredGlossary:
    try:
        found = _JSON.validate_json(read_small(path, _MOST_BYTES))
        terms = parse_glossary(found.entries, (found.source, found.target)).terms
        if (found.id, found.count) != (path.stem, len(terms)):
            raise ValueError
    except (OSError, ValueError, UserError):
        raise UserError(f"{path}: is not a stored glossary; repair or delete it") from None
    return found
