"""When freed memory is kept, and when it is returned to the system."""

import os
import platform
import subprocess
import sys

import pytest

from nmt.device import cpu_capabilities
from nmt.ops.memory import bound_kernels, keep_memory, return_memory

KEPT = """
import sys
from pathlib import Path
import torch
from nmt.ops.memory import keep_memory, return_memory
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])
def kept():
    before = resident()
    mebibytes = int(sys.argv[1])
    tensors = [torch.ones(mebibytes * 2**18) for _ in range(128 // mebibytes)]
    held = resident()
    del tensors
    return lambda: print((resident() - before) / (held - before))
kept()()
keep_memory()
share = kept()
share()
return_memory()
share()
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="needs glibc")
@pytest.mark.parametrize("mebibytes", [4, 64])
def test_freed_memory_stays_with_the_process_until_it_is_returned(mebibytes):
    """Of 128 MiB, the share that a process still holds after freeing them."""
    command = [sys.executable, "-c", KEPT, str(mebibytes)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    by_default, kept, returned = map(float, done.stdout.split())
    assert by_default < 0.1
    assert kept > 0.9
    assert returned < 0.1


def test_kernel_caches_are_small_unless_the_environment_sets_their_size(monkeypatch):
    monkeypatch.setattr(os, "environ", {"LRU_CACHE_CAPACITY": "7"})
    bound_kernels()
    assert os.environ == {"LRU_CACHE_CAPACITY": "7", "ONEDNN_PRIMITIVE_CACHE_CAPACITY": "64"}


KERNELS = """
from pathlib import Path
import torch
from nmt.ops.memory import bound_kernels
bound_kernels()
matrix = torch.ones(64, 64, dtype=torch.bfloat16)
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1]) * 4096 / 2**20
def multiply(shapes):
    for rows in shapes:
        torch.ones(rows, 64, dtype=torch.bfloat16) @ matrix
multiply(range(200, 1000))
before = resident()
multiply(range(1000, 1100))
print(resident() - before)
"""


@pytest.mark.skipif(not cpu_capabilities().get("avx512_bf16"), reason="no bfloat16 products")
def test_products_with_new_shapes_do_not_increase_memory():
    command = [sys.executable, "-c", KERNELS]
    grown = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert float(grown) < 10  # mebibytes; 65 without the limit


@pytest.mark.parametrize(
    ("system", "library"), [("darwin", lambda *_: 1 / 0), ("linux", lambda *_: object())]
)
def test_nothing_happens_on_other_systems_and_with_another_c_library(system, library, monkeypatch):
    monkeypatch.setattr(sys, "platform", system)
    monkeypatch.setattr("ctypes.CDLL", library)
    keep_memory()
    return_memory()
