"""The server's application, called without a network, with a run trained on the toy corpus."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starlette", reason="the extra `serve` is not installed")

import torch
from starlette.testclient import TestClient

from nmt.decoding.loading import load_translator
from nmt.runs.folder import RunFolder
from nmt.serve.app import make_app
from nmt.serve.limits import Limits
from nmt.serve.served_run import ServedRun
from nmt.serve.server import bind, make_server
from nmt.serve.service import Access, Service


@pytest.fixture(scope="session")
def served(trained_run: RunFolder) -> ServedRun:
    translator = load_translator(trained_run, device=torch.device("cpu"), engine="pytorch")
    return ServedRun("toy", trained_run, translator, "pytorch")


@pytest.fixture
def make_client(served: ServedRun) -> Iterator[Callable[..., TestClient]]:
    """Return a function that starts the application; it is stopped after the test."""
    with ExitStack() as running:

        def make(
            *runs: ServedRun,
            limits: Limits | None = None,
            access: Access | None = None,
            runs_folder: Path | None = None,
        ) -> TestClient:
            service = Service(runs or (served,), limits, access, runs_folder)
            client = TestClient(make_app(service), base_url="http://localhost:5000")
            return running.enter_context(client)

        yield make


@pytest.fixture
def start_server(served: ServedRun) -> Iterator[Callable[..., str]]:
    """Return a function that serves on a free port and returns the address."""
    with ExitStack() as running:

        def start(service: Service | None = None, **options: Any) -> str:
            service = service or Service([served], **options)
            listener = bind("127.0.0.1", 0)
            server = make_server(make_app(service), service.limits.seconds)
            thread = threading.Thread(target=server.run, args=([listener],))
            thread.start()
            running.callback(thread.join, 20)
            running.callback(setattr, server, "should_exit", True)
            while not server.started:
                time.sleep(0.01)
            return f"http://127.0.0.1:{listener.getsockname()[1]}"

        yield start


@pytest.fixture
def client(make_client: Callable[..., TestClient]) -> TestClient:
    return make_client()
