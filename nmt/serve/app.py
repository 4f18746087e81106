"""The application: routes, errors, the page."""

import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from functools import cache
from html import escape
from pathlib import Path
from typing import Any, TypeVar

import anyio
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import ClientDisconnect, Request
from starlette.responses import (
    FileResponse,
    HTMLResponse,
    JSONResponse,
    Response,
    StreamingResponse,
)
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from nmt.serve import deepl, libretranslate, v1
from nmt.serve.errors import ApiError
from nmt.serve.openapi import describe
from nmt.serve.operations import Operation, encode, read_body
from nmt.serve.request_checks import RequestChecks
from nmt.serve.service import Service

OPERATIONS: tuple[Operation, ...] = (
    *libretranslate.OPERATIONS,
    *v1.OPERATIONS,
    *deepl.OPERATIONS,
)
_PAGE = Path(__file__).parent / "page"
_log = logging.getLogger(__name__)
T = TypeVar("T")


def make_app(service: Service) -> ASGIApp:
    """Return the ASGI application for a service."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        async with anyio.create_task_group() as group:
            group.start_soon(service.batcher.run)
            yield
            group.cancel_scope.cancel()

    app = Starlette(
        routes=_routes(service),
        exception_handlers={
            ApiError: _refuse,
            ClientDisconnect: _leave,
            HTTPException: _refuse_http,
            Exception: _fail,
        },
        lifespan=lifespan,
    )
    return _guarded(app, service)


def _routes(service: Service) -> list[BaseRoute]:
    document = cache(lambda: encode(describe(OPERATIONS)))

    async def openapi(request: Request) -> Response:
        return _json(await service.in_thread(document))

    async def page(request: Request) -> Response:
        headers = {"Cache-Control": "no-cache"}
        if root_path := request.scope.get("root_path", ""):
            return HTMLResponse(_page_below(root_path), headers=headers)
        return FileResponse(_PAGE / "index.html", headers=headers)

    async def docs(request: Request) -> Response:
        return FileResponse(_PAGE / "docs.html", headers={"Cache-Control": "no-cache"})

    return [
        *_operations(service),
        Route("/openapi.json", openapi),
        Route("/docs", docs),
        Route("/", page),
        Mount("/page", _Revalidated(directory=_PAGE)),
    ]


def _operations(service: Service) -> list[Route]:
    """Return a route for each path, so that the Allow header names all of its methods."""
    paths: dict[str, dict[str, Callable[[Request], Awaitable[Response]]]] = {}
    for each in OPERATIONS:
        paths.setdefault(each.path, {})[each.method] = _endpoint(service, each)

    def route(path: str, endpoints: dict[str, Callable[[Request], Awaitable[Response]]]) -> Route:
        async def answer(request: Request) -> Response:
            return await endpoints["GET" if request.method == "HEAD" else request.method](request)

        return Route(path, answer, methods=[*endpoints])

    return [route(*each) for each in paths.items()]


def _page_below(root_path: str) -> str:
    """Return the page, whose addresses are relative to the path of a proxy.

    The proxy removes the path, so the server cannot redirect `/translate` to `/translate/`.
    """
    text = (_PAGE / "index.html").read_text(encoding="utf-8")
    return text.replace("<head>\n", f'<head>\n<base href="{escape(root_path)}/">\n', 1)


class _Revalidated(StaticFiles):
    """Files that browsers check at every use: an upgrade of nmt may have changed them."""

    def file_response(self, *args: Any, **kwargs: Any) -> Response:
        response = super().file_response(*args, **kwargs)
        response.headers["Cache-Control"] = "no-cache"
        return response


def _guarded(app: ASGIApp, service: Service) -> ASGIApp:
    """Return the application inside `RequestChecks`, with CORS headers if other sites are allowed.

    Added to Starlette as middleware, these two would not see its responses to unexpected errors.
    """
    access = service.access
    if access.origins:
        app = CORSMiddleware(
            app,
            allow_origins=access.origins,
            allow_methods=["GET", "POST", "DELETE"],
            allow_headers=["Authorization", "Content-Type"],
        )
    return RequestChecks(app, service.limits, access.hosts, access.origins)


def _endpoint(service: Service, operation: Operation) -> Callable[[Request], Awaitable[Response]]:
    """Return the endpoint that parses, authorizes and answers requests for an operation."""

    async def answer(request: Request) -> Response:
        body = await read_body(request, operation.body, service.limits) if operation.body else None
        _admit(service, operation, request, getattr(body, "api_key", None))
        seconds = service.limits.seconds
        found = await _in_time(seconds, operation.answer(service, request, body))
        if isinstance(found, AsyncIterator):
            # An error before the first line still determines the status.
            first = await _in_time(seconds, anext(found, b""))
            lines = _stream(first, found, seconds)
            return StreamingResponse(lines, media_type="application/x-ndjson")
        return found if isinstance(found, Response) else _json(encode(found))

    return answer


async def _in_time(seconds: float, part: Awaitable[T]) -> T:
    """Await a response or the next line of one; raise `ApiError` 503 if it takes longer."""
    try:
        with anyio.fail_after(seconds):
            return await part
    except TimeoutError:
        message = f"The response takes longer than {seconds:g} seconds"
        raise ApiError(503, message, {"Retry-After": "5"}) from None


async def _stream(line: bytes, rest: AsyncIterator[bytes], seconds: float) -> AsyncIterator[bytes]:
    """Yield lines until the first empty one; after an `ApiError`, the last is its message."""
    try:
        while line:
            yield line
            line = await _in_time(seconds, anext(rest, b""))
    except ApiError as error:
        yield encode({"error": error.message}) + b"\n"


def _admit(service: Service, operation: Operation, request: Request, key: str | None) -> None:
    """Apply the rate limit, and check the API key if one is required."""
    scheme, _, credentials = request.headers.get("authorization", "").partition(" ")
    if scheme.lower() in ("bearer", "deepl-auth-key"):
        key = credentials.strip()
    caller = f"address {request.client.host}" if request.client else "?"
    if operation.needs_key and service.key_required:
        try:
            service.check_key(key)
        except ApiError:
            service.rates.count(caller)
            raise
        caller = f"key {key}"
    if operation.path != "/health":
        service.rates.count(caller)


def _json(content: bytes) -> Response:
    return Response(content, media_type="application/json")


async def _refuse(request: Request, error: Exception) -> Response:
    assert isinstance(error, ApiError)
    content = {"error": error.message}
    if "/v2/" in request.url.path:
        content["message"] = error.message  # where DeepL's clients look for it
    return JSONResponse(content, error.status, error.headers)


async def _refuse_http(request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return JSONResponse({"error": error.detail}, error.status_code, error.headers)


async def _leave(request: Request, error: Exception) -> Response:
    """Answer a client that disconnected before its request was complete; nobody reads this."""
    return JSONResponse({"error": "Invalid request: incomplete"}, 400)


async def _fail(request: Request, error: Exception) -> Response:
    with suppress(Exception):
        _log.error("%s %s", request.method, request.url.path, exc_info=error)
    return JSONResponse({"error": "Internal error"}, 500)
