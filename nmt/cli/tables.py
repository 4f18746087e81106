"""Tables: coloured and fitted to the width of a terminal, plain text in a pipe."""

from collections.abc import Sequence

import typer

from nmt.errors import shown

_NARROWEST = 8  # characters of a column whose text is folded


def print_table(
    heads: Sequence[str], rows: Sequence[Sequence[str]], left: int, below: int = 0
) -> None:
    """Print a table. The first `left` columns are left-aligned, the others right-aligned.

    In a pipe, each row is one line, however long. On a terminal, the last `below` columns, such as
    an address to copy, are on lines of their own, which are not wrapped.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    rows = [list(map(shown, row)) for row in rows]
    if not console.is_terminal:
        typer.echo("\n".join(_plain([heads, *rows], left)))
        return
    if below:
        head, *lines = _plain([row[:-below] for row in (heads, *rows)], left)
        typer.secho(head, bold=True)
        for line, row in zip(lines, rows, strict=True):
            typer.echo("\n  ".join([line, *row[-below:]]))
        return
    widths = [max(map(len, column)) for column in zip(heads, *rows, strict=True)]
    least = [min(width, _NARROWEST) for width in widths[:left]] + widths[left:]
    if sum(least) + 2 * len(least) > console.width:  # rich would cut off digits
        head, *lines = _plain([heads, *rows], left)
        typer.secho(head, bold=True)
        typer.echo("\n".join(lines))
        return
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
    for number, head in enumerate(heads):
        is_left = number < left
        table.add_column(
            head, justify="left" if is_left else "right", no_wrap=not is_left, overflow="fold"
        )
    for row in rows:
        table.add_row(*map(Text, row))
    console.print(table)


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print names and values side by side."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    facts = [(name, shown(text)) for name, text in facts]
    if not console.is_terminal:
        typer.echo("\n".join(f"{name:<17}{text}" for name, text in facts))
        return
    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, text in facts:
        table.add_row(name, Text(text))
    console.print(table)


def _plain(rows: Sequence[Sequence[str]], left: int) -> list[str]:
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]
