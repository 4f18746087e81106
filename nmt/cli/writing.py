"""What the stages print: translations as lines, warnings on standard error."""

from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING

import typer

if TYPE_CHECKING:
    from nmt.decoding.translator import Translation


def format_translations(found: Iterator[list["Translation"]], n_best: int | None) -> Iterator[str]:
    """Yield output lines; tell on standard error of lines that did not go through whole."""
    for number, translations in enumerate(found, 1):
        best = translations[0]
        if best.parts > 1:
            warn(
                f"line {number}: longer than any training sentence, "
                f"translated in {best.parts} parts"
            )
        if not best.complete:
            warn(f"line {number}: the translation was cut at decoding.max_length_factor")
        if n_best is None:
            yield best.text
        else:
            yield from (f"{number}\t{t.score:.4f}\t{t.text}" for t in translations)


def write_lines(lines: Iterator[str], output: Path | None) -> None:
    """Print lines, or write them to a file, whole or not at all."""
    if output is None:
        for line in lines:
            typer.echo(line)
        return
    from nmt.run_folder import replacing

    # A device or a pipe (/dev/null) is written to, not replaced.
    place = (
        nullcontext(output)
        if output.exists() and not output.is_file()
        else replacing(output.resolve())
    )
    with place as path, path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


def warn(text: str) -> None:
    """Print on standard error."""
    typer.echo(text, err=True)
