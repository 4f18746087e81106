"""The stages: prepare, train, datastore, translate, evaluate and export."""

import shlex
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from nmt.choices import BleuTokenizer, ExportFormat, ExtraMetric, HeldOut, Weights
from nmt.cli import completing
from nmt.cli.options import (
    BeamOption,
    ComputeTypeOption,
    ConfigOption,
    DeviceOption,
    EngineOption,
    RunArgument,
    RunOption,
    SetDecodingOption,
    SetOption,
    TagOption,
    WeightsOption,
    find_runs,
    load,
    open_translator,
)
from nmt.cli.prompt import converse
from nmt.cli.writing import align_lines, format_translations, in_one_line, say, warn, write_lines
from nmt.errors import UserError, require_utf8, shown_lines

if TYPE_CHECKING:
    from nmt.comet import Comet
    from nmt.config import Config
    from nmt.run_folder import RunFolder


def prepare(
    config: ConfigOption = "base.yaml",
    set_: SetOption = None,
    refresh: Annotated[
        bool, typer.Option("--refresh", help="Download the corpus again, even if there is a copy.")
    ] = False,
) -> None:
    """Read or download a corpus, clean, split and tokenize it, and build vocabularies.

    Does nothing unless the corpus or the configuration has changed.
    Example: nmt prepare --config sample.yaml
    """
    from nmt.corpus.prepare import prepare
    from nmt.corpus.report import format_report

    prepared = prepare(load(config, set_), refresh=refresh)
    typer.echo(shown_lines(format_report(prepared.report, prepared.shares)))
    say(f"prepared data    {prepared.folder}")


