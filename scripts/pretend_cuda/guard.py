"""Compiles and loads `guard.cpp`, which must happen before PyTorch is imported."""

import ctypes
import hashlib
import shutil
import subprocess
import tempfile
from importlib.metadata import version
from importlib.util import find_spec
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


def load_guard(library: Path) -> None:
    """Load the compiled guard and the PyTorch libraries that it needs."""
    for name in ("libc10.so", "libtorch_cpu.so"):
        ctypes.CDLL(str(_torch() / "lib" / name), ctypes.RTLD_GLOBAL)
    ctypes.CDLL(str(library), ctypes.RTLD_GLOBAL)


def _torch() -> Path:
    """Return PyTorch's folder without importing PyTorch."""
    found = find_spec("torch")
    assert found is not None
    assert found.origin is not None
    return Path(found.origin).parent
