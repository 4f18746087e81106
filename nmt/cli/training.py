"""`nmt prepare`, `train`, `average` and `datastore`."""

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from nmt.cli import completing
from nmt.cli.options import (
    ConfigOption,
    DeviceOption,
    RunArgument,
    SetOption,
    WeightsOption,
    load,
    named_or_newest,
)
from nmt.config.choices import Weights
from nmt.echo import echo
from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.config.config import Config
    from nmt.runs.folder import RunFolder


def prepare(
    config: ConfigOption = "base.yaml",
    set_: SetOption = None,
    refresh: Annotated[
        bool,
        typer.Option(
            "--refresh",
            help="Download the corpus again, unless its content is fixed (multi30k, pickle).",
        ),
    ] = False,
) -> None:
    """Read or download a corpus, clean, split and tokenize it, and build vocabularies.

    Does nothing unless the corpus or the configuration has changed.
    Example: nmt prepare --config sample.yaml
    """
    from nmt.corpus.preparing.prepare import prepare
    from nmt.corpus.preparing.report import format_report

    prepared = prepare(load(config, set_), refresh=refresh)
    echo(*format_report(prepared.report, prepared.mixing_weights).split("\n"))
    echo(f"prepared data    {prepared.folder}")


def train(
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            "-c",
            help="YAML file, a name in ./configs, or a shipped configuration; default: base.yaml, "
            "or with --from that run's own.",
            autocompletion=completing.configs,
        ),
    ] = None,
    set_: SetOption = None,
    run: Annotated[
        Path | None,
        typer.Option(
            "--run",
            help="Run folder to write; default: runs/CONFIG, or runs/CONFIG-2, … if that exists.",
        ),
    ] = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Resume a run, by default the most recently trained one."),
    ] = False,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Fine-tune this run, or the public model hf:USER/NAME: start from its weights, "
            "vocabularies and architecture; --config sets the new data and training.",
            autocompletion=completing.runs,
        ),
    ] = None,
    weights: Annotated[
        Weights | None, typer.Option("--weights", help="With --from: which weights; default: best.")
    ] = None,
    mix: Annotated[
        float | None,
        typer.Option(
            "--mix",
            min=0.01,
            max=0.99,
            help="With --from: share of each batch drawn from the run's original corpus, so that "
            "the model forgets less of it.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Measure memory and speed, estimate the training time, and exit. Writes no run.",
        ),
    ] = False,
    device: DeviceOption = None,
) -> None:
    """Train a model, preparing the data first if necessary.

    Ctrl-C saves the run, and `nmt train --resume` continues it exactly.
    Several processes: torchrun --nproc-per-node=2 -m nmt -- train …
    Example: nmt train --config sample.yaml --set training.epochs=3
    Fine-tuning: nmt train --from runs/everyday --config multi30k.yaml --mix 0.3
    """
    from nmt.device import choose_device
    from nmt.training.distributed import joined, require_one
    from nmt.training.dry_run import dry_run as measure
    from nmt.training.resuming import resuming_command
    from nmt.training.train import train

    start = _Start(from_, weights or "best", mix)
    if weights and not from_:
        raise UserError("--weights selects weights of the run to fine-tune; add --from RUN")
    if from_ and resume:
        raise UserError("--from starts a new run, --resume continues one; omit one of them")
    if mix and not (from_ and config):
        raise UserError("--mix adds the corpus of --from to that of --config; give both")
    if dry_run:
        require_one("--dry-run")
        if resume:
            raise UserError("--dry-run is for new runs; omit --resume")
        if run:
            raise UserError("--dry-run writes no run; omit --run")
        settings, _ = _new_training(config, set_, start)
        typer.echo(measure(settings, choose_device(device)))
        return
    with joined(device) as worker:
        settings, folder = _run_to_train(config, set_, run, resume, start)
        numbered = not run and not resume
        trained = train(settings, folder, resume, worker, numbered)
        _print_next_steps(trained, resuming_command(trained, worker))


