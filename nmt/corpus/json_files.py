"""Reads and writes the small JSON files of prepared data, and validates them when reading."""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from nmt.errors import UserError

T = TypeVar("T")


def write_json(path: Path, content: object) -> None:
    """Write a list or dict, one item per line."""
    path.write_text(json.dumps(content, ensure_ascii=False, indent=0), encoding="utf-8")


def read_json(path: Path, shape: type[T]) -> T:
    """Read what `write_json` wrote, as a type such as `list[str]`.

    Raises `UserError` if the file is missing or does not have this type.
    """
    try:
        return TypeAdapter(shape).validate_json(path.read_bytes(), strict=True)
    except OSError as error:
        raise unreadable(path, error.strerror or "damaged") from None
    except ValidationError:
        raise unreadable(path, "damaged") from None


def first_problem(error: ValidationError) -> str:
    """Return the location and the description of the first validation error."""
    first = error.errors()[0]
    return ".".join(map(str, first["loc"])) + f": {first['msg']}" if first["loc"] else first["msg"]


def unreadable(path: Path, reason: str) -> UserError:
    """Return the error for a file that cannot be read."""
    return UserError(
        f"{path}: cannot be read: {reason}; copy its folder again, or delete and recreate it"
    )
