"""Draw the README's picture of `make run` from what it printed.

    make run 2>&1 | python scripts/run_picture.py

Writes docs/images/make-run.svg, the terminal.
"""

import io
import re
import sys
from pathlib import Path

from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

PICTURE = Path(__file__).parents[1] / "docs" / "images" / "make-run.svg"
COLUMNS = 124

# The lines that the recording shows.
_SHOWN = re.compile(r"\.venv/bin/nmt (?!plot)|pairs kept|runs/|update |  A week|Oscar|BLEU|chrF")


def draw_terminal(log: str, path: Path) -> None:
    """Draw an excerpt of what `make run` printed."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for line in excerpt(log):
        command = line.startswith(".venv/bin/")
        text = line.replace(".venv/bin/", "$ ", 1) if command else line
        style = "bold green" if command else ""
        console.print(Text(text, style=style), no_wrap=True, overflow="ellipsis")
    svg = console.export_svg(title="make run", theme=DIMMED_MONOKAI)
    # Load nothing from other hosts.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "Menlo, Consolas, monospace")
    path.write_text(svg, encoding="utf-8")


def excerpt(log: str) -> list[str]:
    """Return the lines to show, with only the first and the last validation."""
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in log.splitlines()]
    lines = [line for line in lines if _SHOWN.match(line)]
    validations = [index for index, line in enumerate(lines) if line.startswith("update ")]
    if len(validations) < 3:
        return lines
    return [*lines[: validations[1]], "…", *lines[validations[-1] :]]


if __name__ == "__main__":
    draw_terminal(sys.stdin.read(), PICTURE)
