"""Draws training curves: losses, BLEU and learning rate."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nmt.errors import UserError, escape_terminal
from nmt.reports.figures import COLOURS, picture
from nmt.runs.folder import RunFolder, UpdatePoint, Validation, measure_and_score

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_FEW = 30  # up to this many validations get markers


def draw_training(runs: Sequence[RunFolder], path: Path) -> None:
    """Draw the curves of all runs.

    Raises `UserError` for a run without validations, and for more runs than colours.

    Both losses are means over tokens without label smoothing. The training loss includes dropout,
    so it may exceed the validation loss. It is drawn every few updates, like the learning rate, or
    at the validations for runs without `updates.jsonl`.
    """
    from matplotlib.lines import Line2D

    if len(runs) > len(COLOURS):
        raise UserError(f"a plot can show at most {len(COLOURS)} runs, not {len(runs)}; give fewer")
    curves = [_read(run) for run in runs]
    with picture(path, 13, 4.2) as figure:
        losses, scores, rates = figure.subplots(1, 3)
        handles, labels = [], []
        measures: dict[str, None] = {}
        named = zip(_names(runs), curves, COLOURS, strict=False)
        for name, (lines, points, best), colour in named:
            _plot(losses, lines, "loss", colour)
            _plot(losses, points, "loss", colour, ":")
            measure, score = measure_and_score(best)
            measures[measure] = None
            scored = [{**line, "score": measure_and_score(line)[1]} for line in lines]
            _plot(scores, scored, "score", colour)
            _plot(rates, points, "learning_rate", colour)
            scores.plot(best["update"], score, "*", color=colour, markersize=12)
            handles.append(Line2D([], [], color=colour))
            labels.append(f"{name}, {measure} {score:.1f}")
        losses.set(title="validation loss (line), training loss (dotted)", ylabel="nats per token")
        named_scores = ", ".join(measures)
        scores.set(title=f"validation {named_scores} (star: best weights)", ylabel=named_scores)
        rates.set(title="learning rate")
        rates.ticklabel_format(axis="y", style="sci", scilimits=(0, 0))
        for panel in (losses, scores, rates):
            panel.set_xlabel("updates")
            panel.margins(x=0.03, y=0.08)
            panel.set_xlim(left=0)
            panel.set_ylim(bottom=0)
        # Outside the panels, where it never hides a curve. A column needs about 0.085 inches per
        # character of its label, and half an inch for the line.
        width = max(0.5 + 0.085 * len(label) for label in labels)
        columns = max(1, min(4, int(figure.get_figwidth() / width)))
        figure.legend(handles, labels, loc="outside lower center", ncols=columns, frameon=False)


def _read(run: RunFolder) -> tuple[list[Validation], list[UpdatePoint], Validation]:
    """Return all validations, the points of the training curve, and the best validation."""
    lines = run.read_metrics()
    best = run.best_validation(lines)
    if not best:
        raise UserError(f"{run.path}: no validation yet, so there is nothing to draw; train longer")
    points = run.read_updates() or [
        UpdatePoint(
            update=line["update"], loss=line["train_loss"], learning_rate=line["learning_rate"]
        )
        for line in lines
    ]
    return lines, points, best


def _names(runs: Sequence[RunFolder]) -> list[str]:
    """Return the names of the runs, or their paths if names are not unique."""
    names = [run.name for run in runs]
    paths = [run.address for run in runs]
    return list(map(escape_terminal, names if len(set(names)) == len(names) else paths))


def _plot(
    panel: "Axes", lines: Sequence[Mapping[str, Any]], name: str, colour: str, style: str = "-"
) -> None:
    marker = "o" if len(lines) <= _FEW else ""
    updates, values = ([line[key] for line in lines] for key in ("update", name))
    panel.plot(updates, values, style, color=colour, marker=marker, markersize=3)
