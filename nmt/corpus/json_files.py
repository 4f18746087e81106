"""The small JSON files of prepared data, whose shape is checked on reading: folders travel."""

import json
from pathlib import Path
from typing import TypeVar

from pydantic import TypeAdapter, ValidationError

from nmt.errors import UserError

T = TypeVar("T")


def write_json(path: Path, content: object) -> None:
    """Write lists and dicts, an item a line."""
    path.write_text(json.dumps(content, ensure_ascii=False, indent=0), encoding="utf-8")


def read_json(path: Path, shape: type[T]) -> T:
    """Read what `write_json` wrote, of a shape such as `list[str]`.

    Raises `UserError` where there is no such file, or something else in it.
    """
    try:
        return TypeAdapter(shape).validate_json(path.read_bytes(), strict=True)
    except OSError as error:
        raise unreadable(path, error.strerror or "damaged") from None
    except ValidationError:
        raise unreadable(path, "damaged") from None


def first_problem(error: ValidationError) -> str:
    """Return the place and the kind of the first of what is wrong with a content."""
    first = error.errors()[0]
    return ".".join(map(str, first["loc"])) + f": {first['msg']}" if first["loc"] else first["msg"]


def unreadable(path: Path, reason: str) -> UserError:
    """Return the error for a file that cannot be used."""
    return UserError(
        f"{path}: cannot be read: {reason}; copy its folder again, or delete the folder and make "
        "it anew"
    )
