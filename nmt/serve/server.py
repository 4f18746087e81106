"""From run folders to a running server."""

import asyncio
import logging
import re
import socket
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from nmt.errors import UserError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_GRACE = 30  # seconds to finish current requests when the server is stopped
_MOST_CONNECTIONS = 1000
_MOST_PIPELINED = 100  # requests waiting on one connection
_MOST_HEAD = 64_000  # bytes of the request line and the headers
_CHUNK = 262_144  # bytes that asyncio reads at once, which may include a part of the body
_BACKLOG = 1000
_TOO_SLOW = (
    b"HTTP/1.1 408 Request Timeout\r\nContent-Type: application/json\r\nContent-Length: 47\r\n"
    b'Connection: close\r\n\r\n{"error":"The request took too long to arrive"}'
)
_TOO_LARGE = (
    b"HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Type: application/json\r\n"
    b'Content-Length: 37\r\nConnection: close\r\n\r\n{"error":"The headers are too large"}'
)


def read_keys(path: Path) -> list[str]:
    """Read API keys, one per line; lines that start with # are comments."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8-sig").splitlines()]
    except (OSError, UnicodeDecodeError) as error:
        cause = getattr(error, "strerror", None) or "not UTF-8"
        raise UserError(f"{path}: cannot be read ({cause}); write one API key per line") from None
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise UserError(f"{path}: contains no API key; write one key per line")
    return keys


def hosts_of(host: str, more: Sequence[str]) -> list[str]:
    """Return the accepted Host headers; empty accepts any, for servers on all addresses.

    DNS rebinding gains nothing there: such a server requires a key or is public. Raises `UserError`
    if one of `more` is not a name.
    """
    for name in more:
        if not re.fullmatch(r"(\[[0-9a-f:.]+\]|[a-z0-9._-]+)(:\d+)?", name, re.IGNORECASE):
            raise UserError(f"--allow-host {name}: must be a host name, such as nmt.example.com")
    if host in ("0.0.0.0", "::") and not more:
        return []
    names = [f"[{name}]" if ":" in name else name for name in (*LOOPBACK, host)]
    return [*dict.fromkeys(names), *more]


def origins_of(sites: Sequence[str]) -> list[str]:
    """Return the sites as browsers write them in Origin headers, in ASCII; "*" stays.

    Raises `UserError` for anything else.
    """
    origins = []
    for site in sites:
        origin = site.rstrip("/").lower()
        if origin != "*" and not re.fullmatch(r"[a-z][a-z0-9+.-]*://[a-z0-9.:_\[\]-]+", origin):
            raise UserError(
                f"--allow-origin {site}: must be a scheme and a host, such as https://example.com"
            )
        origins.append(re.sub(r"^(http://.*):80$|^(https://.*):443$", r"\1\2", origin))
    return origins


def bind(host: str, port: int) -> socket.socket:
    """Return a listening socket; raises `UserError` if the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit this. Without it, the kernel delays the end of a response by 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)  # early clients wait until the runs are loaded
    except (OSError, OverflowError, TypeError) as error:  # TypeError: not a possible name
        listener.close()
        raise UserError(
            f"{host}:{port}: cannot listen there ({getattr(error, 'strerror', error)}); choose "
            "another --port or --host"
        ) from None
    return listener


def make_server(app: ASGIApp, seconds: float, root_path: str = "") -> uvicorn.Server:
    """Return a server of the application.

    seconds: a client's time limit for sending a request, and for reading the response; root_path:
    under which a proxy serves it, which the proxy removes from requests
    """
    logging.getLogger("python_multipart").setLevel(logging.ERROR)  # warns of malformed requests
    config = uvicorn.Config(
        app,
        http=_limited(seconds),
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=True,  # of proxies on this machine, or in FORWARDED_ALLOW_IPS
        ws="none",
        root_path=root_path,
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE,
    )
    return uvicorn.Server(config)


def _limited(seconds: float) -> type[HttpToolsProtocol]:
    """Return uvicorn's protocol with limits for slow clients, and for the size of headers."""

    class Limited(HttpToolsProtocol):
        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._head, self._fields = 0, 0  # bytes: of an unfinished head, of a request's fields
            self._sending = self._accepting = self._start_limit()

        def connection_lost(self, exc: Exception | None) -> None:
            self._sending.cancel()
            self._accepting.cancel()
            super().connection_lost(exc)

        def data_received(self, data: bytes) -> None:
            self._head += len(data)
            if self._head > _MOST_HEAD + _CHUNK:
                self._refuse_head()
                return
            super().data_received(data)
            idle = self.cycle is None or self.cycle.response_complete
            waits = self.timeout_keep_alive_task is None and self._sending.cancelled()
            if idle and waits and not self.transport.is_closing():
                self._sending = self._start_limit()  # after stray line breaks between requests

        def on_header(self, name: bytes, value: bytes) -> None:
            self._fields += len(name) + len(value)
            if self._fields > _MOST_HEAD:  # also in trailers, which follow the body
                self._refuse_head()
            else:
                super().on_header(name, value)

        def on_headers_complete(self) -> None:
            self._head = 0
            if not self.transport.is_closing():
                super().on_headers_complete()

        def on_message_begin(self) -> None:
            super().on_message_begin()
            self._fields = 0
            self._sending.cancel()
            self._sending = self._start_limit()
            if len(self.pipeline) > _MOST_PIPELINED:
                self.transport.abort()

        def on_body(self, body: bytes) -> None:
            self._head = 0
            if not self.transport.is_closing():
                super().on_body(body)

        def on_message_complete(self) -> None:
            self._sending.cancel()
            if not self.transport.is_closing():
                super().on_message_complete()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._accepting = self._start_limit()

        def resume_writing(self) -> None:
            self._accepting.cancel()
            super().resume_writing()

        def _refuse_head(self) -> None:
            if not self.transport.is_closing():
                self.transport.write(_TOO_LARGE)
                self.transport.close()

        def _start_limit(self) -> asyncio.TimerHandle:
            return self.loop.call_later(seconds, self._give_up)

        def _give_up(self) -> None:
            if self.cycle is None or not self.cycle.response_started:
                self.transport.write(_TOO_SLOW)
            if self.transport.get_write_buffer_size():
                self.transport.abort()  # close() would wait until the client has read everything
            else:
                self.transport.close()

    return Limited
