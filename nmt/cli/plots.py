"""`nmt plot`: plots of attention, training, positions and data."""

import logging
import re
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import typer

from nmt.cli import completing
from nmt.cli.command import Command
from nmt.cli.options import (
    OneRunOption,
    SetOption,
    TranslatorOptions,
    find_runs,
    load,
    with_translator_options,
)
from nmt.config.choices import AttentionPicture, Weights
from nmt.echo import echo
from nmt.errors import UserError

_LOG = logging.getLogger(__name__)

MOST_COLUMNS = 12  # more curves would be indistinguishable

app = typer.Typer(
    help="Draw plots as PNG or SVG, chosen by the file extension.\n\n"
    "Example: nmt plot training runs/sample",
    no_args_is_help=True,
)


def _output(default: str) -> Any:
    """Return the option --output; `default` describes where the picture goes without it."""
    return typer.Option("--output", "-o", help=f"Picture to write, .png or .svg; {default}.")


def _report_file(path: Path) -> None:
    """Print which file was written, and where if it is a bare name."""
    place = "" if path.is_absolute() or len(path.parts) > 1 else " in the current folder"
    echo(f"picture          {path}{place}")


@app.command(cls=Command)
@with_translator_options()
def attention(
    sentence: Annotated[str, typer.Argument(help="The sentence to translate.")],
    run: OneRunOption = None,
    kind: Annotated[
        AttentionPicture | None,
        typer.Option(
            "--kind",
            help="clearest (default): the clearest heads of the cross-attention; lines: the "
            "clearest head of each kind of attention, as lines between tokens; average: the mean "
            "of all heads; cross, encoder, decoder: every layer and head.",
        ),
    ] = None,
    output: Annotated[Path | None, _output("default: in the run folder's `pictures`")] = None,
    json_: Annotated[
        bool, typer.Option("--json", help="Print the numbers instead of drawing.")
    ] = False,
    *,
    options: TranslatorOptions,
) -> None:
    """Draw the attention weights of one translated sentence.

    Example: nmt plot attention "Where is the station?"
    """
    import json

    from nmt.reports.attention import draw_attention, read_attention
    from nmt.reports.figures import picture_path

    if json_ and (output or kind):
        raise UserError("--json prints all the numbers; it takes neither --output nor --kind")
    folder, *others = find_runs(run, options.weights)
    if others:
        raise UserError("attention can be drawn for one model only; give a single --run")
    shown = kind or "clearest"
    path = None if json_ else picture_path(output, folder.pictures, f"attention-{shown}")
    translator = replace(options, engine="pytorch").open(folder)
    # A picture of the decoder's self-attention does not contain the source.
    found = read_attention(translator, sentence, drawn=bool(path) and kind != "decoder")
    if not found.complete:
        _LOG.warning("translation truncated; raise decoding.max_length_extra")
    if path:
        draw_attention(found, shown, path)
        _report_file(path)
    else:
        typer.echo(json.dumps(found.as_json(), ensure_ascii=False))


@app.command(cls=Command)
def training(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(
            help="Run folders; default: the most recently trained one under ./runs.",
            autocompletion=completing.runs,
        ),
    ] = None,
    output: Annotated[
        Path | None,
        _output("default: in the run folder's `pictures`; for several runs ./training.png"),
    ] = None,
) -> None:
    """Draw loss, BLEU and learning rate of one or more runs.

    Example: nmt plot training runs/sample runs/sample-2
    """
    from nmt.reports.figures import picture_path
    from nmt.reports.training import draw_training
    from nmt.runs.finding import newest_run, open_run

    if runs:
        folders = [open_run(run) for run in runs]
    else:
        folders = [newest_run("metrics.jsonl", option="nmt plot training FOLDER")]
    place = folders[0].pictures if len(folders) == 1 else Path()
    path = picture_path(output, place, "training")
    draw_training(folders, path)
    _report_file(path)


