"""Output of translations to standard output and to files."""

import subprocess
import sys
from pathlib import Path

import pytest

_WRITE = """
from pathlib import Path

from nmt.cli.writing import write_lines

print("scores before")
write_lines(iter(["Anna singt heute."]), Path("/dev/stdout"))
print("scores after")
"""


@pytest.mark.skipif(not Path("/dev/stdout").exists(), reason="needs /dev/stdout")
def test_standard_output_by_name_keeps_what_else_is_redirected_there(tmp_path: Path) -> None:
    with (tmp_path / "out.txt").open("w") as redirected:
        for _ in range(2):  # such as two commands of a script
            subprocess.run([sys.executable, "-c", _WRITE], stdout=redirected, check=True)
    once = "scores before\nAnna singt heute.\nscores after\n"
    assert (tmp_path / "out.txt").read_text() == once * 2
