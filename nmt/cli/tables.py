"""Tables: coloured and fitted to the width of a terminal, plain text in a pipe."""

from collections.abc import Sequence

import typer

from nmt.errors import escape_terminal

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
    rows = [list(map(escape_terminal, row)) for row in rows]
    if console.is_terminal and not below and _fits([heads, *rows], left, console.width):
        table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0), header_style="bold")
        for number, head in enumerate(heads):
            is_left = number < left
            table.add_column(
                head, justify="left" if is_left else "right", no_wrap=not is_left, overflow="fold"
            )
        for row in rows:
            table.add_row(*map(Text, row))
        console.print(table)
        return
    beside = len(heads) - (below if console.is_terminal else 0)
    head, *lines = _plain([row[:beside] for row in (heads, *rows)], left)
    typer.secho(head, bold=True)
    for line, row in zip(lines, rows, strict=True):
        typer.echo("\n  ".join([line, *row[beside:]]))


def _fits(rows: Sequence[Sequence[str]], left: int, width: int) -> bool:
    """Return whether the columns fit if those on the left are folded; rich cuts off the others."""
    widths = _widths(rows)
    least = [min(column, _NARROWEST) for column in widths[:left]] + widths[left:]
    return sum(least) + 2 * len(least) <= width


def print_facts(facts: Sequence[tuple[str, str]]) -> None:
    """Print names and values side by side."""
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    console = Console()
    facts = [(name, escape_terminal(text)) for name, text in facts]
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
    widths = _widths(rows)
    return [
        "  ".join(
            cell.ljust(width) if number < left else cell.rjust(width)
            for number, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    ]


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(map(len, column)) for column in zip(*rows, strict=True)]
