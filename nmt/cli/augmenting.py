"""`nmt augment`: synthetic pairs from text in one language."""

import json
from dataclasses import replace
from itertools import islice
from pathlib import Path
from typing import Annotated

import typer

from nmt.cli import completing
from nmt.cli.options import TranslatorOptions, with_translator_options
from nmt.cli.output import SAMPLE, require_plain, warn_of_language
from nmt.echo import echo
from nmt.errors import UserError


@with_translator_options("engine", "compute_type")
def augment(
    run: Annotated[Path, typer.Argument(help="Run folder.", autocompletion=completing.runs)],
    input_: Annotated[
        Path, typer.Option("--input", "-i", help="Text in one language, one sentence per line.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Tab-separated file to write, for data.corpora.")
    ],
    forward: Annotated[
        bool,
        typer.Option("--forward", help="Make pairs for the run's own direction, not the reverse."),
    ] = False,
    n_best: Annotated[
        int, typer.Option("--n-best", min=1, max=500, help="Translations per line.")
    ] = 1,
    min_probability: Annotated[
        float,
        typer.Option(
            "--min-probability",
            min=0,
            max=1,
            help="Drop translations whose mean probability per token is lower.",
        ),
    ] = 0.0,
    round_trip: Annotated[
        Path | None,
        typer.Option(
            "--round-trip",
            help="Run of the reverse direction: drop pairs that it does not translate back.",
            autocompletion=completing.runs,
        ),
    ] = None,
    min_chrf: Annotated[
        float | None,
        typer.Option(
            "--min-chrf",
            min=0,
            max=100,
            help="With --round-trip: minimum chrF between a line and its round-trip translation; "
            "default: 50.",
        ),
    ] = None,
    *,
    options: TranslatorOptions,
) -> None:
    """Make training pairs from monolingual text by back-translation.

    To train English to German, give German text and a German–English run.

    With decoding.temperature, translations are sampled.

    If interrupted, repeat the command to continue.

    The printed settings tag the pairs as synthetic.

    Example: nmt augment runs/de-en --input news.de --output synthetic.tsv
    """
    from nmt.corpus.sources.named import english_is_last
    from nmt.corpus.sources.readers import read_lines
    from nmt.files.checksums import identity
    from nmt.files.output_files import require_file
    from nmt.runs.finding import open_run
    from nmt.training.augmenting import Augmentation
    from nmt.training.augmenting import augment as write_pairs

    require_file(output)
    require_plain(output)
    if output.exists():
        remedy = "delete it, or choose another --output" if output.is_file() else "name a new file"
        raise UserError(f"{output}: already exists; {remedy}")
    if min_chrf is not None and not round_trip:
        raise UserError("--min-chrf needs --round-trip RUN; add it, or omit --min-chrf")
    min_chrf = 50.0 if min_chrf is None else min_chrf
    if not input_.is_file():
        lack = "is not a file" if input_.exists() else "no such file"  # a pipe is read only once
        raise UserError(f"{input_}: {lack}; give a text file, one sentence per line")
    opened = open_run(run)
    data = opened.config.data
    languages = data.languages
    warn_of_language(input_, islice(read_lines(input_), SAMPLE), opened)
    back = None
    if round_trip:
        returning = open_run(round_trip)
        there = returning.config.data.languages
        if there != languages[::-1]:
            raise UserError(
                f"{round_trip}: translates {' → '.join(there)}; --round-trip needs a run that "
                f"translates {' → '.join(languages[::-1])}"
            )
        unsampled = [f"decoding.{change}" for change in ("temperature=0", "top_k=0", "top_p=1")]
        back = replace(options, set_=[*(options.set_ or []), *unsampled]).open(returning)
    translator = options.open(opened)
    if translator.decoding.temperature and options.engine == "ctranslate2":
        raise UserError("--engine ctranslate2: PyTorch draws the samples; omit this option")
    # The order of columns in which source `tsv` expects pairs for the model to be trained.
    swapped = english_is_last(*(languages if forward else languages[::-1]))
    how = Augmentation(forward == swapped, n_best, min_probability, back, min_chrf)
    chosen = forward, n_best, min_probability, round_trip, min_chrf, options
    runs = [
        identity(each.weights(options.weights)) for each in (opened, *([returning] if back else []))
    ]
    decoding = translator.decoding, back and back.decoding
    counts = write_pairs(translator, how, input_, output, repr((chosen, runs, decoding)))
    kept = counts.pop("kept", 0)
    echo(f"kept             {kept:,}")
    for reason, count in sorted(counts.items()):
        echo(f"dropped          {count:,} {reason}")
    if not kept:
        raise UserError(
            f"{output}: not written, as no translation was kept; use a better run, or lower the "
            "limits"
        )
    path = json.dumps(str(output), ensure_ascii=False)
    echo("train with these settings:")
    echo("data:")
    echo("  disjoint_splits: true  # drops pairs that contain held-out sentences")
    echo("  corpora:")
    echo("    - …  # your corpus: move its settings, such as source and path, here")
    echo(f"    - {{source: tsv, path: {path}, tag: synthetic, held_out: false}}")
