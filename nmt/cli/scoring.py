"""`nmt score`."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from nmt.cli import completing
from nmt.cli.options import (
    DeviceOption,
    OneRunOption,
    TagOption,
    WeightsOption,
    find_runs,
    given_tag,
)
from nmt.cli.output import in_one_line, require_another, require_plain, write_lines
from nmt.errors import UserError

if TYPE_CHECKING:
    from nmt.corpus.sources.readers import Pair
    from nmt.decoding.scoring import Score


def score(
    pairs: Annotated[
        Path,
        typer.Argument(
            help="Pairs to score: tab-separated, as for data.source tsv, or TMX, XLIFF or PO."
        ),
    ],
    run: OneRunOption = None,
    reverse: Annotated[
        Path | None,
        typer.Option(
            "--reverse",
            help="Run of the opposite direction, to put a score of both in front: from 0 to 1, low "
            "if one of them finds the pair improbable or they disagree.",
            autocompletion=completing.runs,
        ),
    ] = None,
    sort: Annotated[
        bool, typer.Option("--sort", help="Least probable pairs first, by the mean per token.")
    ] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write to this file instead of standard output."),
    ] = None,
    tag: TagOption = None,
    weights: WeightsOption = "best",
    device: DeviceOption = None,
) -> None:
    """Score given translations: log-probability, mean probability per token, source, target.

    Shows which of several translations a model prefers, and which pairs of a corpus look wrong.
    Example: nmt score --sort pairs.tsv
    """
    from nmt.corpus.sources.registry import open_pairs
    from nmt.files.output_files import require_file
    from nmt.runs.finding import open_run

    if output:
        require_file(output)
        require_plain(output)
    runs = find_runs(run, weights)
    if len(runs) > 1:
        raise UserError("nmt score works with one run; give a single --run")
    data = runs[0].config.data
    corpus = open_pairs(pairs, data.languages)
    if output:
        require_another(output, pairs)
    if corpus.has_gaps:  # drafts are scored, too, and units without a translation are left out
        corpus = replace(corpus, read=partial(corpus.read, drafts=True))

    def read() -> "Iterator[Pair]":
        return (each for each in corpus.pairs("train") if all(each) or not corpus.has_gaps)

    # Now that the pairs are known to be readable: PyTorch takes seconds to load.
    from nmt.decoding.loading import load_translator
    from nmt.decoding.scoring import dual_score, score_pairs

    source_tag = given_tag(tag, data)
    forward = load_translator(runs[0], weights=weights, device=device, engine="pytorch")
    found: Iterator[tuple[Pair, Score]] = zip(
        read(),
        score_pairs(forward, ((source_tag + s, t) for s, t in read())),
        strict=True,
    )
    rows: Iterator[tuple[float, str]]
    if reverse:
        opposite = open_run(reverse)
        other = opposite.config.data
        if other.languages[::-1] != data.languages:
            raise UserError(
                f"--reverse {reverse}: translates from {other.source_language} to "
                f"{other.target_language}; give a run of the opposite direction"
            )
        backward = load_translator(opposite, weights=weights, device=device, engine="pytorch")
        scores = score_pairs(backward, ((t, s) for s, t in read()))
        both = (
            (pair, one, dual_score(one, two))
            for (pair, one), two in zip(found, scores, strict=True)
        )
        rows = ((dual, f"{dual:.4f}\t{_line(pair, one)}") for pair, one, dual in both)
    else:
        rows = ((one.mean_probability, _line(pair, one)) for pair, one in found)
    if sort:
        rows = iter(sorted(rows))
    write_lines((line for _, line in rows), output, "scoring")


def _line(pair: "Pair", score: "Score") -> str:
    texts = "\t".join(map(in_one_line, pair))
    return f"{score.log_probability:.4f}\t{score.mean_probability:.4f}\t{texts}"
