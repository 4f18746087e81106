"""A process with a simulated CUDA device, shared by the tests in this folder."""

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import TypeVar

import pytest

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "scripts"), str(Path(__file__).parent)]

from pretend_cuda.process import compile_guard, compiler, pretend_process  # noqa: E402
from scenarios import on_pretended_device  # noqa: E402

R = TypeVar("R")


@pytest.fixture(scope="session")
def _pool(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[ProcessPoolExecutor]:
    if not compiler():
        pytest.skip("needs a C++ compiler")
    cache = getattr(request.config, "cache", None)  # missing with -p no:cacheprovider
    folder = cache.mkdir("pretend_cuda") if cache else None
    library = compile_guard(folder or tmp_path_factory.mktemp("pretend_cuda"))
    with pretend_process(library) as pool:
        yield pool


@pytest.fixture
def pretending(_pool: ProcessPoolExecutor) -> Callable[..., object]:
    """Return a function that calls one of `scenarios` with the simulated device."""

    def call(function: Callable[..., R], *arguments: object) -> R:
        task = _pool.submit(on_pretended_device, Path.cwd(), function, *arguments)
        return task.result(timeout=120)

    return call
