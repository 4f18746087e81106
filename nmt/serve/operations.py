"""An endpoint described once: the routes and the OpenAPI document are both made of it."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import to_json
from starlette.datastructures import UploadFile
from starlette.requests import Request

from nmt.serve.errors import ApiError
from nmt.serve.service import Service

_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_MOST_FIELDS = 1000  # of a form


@dataclass(frozen=True)
class Operation:
    """What is answered at a path.

    answer: takes the service, the request and the checked body; returns a `Response`, or what is
    sent as JSON; body: what is asked for, as JSON or as a form; result: what is sent; status: of
    success; needs_key: False where everyone may ask; file: whether the body is a form with a file;
    streams: whether the answer may be lines of JSON
    """

    method: str
    path: str
    summary: str
    answer: Callable[[Service, Request, Any], Awaitable[Any]]
    result: Any
    body: type[BaseModel] | None = None
    needs_key: bool = True
    file: bool = False
    streams: bool = False


def encode(content: Any) -> bytes:
    """Return JSON, with null for numbers that JSON has no words for."""
    return to_json(content, inf_nan_mode="null")


async def read_body(request: Request, shape: type[BaseModel]) -> BaseModel:
    """Read and check a request's body; raises `ApiError` 400 or 415, naming what is wrong."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind in _FORMS:
            return shape.model_validate(await _read_form(request))
        if kind in ("application/json", ""):
            return shape.model_validate_json(await request.body(), strict=True)
    except ValidationError as error:
        raise ApiError(400, _explain(error)) from None
    raise ApiError(415, f"Invalid request: send JSON or a form, not {kind[:100]}")


async def _read_form(request: Request) -> dict[str, object]:
    """Return a form's fields; one that is given several times is a list."""
    form = await request.form(max_files=1, max_fields=_MOST_FIELDS)
    fields: dict[str, object] = {}
    for name in form:
        values = form.getlist(name)
        fields[name] = values[0] if len(values) == 1 else values
    for value in form.values():
        if isinstance(value, UploadFile):
            fields["file"] = value
    return fields


def _explain(error: ValidationError) -> str:
    """Return what is wrong first, as LibreTranslate puts it."""
    details = error.errors(include_url=False, include_input=False)[0]
    name = ".".join(map(str, details["loc"]))[:100]
    if details["type"] == "missing":
        return f"Invalid request: missing {name} parameter"
    return f"Invalid request: {name + ': ' if name else ''}{details['msg'][:200]}"
