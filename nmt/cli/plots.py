"""`nmt plot`: pictures of attention, training, positions and data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from nmt.cli.options import (
    BeamOption,
    ConfigOption,
    DeviceOption,
    RunOption,
    SetDecodingOption,
    SetOption,
    WeightsOption,
    find_runs,
    load,
    open_translator,
)
from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.reports.attention import Picture

app = typer.Typer(help="Draw pictures, as PNG or SVG by the file's ending.", no_args_is_help=True)


def _output(default: str) -> Any:
    """Return the option --output; `default` says where the picture goes without it."""
    return typer.Option("--output", "-o", help=f"Picture to write, .png or .svg; {default}.")


@app.command()
def attention(
    sentence: Annotated[str, typer.Argument(help="The sentence to translate.")],
    run: RunOption = None,
    kind: Annotated[
        Literal["average", "cross", "encoder", "decoder"] | None,
        typer.Option(
            "--kind",
            help="One picture: all attention averaged, or one attention's layers and heads; "
            "default: all four, with --output the average.",
        ),
    ] = None,
    output: Annotated[Path | None, _output("default: in the run folder's `pictures`")] = None,
    json_: Annotated[
        bool, typer.Option("--json", help="Print the numbers instead of drawing.")
    ] = False,
    beam_size: BeamOption = None,
    weights: WeightsOption = "best",
    device: DeviceOption = None,
    set_: SetDecodingOption = None,
) -> None:
    """Draw where the model looks while it translates a sentence."""
    import json

    from nmt.reports.attention import PICTURES, draw_attention, read_attention
    from nmt.reports.figures import picture_path, pictures_of

    if json_ and (output or kind):
        raise UserError("--json prints all the numbers; it takes neither --output nor --kind")
    folder, *others = find_runs(run, weights)
    if others:
        raise UserError("attention is drawn of one model; give one --run")
    pictures: list[Picture] = [kind] if kind else ["average"] if output else list(PICTURES)
    if json_:
        pictures = []
    paths = [picture_path(output, pictures_of(folder), f"attention-{name}") for name in pictures]
    translator = open_translator([folder], weights, beam_size, device, set_, "pytorch")
    found = read_attention(translator, sentence)
    if not found.complete:
        typer.echo("the translation was cut at decoding.max_length_factor", err=True)
    if json_:
        typer.echo(json.dumps(found.as_json(), ensure_ascii=False))
    for name, path in zip(pictures, paths, strict=True):
        draw_attention(found, name, path)
        typer.echo(f"attention        {path}")


@app.command()
def training(
    runs: Annotated[
        list[Path] | None,
        typer.Argument(help="Run folders; default: the one under ./runs trained last."),
    ] = None,
    output: Annotated[
        Path | None,
        _output("default: in the run folder's `pictures`, of several runs ./training.png"),
    ] = None,
) -> None:
    """Draw losses, BLEU and learning rate over the updates of one run or several."""
    from nmt.reports.figures import picture_path, pictures_of
    from nmt.reports.training import draw_training
    from nmt.run_folder import newest_run, open_run

    if runs:
        folders = [open_run(run) for run in runs]
    else:
        folders = [newest_run("metrics.jsonl", option="nmt plot training FOLDER")]
    place = pictures_of(folders[0]) if len(folders) == 1 else Path()
    path = picture_path(output, place, "training")
    draw_training(folders, path)
    typer.echo(f"training         {path}")


@app.command()
def positions(
    run: Annotated[
        Path | None, typer.Option("--run", help="Draw this run's positions, learnt or computed.")
    ] = None,
    config: Annotated[
        str | None,
        typer.Option("--config", "-c", help="YAML file, as for prepare; default: base.yaml."),
    ] = None,
    output: Annotated[
        Path | None,
        _output("default: in the run folder's `pictures`, without --run ./positions.png"),
    ] = None,
    weights: Annotated[
        Literal["best", "last", "averaged"] | None,
        typer.Option("--weights", help="Which weights of the run to use; default: best."),
    ] = None,
    set_: SetOption = None,
) -> None:
    """Draw the position encodings of a run, or those that a configuration computes."""
    from nmt.reports.figures import picture_path, pictures_of
    from nmt.reports.positions import draw_positions, position_table
    from nmt.run_folder import open_run

    if run and config:
        raise UserError("give either --run or --config, not both")
    if weights and not run:
        raise UserError("--weights are those of a run; name it with --run, or leave --weights out")
    folder = pictures_of(open_run(run)) if run else Path()
    path = picture_path(output, folder, "positions")
    if run:
        changes = [*(set_ or []), "decoding.neighbours=0"]  # positions need no datastore
        translator = open_translator(
            [open_run(run)], weights or "best", None, "cpu", changes, "pytorch"
        )
        model = translator.pytorch.models[0]
        table, settings = position_table(model), model.config
    else:
        settings = load(config or "base.yaml", set_).model
        table = position_table(settings)
    side = ", source side" if settings.positions == "learned" else ""  # computed ones are the same
    width = "d_key" if settings.positions == "rotary" else "d_model"
    title = f"{settings.positions} positions{side}, {width} {table.shape[1]}"
    draw_positions(table, title, path)
    typer.echo(f"positions        {path}")


@app.command()
def lengths(
    config: ConfigOption = "base.yaml",
    set_: SetOption = None,
    output: Annotated[Path | None, _output("default: ./lengths.png")] = None,
) -> None:
    """Draw what the prepared data looks like, preparing it first where needed."""
    from nmt.corpus.prepare import prepare
    from nmt.reports.figures import picture_path
    from nmt.reports.lengths import draw_lengths

    path = picture_path(output, Path(), "lengths")
    draw_lengths(prepare(load(config, set_)), path)
    typer.echo(f"lengths          {path}")
