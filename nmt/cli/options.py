"""What commands share: their options, and how they open what the options name."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.config import Config
    from nmt.decoding.ctranslate2 import ComputeType
    from nmt.decoding.loading import Engine
    from nmt.decoding.translator import Translator
    from nmt.run_folder import RunFolder, Weights

ConfigOption = Annotated[
    str,
    typer.Option(
        "--config", "-c", help="YAML file: a path, a name in ./configs, or a shipped one."
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="FIELD=VALUE", help="Override a field: training.epochs=3."),
]
SetDecodingOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Override a field of the run's decoding section: decoding.length_penalty=1.",
    ),
]
RunOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--run",
        help="Run folder; given several times, to translate or evaluate: their ensemble; default: "
        "the one under ./runs trained last that has the weights.",
    ),
]
DeviceOption = Annotated[
    str | None, typer.Option("--device", help="cuda, mps or cpu; default: the best there is.")
]
WeightsOption = Annotated[
    Literal["best", "last", "averaged"], typer.Option("--weights", help="Which weights to use.")
]
BeamOption = Annotated[
    int | None, typer.Option("--beam-size", min=1, max=500, help="Hypotheses kept; 1 is greedy.")
]

EngineOption = Annotated[
    Literal["pytorch", "ctranslate2"],
    typer.Option("--engine", help="What searches: the code here, or the library CTranslate2."),
]
ComputeTypeOption = Annotated[
    Literal["float32", "float16", "bfloat16", "int16", "int8", "int8_float16", "int8_bfloat16"]
    | None,
    typer.Option(
        "--compute-type", help="Numbers that CTranslate2 multiplies; default: float32, exact."
    ),
]


def load(config: str, overrides: list[str] | None) -> "Config":
    """Load what --config and --set name."""
    from nmt.config_files import load_config

    return load_config(config, overrides or [])


def find_runs(paths: list[Path] | None, weights: "Weights") -> "list[RunFolder]":
    """Open the runs that --run names, or the newest that has such weights."""
    from nmt.run_folder import newest_run, open_run

    return [open_run(path) for path in paths or []] or [newest_run(f"{weights}.safetensors")]


def open_translator(
    runs: "list[RunFolder]",
    weights: "Weights",
    beam_size: int | None,
    device: str | None,
    overrides: list[str] | None,
    engine: "Engine" = "pytorch",
    compute_type: "ComputeType | None" = None,
    compiled: bool = True,
) -> "Translator":
    """Open a run for translation, or several as an ensemble; compiled: see `load_translator`."""
    from nmt.decoding.loading import load_translator
    from nmt.device import choose_device

    if compute_type and engine != "ctranslate2":
        raise UserError("--compute-type is for CTranslate2; add --engine ctranslate2")
    changes = [*(overrides or []), *([f"decoding.beam_size={beam_size}"] if beam_size else [])]
    return load_translator(
        *runs,
        weights=weights,
        overrides=changes,
        device=choose_device(device),
        engine=engine,
        compute_type=compute_type or "float32",
        compiled=compiled,
    )