def train(
    config: Annotated[
        str | None,
        typer.Option(
            "--config",
            "-c",
            help="YAML file, as for prepare; default: base.yaml.",
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
            help="Fine-tune this run: start from its weights, vocabularies and architecture; "
            "--config sets the new data and training.",
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
            "the model does not forget it.",
        ),
    ] = None,
    dry_run: Annotated[
        bool,
        typer.Option(
            "--dry-run",
            help="Measure memory and speed, estimate the training time, and exit. Writes no run.",
        ),
    ] = False,
    assume: Annotated[
        str | None,
        typer.Option(
            "--assume",
            help="With --dry-run: estimate for a GPU that this machine lacks, such as 'H100 80GB'.",
        ),
    ] = None,
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
        if assume:
            from nmt.training.assumed import assumed_run

            typer.echo(assumed_run(settings, assume))
        else:
            typer.echo(measure(settings, choose_device(device)))
        return
    if assume:
        raise UserError("--assume only estimates and does not train; add --dry-run")
    with joined(device) as worker:
        settings, folder = _run_to_train(config, set_, run, resume, start)
        numbered = not run and not resume
        trained = train(settings, folder, resume, worker, numbered)
        _print_next_steps(trained)


class _Start(NamedTuple):
    """The values of --from, --weights and --mix."""

    run: Path | None
    weights: Weights
    mix: float | None


def _new_training(
    config: str | None, set_: list[str] | None, start: _Start
) -> "tuple[Config, Path]":
    """Return the configuration of a new run, and its folder if none is named."""
    from nmt.config_files import find_config, load_config
    from nmt.run_folder import RUNS, open_run
    from nmt.training.starting import config_from

    if not start.run:
        file = find_config(config or "base.yaml")
        return load(str(file), set_), RUNS / file.stem
    given = load_config(config) if config else None
    settings = config_from(open_run(start.run), start.weights, given, set_ or [], start.mix)
    if given:
        warn(f"model and tokenizer of {start.run}; data, training and decoding of {config}")
    warn(f"learning rate    {settings.training.learning_rate:g} at its peak")
    name = find_config(config).stem if config else start.run.resolve().name
    return settings, RUNS / name


def _print_next_steps(run: "RunFolder") -> None:
    """Print where the run is, how to continue if it was still improving, and what to try."""
    from nmt.corpus.tags import tag_and_text

    quoted, metrics = shlex.quote(str(run.path)), run.read_metrics()
    say(f"trained          {run.path}")
    if field := run.limit_while_learning():
        say(f"ended early      {field} was reached while the loss was still falling")
        say(f"continue with    nmt train --resume --run {quoted} --set {field}=…")
    samples = metrics[-1]["samples"] if metrics else []
    if samples:  # preferably a sentence that it translates correctly and that is easy to quote
        right = [s for s in samples if s["translation"] == s["reference"]]
        sample = min(right or samples, key=lambda s: "'" in s["source"])
        tag, sentence = tag_and_text(run.config.data, sample["source"])
        option = f" --tag {tag}" if tag else ""
        command = f"nmt translate --run {quoted}{option} {shlex.quote(sentence)}"
        say(f"translate with   {command}")


def _run_to_train(
    config: str | None, set_: list[str] | None, run: Path | None, resume: bool, start: _Start
) -> "tuple[Config, Path]":
    """Return the configuration and the folder of a new run, or of the run to resume."""
    from nmt.config_files import find_config, load_config
    from nmt.run_folder import newest_training, open_run

    if not resume:
        settings, folder = _new_training(config, set_, start)
        return settings, run or folder
    name = find_config(config).stem if config else "*"
    folder = (open_run(run) if run else newest_training(name)).path
    settings = load_config(folder / "config.yaml", set_ or [])
    if config and load_config(config, set_ or []) != settings:
        raise UserError(
            f"{config} differs from the configuration of {folder}; omit --config, and change "
            "fields with --set"
        )
    return settings, folder


def translate(
    text: Annotated[
        list[str] | None,
        typer.Argument(help="Sentences to translate; default: --input or standard input."),
    ] = None,
    run: RunOption = None,
    input_: Annotated[
        Path | None, typer.Option("--input", "-i", help="Text file, one sentence per line.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file instead of standard output."),
    ] = None,
    beam_size: BeamOption = None,
    n_best: Annotated[
        int | None,
        typer.Option(
            "--n-best",
            min=1,
            max=500,
            help="Print this many translations per sentence: line, score, text.",
        ),
    ] = None,
    scores: Annotated[
        bool,
        typer.Option(
            "--scores",
            help="Prefix the text with its log-probability and mean probability per piece.",
        ),
    ] = False,
    alignment: Annotated[
        bool,
        typer.Option(
            "--alignment", help="Append the word alignment, such as 0-0 1-2 (PyTorch engine)."
        ),
    ] = False,
    tag: TagOption = None,
    weights: WeightsOption = "best",
    device: DeviceOption = None,
    engine: EngineOption = None,
    compute_type: ComputeTypeOption = None,
    set_: SetDecodingOption = None,
) -> None:
    """Translate sentences, a file, standard input, or what you type at a prompt.

    Several runs translate together, as an ensemble.
    Example: nmt translate "Where is the station?"
    """
    from nmt.corpus.tags import tag_prefix
    from nmt.run_folder import require_file

    if text and input_:
        raise UserError("give either text or --input, not both")
    for each in text or []:
        require_utf8(each)
    asked = not text and not input_ and sys.stdin.isatty()
    if asked and output:
        raise UserError(
            "--output does not work with the prompt; give text, --input or standard input"
        )
    if output:
        require_file(output)
    if input_ and not input_.exists():
        raise UserError(f"{input_}: cannot be read: no such file")
    if alignment and (asked or n_best or scores):
        raise UserError("--alignment cannot be combined with --n-best, --scores or the prompt")
    if alignment and engine == "ctranslate2":
        raise UserError(
            "--alignment needs attention weights, which CTranslate2 does not expose; omit --engine"
        )
    engine = "pytorch" if alignment else engine
    runs = find_runs(run, weights)
    prefix = tag_prefix(runs[0].config.data, tag)
    translator = open_translator(runs, weights, beam_size, device, set_, engine, compute_type)
    if n_best and n_best > translator.decoding.beam_size:
        warn(f"--n-best {n_best} raises the beam size to {n_best}")
    if asked:
        converse(translator, runs[0], n_best, prefix, scores=scores)
        return
    lines = (prefix + line for line in (_argument_lines(text) if text else _input_lines(input_)))
    if alignment:
        write_lines(align_lines(translator, lines), output)
        return
    found = translator.stream(lines, n_best or 1)
    write_lines(format_translations(found, n_best, scores), output)


def evaluate(
    run: RunOption = None,
    source: Annotated[
        Path | None, typer.Option("--source", help="Text to translate, one sentence per line.")
    ] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", help="Reference translations, one per line.")
    ] = None,
    split: Annotated[
        HeldOut | None,
        typer.Option("--split", help="Which held-out split of the run to use; default: test."),
    ] = None,
    test_set: Annotated[
        list[str] | None,
        typer.Option(
            "--test-set",
            metavar="NAME,NAME,…",
            help="Test sets of sacrebleu, such as wmt20,multi30k/2018; see nmt corpora "
            "--test-sets.",
        ),
    ] = None,
    against: Annotated[
        Path | None,
        typer.Option("--against", help="Compare with another run in a paired significance test."),
    ] = None,
    analyse: Annotated[
        bool,
        typer.Option(
            "--analyse",
            help="Also score by length and rare words, count typical errors, show the worst "
            "sentences.",
        ),
    ] = False,
    lowercase: Annotated[bool, typer.Option("--lowercase", help="Ignore case.")] = False,
    tokenize: Annotated[
        BleuTokenizer,
        typer.Option("--tokenize", help="BLEU's tokenizer; many papers use moses."),
    ] = "13a",
    metric: Annotated[
        ExtraMetric | None,
        typer.Option("--metric", help="Also score with COMET, which uvx installs (several GB)."),
    ] = None,
    comet_model: Annotated[
        str | None,
        typer.Option(
            "--comet-model",
            help="Model on the Hugging Face Hub, or a .ckpt file; default: Unbabel/wmt22-comet-da.",
        ),
    ] = None,
    comet_env: Annotated[
        Path | None,
        typer.Option("--comet-env", help="Virtual environment with unbabel-comet, to use instead."),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the translations to this file.")
    ] = None,
    tag: TagOption = None,
    beam_size: BeamOption = None,
    weights: WeightsOption = "best",
    device: DeviceOption = None,
    engine: EngineOption = None,
    compute_type: ComputeTypeOption = None,
    set_: SetDecodingOption = None,
) -> None:
    """Score a run with BLEU, chrF and TER, on its test set, your files or public test sets.

    Several runs are scored as an ensemble, on the test set of the first.
    Example: nmt evaluate --run runs/sample --against runs/sample-2
    Public test sets: nmt evaluate --test-set wmt20,multi30k/2018
    """
    from nmt.corpus.tags import split_prefix, tag_prefix
    from nmt.evaluation import evaluate as evaluate_translator
    from nmt.evaluation import read_pairs
    from nmt.run_folder import require_file

    if (source is None) != (reference is None):
        raise UserError("--source and --reference must be given together")
    if output:
        require_file(output)
    if test_set and (source or against or analyse or output):
        raise UserError(
            "--test-set cannot be combined with --source, --against, --analyse or --output"
        )
    if split and (source or test_set):
        raise UserError(
            "--split scores held-out pairs of the run; omit it, or omit --source or --test-set"
        )
    if tag and not (source or test_set):
        raise UserError(
            "--tag needs --source or --test-set; sentences of --split already have tags"
        )
    runs = find_runs(run, weights)
    baseline = find_runs([against], weights) if against else []
    data = runs[0].config.data
    prefix = tag_prefix(data, tag)
    settings = [each.config.data for each in (runs[0], *baseline)]
    languages = [f"{each.source_language} → {each.target_language}" for each in settings]
    if baseline and languages[1] != languages[0]:
        raise UserError(
            f"--against {against}: translates {languages[1]}, not {languages[0]}; compare runs "
            "with the same languages"
        )
    options = weights, beam_size, device, set_, engine, compute_type
    comet = _open_comet(metric, comet_model, comet_env, device)  # last: may take minutes
    if test_set:
        names = [name.strip() for name in ",".join(test_set).split(",") if name.strip()]
        _score_test_sets(names, runs, prefix, options, lowercase, tokenize, comet, json_)
        return
    if source and reference:
        pairs = read_pairs(source, reference, prefix)
    else:
        pairs = runs[0].examples(split or "test")
    report = evaluate_translator(
        open_translator(runs, *options),
        pairs,
        data,
        lowercase=lowercase,
        tokenize=tokenize,
        baseline=open_translator(baseline, *options) if baseline else None,
        seen=runs[0].seen if analyse else None,
    )
    if output:
        write_lines(map(in_one_line, report.translations), output)
    scores = report.as_json()
    if not json_:
        typer.echo(shown_lines(str(report)))
    sources = [split_prefix(data, pair.source)[1] for pair in pairs]
    lines = sources, report.translations, [pair.reference for pair in pairs]
    _add_comet([("", scores, lines)], comet, scores if json_ else None)


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
    from nmt.export import export_run
    from nmt.run_folder import newest_run, open_run, require_folder

    file = f"{weights}.safetensors"
    source = open_run(run) if run else newest_run(file, option="nmt export FOLDER")
    folder = output or source.path / "exported"
    require_folder(folder)
    export_run(source, folder, weights, format_)
    if source.config.decoding.neighbours:
        warn(f"exported without decoding.neighbours, which {format_} does not support")
    say(f"exported         {folder}")


