"""`nmt doctor`: a description of this machine and installation, to paste into an issue."""

import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterator
from functools import partial
from importlib.metadata import PackageNotFoundError, version
from importlib.util import find_spec
from pathlib import Path

from nmt import __version__
from nmt.cli.tables import print_facts
from nmt.errors import install_extra, one_line

PACKAGES = ("torch", "ctranslate2", "numpy", "sentencepiece", "sacrebleu", "safetensors", "typer",
            "pydantic")  # fmt: skip
# A package of each extra: its name, and what needs it.
EXTRAS = {
    "matplotlib": ("plot", "nmt plot"),
    "tensorboard": ("tensorboard", "training.tensorboard"),
    "simplemma": ("terms", "the German forms of a glossary's terms"),
    "selectolax": ("documents", "documents such as .docx and .html"),
    "starlette": ("serve", "nmt serve"),
    "datasets": ("hub", "the Hugging Face Hub and tables"),
    "ftfy": ("filters", "data.drop_mojibake and data.check_languages"),
}


def doctor() -> None:
    """Show versions, devices, memory, disk space, and which extras are not installed.

    Paste the output into a bug report.

    Example: nmt doctor > doctor.txt
    """
    print_facts([(name, _known(fact)) for name, fact in _facts()])


def _known(fact: Callable[[], str]) -> str:
    """Return a fact, or why it is unknown, for example because a library is broken."""
    try:
        return fact()
    except Exception as error:
        return f"unknown ({one_line(error)})"


def _facts() -> Iterator[tuple[str, Callable[[], str]]]:
    yield "nmt", lambda: f"{__version__}, {Path(__file__).parent.parent}"
    yield "python", lambda: f"{platform.python_version()}, {sys.executable}"
    yield "system", platform.platform
    yield "processor", lambda: f"{platform.machine()}, {os.cpu_count()} logical cores"
    yield "instructions", _instructions
    yield "devices", _devices
    yield "memory", _memory
    yield "disk", _disk
    yield "cache", _cache
    for package in PACKAGES:
        yield package, partial(_version, package)
    for package, (extra, purpose) in EXTRAS.items():
        missing = f"missing, for {purpose}: {install_extra(extra)}"
        yield package, partial(_version, package) if find_spec(package) else partial(str, missing)


def _disk() -> str:
    return f"{shutil.disk_usage(Path()).free / 1e9:.1f} GB free in {Path().resolve()}"


def _cache() -> str:
    from nmt.corpus.sources.download import cache_folder

    folder = cache_folder()
    files = (file for file in folder.rglob("*") if file.is_file() and not file.is_symlink())
    return f"{sum(file.stat().st_size for file in files) / 1e9:.1f} GB in {folder}"


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:
        return "missing"


def _instructions() -> str:
    """Return the vector instructions in use, and the precisions that nmt chooses for them."""
    from nmt.decoding.engines.ctranslate2 import default_compute_type

    if not find_spec("torch"):  # an installation for translating only
        return (
            f"translates in {default_compute_type('cpu')}; cannot train, because PyTorch is missing"
        )
    import torch

    from nmt.device import product_dtype

    training = str(product_dtype(torch.device("cpu"), "auto")).removeprefix("torch.")
    vectors = torch.backends.cpu.get_cpu_capability()
    return f"{vectors}; trains in {training}, translates in {default_compute_type('cpu')}"


def _devices() -> str:
    if not find_spec("torch"):
        import ctranslate2

        return f"cpu, CUDA GPUs: {ctranslate2.get_cuda_device_count()}"
    import torch

    found = [torch.cuda.get_device_name(i) for i in range(torch.cuda.device_count())]
    found += ["mps"] if torch.backends.mps.is_available() else []
    return ", ".join([*found, f"cpu, threads: {torch.get_num_threads()}"])


def _memory() -> str:
    import psutil

    memory = psutil.virtual_memory()
    return f"{memory.total / 1e9:.1f} GB, {memory.available / 1e9:.1f} GB available"
