"""Checksums (SHA-256) of files, which detect damage that a parser would miss.

Weights and datastores carry theirs in their own header. It covers all bytes of the safetensors
file, with zeros in place of the checksum itself, and the rest need not be read to get it. Those of
other files are listed in a file beside them: `prepared.json`, or SHA256SUMS of a converted model.
"""

import hashlib
import json
from collections.abc import Iterable
from pathlib import Path
from typing import BinaryIO

from nmt.errors import unreadable_weights

CHECKSUM = "checksum"  # its key in the header's metadata
NO_CHECKSUM = "0" * 64
DAMAGED = "damaged (checksum mismatch)"
_LARGEST_HEADER = 10_000_000  # bytes, far above what names and shapes take


def checksum(path: Path) -> str:
    """Return the SHA-256 of a file's bytes, in hexadecimal."""
    with path.open("rb") as file:
        return _of_rest(file, b"")


def checksums(files: Iterable[Path]) -> dict[str, str]:
    """Return the checksums of files by their names, in alphabetical order."""
    return {path.name: checksum(path) for path in sorted(files)}


def sign(path: Path) -> None:
    """Insert the checksum into a safetensors file that was written with `NO_CHECKSUM`.

    Files with equal content become equal byte for byte.
    """
    with path.open("r+b") as file:
        header = _in_order(_read_header(file))
        found = _of_rest(file, header)
        file.seek(0)
        file.write(header.replace(NO_CHECKSUM.encode(), found.encode(), 1))


def _in_order(header: bytes) -> bytes:
    """Sort the metadata of a header, which safetensors writes in varying order."""
    tree = json.loads(header[8:])
    tree["__metadata__"] = dict(sorted(tree["__metadata__"].items()))
    text = json.dumps(tree, ensure_ascii=False, separators=(",", ":"))
    return header[:8] + text.encode().ljust(len(header) - 8)


def recorded_checksum(path: Path) -> str | None:
    """Return the checksum in the header of a safetensors file, or None."""
    return recorded(path, CHECKSUM)


def recorded(path: Path, key: str) -> str | None:
    """Return a value of the metadata in the header of a safetensors file, or None."""
    with path.open("rb") as file:
        return _recorded(_read_header(file), key)


def identity(weights: Path) -> str:
    """Return an identifier of weights; files of older versions have no checksum in the header."""
    return recorded_checksum(weights) or checksum(weights)


def require_undamaged(weights: Path) -> None:
    """Raise `UserError` if bytes of a weights file have changed since it was written."""
    if is_damaged(weights):
        raise unreadable_weights(weights, ValueError(DAMAGED))


def is_damaged(path: Path, listed: str | None = None) -> bool:
    """Return whether bytes of a file have changed; False if it was written without a checksum.

    listed: its checksum in a file beside it; None: the one in its own header counts
    """
    if listed:
        return checksum(path) != listed
    with path.open("rb") as file:
        header = _read_header(file)
        found = _recorded(header, CHECKSUM)
        if not found:
            return False
        unsigned = header.replace(found.encode(), NO_CHECKSUM.encode(), 1)
        return _of_rest(file, unsigned) != found


def _read_header(file: BinaryIO) -> bytes:
    size = file.read(8)
    return size + file.read(min(int.from_bytes(size, "little"), _LARGEST_HEADER))


def _recorded(header: bytes, key: str) -> str | None:
    try:
        found = json.loads(header[8:])["__metadata__"][key]
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return found if isinstance(found, str) else None


def _of_rest(file: BinaryIO, before: bytes) -> str:
    """Return the checksum of `before` plus the rest of an open file."""
    found = hashlib.sha256(before)
    while block := file.read(1 << 20):
        found.update(block)
    return found.hexdigest()
