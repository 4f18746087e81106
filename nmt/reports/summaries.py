"""Summaries of runs: all in brief, or one in full. Does not load models.

>>> summarize_runs(Path("runs"))
"""

import math
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, get_args

from nmt.config.choices import Weights
from nmt.corpus.preparing.report import corpus_facts
from nmt.errors import UserError, one_line, resume, unreadable_weights
from nmt.progress import with_progress
from nmt.runs.finding import last_change, runs_in
from nmt.runs.folder import CARD, RunFolder, Validation, measure_and_score, score_of

NOTHING = "–"
RUN_COLUMNS = ("run", "config", "pairs", "size", "updates", "BLEU", "age")


@dataclass(frozen=True)
class RunSummary:
    """A row of the table; None for values that do not exist yet."""

    name: str
    config: str | None
    """The file that the run was started with, None for runs of earlier versions."""
    overrides: list[str]
    """Fields given with `--set`."""
    pairs: int
    """Training pairs."""
    parameters: int | None
    updates: int | None
    planned: int | None
    """Updates that training may make, for a run that has not been validated yet."""
    bleu: float | None
    """Of the best weights, on validation."""
    chrf: float | None
    """The same, in languages that BLEU cannot score."""
    changed: float
    """When it was last trained, in Unix time."""

    def row(self) -> list[str]:
        """Return the cells of `RUN_COLUMNS`."""
        changes = f" +{len(self.overrides)}" if self.overrides else ""
        return [
            self.name,
            f"{self.config}{changes}" if self.config else NOTHING,
            f"{self.pairs:,}",
            NOTHING if self.parameters is None else format_count(self.parameters),
            format_updates(self.updates, self.planned),
            self._score(),
            format_age(time.time() - self.changed),
        ]

    def _score(self) -> str:
        if self.chrf is not None:
            return f"chrF {self.chrf:.2f}"
        return NOTHING if self.bleu is None else f"{self.bleu:.2f}"

    def as_json(self) -> dict[str, Any]:
        """Return the values by name, with a readable time."""
        return asdict(self) | {"changed": _iso_time(self.changed)}


def summarize_runs(folder: Path) -> tuple[list[RunSummary], list[str]]:
    """Return the runs in a folder, most recently trained first, and a line for each damaged one.

    Raises `UserError` if there is none.
    """
    runs = runs_in(folder)
    if not runs:
        raise UserError(f"no runs in {folder}; train one with `nmt train`, or give another folder")
    found: list[RunSummary] = []
    damaged: list[str] = []
    for run in with_progress(runs, "reading runs"):
        try:
            found.append(summarize(run))
        except UserError as error:
            damaged.append(one_line(error))
        except OSError as error:
            reason = error.strerror or error
            damaged.append(f"{run.path}: cannot be read ({reason}); check the folder's permissions")
    return sorted(found, key=lambda run: run.changed, reverse=True), damaged


def summarize(run: RunFolder) -> RunSummary:
    """Read the values for a row."""
    metrics, origin = run.read_metrics(), run.origin
    best = run.best_validation(metrics)
    return RunSummary(
        name=run.name,
        config=origin.file or None,
        overrides=list(origin.overrides),
        pairs=run.report["pairs"]["train"],
        parameters=count_stored(run),
        updates=metrics[-1]["update"] if metrics else _unvalidated_updates(run),
        planned=None if metrics else run.config.training.max_updates,
        bleu=best["bleu"] if best else None,
        chrf=best.get("chrf") if best else None,
        changed=last_change(run.path),
    )


def _unvalidated_updates(run: RunFolder) -> int | None:
    points = run.read_updates()
    return points[-1]["update"] if points else None


def count_stored(run: RunFolder) -> int | None:
    """Count the parameters in a run's weights, reading only the file header; shared ones once."""
    from safetensors import SafetensorError, safe_open

    for which in get_args(Weights):
        if run.weights(which).exists():
            break
    else:
        return None
    path = run.weights(which)
    try:
        with safe_open(path, framework="numpy") as file:
            shapes: list[list[int]] = [file.get_slice(name).get_shape() for name in file.keys()]  # noqa: SIM118
    except (OSError, SafetensorError) as error:
        raise unreadable_weights(path, error) from None
    return sum(math.prod(shape) for shape in shapes)


def run_as_json(run: RunFolder) -> dict[str, Any]:
    """Return everything about a run: settings, data, validations, files."""
    origin, metrics = run.origin, run.read_metrics()
    return {
        "path": str(run.path),
        "changed": _iso_time(last_change(run.path)),
        "config": origin.file or None,
        "overrides": list(origin.overrides),
        "fine_tuning": origin.fine_tuning or None,
        "settings": run.config.model_dump(mode="json"),
        "data": run.report,
        "parameters": count_stored(run),
        "engine": describe_engine(run),
        "best": run.best_validation(metrics),
        "validations": metrics,
        "files": {str(file.relative_to(run.path)): file.stat().st_size for file in _files(run)},
    }


def run_facts(run: RunFolder) -> list[tuple[str, str]]:
    """Return the facts about a run, as names and values."""
    config, report, origin = run.config, run.report, run.origin
    model, data = config.model, config.data
    changed = last_change(run.path)
    when = datetime.fromtimestamp(changed).strftime("%Y-%m-%d %H:%M")
    sizes, pairs, parameters = report["vocabulary_size"], report["pairs"], count_stored(run)
    facts = [
        ("run", str(run.path)),
        (
            "trained last" if pairs["train"] else "imported",
            f"{when}, {format_age(time.time() - changed)} ago",
        ),
        ("config", origin.file or NOTHING),
        *([("", origin.fine_tuning)] if origin.fine_tuning else []),
        *(("", f"--set {override}") for override in origin.overrides),
        ("data", f"{data.label}, {data.source_language} → {data.target_language}"),
        ("pairs", ", ".join(f"{split} {count:,}" for split, count in pairs.items())),
        *corpus_facts(report),
        *([("model card", str(run.path / CARD))] if (run.path / CARD).is_file() else []),
        ("tokens", f"{config.tokenizer.kind}, source {sizes['source']:,}, "
                   f"target {sizes['target']:,}"),
        ("model", f"{model.encoder_layers} + {model.decoder_layers} layers, {model.heads} heads, "
                  f"d_model {model.d_model}, d_ff {model.d_ff}, {model.norm_position}-norm, "
                  f"{model.positions} positions"),
        ("parameters", NOTHING if parameters is None else f"{parameters:,}"),
        ("engine", describe_engine(run)),
        *_progress(run),
    ]  # fmt: skip
    files = [f"{file.relative_to(run.path)} ({_size(file)})" for file in _files(run)]
    return facts + [("" if number else "files", file) for number, file in enumerate(files)]


def describe_engine(run: RunFolder) -> str:
    """Return which engine translates with a run by default, and why."""
    from nmt.decoding.loading import choose_engine

    try:
        return str(choose_engine(run.config))
    except UserError as error:
        return f"none: {error}"


def _progress(run: RunFolder) -> list[tuple[str, str]]:
    metrics, by = run.read_metrics(), run.config.training.best
    best = run.best_validation(metrics)
    if not metrics and run.can_be_resumed:
        updates = _unvalidated_updates(run)
        done = format_updates(updates, run.config.training.max_updates)
        return [
            *([("trained", f"{done} updates, not validated yet")] if updates else []),
            ("continue with", resume(run.path)),
        ]
    if not best:
        return []
    last, score = metrics[-1], score_of(best)
    measure = score.split()[0] if by == "bleu" else by
    return [
        (
            "trained",
            f"{last['update']:,} updates, epoch {last['epoch']}, {last['minutes']:.1f} minutes",
        ),
        (
            "best weights",
            f"at update {best['update']:,}, by {measure} on validation: "
            f"{score}, loss {best['loss']:.3f}",
        ),
    ]


def _files(run: RunFolder) -> list[Path]:
    """Return the files of a run, without hidden files and the data folder."""
    files = [path.relative_to(run.path) for path in sorted(run.path.rglob("*")) if path.is_file()]
    return [
        run.path / path
        for path in files
        if path.parts[0] != run.data.name and not any(part[0] == "." for part in path.parts)
    ]


def validation_table(metrics: Sequence[Validation]) -> tuple[list[str], list[list[str]]]:
    """Return the columns, and a row for each validation; the last is the score of translations."""
    columns = {
        "update": ("update", ","),
        "epoch": ("epoch", "d"),
        "rate": ("learning_rate", ".2e"),
        "training loss": ("train_loss", ".3f"),
        "loss": ("loss", ".3f"),
        "perplexity": ("perplexity", ".2f"),
        "accuracy": ("accuracy", ".1%"),
    }
    lines: Sequence[Any] = metrics
    rows = [
        [format(line[name], form) for name, form in columns.values()]
        + [f"{measure_and_score(line)[1]:.2f}"]
        for line in lines
    ]
    return [*columns, "/".join({measure_and_score(line)[0]: None for line in lines})], rows


def _iso_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def format_updates(updates: int | None, planned: int | None) -> str:
    """Format a number of updates, and how many training may make.

    >>> format_updates(43, 5000)
    '43 of 5,000'
    """
    done = NOTHING if updates is None else f"{updates:,}"
    return f"{done} of {planned:,}" if updates and planned else done


def format_count(count: int) -> str:
    """Abbreviate a large number.

    >>> format_count(2747896)
    '2.7M'
    """
    for unit, size in (("G", 1e9), ("M", 1e6), ("k", 1e3)):
        if count >= 0.99995 * size:  # rounds to 1.0
            return f"{count / size:.1f}{unit}"
    return str(count)


def format_age(seconds: float) -> str:
    """Format a time span in its largest unit.

    >>> format_age(7300)
    '2 h'
    """
    for unit, length in (("days", 86_400), ("h", 3600), ("min", 60)):
        if seconds >= (2 if unit == "days" else 1) * length:
            return f"{seconds / length:.0f} {unit}"
    return f"{max(0, seconds):.0f} s"


def _size(path: Path) -> str:
    size = float(path.stat().st_size)
    for unit in ("B", "kB", "MB"):
        if size < 1000:
            return f"{size:.0f} {unit}"
        size /= 1000
    return f"{size:.1f} GB"
