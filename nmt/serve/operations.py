"""One description per endpoint, from which routes and the OpenAPI document are generated."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Annotated, Any
from urllib.parse import parse_qsl

from pydantic import AfterValidator, BaseModel, BeforeValidator, ValidationError
from pydantic_core import PydanticCustomError, to_json
from starlette.datastructures import FormData, ImmutableMultiDict, UploadFile
from starlette.requests import Request

from nmt.config.languages import base_language
from nmt.files.json_files import EXPECTED
from nmt.serve.errors import ApiError
from nmt.serve.limits import Limits
from nmt.serve.service import Service

_FILES = "multipart/form-data"
_FORMS = ("application/x-www-form-urlencoded", _FILES)
_ITEM = re.compile(r"(\w+)\[\d*\]")  # q[]=a and q[0]=a, as PHP writes lists
_MOST_FIELDS = 1000  # of a form


def _require_texts(value: object) -> object:
    """Stop at the first item that is not a text: pydantic would collect an error for each."""
    if isinstance(value, list) and not all(isinstance(each, str) for each in value):
        raise PydanticCustomError("texts", "must be a string or a list of strings")
    return value


LanguageCode = Annotated[str, AfterValidator(base_language)]
Texts = Annotated[str | list[str], BeforeValidator(_require_texts)]


@dataclass(frozen=True)
class Operation:
    """An endpoint."""

    method: str
    path: str
    summary: str
    answer: Callable[[Service, Request, Any], Awaitable[Any]]
    """Takes the service, the request and the validated body; returns a `Response`, an iterator of
    JSON lines, or a value to send as JSON.
    """
    result: Any
    """Type of the response."""
    body: type[BaseModel] | None = None
    """Type of the request body, as JSON or a form."""
    needs_key: bool = True
    """Whether keys are checked."""
    file: bool = False
    """Whether the body is a form with a file."""
    streams: bool = False
    """Whether the response may be JSON lines."""
    example: Mapping[str, Any] | None = None
    """Fields of an example body, other than the file."""


def encode(content: Any) -> bytes:
    """Return JSON, with null for NaN and infinity."""
    return to_json(content, inf_nan_mode="null")


async def read_body(request: Request, shape: type[BaseModel], limits: Limits) -> BaseModel:
    """Read and validate a request's body; raises `ApiError` 400 or 415 with the reason."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    try:
        if kind in _FORMS or (not kind and request.query_params):
            return shape.model_validate(await _read_form(request, kind, limits))
        if kind in ("application/json", ""):
            return shape.model_validate_json(await request.body(), strict=True)
    except ValidationError as error:
        raise ApiError(400, _explain(error)) from None
    raise ApiError(415, f"Invalid request: send JSON or a form, not {kind[:100]}")


async def _read_form(request: Request, kind: str, limits: Limits) -> dict[str, object]:
    """Return the fields of the query and the form, which takes precedence; raises `ApiError` 400.

    Repeated fields, and those named as in q[]=a or q[0]=a, become a list; both at once are refused.
    """
    try:
        query = _decode(request.scope["query_string"])
        form: ImmutableMultiDict[str, Any]
        if kind == _FILES:
            form = await _read_multipart(request, limits)
        else:
            form = _decode(await request.body() if kind else b"")
    except ValueError:  # not UTF-8, an unknown charset, or text with lone surrogates
        raise ApiError(400, "Invalid request: the form cannot be decoded; send UTF-8") from None
    fields: dict[str, object] = {}
    for given in (query, form):
        listed: dict[str, list[object]] = {}
        for name in given:
            values = given.getlist(name)
            if item := _ITEM.fullmatch(name):
                listed.setdefault(item[1], []).extend(values)
            else:
                fields[name] = values[0] if len(values) == 1 else values
        if both := sorted(listed.keys() & given.keys()):
            name = both[0][:100]
            raise ApiError(
                400, f"Invalid request: {name}: send either {name} or {name}[], not both"
            )
        fields |= listed
    for value in form.values():
        if isinstance(value, UploadFile):
            fields["file"] = value
    return fields


def _decode(form: bytes) -> ImmutableMultiDict[str, Any]:
    """Return the fields of a URL-encoded form; raises `ValueError` unless it is UTF-8.

    Starlette's parser would read UTF-8 that is not percent-encoded, which `curl -d` sends, as
    Latin-1.
    """
    if form.count(b"&") >= _MOST_FIELDS:
        raise ApiError(400, f"Invalid request: more than {_MOST_FIELDS} fields")
    return ImmutableMultiDict(parse_qsl(form.decode(), keep_blank_values=True, errors="strict"))


async def _read_multipart(request: Request, limits: Limits) -> FormData:
    """Return the fields of a multipart form; raises `ValueError` unless they can be encoded."""
    form = await request.form(max_files=1, max_fields=_MOST_FIELDS, max_part_size=limits.body)
    for name, value in form.multi_items():
        f"{name}{value.filename if isinstance(value, UploadFile) else value}".encode()
    return form


def _explain(error: ValidationError) -> str:
    """Return the first validation error in LibreTranslate's wording."""
    if error.error_count() > _MOST_FIELDS:  # each would take memory
        return "Invalid request: too many invalid fields"
    details = error.errors(include_url=False, include_input=False)[0]
    place = list(details["loc"])
    if "str" in place[1:]:  # one of the types of a union
        return f"Invalid request: {place[0]}: must be a string or a list of strings"
    name = ".".join(map(str, place))[:100]
    if details["type"] == "missing":
        return f"Invalid request: missing {name} parameter"
    if details["type"] == "is_instance_of":
        return f"Invalid request: {name}: must be an uploaded file, as in curl -F file=@NAME"
    if details["type"] == "extra_forbidden":
        return f"Invalid request: {name}: unknown parameter"
    expected = EXPECTED.get(details["type"])
    problem = f"must be {expected}" if expected else details["msg"][:200]
    problem = problem.replace("Input should be ", "must be ", 1)
    return f"Invalid request: {name + ': ' if name else ''}{problem}"