@app.command(cls=Command)
def positions(
    run: Annotated[
        Path | None, typer.Option("--run", help="Draw this run's position encodings.")
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            "-c",
            help="YAML file, a name in ./configs, or a shipped configuration; default: base.yaml.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        _output("default: in the run folder's `pictures`; without --run ./positions.png"),
    ] = None,
    weights: Annotated[
        Weights | None,
        typer.Option("--weights", help="Which weights of the run to use; default: best."),
    ] = None,
    length: Annotated[
        int,
        typer.Option(
            "--length", min=1, max=2000, help="Number of positions, up to model.max_length."
        ),
    ] = 60,
    columns: Annotated[
        str | None,
        typer.Option(
            "--columns",
            metavar="LIST",
            help="Dimensions to draw as curves, such as 4-7 or 0,2,8; default: a range of "
            "wavelengths.",
        ),
    ] = None,
    set_: SetOption = None,
) -> None:
    """Draw the position encodings of a run or of a configuration.

    Example: nmt plot positions --columns 4-7
    """
    from nmt.reports.figures import picture_path
    from nmt.reports.positions import draw_positions, position_table
    from nmt.runs.finding import open_run

    if run and config:
        raise UserError("give either --run or --config, not both")
    if weights and not run:
        raise UserError("--weights applies to a run; add --run, or omit --weights")
    chosen = _numbers(columns) if columns else []
    folder = open_run(run).pictures if run else Path()
    path = picture_path(output, folder, "positions")
    if run:
        changes = [*(set_ or []), "decoding.knn_k=0"]  # positions need no datastore
        options = TranslatorOptions(
            weights=weights or "best", device="cpu", engine="pytorch", set_=changes
        )
        model = options.open(open_run(run)).pytorch.models[0]
        table, settings = position_table(model, length), model.config
    else:
        settings = load(config or "base.yaml", set_).model
        table = position_table(settings, length)
    side = ", source side" if settings.positions == "learned" else ""
    width = "d_key" if settings.positions == "rotary" else "d_model"
    title = f"{settings.positions} positions{side}, {width} {table.shape[1]}"
    draw_positions(table, title, path, chosen)
    _report_file(path)


def _numbers(text: str) -> list[int]:
    """Parse a list of numbers such as 4-7 or 0,2,8."""
    ranges = [re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part) for part in text.split(",")]
    found: list[int] = []
    for each in ranges:
        if each is None:
            raise UserError(f"--columns {text}: expected numbers, as in 4-7 or 0,2,8")
        first, last = int(each[1]), int(each[2] or each[1])
        if last < first:
            raise UserError(
                f"--columns {text}: in a range such as 4-7, the smaller number comes first"
            )
        found += range(first, min(last, first + MOST_COLUMNS) + 1)
    if not 0 < len(found) <= MOST_COLUMNS:
        raise UserError(f"--columns {text}: name 1 to {MOST_COLUMNS} columns")
    return found


@app.command(cls=Command)
def lengths(
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            "-c",
            help="YAML file, a name in ./configs, or a shipped configuration; default: that of the "
            "most recently trained run under ./runs.",
            autocompletion=completing.configs,
        ),
    ] = None,
    set_: SetOption = None,
    output: Annotated[
        Path | None,
        _output("default: in the run folder's `pictures`; with --config ./lengths.png"),
    ] = None,
) -> None:
    """Draw the distribution of sentence lengths in the prepared data.

    Prepares the data first if necessary.
    Example: nmt plot lengths --config sample.yaml
    """
    from nmt.config.yaml_files import load_config
    from nmt.corpus.preparing.prepare import prepare
    from nmt.reports.figures import picture_path
    from nmt.reports.lengths import draw_lengths
    from nmt.runs.finding import newest_run

    if config:
        path = picture_path(output, Path(), "lengths")
        prepared = prepare(load(config, set_))
    else:
        run = newest_run("config.yaml", option="--config FILE")
        path = picture_path(output, run.pictures, "lengths")
        settings = load_config(run.path / "config.yaml", set_ or [], of_run=True)
        prepared = prepare(settings, run_data=run.data)
    draw_lengths(prepared, path)
    _report_file(path)
