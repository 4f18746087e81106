"""The separate environment of the benchmarks' peers, which is created once."""

import subprocess
import sys
import venv
from pathlib import Path

FOLDER = Path(__file__).parents[2] / "data" / "bench" / "peers"
PACKAGES = ["torch==2.13.0", "importlib_metadata", "joeynmt==2.3.0"]
JOEYNMT = "JoeyNMT 2.3.0"


def python() -> Path:
    """Return the peers' interpreter; install the peers first if necessary."""
    interpreter = FOLDER / "bin" / "python"
    done = FOLDER / ".ready"
    if not done.exists():
        print(f"installing {', '.join(PACKAGES)} into {FOLDER}", file=sys.stderr)
        venv.create(FOLDER, with_pip=True, clear=True)
        # PyTorch first and pinned, so that no other package pulls in a different version.
        for package in PACKAGES:
            subprocess.run([interpreter, "-m", "pip", "install", "--quiet", package], check=True)
        done.touch()
    return interpreter