def average(
    run: RunArgument = None,
    last: Annotated[
        int, typer.Option("--last", min=2, help="Number of validations to average over.")
    ] = 5,
) -> None:
    """Average the weights of a run's last validations.

    Needs training.keep_validated; --weights mean uses the result.
    With training.average_decay, these weights are already moving averages.

    First: nmt train --config sample.yaml --set training.keep_validated=3
    Example: nmt average runs/sample --last 3
    """
    from nmt.model.weights import average_weights
    from nmt.run_folder import newest_run, open_run, replacing

    opened = open_run(run) if run else newest_run("last.safetensors", option="nmt average FOLDER")
    kept = opened.validated()[-last:]
    if len(kept) < last:
        fewer = f", or give --last {len(kept)}" if len(kept) > 1 else ""
        raise UserError(
            f"{opened.path}: has kept the weights of {len(kept)} validations, not {last}; train "
            f"with --set training.keep_validated={last}{fewer}"
        )
    with opened.held(), replacing(opened.weights("mean")) as partial:
        average_weights(kept, partial)
    say(f"averaged         updates {', '.join(path.stem for path in kept)}")
    quoted = shlex.quote(str(opened.path))
    say(f"compare with     nmt evaluate --run {quoted} --weights mean --split validation")


def push(
    run: Annotated[Path, typer.Argument(help="Run folder.", autocompletion=completing.runs)],
    name: Annotated[str, typer.Argument(help="Repository on the Hub.", metavar="USER/NAME")],
    weights: WeightsOption = "best",
    public: Annotated[
        bool, typer.Option("--public", help="Let everyone read a new repository.")
    ] = False,
) -> None:
    """Upload a run to the Hugging Face Hub, with a model card.

    Also uploads the held-out sentence pairs. Others read the run with --run hf:user/name.

    Example: nmt push runs/sample user/name
    """
    from nmt.hub import push_run
    from nmt.run_folder import open_run

    source = open_run(run)
    address = push_run(source, name, weights, public)
    if source.config.decoding.neighbours:
        warn("uploaded with decoding.neighbours=0, because the datastore is not uploaded")
    say(f"uploaded         {address}")


