"""Memory that is kept."""

import subprocess
import sys

import pytest

from nmt.memory import keep_memory

KEPT = """
import sys
from pathlib import Path
import torch
from nmt.memory import keep_memory
def resident():
    return int(Path("/proc/self/statm").read_text().split()[1])
if "keep" in sys.argv:
    keep_memory()
before = resident()
tensors = [torch.ones(2**20) for _ in range(16)]
held = resident()
del tensors
print((resident() - before) / (held - before))
"""


def kept(*arguments: str) -> float:
    """Return the share of 64 MiB that a process still holds when it has freed them."""
    command = [sys.executable, "-c", KEPT, *arguments]
    return float(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="glibc, of Linux, gives back")
def test_what_is_freed_is_kept():
    assert kept() < 0.1
    assert kept("keep") > 0.9


def test_other_systems_are_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.setattr("ctypes.CDLL", lambda *_: pytest.fail("no C library to call"))

    keep_memory()


def test_another_c_library_is_left_alone(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setattr("ctypes.CDLL", lambda *_: object())

    keep_memory()
