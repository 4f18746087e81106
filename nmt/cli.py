"""The command line: one thin command a stage.

Every command parses, calls one or two functions and prints. Torch and spaCy take seconds to
import, so commands import their stage when they run and `nmt --help` answers at once.
"""

import io
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from nmt import __version__
from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.config import Config
    from nmt.corpus.prepared import Example
    from nmt.decoding.translator import Translation, Translator
    from nmt.run_folder import RunFolder, Weights

app = typer.Typer(
    name="nmt",
    help="Train an English–German Transformer from scratch, and translate with it.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
config_app = typer.Typer(help="Show configurations and their fields.", no_args_is_help=True)
app.add_typer(config_app, name="config")

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
RunOption = Annotated[
    Path | None,
    typer.Option(
        "--run", help="Run folder; default: the one under ./runs trained last that has the weights."
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


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
    debug: Annotated[
        bool, typer.Option("--debug", help="Show the trace of an error; works in any place.")
    ] = False,
) -> None:
    pass


@app.command()
def prepare(
    config: ConfigOption = "base.yaml",
    set_: SetOption = None,
) -> None:
    """Download or read the corpus, clean, split, tokenize it, and build vocabularies.

    Done again only when the corpus or the configuration has changed.
    """
    from nmt.corpus.prepare import prepare
    from nmt.corpus.report import format_report

    prepared = prepare(_load(config, set_))
    typer.echo(format_report(prepared.report))
    typer.echo(f"prepared data    {prepared.folder}")


@app.command()
def train(
    config: Annotated[
        str | None,
        typer.Option("--config", "-c", help="YAML file, as for prepare; default: base.yaml."),
    ] = None,
    set_: SetOption = None,
    run: Annotated[
        Path | None, typer.Option("--run", help="Run folder to write; default: runs/CONFIG.")
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with a run, by default the one trained last.")
    ] = False,
    device: DeviceOption = None,
) -> None:
    """Train a model, preparing the data first where needed.

    Ctrl-C saves; `nmt train --resume` then goes on as if nothing had happened.
    """
    from nmt.config_files import load_config
    from nmt.device import choose_device
    from nmt.run_folder import new_run_path, newest_run, open_run
    from nmt.training.trainer import train

    if resume:
        name = Path(config).stem if config else "*"
        folder = (open_run(run) if run else newest_run("checkpoint.pt", name)).path
        settings = load_config(folder / "config.yaml", set_ or [])
        if config and load_config(config, set_ or []) != settings:
            raise UserError(
                f"{config} is not what {folder} was started with; leave --config out, and change "
                "fields with --set"
            )
    else:
        folder = run or new_run_path(config or "base.yaml")
        settings = _load(config or "base.yaml", set_)
    train(settings, folder, resume, choose_device(device))
    typer.echo(f"trained          {folder}")
    typer.echo(f'translate with   nmt translate --run {folder} "oscar likes to code"')


@app.command()
def translate(
    text: Annotated[
        list[str] | None,
        typer.Argument(help="Sentences to translate; without any: --input or standard input."),
    ] = None,
    run: RunOption = None,
    input_: Annotated[
        Path | None, typer.Option("--input", "-i", help="Text file, one sentence a line.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write here, not to standard output.")
    ] = None,
    beam_size: BeamOption = None,
    n_best: Annotated[
        int | None,
        typer.Option(
            "--n-best", min=1, max=500, help="Print so many translations: line, score, text."
        ),
    ] = None,
    weights: WeightsOption = "best",
    device: DeviceOption = None,
    set_: SetOption = None,
) -> None:
    """Translate sentences, a file, standard input, or what you type at the prompt."""
    if text and input_:
        raise UserError("give either text or --input, not both")
    _require_folder(output)
    translator = _translator(_run(run, weights), weights, beam_size, device, set_)
    if not text and not input_ and sys.stdin.isatty():
        _converse(translator, n_best)
        return
    lines = _argument_lines(text) if text else _input_lines(input_)
    found = translator.stream(lines, n_best or 1)
    _write_lines(_format(found, n_best), output)


@app.command()
def evaluate(
    run: RunOption = None,
    source: Annotated[
        Path | None, typer.Option("--source", help="Text to translate, one sentence a line.")
    ] = None,
    reference: Annotated[
        Path | None, typer.Option("--reference", help="Its right translations, line by line.")
    ] = None,
    split: Annotated[
        Literal["test", "validation"], typer.Option("--split", help="Held-out pairs of the run.")
    ] = "test",
    against: Annotated[
        Path | None,
        typer.Option("--against", help="Another run: test whether the two differ (paired test)."),
    ] = None,
    lowercase: Annotated[
        bool, typer.Option("--lowercase", help="Compare without regard to case.")
    ] = False,
    tokenize: Annotated[
        Literal["13a", "moses", "intl", "char", "none"],
        typer.Option("--tokenize", help="BLEU's tokenizer; moses: as many papers did."),
    ] = "13a",
    json_: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the translations here.")
    ] = None,
    beam_size: BeamOption = None,
    weights: WeightsOption = "best",
    device: DeviceOption = None,
    set_: SetOption = None,
) -> None:
    """Score a run's translations: BLEU, chrF and TER on its test set, or on your files."""
    from nmt.evaluation import evaluate_examples, read_pairs

    if (source is None) != (reference is None):
        raise UserError("--source and --reference belong together")
    _require_folder(output)
    folder = _run(run, weights)
    examples = read_pairs(source, reference) if source and reference else folder.examples(split)
    options = weights, beam_size, device, set_
    translator = _translator(folder, *options)
    rival = _translator(_run(against, weights), *options) if against else None
    hypotheses = _translate_all(translator, examples)
    if output:
        _write_lines(iter(hypotheses), output)
    baseline = _translate_all(rival, examples) if rival else None
    language = folder.config.data.target_language
    report = evaluate_examples(examples, hypotheses, language, lowercase, tokenize, baseline)
    typer.echo(report.to_json() if json_ else str(report))


@config_app.command("show")
def config_show(config: ConfigOption = "base.yaml", set_: SetOption = None) -> None:
    """Print a configuration with every field resolved, as YAML."""
    from nmt.config_files import dump_config

    typer.echo(dump_config(_load(config, set_)), nl=False)


@config_app.command("fields")
def config_fields() -> None:
    """Explain every field: its type, its default, what it does."""
    from nmt.config_files import describe_fields

    for name, type_, default, description in describe_fields():
        typer.echo(f"{name}: {type_} = {default}\n    {description}")


# ------------------------------------------------------------------------------- input and output


def _load(config: str, overrides: list[str] | None) -> "Config":
    from nmt.config_files import load_config

    return load_config(config, overrides or [])


def _run(path: Path | None, weights: "Weights") -> "RunFolder":
    from nmt.run_folder import newest_run, open_run

    return open_run(path) if path else newest_run(f"{weights}.safetensors")


def _translator(
    run: "RunFolder",
    weights: "Weights",
    beam_size: int | None,
    device: str | None,
    overrides: list[str] | None,
) -> "Translator":
    from nmt.decoding.loading import load_translator
    from nmt.device import choose_device

    changes = [*(overrides or []), *([f"decoding.beam_size={beam_size}"] if beam_size else [])]
    return load_translator(run, weights=weights, overrides=changes, device=choose_device(device))


def _argument_lines(texts: list[str]) -> list[str]:
    return [line for text in texts for line in text.split("\n")]


def _input_lines(path: Path | None) -> Iterator[str]:
    """Yield the lines of a file or of standard input; only a line feed ends a line."""
    from nmt.corpus.readers import decode_lines, read_lines

    return read_lines(path) if path else decode_lines(sys.stdin.buffer, "standard input")


def _format(found: Iterator[list["Translation"]], n_best: int | None) -> Iterator[str]:
    """Yield output lines; tell on standard error of lines that did not go through whole."""
    for number, translations in enumerate(found, 1):
        best = translations[0]
        if best.parts > 1:
            _warn(
                f"line {number}: longer than any training sentence, "
                f"translated in {best.parts} parts"
            )
        if not best.complete:
            _warn(f"line {number}: the translation was cut at decoding.max_length_factor")
        if n_best is None:
            yield best.text
        else:
            yield from (f"{number}\t{t.score:.4f}\t{t.text}" for t in translations)


def _write_lines(lines: Iterator[str], output: Path | None) -> None:
    if output is None:
        for line in lines:
            typer.echo(line)
        return
    from nmt.run_folder import replacing

    # A device or a pipe (/dev/null) is written to, not replaced.
    place = (
        nullcontext(output)
        if output.exists() and not output.is_file()
        else replacing(output.resolve())
    )
    with place as path, path.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines(line + "\n" for line in lines)


def _converse(translator: "Translator", n_best: int | None) -> None:
    _warn("one sentence a line; Ctrl-D ends")
    while True:
        try:
            typer.echo("> ", nl=False, err=True)
            line = input()
        except EOFError:
            typer.echo(err=True)
            return
        for text in _format(iter(translator.n_best([line], n_best or 1)), n_best):
            typer.echo(text)


def _require_folder(output: Path | None) -> None:
    """Find a mistyped output before the work is done, not after."""
    if output and not output.parent.is_dir():
        raise UserError(f"{output}: there is no folder {output.parent}; make it first")


def _translate_all(translator: "Translator", examples: "list[Example]") -> list[str]:
    from tqdm import tqdm

    found = translator.stream(example.source for example in examples)
    return [t[0].text for t in tqdm(found, "translating", len(examples), delay=2)]


def _warn(text: str) -> None:
    typer.echo(text, err=True)


def main() -> None:
    """Run the command line; what the user can mend becomes one line and exit code 2."""
    debug = "--debug" in sys.argv
    if debug:
        sys.argv.remove("--debug")
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(encoding="utf-8", errors="replace")
    sys.stdin = sys.stdin or io.TextIOWrapper(io.BytesIO())  # closed by the shell: <&-
    try:
        sys.exit(app(standalone_mode=False))
    except UserError as error:
        if debug:
            raise
        _fail(str(error), 2)
    except (KeyboardInterrupt, typer.Abort):
        sys.exit(130)
    except BrokenPipeError:
        sys.stderr.close()
        sys.exit(141)
    except Exception as error:
        if debug:
            raise
        # Which click raises a wrong use, its own or one inside Typer, differs between versions.
        if type(error).__name__ == "NoArgsIsHelpError":
            error.show()  # type: ignore[attr-defined]
            sys.exit(2)
        if hasattr(error, "format_message"):
            _fail(f"{error.format_message().rstrip('.')}; see nmt --help", 2)
        cause = " ".join(str(error).split())[:300] or type(error).__name__
        if type(error).__name__ == "OutOfMemoryError":
            _fail(f"out of memory: {cause}; lower training.batch_tokens", 2)
        if isinstance(error, OSError):
            _fail(cause, 2)
        _fail(
            f"unexpected {type(error).__name__}: {cause}; --debug shows where, please report it", 1
        )


def _fail(message: str, code: int) -> None:
    for line in message.splitlines():
        print(f"nmt: {line}", file=sys.stderr)
    sys.exit(code)
