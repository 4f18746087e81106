"""Checks every request's Host and Origin headers and the size of its body.

Adds security headers to every response.
"""

import asyncio
import re
from collections.abc import Sequence
from contextlib import suppress
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nmt.serve.errors import ApiError
from nmt.serve.limits import Limits

_MOST_DISCARDED = 16  # times the limit of a body
_SECURITY = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; "
    "img-src 'self' data:; connect-src 'self'; base-uri 'self'; form-action 'none'; "
    "frame-ancestors 'none'",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


class RequestChecks:
    """Middleware around the whole application.

    hosts: accepted Host headers, empty for any; origins: other sites whose pages may send requests.
    A request whose client has disconnected is cancelled.
    """

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Sequence[str], origins: Sequence[str]):
        self._app = app
        self._limits = limits
        self._hosts = {_without_port(host) for host in hosts}
        self._origins = origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        send = _with_headers(send)
        if "//" in scope["path"]:  # of clients that join an address and a path
            scope = {**scope, "path": re.sub("/{2,}", "/", scope["path"])}
        headers = Headers(scope=scope)
        if refusal := self._refusal(headers):
            await JSONResponse({"error": refusal}, 400)(scope, receive, send)
            return
        body = _Body(receive, headers, self._limits)
        answering = asyncio.ensure_future(self._app(scope, body.receive, send))
        leaving = asyncio.ensure_future(body.wait_for_disconnect())
        try:
            await asyncio.wait({answering, leaving}, return_when=asyncio.FIRST_COMPLETED)
            if not answering.done():  # the client has disconnected
                answering.cancel()
                await asyncio.wait({answering})
            if not answering.cancelled():
                answering.result()
        finally:
            for task in (answering, leaving):
                task.cancel()

    def _refusal(self, headers: Headers) -> str | None:
        """Return an error message if the headers are not acceptable.

        Another site's page may reach this server under its own host name (DNS rebinding), or post a
        form to it. These two headers reveal that, and a page cannot change them.
        """
        host = headers.get("host", "")
        if len(headers.getlist("host")) > 1:
            return "Invalid request: more than one Host header"
        if self._hosts and _without_port(host) not in self._hosts:
            return "Invalid Host header; to use this name, start the server with --allow-host"
        origin = headers.get("origin")
        if not origin or "*" in self._origins or origin in self._origins:
            return None
        with suppress(ValueError):  # no URL
            if urlsplit(origin).netloc.lower() == host.lower():
                return None
        return (
            "Invalid Origin header; pages of other sites need --allow-origin, and a proxy must "
            "pass on the Host header that it receives"
        )


class _Body:
    """A request's body as it arrives, no larger than allowed."""

    def __init__(self, receive: Receive, headers: Headers, limits: Limits):
        self._receive = receive
        self._limits = limits
        self._read = 0
        self._complete = asyncio.Event()
        self._gone = asyncio.Event()
        self._waits = "expect" in headers  # the client sends no body before we read it
        declared = headers.get("content-length", "")
        self._declared = int(declared) if declared.isdecimal() and len(declared) < 20 else 0

    async def receive(self) -> Message:
        """Return the next message; raises `ApiError` 413."""
        if self._complete.is_set():
            await self._gone.wait()
            return {"type": "http.disconnect"}
        if self._declared <= self._limits.body:
            message = await self._next()
            if self._read <= self._limits.body:
                return message
        if not self._waits:
            await self._discard()
        size = f"Invalid request: larger than {self._limits.body} bytes"
        raise ApiError(413, size, {"Connection": "close"})

    async def _next(self) -> Message:
        message = await self._receive()
        self._read += len(message.get("body", b""))
        if message["type"] == "http.disconnect" or not message.get("more_body", False):
            self._complete.set()
        return message

    async def _discard(self) -> None:
        """Read on for a while: many clients read no response before sending the whole body."""
        while not self._complete.is_set() and self._read <= _MOST_DISCARDED * self._limits.body:
            await self._next()

    async def wait_for_disconnect(self) -> None:
        """Return when the client disconnects, after its request was read."""
        await self._complete.wait()
        while (await self._receive())["type"] != "http.disconnect":
            pass
        self._gone.set()


def _without_port(host: str) -> str:
    host = host.lower()
    name, colon, port = host.rpartition(":")
    return name if colon and port.isdecimal() else host


def _with_headers(send: Send) -> Send:
    async def send_with_headers(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in _SECURITY.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