class _Start(NamedTuple):
    """The values of --from, --weights and --mix."""

    run: Path | None
    weights: Weights
    mix: float | None


def _new_training(
    config: str | None, set_: list[str] | None, start: _Start
) -> "tuple[Config, Path]":
    """Return the configuration of a new run, and its folder if none is named."""
    from nmt.config.yaml_files import find_config, load_config
    from nmt.runs.finding import open_run
    from nmt.runs.folder import RUNS
    from nmt.training.fine_tuning import config_from, sets_decoding

    if not start.run:
        file = find_config(config or "base.yaml")
        return load(str(file), set_), RUNS / file.stem
    given = load_config(config) if config else None
    former = open_run(start.run)
    settings = config_from(former, start.weights, given, set_ or [], start.mix)
    if given:
        kept, new = "model and tokenizer", "data, training and decoding"
        if not sets_decoding(given):
            kept, new = "model, tokenizer and decoding", "data and training"
        echo(f"{kept} of {start.run}; {new} of {config}", err=True)
    else:
        path = settings.data.path
        data = path if isinstance(path, Path) else settings.data.label
        echo(f"data             {data}, as {start.run}; --config names other data", err=True)
    echo(f"learning rate    {settings.training.learning_rate:g} at its peak", err=True)
    name = find_config(config).stem if config else former.name
    return settings, RUNS / name


def _run_to_train(
    config: str | None, set_: list[str] | None, run: Path | None, resume: bool, start: _Start
) -> "tuple[Config, Path]":
    """Return the configuration and the folder of a new run, or of the run to resume."""
    from nmt.config.yaml_files import find_config, load_config
    from nmt.runs.finding import newest_training, open_run

    if not resume:
        settings, folder = _new_training(config, set_, start)
        return settings, run or folder
    name = find_config(config).stem if config else "*"
    folder = (open_run(run) if run else newest_training(name)).path
    settings = load_config(folder / "config.yaml", set_ or [], of_run=True)
    if config and load_config(config, set_ or []) != settings:
        raise UserError(
            f"{config} differs from the configuration of {folder}; omit --config, and change "
            "fields with --set"
        )
    return settings, folder


def _print_next_steps(run: "RunFolder", resume: str) -> None:
    """Print where the run is, how to continue if it was still improving, and what to try.

    resume: the command that resumes it
    """
    from nmt.corpus.text.tags import tag_name_and_text

    quoted, metrics = shlex.quote(str(run.path)), run.read_metrics()
    echo(f"trained          {run.path}")
    if field := run.limit_while_learning():
        echo(f"ended early      {field} was reached while the loss was still falling")
        echo(f"continue with    {resume} --set {field}=…")
    samples = metrics[-1]["samples"] if metrics else []
    if samples:  # preferably a sentence that it translates correctly and that is easy to quote
        right = [s for s in samples if s["translation"] == s["reference"]]
        sample = min(right or samples, key=lambda s: "'" in s["source"])
        tag_name, sentence = tag_name_and_text(run.config.data, sample["source"])
        option = f" --tag {tag_name}" if tag_name else ""
        if sentence.startswith("-"):  # not an option
            option += " --"
        command = f"nmt translate --run {quoted}{option} {shlex.quote(sentence)}"
        echo(f"translate with   {command}")


