"""Memory that is kept."""

import platform
import subprocess
import sys

import pytest

from nmt.ops.memory import keep_memory, return_memory

KEPT = """
import sys
from pathlib import Path
import torch
from nmt.ops.memory import keep_memory, return_memory
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])
if "keep" in sys.argv:
    keep_memory()
before = resident()
mebibytes = int(sys.argv[1])
tensors = [torch.ones(mebibytes * 2**18) for _ in range(128 // mebibytes)]
held = resident()
del tensors
if "return" in sys.argv:
    return_memory()
print((resident() - before) / (held - before))
"""


def kept(*arguments: str) -> float:
    """Return the share of 128 MiB that a process still holds when it has freed them."""
    command = [sys.executable, "-c", KEPT, *arguments]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="another C library")
@pytest.mark.parametrize("mebibytes", [4, 64])
def test_what_is_freed_is_kept_until_it_is_returned(mebibytes):
    assert kept(str(mebibytes)) < 0.1
    assert kept(str(mebibytes), "keep") > 0.9
    assert kept(str(mebibytes), "keep", "return") < 0.1


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("ctypes.CDLL", lambda *_: pytest.fail("no C library to call"))

    keep_memory()
    return_memory()


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("ctypes.CDLL", lambda *_: object())

    keep_memory()
    return_memory()