def datastore(
    run: RunArgument = None,
    weights: WeightsOption = "best",
    set_: Annotated[
        list[str] | None,
        typer.Option(
            "--set", metavar="FIELD=VALUE", help="Where the corpus is now, as in data.path=…"
        ),
    ] = None,
    device: DeviceOption = None,
) -> None:
    """Build the datastore for nearest-neighbour translation (decoding.neighbours).

    `nmt train` builds it if the configuration sets decoding.neighbours.
    Use this command for other runs or other weights. It needs the corpus.
    Example: nmt datastore runs/sample
    """
    from nmt.config import CORPUS_PATHS
    from nmt.corpus.prepare import prepare
    from nmt.device import choose_device
    from nmt.run_folder import newest_run, open_run
    from nmt.training.fill_datastore import fill_datastore

    file = f"{weights}.safetensors"
    opened = open_run(run) if run else newest_run(file, option="nmt datastore FOLDER")
    for change in set_ or []:
        paths = {"tokenizer.run", *(f"data.{name}" for name in CORPUS_PATHS)}
        if change.partition("=")[0].strip() not in paths:
            raise UserError(
                f"--set {change}: only data.path and the other paths of data can be set here"
            )
    config = load(str(opened.path / "config.yaml"), set_)
    prepared = prepare(config, run_data=opened.data)
    with opened.held():
        filled = fill_datastore(opened, prepared, weights, choose_device(device))
    say(f"{len(filled):,} positions in {opened.datastore}")


def _argument_lines(texts: list[str]) -> list[str]:
    return [line for text in texts for line in text.split("\n")]


def _input_lines(path: Path | None) -> Iterator[str]:
    """Yield the lines of a file or of standard input, split at line feeds only."""
    from nmt.corpus.readers import decode_lines, read_lines

    return read_lines(path) if path else decode_lines(sys.stdin.buffer, "standard input")


def _open_comet(
    metric: ExtraMetric | None, model: str | None, environment: Path | None, device: str | None
) -> "Comet | None":
    """Return the learned metric if it is wanted; check before translating that it is there."""
    if metric is None:
        if model or environment:
            raise UserError("--comet-model and --comet-env need --metric comet")
        return None
    from nmt.comet import MODEL, Comet

    return Comet(environment, model or MODEL, device)


def _score_test_sets(
    names: list[str],
    runs: "list[RunFolder]",
    prefix: str,
    options: Any,
    lowercase: bool,
    tokenize: BleuTokenizer,
    comet: "Comet | None",
    as_json: bool,
) -> None:
    """Print the scores on several test sets as a table with signatures, or as JSON."""
    from dataclasses import asdict

    from nmt.cli.tables import print_table
    from nmt.corpus.test_sets import read_test_set
    from nmt.evaluation import translate_sources
    from nmt.metrics import LABELS, evaluate_texts

    data = runs[0].config.data
    languages = (data.source_language, data.target_language)
    sets = {name: read_test_set(name, languages) for name in names}
    translator = open_translator(runs, *options)
    scores, lines = {}, {}
    for name, (sources, references) in sets.items():
        prefixed = [prefix + source for source in sources]
        texts = [found.text for found in translate_sources(translator, prefixed)]
        lines[name] = sources, texts, references[0]
        scores[name] = evaluate_texts(
            texts,
            *references,
            language=data.target_language,
            lowercase=lowercase,
            tokenize=tokenize,
            test_set=(name, "-".join(languages)),
        )
    if not as_json:
        rows = [
            (name, f"{s.sentences:,}", *(f"{getattr(s, metric):.2f}" for metric in LABELS))
            for name, s in scores.items()
        ]
        print_table(("test set", "sentences", *LABELS.values()), rows, 1)
        for score in scores.values():
            typer.echo("\n".join(f"{name:5} {text}" for name, text in score.signatures.items()))
    found = {name: asdict(score) for name, score in scores.items()}
    parts = [(f"{name} ", found[name], lines[name]) for name in sets]
    _add_comet(parts, comet, found if as_json else None)


def _add_comet(
    parts: Sequence[tuple[str, dict[str, Any], tuple[list[str], list[str], list[str]]]],
    comet: "Comet | None",
    as_json: dict[str, Any] | None,
) -> None:
    """Compute COMET last, so that a failure loses none of the other scores.

    parts: for each test set, its label, its scores, and its lines (sources, translations, and one
    reference per source); as_json: printed at the end, with the scores nested in it; if None, COMET
    is printed as text
    """
    import json
    from dataclasses import asdict

    try:
        if comet:
            for label, scores, lines in parts:
                score = comet.score(*lines)
                scores["comet"] = asdict(score)
                if not as_json:
                    say(f"{label}{score}")
    finally:
        if as_json:
            typer.echo(json.dumps(as_json, indent=2, ensure_ascii=False))