def average(
    run: RunArgument = None,
    last: Annotated[
        int, typer.Option("--last", min=2, help="Number of validations to average over.")
    ] = 5,
) -> None:
    """Average the weights of a run's last validations.

    Needs training.keep_validated; --weights checkpoint_average uses the result.
    With training.average_decay, these weights are already moving averages.

    First: nmt train --config sample.yaml --set training.keep_validated=3
    Example: nmt average runs/sample --last 3
    """
    from nmt.files.output_files import replacing
    from nmt.runs.weights import average_weights

    opened = named_or_newest(run, "last.safetensors", "nmt average")
    kept = opened.validated()[-last:]
    if len(kept) < last:
        remedy = f"train with --set training.keep_validated={last}"
        if opened.config.training.keep_validated >= last:
            remedy = "train longer, or validate more often (training.validate_updates)"
        fewer = f", or give --last {len(kept)}" if len(kept) > 1 else ""
        raise UserError(
            f"{opened.path}: validations with saved weights: {len(kept)}, but --last is {last}; "
            f"{remedy}{fewer}"
        )
    with opened.held(), replacing(opened.weights("checkpoint_average")) as partial:
        average_weights(kept, partial)
    echo(f"averaged         updates {', '.join(path.stem for path in kept)}")
    quoted = shlex.quote(str(opened.path))
    echo(
        f"compare with     nmt evaluate --run {quoted} --weights checkpoint_average "
        "--split validation"
    )


def datastore(
    run: RunArgument = None,
    from_: Annotated[
        Path | None,
        typer.Option(
            "--from",
            help="Build it from this translation memory (TMX, XLIFF, PO or tab-separated) "
            "instead of the run's corpus.",
        ),
    ] = None,
    weights: WeightsOption = "best",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="FIELD=VALUE", help="Where the corpus is now, as in data.path=…"
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            "-c",
            help="For an imported run, whose corpus is unknown: YAML file that names pairs of "
            "your own, as for train.",
            autocompletion=completing.configs,
        ),
    ] = None,
    device: DeviceOption = None,
) -> None:
    """Build the datastore for nearest-neighbour translation (decoding.knn_k).

    `nmt train` builds it if the configuration sets decoding.knn_k.
    Use this command for other runs or other weights. It needs the corpus, or --from MEMORY.
    Example: nmt datastore runs/sample
    """
    from nmt.config.data import CORPUS_PATHS
    from nmt.config.yaml_files import load_config
    from nmt.corpus.sources.registry import open_pairs
    from nmt.errors import no_such_weights
    from nmt.files.output_files import require_file

    file = f"{weights}.safetensors"
    opened = named_or_newest(run, file, "nmt datastore")
    if not opened.weights(weights).exists():
        raise no_such_weights(opened.weights(weights))
    require_file(opened.datastore)
    if from_ and set_:
        raise UserError("--set is for the run's corpus, so it does not work with --from")
    for change in set_ or []:
        paths = {"tokenizer.run", *(f"data.{name}" for name in (*CORPUS_PATHS, "corpora"))}
        if change.partition("=")[0].strip() not in paths:
            raise UserError(
                f"--set {change}: only data.path, the other paths of data, data.corpora and "
                "tokenizer.run can be set here"
            )
    if from_ and config:
        raise UserError("give either --from MEMORY or --config FILE, not both")
    if from_:
        open_pairs(from_, opened.config.data.languages)  # which refuses it before PyTorch is loaded

    from nmt.corpus.preparing.prepare import prepare
    from nmt.device import choose_device
    from nmt.training.fill_datastore import fill_datastore, fill_from_memory
    from nmt.training.fine_tuning import config_from

    if from_:
        with opened.held():
            filled = fill_from_memory(opened, from_, weights, choose_device(device))
        echo(f"{len(filled):,} positions in {opened.datastore}")
        return
    if opened.config.data.source == "imported":
        if not config:
            raise UserError(
                f"{opened.path}: the text that an imported model was trained on is unknown; name "
                "pairs of your own with --config or --from"
            )
        settings = config_from(opened, weights, load_config(config), set_ or [])
        prepared = prepare(settings)
    elif config:
        raise UserError("--config is for imported runs; omit it, since the run names its corpus")
    else:
        settings = load_config(opened.path / "config.yaml", set_ or [], of_run=True)
        prepared = prepare(settings, run_data=opened.data)
    with opened.held():
        filled = fill_datastore(opened, prepared, weights, choose_device(device))
    echo(f"{len(filled):,} positions in {opened.datastore}")
