"""The OpenAPI document, generated from the operations."""

import re
from collections.abc import Sequence
from typing import Any

from pydantic import TypeAdapter
from pydantic_core import from_json
from typing_extensions import TypedDict

from nmt import __version__
from nmt.serve.operations import Operation, encode

_PARAMETER = re.compile(r"{(\w+)}")
_DEFINITIONS = "#/components/schemas/{model}"
_KINDS = {bytes: "application/octet-stream", str: "text/tab-separated-values"}
_STATUSES = {
    "400": "the request is invalid; the message says why",
    "403": "the key is missing or wrong",
    "404": "not found",
    "405": "the method is not allowed",
    "408": "the request took too long to arrive",
    "413": "the request is too large",
    "415": "the body is neither JSON nor a form",
    "429": "too many requests per minute",
    "431": "the headers are too large",
    "500": "an internal error; the server's log has the details",
    "503": "too many requests are waiting, or this one takes too long",
}


class Error(TypedDict):
    """An error message."""

    error: str


def describe(operations: Sequence[Operation]) -> dict[str, Any]:
    """Return the document."""
    schemas: dict[str, Any] = {}
    paths: dict[str, dict[str, Any]] = {}
    for each in operations:
        paths.setdefault(each.path, {})[each.method.lower()] = _describe(each, schemas)
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "nmt serve",
            "version": __version__,
            "description": "Translations by trained runs: LibreTranslate's and DeepL's "
            "interfaces, and v1.",
        },
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }
    found: dict[str, Any] = from_json(encode(document))  # NaN, a default, is not in JSON
    return found


def _describe(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    kind = _KINDS.get(operation.result, "application/json")
    content = {kind: {"schema": _schema(operation.result, schemas, "serialization")}}
    if operation.streams:
        content["application/x-ndjson"] = {"schema": {"type": "string"}}
    success = {"description": "the response", "content": content}
    error = {"application/json": {"schema": _schema(Error, schemas, "serialization")}}
    responses: dict[str, Any] = {"200": success}
    for status, meaning in _STATUSES.items():
        responses[status] = {"description": meaning, "content": error}
    described: dict[str, Any] = {
        "summary": operation.summary,
        "operationId": f"{operation.method.lower()}{operation.path}",
        "responses": responses,
    }
    names = _PARAMETER.findall(operation.path)
    if names:
        described["parameters"] = [
            {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
            for name in names
        ]
    if operation.needs_key:
        described["security"] = [{"key": []}, {}]
    if operation.body:
        described["requestBody"] = {"required": True, "content": _body(operation, schemas)}
    return described


def _body(operation: Operation, schemas: dict[str, Any]) -> dict[str, Any]:
    if operation.file:
        fields = {name: {"type": "string"} for name in ("source", "target", "api_key")}
        fields["file"] = {"type": "string", "contentMediaType": "application/octet-stream"}
        schema = {
            "type": "object",
            "properties": fields,
            "required": ["file", "source", "target"],
        }
        return {"multipart/form-data": {"schema": schema, "example": operation.example}}
    schema = _schema(operation.body, schemas, "validation")
    kinds = ("application/json", "application/x-www-form-urlencoded")
    return {kind: {"schema": schema, "example": operation.example} for kind in kinds}


def _schema(shape: Any, schemas: dict[str, Any], mode: Any) -> dict[str, Any]:
    """Return a type's schema; adds the schemas that it refers to to `schemas`."""
    found = TypeAdapter(shape).json_schema(ref_template=_DEFINITIONS, mode=mode)
    named = found.pop("$defs", {})
    title = found.get("title")
    if title:
        named[title] = found
    for name, schema in named.items():
        if schemas.setdefault(name, schema) != schema:
            raise ValueError(f"two schemas are called {name}")
    return {"$ref": _DEFINITIONS.format(model=title)} if title else found
