"""A process with the simulated device; PyTorch is unchanged in other processes.

>>> with pretend_process(compile_guard(folder)) as pretend:
...     pretend.submit(function, argument).result()

`guard.cpp` is compiled, and loaded before PyTorch is imported.
"""

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from importlib.metadata import version
from importlib.util import find_spec
from multiprocessing import get_context
from pathlib import Path

_SOURCE = Path(__file__).with_name("guard.cpp")


def compiler() -> str | None:
    """Return the path of the C++ compiler, if there is one."""
    return shutil.which("g++") or shutil.which("clang++")


def compile_guard(folder: Path) -> Path:
    """Compile into a folder, once per version of PyTorch and of the source.

    Raises `CalledProcessError` if the compiler fails.
    """
    name = hashlib.sha256(version("torch").encode() + _SOURCE.read_bytes()).hexdigest()[:16]
    library = folder / f"pretend_cuda_{name}.so"
    if not library.exists():
        include, libraries = _torch() / "include", _torch() / "lib"
        with tempfile.TemporaryDirectory(dir=folder) as temporary:
            made = Path(temporary, library.name)
            command = [compiler() or "g++", "-shared", "-fPIC", "-std=c++20", str(_SOURCE)]
            command += [f"-I{include}", f"-L{libraries}", "-ltorch_cpu", "-lc10", "-o", str(made)]
            subprocess.run(command, check=True)
            made.replace(library)
    return library


@contextmanager
def pretend_process(library: Path) -> Iterator[ProcessPoolExecutor]:
    """Start the process; library: what `compile_guard` returned."""
    with ProcessPoolExecutor(1, get_context("spawn"), _start, (library,)) as pool:
        yield pool


@contextmanager
def pretend_here(folder: Path) -> Iterator[None]:
    """Use the device in this process, which must not have imported PyTorch yet."""
    _start(compile_guard(folder))
    from pretend_cuda.device import Pretending

    with Pretending():  # type: ignore[no-untyped-call]
        yield


def _start(library: Path) -> None:
    """Load the compiled guard and the PyTorch libraries that it needs, and use the device."""
    for name in ("libc10.so", "libtorch_cpu.so"):
        ctypes.CDLL(str(_torch() / "lib" / name), ctypes.RTLD_GLOBAL)
    ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)
    from pretend_cuda.device import install  # imports PyTorch

    install()


def _torch() -> Path:
    """Return PyTorch's folder without importing PyTorch."""
    found = find_spec("torch")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent
