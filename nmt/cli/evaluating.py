"""`nmt evaluate`."""

import logging
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from nmt.cli.options import (
    RunOption,
    TagOption,
    TranslatorOptions,
    find_runs,
    given_tag,
    with_translator_options,
)
from nmt.cli.output import in_one_line, require_plain, write_lines
from nmt.config.choices import BleuTokenizer, ExtraMetric, HeldOut
from nmt.echo import echo
from nmt.errors import UserError

_LOG = logging.getLogger(__name__)

if TYPE_CHECKING:
    from nmt.config.data import DataConfig
    from nmt.decoding.translator import Translator
    from nmt.evaluation.metrics import LearnedMetric
    from nmt.runs.folder import RunFolder

_FEW = 50  # sentences, of which another sample may score very differently
_MORE_SEEN = 0.05  # share of the references
_TOKENIZERS = {"zh": "zh", "ja": "ja-mecab"}  # by language


@with_translator_options("config", "glossary", "engine", "compute_type")
def evaluate(
    run: RunOption = None,
    source: Annotated[
        Path | None, typer.Option("--source", help="Text to translate, one sentence per line.")
    ] = None,
    reference: Annotated[
        list[Path] | None,
        typer.Option(
            "--reference",
            help="Reference translations, one per line. Repeat for several references.",
        ),
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
            help="sacrebleu test sets, such as wmt20,multi30k/2018; see nmt corpora --test-sets.",
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
        typer.Option(
            "--tokenize",
            help="BLEU's tokenizer; many papers use moses. For languages without spaces: zh, "
            "ja-mecab, or flores200, which is for all languages and is downloaded.",
        ),
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
        typer.Option(
            "--comet-env", help="Virtual environment with unbabel-comet, to use instead of uvx."
        ),
    ] = None,
    json_: Annotated[bool, typer.Option("--json", help="Print the scores as JSON.")] = False,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the translations to this file.")
    ] = None,
    tag: TagOption = None,
    *,
    options: TranslatorOptions,
) -> None:
    """Score a run with BLEU, chrF and TER, on its test set, your files or public test sets.

    Several runs are scored as an ensemble, on the test set of the first.
    Example: nmt evaluate --run runs/sample --against runs/sample-2
    Public test sets: nmt evaluate --test-set wmt20,multi30k/2018
    """
    from nmt.config.languages import writes_no_spaces
    from nmt.corpus.text.tags import split_tag
    from nmt.evaluation.evaluate import evaluate as evaluate_translator
    from nmt.evaluation.evaluate import read_pairs, read_references
    from nmt.evaluation.metrics import LEARNED, require_tokenizer
    from nmt.files.output_files import require_file

    if (source is None) == bool(reference):
        raise UserError("--source and --reference must be given together")
    if output == Path("-"):
        raise UserError("--output -: the scores go to standard output; name a file")
    if output:
        require_file(output)
        require_plain(output)
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
    runs = find_runs(run, options.weights)
    baseline = find_runs([against], options.weights) if against else []
    data = runs[0].config.data
    source_tag = given_tag(tag, data) if source or test_set else ""
    if tag in data.imported_tags:
        assert tag
        data = data.model_copy(update={"target_language": tag.partition("_")[0]})
    settings = [each.config.data for each in (runs[0], *baseline)]
    languages = [f"{each.source_language} → {each.target_language}" for each in settings]
    if baseline and languages[1] != languages[0]:
        raise UserError(
            f"--against {against}: translates {languages[1]}, not {languages[0]}; compare runs "
            "with the same languages"
        )
    require_tokenizer(tokenize)
    if tokenize in ("13a", "intl", "moses") and writes_no_spaces(data.target_language):
        _LOG.warning(
            f"BLEU's tokenizer {tokenize} cannot divide {data.target_language} into words; rely on "
            f"chrF, or choose --tokenize {_TOKENIZERS.get(data.target_language, 'flores200')}"
        )
    if metric is None and (comet_model or comet_env):
        raise UserError("--comet-model and --comet-env need --metric comet")

    def open_learned() -> "dict[str, LearnedMetric]":
        # Later than all else that may fail, but before translating: it may take minutes.
        return {metric: LEARNED[metric](comet_env, comet_model, options.device)} if metric else {}

    if test_set:
        names = [name.strip() for name in ",".join(test_set).split(",") if name.strip()]
        if not names:
            raise UserError("--test-set: no name given; nmt corpora --test-sets lists them")
        opened = partial(options.open, *runs)
        _score_test_sets(names, data, source_tag, opened, lowercase, tokenize, open_learned, json_)
        return
    others: list[list[str]] = []
    if source and reference:
        pairs = read_pairs(source, reference[0], source_tag)
        others = read_references(reference[1:], source, len(pairs))
    elif data.source == "imported":
        raise UserError(
            f"{runs[0].path}: an imported run has no held-out pairs; give --test-set, or --source "
            "and --reference"
        )
    else:
        pairs = runs[0].examples(split or "test")
    if baseline:
        _warn_if_one_has_seen_more([pair.reference for pair in pairs], runs[0], baseline[0])
    translator = options.open(*runs)
    compared = options.open(*baseline) if baseline else None
    learned = open_learned()
    report = evaluate_translator(
        translator,
        pairs,
        data,
        lowercase=lowercase,
        tokenize=tokenize,
        baseline=compared,
        seen=runs[0].seen if analyse else None,
        other_references=others,
    )
    if len(pairs) < _FEW:
        _LOG.warning(
            f"{len(pairs)} sentences are too few for a reliable score or interval; evaluate on "
            "hundreds"
        )
    scores = report.as_json()
    sources = [split_tag(data, pair.source)[1] for pair in pairs]
    lines = sources, report.translations, [pair.reference for pair in pairs]
    try:
        if not json_:
            echo(*str(report).split("\n"))
        _add_learned([("", scores, lines)], learned, scores if json_ else None)
    finally:  # after the scores, which a full disk must not lose
        if output:
            write_lines(map(in_one_line, report.translations), output)


def _warn_if_one_has_seen_more(references: list[str], *runs: "RunFolder") -> None:
    """Warn if far more of the references occur in the training data of one of two runs."""
    from nmt.corpus.preparing.statistics import TARGET_KEYS
    from nmt.corpus.text.cleaning import Cleaner

    if not all((run.data / TARGET_KEYS).is_file() for run in runs):  # of an earlier version
        return
    counts = []
    for run in runs:
        cleaner, seen = Cleaner(run.config.data), run.seen
        counts.append(sum(seen.is_target(cleaner.target(each)) for each in references))
    (least, other), (most, favoured) = sorted(zip(counts, runs, strict=True), key=lambda x: x[0])
    if most - least > _MORE_SEEN * len(references):
        _LOG.warning(
            f"{most:,} of {len(references):,} references occur in the training data of "
            f"{favoured.path}, but {least:,} in that of {other.path}, so the comparison favours "
            "the former; compare runs with the same split (data.seed, lowercase, disjoint_splits)"
        )


def _score_test_sets(
    names: list[str],
    data: "DataConfig",
    source_tag: str,
    open_runs: "Callable[[], Translator]",
    lowercase: bool,
    tokenize: BleuTokenizer,
    open_learned: "Callable[[], dict[str, LearnedMetric]]",
    as_json: bool,
) -> None:
    """Print the scores on several test sets as a table with signatures, or as JSON."""
    from nmt.cli.tables import print_table
    from nmt.config.languages import two_letters
    from nmt.evaluation.evaluate import compose_references, translate_sources
    from nmt.evaluation.metrics import METRICS, evaluate_texts
    from nmt.evaluation.test_sets import read_test_set
    from nmt.progress import elapsed

    languages = data.languages
    sets = {name: read_test_set(name, languages) for name in names}
    translator = open_runs()
    learned = open_learned()
    scores, lines = {}, {}
    for name, (sources, references) in sets.items():
        tagged = [source_tag + source for source in sources]
        texts = [found.text for found in translate_sources(translator, tagged)]
        lines[name] = sources, texts, references[0]
        with elapsed(f"scoring {name}"):
            scores[name] = evaluate_texts(
                texts,
                *(compose_references(each, data) for each in references),
                language=data.target_language,
                lowercase=lowercase,
                tokenize=tokenize,
                test_set=(name, "-".join(map(two_letters, languages))),
            )
    if not as_json:
        rows = [
            (name, f"{s.sentences:,}", *(f"{score:.2f}" for score in s.scores.values()))
            for name, s in scores.items()
        ]
        labels = [metric.label for metric in METRICS.values()]
        print_table(("test set", "sentences", *labels), rows, 1)
        for score in scores.values():
            typer.echo("\n".join(f"{name:5} {text}" for name, text in score.signatures.items()))
    found = {name: score.as_json() for name, score in scores.items()}
    parts = [(f"{name} ", found[name], lines[name]) for name in sets]
    _add_learned(parts, learned, found if as_json else None)


def _add_learned(
    parts: Sequence[tuple[str, dict[str, Any], tuple[list[str], list[str], list[str]]]],
    learned: "dict[str, LearnedMetric]",
    as_json: dict[str, Any] | None,
) -> None:
    """Compute learned metrics last, so that a failure loses none of the other scores.

    parts: for each test set, its label, its scores, and its lines (sources, translations, and one
    reference per source); as_json: printed at the end, with the scores nested in it; if None,
    the learned ones are printed as text
    """
    import json
    from dataclasses import asdict

    try:
        for name, metric in learned.items():
            for label, scores, lines in parts:
                score = metric.score(*lines)
                scores[name] = asdict(score)
                if not as_json:
                    echo(f"{label}{score}")
    finally:
        if as_json:
            typer.echo(json.dumps(as_json, indent=2, ensure_ascii=False))
