"""`nmt config`: configurations and their fields."""

import json
import logging
import textwrap
from pathlib import Path
from typing import Annotated

import typer

from nmt.cli import completing
from nmt.cli.command import Command
from nmt.cli.options import ConfigOption, SetOption, load
from nmt.errors import UserError

_LOG = logging.getLogger(__name__)

app = typer.Typer(
    help="Show, explain and write configurations.\n\nExample: nmt config new everyday > mine.yaml",
    no_args_is_help=True,
)


@app.command("show", cls=Command)
def config_show(config: ConfigOption = "base.yaml", set_: SetOption = None) -> None:
    """Print a configuration as YAML, with defaults and overrides applied.

    Example: nmt config show --config sample.yaml --set training.epochs=3
    """
    from nmt.config.yaml_files import dump_config

    typer.echo(dump_config(load(config, set_)), nl=False)


@app.command("explain", cls=Command, hidden=True)  # the name that comes to mind
@app.command("fields", cls=Command)
def config_fields(
    which: Annotated[
        str, typer.Argument(help="A section or a field: training, training.epochs or epochs.")
    ] = "",
) -> None:
    """Explain every field, or those of a section: type, default, meaning.

    Example: nmt config fields training.schedule
    """
    from nmt.config.yaml_files import describe_fields

    for name, type_, default, description in describe_fields(which, nested=True):
        typer.echo(f"{name}: {type_} = {default}")
        typer.echo(
            textwrap.fill(
                description,
                80,
                initial_indent="    ",
                subsequent_indent="    ",
                break_long_words=False,
                break_on_hyphens=False,
            )
        )


@app.command("schema", cls=Command)
def config_schema() -> None:
    """Print the JSON schema that lets editors complete and check configurations.

    Example: nmt config schema > schema.json
    """
    from nmt.config.yaml_files import config_schema

    typer.echo(json.dumps(config_schema(), indent=2, ensure_ascii=False))


@app.command("new", cls=Command)
def config_new(
    name: Annotated[
        str | None, typer.Argument(help="Configuration to start from, such as sample.")
    ] = None,
    corpus: Annotated[
        Path | None,
        typer.Option(
            "--corpus",
            help="Sentence pairs to choose settings for: tab-separated, a table such as CSV, TMX, "
            "XLIFF, PO, a folder of such files, one of two parallel files, a zip of OPUS, or a "
            "dictionary of FreeDict (.tei).",
        ),
    ] = None,
    minutes: Annotated[
        float | None,
        typer.Option(
            "--minutes",
            min=1,
            max=100_000,
            help="With --corpus: desired training time; default: 30.",
        ),
    ] = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="With --corpus: choose settings to fine-tune this run, or the public model "
            "hf:USER/NAME.",
            autocompletion=completing.runs,
        ),
    ] = None,
) -> None:
    """Print a new configuration with comments.

    --corpus chooses settings for the size of a corpus and the desired time.
    Example: nmt config new sample > mine.yaml
    Example: nmt config new --corpus pairs.tsv --minutes 30 > mine.yaml
    """
    from nmt.config.yaml_files import commented_config, with_schema

    if (name is None) == (corpus is None):
        raise UserError("give either a configuration to start from, or --corpus FILE")
    if minutes and corpus is None:
        raise UserError(
            "--minutes chooses settings for --corpus FILE; otherwise, set training.max_minutes"
        )
    if from_ and corpus is None:
        raise UserError("--from chooses settings for --corpus FILE; add it")
    if name is not None:
        typer.echo(with_schema(commented_config(name)), nl=False)
        return
    from nmt.device import choose_device
    from nmt.reports.recipes import recommend, recommend_fine_tuning
    from nmt.runs.finding import open_run

    assert corpus
    chosen = corpus, minutes or 30, choose_device().type
    recipe = recommend_fine_tuning(*chosen, open_run(from_)) if from_ else recommend(*chosen)
    typer.echo(with_schema(recipe.yaml), nl=False)
    for warning in recipe.warnings:
        _LOG.warning(warning)
