"""`nmt export`, `import` and `push`."""

import logging
from pathlib import Path
from typing import Annotated

import typer

from nmt.cli import completing
from nmt.cli.options import RunArgument, WeightsOption, named_or_newest
from nmt.config.choices import ExportFormat
from nmt.echo import echo

_LOG = logging.getLogger(__name__)


def export(
    run: RunArgument = None,
    format_: Annotated[
        ExportFormat, typer.Option("--format", help="Library to export for.")
    ] = "ctranslate2",
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Folder to write; default: RUN/exported."),
    ] = None,
    weights: WeightsOption = "best",
) -> None:
    """Export the model and tokenizers of a run, for programs without nmt.

    `nmt translate` needs no export.

    Example: nmt export runs/mine --format transformers
    """
    from nmt.export.export import export_run
    from nmt.files.output_files import require_folder

    file = f"{weights}.safetensors"
    source = named_or_newest(run, file, "nmt export")
    folder = output or source.path / "exported"
    require_folder(folder)
    export_run(source, folder, weights, format_)
    config = source.config
    tagged = config.data.imported_tags or any(part.tag for part in config.data.corpora)
    for field, value in (
        ("decoding.knn_k", config.decoding.knn_k),
        ("decoding.temperature", config.decoding.temperature),
        ("decoding.glossary", config.decoding.glossary),
        ("tags (--tag)", tagged and format_ == "ctranslate2"),  # transformers has tokens for them
    ):
        if value:
            _LOG.warning(f"exported without {field}, which the export does not support")
    if config.data.address:
        _LOG.warning("the export cannot choose du, ihr or Sie")
    echo(f"exported         {folder}")


def import_(
    folder: Annotated[
        Path,
        typer.Argument(
            help="Folder with a Marian model, in the format of transformers or of OPUS-MT's zips."
        ),
    ],
    run: Annotated[Path, typer.Option("--run", help="Run folder to create.")],
) -> None:
    """Create a run from a public Marian model, such as those of OPUS-MT.

    Models on the Hugging Face Hub need no import: --run hf:USER/NAME.
    Example: nmt import downloads/opus-mt-en-de --run runs/opus
    """
    from nmt.runs.importing import import_run

    echo(f"imported         {import_run(folder, run).path}")


def push(
    run: Annotated[Path, typer.Argument(help="Run folder.", autocompletion=completing.runs)],
    name: Annotated[str, typer.Argument(help="Repository on the Hub.", metavar="USER/NAME")],
    weights: WeightsOption = "best",
    public: Annotated[
        bool, typer.Option("--public", help="Let everyone read a new repository.")
    ] = False,
) -> None:
    """Upload a run to the Hugging Face Hub, with a model card.

    Also uploads the held-out sentence pairs. Read the run with --run hf:user/name.

    Example: nmt push runs/sample user/name
    """
    from nmt.export.hub import push_run
    from nmt.runs.finding import open_run

    source = open_run(run)
    address = push_run(source, name, weights, public)
    if source.config.decoding.knn_k:
        _LOG.warning("uploaded with decoding.knn_k=0, because the datastore is not uploaded")
    echo(f"uploaded         {address}")
