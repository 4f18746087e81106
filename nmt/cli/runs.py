"""`nmt runs` and `nmt show`: what has been trained."""

from pathlib import Path
from typing import Annotated

import typer


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder of run folders.")] = Path("runs"),
) -> None:
    """List the runs in ./runs: config, data, size, updates, best validation BLEU, age."""
    from nmt.reports.runs import format_runs, summarize_runs

    typer.echo(format_runs(summarize_runs(folder)))


def show(
    run: Annotated[
        Path | None,
        typer.Argument(help="Run folder; default: the one under ./runs trained last."),
    ] = None,
) -> None:
    """Show everything about a run: how it was configured, its model, its validations, its files."""
    from nmt.reports.runs import format_run
    from nmt.run_folder import newest_run, open_run

    folder = open_run(run) if run else newest_run("config.yaml", option="nmt show FOLDER")
    typer.echo(format_run(folder))
