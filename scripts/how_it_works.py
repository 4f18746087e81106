"""Run the code in docs/how-it-works.md, in order, and update the output shown below each block.

    python scripts/how_it_works.py

A test runs the same code and compares its output with the document.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "docs"
DOCUMENT = FOLDER / "how-it-works.md"
PICTURES = (  # written by the code to the current folder
    *("how-it-works.svg", "how-it-works-lines.svg", "how-it-works-sum.svg"),
    *("architecture-light.svg", "architecture-dark.svg"),
)

_CODE = re.compile(
    r"^```python\n(?P<code>.*?)^```\n(\n```text\n(?P<output>.*?)^```\n)?", re.M | re.S
)
_END = "-- end of block --"


def blocks(document: str) -> list[tuple[str, str]]:
    """Return each block of code with the output that the document shows."""
    return [(found["code"], found["output"] or "") for found in _CODE.finditer(document)]


def outputs(document: str) -> list[str]:
    """Run the blocks in Python's interactive prompt, as a reader pastes them; return their outputs.

    An empty line follows each block, for the Enter that the reader presses after pasting it. Raises
    `RuntimeError` with the trace if a block fails.
    """
    typed = "\n".join(f"{code}\nprint({_END!r})\n" for code, _ in blocks(document))
    done = subprocess.run(
        [sys.executable, "-i", "-q"],
        input=typed,
        capture_output=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONSTARTUP": ""},
        check=False,
    )
    if "Traceback (most recent" in done.stderr or "SyntaxError" in done.stderr:
        raise RuntimeError(done.stderr)
    return done.stdout.split(f"{_END}\n")[:-1]


def with_outputs(document: str, printed: list[str]) -> str:
    """Return the document with new outputs."""
    rest = iter(printed)

    def block(found: re.Match[str]) -> str:
        output = next(rest)
        return f"```python\n{found['code']}```\n" + (f"\n```text\n{output}```\n" if output else "")

    return _CODE.sub(block, document)


def main() -> None:
    document = DOCUMENT.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        text = with_outputs(document, outputs(document))
        pictures = {name: Path(name).read_bytes() for name in PICTURES}
        os.chdir(FOLDER)
    DOCUMENT.write_text(text, encoding="utf-8")
    for name, picture in pictures.items():
        (FOLDER / name).write_bytes(picture)


if __name__ == "__main__":
    main()
