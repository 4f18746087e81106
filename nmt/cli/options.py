"""What commands share: their options, and how they open what the options name."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nmt.choices import ComputeType, EngineChoice, Weights
from nmt.cli import completing

if TYPE_CHECKING:
    from nmt.config import Config
    from nmt.decoding.translator import Translator
    from nmt.run_folder import RunFolder

ConfigOption = Annotated[
    str,
    typer.Option(
        "--config",
        "-c",
        help="YAML file: a path, a name in ./configs, or a shipped one.",
        autocompletion=completing.configs,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Override a field: training.epochs=3.",
        autocompletion=completing.fields,
    ),
]
SetDecodingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Override a field of the run's decoding section: decoding.length_penalty=1.",
        autocompletion=completing.decoding_fields,
    ),
]
RunOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--run",
        help="Run folder; given several times, to translate or evaluate: their ensemble; default: "
        "the one under ./runs trained last that has the weights.",
        autocompletion=completing.runs,
    ),
]
DeviceOption = Annotated[
    str | None, typer.Option("--device", help="cuda, mps or cpu; default: the best there is.")
]
WeightsOption = Annotated[Weights, typer.Option("--weights", help="Which weights to use.")]
BeamOption = Annotated[
    int | None, typer.Option("--beam-size", min=1, max=500, help="Hypotheses kept; 1 is greedy.")
]

EngineOption = Annotated[
    EngineChoice | None,
    typer.Option(
        "--engine",
        help="What runs the model: the library CTranslate2, or PyTorch; default: "
        "decoding.engine, by which CTranslate2 does where it can.",
    ),
]
ComputeTypeOption = Annotated[
    ComputeType | None,
    typer.Option(
        "--compute-type", help="Numbers that CTranslate2 multiplies; default: int8; exact: float32."
    ),
]


def load(config: str, overrides: list[str] | None) -> "Config":
    """Load what --config and --set name."""
    from nmt.config_files import load_config

    return load_config(config, overrides or [])


def find_runs(paths: list[Path] | None, weights: Weights) -> "list[RunFolder]":
    """Open the runs that --run names, or the newest that has such weights."""
    from nmt.run_folder import newest_run, open_run

    return [open_run(path) for path in paths or []] or [newest_run(f"{weights}.safetensors")]


def open_translator(
    runs: "list[RunFolder]",
    weights: Weights,
    beam_size: int | None,
    device: str | None,
    overrides: list[str] | None,
    engine: EngineChoice | None = None,
    compute_type: ComputeType | None = None,
) -> "Translator":
    """Open a run for translation, or several as an ensemble."""
    from nmt.decoding.loading import load_translator

    changes = [*(overrides or []), *([f"decoding.beam_size={beam_size}"] if beam_size else [])]
    return load_translator(
        *runs,
        weights=weights,
        overrides=changes,
        device=device,
        engine=engine,
        compute_type=compute_type,
    )
