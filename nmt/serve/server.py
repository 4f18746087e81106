"""From run folders to a running server."""

import socket
from collections.abc import Sequence
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from nmt.errors import UserError

LOOPBACK = ("127.0.0.1", "localhost", "::1")
_GRACE = 30  # seconds for what is under way when the server is told to end
_MOST_CONNECTIONS = 1000
_BACKLOG = 1000


def read_keys(path: Path) -> list[str]:
    """Read a file with a key a line; lines that begin with # are comments."""
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except (OSError, UnicodeDecodeError):
        raise UserError(f"{path}: cannot be read; it holds an API key a line") from None
    keys = [line for line in lines if line and not line.startswith("#")]
    if not keys:
        raise UserError(f"{path}: holds no API key; write one a line")
    return keys


def hosts_of(host: str, more: Sequence[str]) -> list[str]:
    """Return the Host headers to answer; none, which is any, where all addresses are listened at.

    A page of another site gains nothing there: who has no key gets nothing, and what is public is
    public.
    """
    if host in ("0.0.0.0", "::") and not more:
        return []
    names = [f"[{name}]" if ":" in name else name for name in (*LOOPBACK, host)]
    return [*dict.fromkeys(names), *more]


def bind(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raises `UserError` where the port is taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listener = socket.socket(family)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        # Connections inherit it. Without it the kernel holds back the end of an answer for 40 ms.
        listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        listener.bind((host, port))
        listener.listen(_BACKLOG)  # who comes before the runs are loaded waits
    except (OSError, OverflowError) as error:
        listener.close()
        raise UserError(
            f"{host}:{port}: cannot listen there ({getattr(error, 'strerror', error)}); name "
            "another --port or --host"
        ) from None
    return listener


def run_server(app: ASGIApp, listener: socket.socket) -> None:
    """Serve until SIGINT or SIGTERM; what is under way then is finished."""
    config = uvicorn.Config(
        app,
        log_level="warning",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        ws="none",
        limit_concurrency=_MOST_CONNECTIONS,
        timeout_graceful_shutdown=_GRACE,
    )
    uvicorn.Server(config).run(sockets=[listener])
