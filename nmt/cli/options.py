"""Options that commands share, and functions that open what they name."""

import logging
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from inspect import Signature, signature
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nmt.cli import completing
from nmt.config.choices import Address, ComputeType, EngineChoice, Weights

if TYPE_CHECKING:
    from nmt.config.config import Config
    from nmt.config.data import DataConfig
    from nmt.config.decoding import DecodingConfig
    from nmt.decoding.translator import Translator
    from nmt.runs.folder import RunFolder

_LOG = logging.getLogger(__name__)

ConfigOption = Annotated[
    str,
    typer.Option(
        "--config",
        "-c",
        help="YAML file: a path, a name in ./configs, or a shipped configuration.",
        autocompletion=completing.configs,
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="FIELD=VALUE",
        help="Override a field, as in training.epochs=3.",
        autocompletion=completing.fields,
    ),
]
RunOption = Annotated[
    list[Path] | None,
    typer.Option(
        "--run",
        help="Run folder. Repeat to translate with an ensemble. Default: the most recently trained "
        "run under ./runs that has the weights.",
        autocompletion=completing.runs,
    ),
]
OneRunOption = Annotated[  # a list, to refuse more than one in our own words
    list[Path] | None,
    typer.Option(
        "--run",
        help="Run folder; default: the most recently trained run under ./runs that has the "
        "weights.",
        autocompletion=completing.runs,
    ),
]
RunArgument = Annotated[
    Path | None,
    typer.Argument(
        help="Run folder; default: the most recently trained one under ./runs.",
        autocompletion=completing.runs,
    ),
]
TagOption = Annotated[
    str | None,
    typer.Option(
        "--tag",
        help="Translate in the style of the corpus with this tag (data.corpora), or, with an "
        "imported model of several target languages, into this one.",
    ),
]
DeviceOption = Annotated[
    str | None, typer.Option("--device", help="cuda, mps or cpu; default: the best available.")
]
WeightsOption = Annotated[
    Weights,
    typer.Option(
        "--weights",
        help="best: with the best validation score; last: after the last update; ema: "
        "exponential moving average (training.average_decay); checkpoint_average: from `nmt "
        "average`.",
    ),
]


def load(config: str, overrides: list[str] | None) -> "Config":
    """Load the configuration given by --config and --set."""
    from nmt.config.yaml_files import find_config, load_config

    loaded = load_config(config, overrides or [])
    _LOG.info("configuration    %s", find_config(config))
    return loaded


@dataclass(frozen=True)
class TranslatorOptions:
    """How to load a translator: the options of the commands that translate."""

    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            "-c",
            help="YAML file, as for train, whose decoding section, if any, replaces the run's.",
            autocompletion=completing.configs,
        ),
    ] = None
    address: Annotated[
        Address | None,
        typer.Option(
            "--address",
            help="Address readers with du, ihr (several) or Sie; for runs trained with "
            "data.address.",
            case_sensitive=False,
        ),
    ] = None
    glossary: Annotated[
        Path | None,
        typer.Option(
            "--glossary",
            help="Terms with prescribed translations: SOURCE TAB TARGET on each line, or CSV or "
            "TBX. Terms are found and written in all their inflected forms; the target = keeps the "
            "source.",
        ),
    ] = None
    memory: Annotated[
        Path | None,
        typer.Option(
            "--memory",
            help="Translation memory (TMX, XLIFF, PO or tab-separated) to take translations from. "
            "Case and final punctuation may differ.",
        ),
    ] = None
    beam_size: Annotated[
        int | None,
        typer.Option("--beam-size", min=1, max=500, help="Hypotheses to keep; 1: greedy search."),
    ] = None
    weights: WeightsOption = "best"
    device: DeviceOption = None
    engine: Annotated[
        EngineChoice | None,
        typer.Option(
            "--engine",
            help="Inference engine; default: decoding.engine, which is CTranslate2 if it supports "
            "the model and the options.",
        ),
    ] = None
    compute_type: Annotated[
        ComputeType | None,
        typer.Option(
            "--compute-type",
            help="Precision in CTranslate2; default: int8 if this CPU computes it exactly, "
            "otherwise float32.",
        ),
    ] = None
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="FIELD=VALUE",
            help="Override a field of the decoding section, as in decoding.seed=2.",
            autocompletion=completing.decoding_fields,
        ),
    ] = None

    def open(self, *runs: "RunFolder") -> "Translator":
        """Load the translator of a run, or of several runs as an ensemble."""
        from nmt.decoding.loading import load_translator

        beam = [f"decoding.beam_size={self.beam_size}"] if self.beam_size else []
        return load_translator(
            *runs,
            weights=self.weights,
            decoding=self._decoding(),
            overrides=[*(self.set_ or []), *beam],
            device=self.device,
            engine=self.engine,
            compute_type=self.compute_type,
            glossary=self.glossary,
            memory=self.memory,
            address=self.address,
        )

    def _decoding(self) -> "DecodingConfig | None":
        """Return the decoding section of the file; None if there is none."""
        config = load(self.config, None) if self.config else None
        return config.decoding if config and "decoding" in config.model_fields_set else None


def with_translator_options(*names: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Add options of `TranslatorOptions` to a command, which receives them as `options`.

    names: the fields to offer besides `beam_size`, `weights`, `device` and `set_`
    """

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @wraps(command)
        def called(**given: Any) -> None:
            options = TranslatorOptions(**{each.name: given.pop(each.name) for each in added})
            command(**given, options=options)

        wanted = {*names, "beam_size", "weights", "device", "set_"}
        fields = signature(TranslatorOptions).parameters.values()
        added = [each for each in fields if each.name in wanted]
        own = [p for p in signature(command).parameters.values() if p.name != "options"]
        called.__signature__ = Signature([*own, *added])  # type: ignore[attr-defined]  # for Typer
        return called

    return decorate


def named_or_newest(path: Path | None, file: str, command: str) -> "RunFolder":
    """Open the run given as the command's argument, or the newest run that has the file."""
    from nmt.runs.finding import newest_run, open_run

    return open_run(path) if path else newest_run(file, option=f"{command} FOLDER")


def find_runs(paths: list[Path] | None, weights: Weights) -> "list[RunFolder]":
    """Open the runs given by --run, or the newest run that has these weights."""
    from nmt.runs.finding import newest_run, open_run

    return [open_run(path) for path in paths or []] or [newest_run(f"{weights}.safetensors")]


def given_tag(name: str | None, data: "DataConfig") -> str:
    """Return the tag that --tag names; warn if a model with several target languages gets none."""
    from nmt.corpus.text.tags import tag_of

    if name is None and data.imported_tags:
        tags = ", ".join(data.imported_tags)
        _LOG.warning(
            f"without a target language, this model may write any; add --tag with one of {tags}"
        )
    return tag_of(data, name)
