"""`nmt config`: configurations and their fields."""

import typer

from nmt.cli.options import ConfigOption, SetOption, load

app = typer.Typer(help="Show configurations and their fields.", no_args_is_help=True)


@app.command("show")
def config_show(config: ConfigOption = "base.yaml", set_: SetOption = None) -> None:
    """Print a configuration with every field resolved, as YAML."""
    from nmt.config_files import dump_config

    typer.echo(dump_config(load(config, set_)), nl=False)


@app.command("fields")
def config_fields() -> None:
    """Explain every field: its type, its default, what it does."""
    from nmt.config_files import describe_fields

    for name, type_, default, description in describe_fields():
        typer.echo(f"{name}: {type_} = {default}\n    {description}")
