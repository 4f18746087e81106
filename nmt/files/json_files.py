"""Reads and writes the small JSON files of prepared data, and validates them when reading."""

import json
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import FailFast, TypeAdapter, ValidationError

from nmt.errors import UserError, one_line

T = TypeVar("T")
# Pydantic would collect an error for each wrong item, which takes hundreds of times its size.
FailFastList = Annotated[list[T], FailFast()]
_LONGEST_LINE = 8_000_000  # bytes: room for a pair of the longest lines of a corpus, escaped


def write_json(path: Path, content: object) -> None:
    """Write a list or dict, one item per line."""
    path.write_text(json.dumps(content, ensure_ascii=False, indent=0), encoding="utf-8")


def read_json(path: Path, shape: type[T]) -> T:
    """Read what `write_json` wrote, as a type such as `FailFastList[str]`.

    Raises `UserError` if the file is missing or does not have this type.
    """
    try:
        return TypeAdapter(shape).validate_json(path.read_bytes(), strict=True)
    except OSError as error:
        raise unreadable(path, error.strerror or "damaged") from None
    except ValidationError as error:
        raise unreadable(path, f"damaged: {first_problem(error)}") from None


def read_json_lines(path: Path, shape: type[T]) -> list[T]:
    """Read a file of one JSON value per line, each of this type.

    Raises `ValueError` that names the first damaged line and its problem.
    """
    adapter, found = TypeAdapter(shape), []
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            if len(line) > _LONGEST_LINE:
                raise ValueError(f"line {number}: longer than {_LONGEST_LINE:,} bytes")
            try:
                found.append(adapter.validate_json(line, strict=True))
            except ValidationError as error:
                raise ValueError(f"line {number}: {first_problem(error)}") from None
    return found


# What a value should be, by the type of pydantic's error, whose wording is for programmers.
EXPECTED = {
    **dict.fromkeys(("dataclass_type", "dict_type", "model_type"), "an object in braces"),
    "list_type": "a list",
    "string_type": "text",
    **dict.fromkeys(("bool_type", "bool_parsing"), "true or false"),
    **dict.fromkeys(("int_type", "int_from_float", "int_parsing"), "a whole number"),
    **dict.fromkeys(("float_type", "finite_number", "float_parsing"), "a number"),
}


def first_problem(error: ValidationError) -> str:
    """Return the location and the description of the first validation error."""
    first = error.errors()[0]
    place, kind = ".".join(map(str, first["loc"])) or "it", first["type"]
    if kind == "json_invalid":
        return "not valid JSON"
    if kind == "missing":
        return f"{place} is missing"
    if kind in EXPECTED:
        return f"{place} should be {EXPECTED[kind]}"
    message = one_line(first["msg"])
    is_wish = message.startswith("Input should ")
    return f"{place} {message.removeprefix('Input ')}" if is_wish else f"{place}: {message}"


def unreadable(path: Path, reason: str) -> UserError:
    """Return the error for a file of prepared data, or for its copy in the `data` of a run."""
    if (path.parent.parent / "config.yaml").is_file():
        remedy = (
            "copy this file from the run's folder in data/prepared, or copy the run folder again"
        )
    else:
        remedy = "delete the folder and run `nmt prepare` again"
    return UserError(f"{path}: cannot be read: {reason}; {remedy}")
