"""`nmt runs`, `nmt show` and `nmt rm`: list, describe and delete runs."""

import json
import logging
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from nmt.cli import completing
from nmt.cli.options import RunArgument, named_or_newest
from nmt.cli.tables import print_facts, print_table
from nmt.echo import echo
from nmt.errors import UserError, escape_terminal

_LOG = logging.getLogger(__name__)

JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]


def runs(
    folder: Annotated[Path, typer.Argument(help="Folder that contains the run folders.")] = Path(
        "runs"
    ),
    json_: JsonOption = False,
) -> None:
    """List the runs in ./runs, most recently trained first.

    mine.yaml +2: trained with mine.yaml and two fields given with --set.

    43 of 5,000: interrupted early; nmt show prints how to continue.

    Example: nmt runs --json
    """
    from nmt.reports.summaries import RUN_COLUMNS, summarize_runs

    found, damaged = summarize_runs(folder)
    if json_:
        _print_json([run.as_json() for run in found])
    elif found:
        print_table(RUN_COLUMNS, [run.row() for run in found], left=2)
    for line in damaged:
        _LOG.warning(line)
    if damaged and not found:
        raise typer.Exit(2)


def show(
    run: RunArgument = None,
    json_: JsonOption = False,
) -> None:
    """Describe a run: its configuration file, data, model, validations and files.

    With --json, every setting as well.
    Example: nmt show runs/sample
    """
    from nmt.corpus.text.tags import show_tag
    from nmt.reports.summaries import run_as_json, run_facts, validation_table

    folder = named_or_newest(run, "config.yaml", "nmt show")
    if json_:
        _print_json(run_as_json(folder))
        return
    metrics = folder.read_metrics()
    print_facts(run_facts(folder))
    if metrics:
        typer.echo()
        print_table(*validation_table(metrics), left=0)
        typer.echo()
        for sample in metrics[-1]["samples"]:
            source = show_tag(folder.config.data, sample["source"])
            echo(f"{source}  →  {sample['translation']}")


def rm(
    runs: Annotated[
        list[Path],
        typer.Argument(
            help="Run folders to delete.", metavar="RUN...", autocompletion=completing.runs
        ),
    ],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete without asking.")] = False,
) -> None:
    """Delete runs, after confirmation.

    Example: nmt rm runs/sample runs/sample-2
    """
    from nmt.runs.finding import open_run
    from nmt.runs.folder import HUB
    from nmt.runs.lifecycle import delete_run

    for run in runs:
        if str(run).startswith(HUB):
            raise UserError(f"{run}: only local runs can be deleted")
    opened = [open_run(run) for run in runs]
    folders = list({run.path.resolve(): run for run in opened}.values())  # each once
    if not yes and not _can_ask():
        raise UserError("cannot ask for confirmation without a terminal; add --yes")
    for folder in folders:
        if yes or typer.confirm(escape_terminal(f"delete {folder.path}?")):
            delete_run(folder)
            echo(f"deleted          {folder.path}")


def _print_json(value: Any) -> None:
    """Print JSON; NaN, which marks values that another version did not write, becomes null."""
    known = json.loads(json.dumps(value), parse_constant=lambda _: None)
    typer.echo(json.dumps(known, indent=2, ensure_ascii=False))


def _can_ask() -> bool:
    return sys.stdin.isatty()
