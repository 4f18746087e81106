"""Output of translations to standard output and to files."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from nmt.cli.output import format_translations
from nmt.decoding.translator import Translation

_WRITE = """
import sys
from pathlib import Path

from nmt.cli.output import write_lines

print("scores before")
write_lines(iter(["Anna singt heute."]), Path(sys.argv[1]))
print("scores after")
"""


@pytest.mark.parametrize("name", ["/dev/stdout", "/dev/fd/1", "/proc/self/fd/1", "out.txt"])
def test_standard_output_by_name_keeps_what_else_is_redirected_there(
    name: str, tmp_path: Path
) -> None:
    if not (tmp_path / name).parent.exists():
        pytest.skip(f"needs {name}")
    command = [sys.executable, "-c", _WRITE, name]
    with (tmp_path / "out.txt").open("w") as redirected:
        for _ in range(2):  # such as two commands of a script
            subprocess.run(command, stdout=redirected, cwd=tmp_path, check=True)
    once = "scores before\nAnna singt heute.\nscores after\n"
    assert (tmp_path / "out.txt").read_text() == once * 2


@pytest.mark.parametrize(
    ("details", "warning"),
    [
        ({}, []),
        ({"parts": 2}, []),  # such as items in a row
        ({"parts": 2, "is_long": True}, ["unusually long, translated in 2 parts"]),
        ({"complete": False}, ["translation truncated; raise decoding.max_length_extra"]),
        (
            {"in_proportion": False},
            ["the length of the translation is unusual; words may be missing"],
        ),
    ],
)
def test_a_translation_that_may_lack_words_comes_with_a_warning(
    details: dict[str, Any], warning: list[str], caplog: pytest.LogCaptureFixture
) -> None:
    options = iter([[Translation("Ben", 0)], [Translation("Anna", 0, **details)]])
    assert list(format_translations(options, None)) == ["Ben", "Anna"]
    assert caplog.messages == [f"line 2: {each}" for each in warning]
