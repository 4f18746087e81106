"""Draws statistics of the prepared data: lengths, coverage, and dropped pairs."""

import textwrap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from nmt.corpus.prepared import SIDES, PreparedData
from nmt.corpus.preparing.report import PreparationReport
from nmt.reports.figures import COLOURS, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def draw_lengths(prepared: PreparedData, path: Path) -> None:
    """Draw the lengths of training pairs, the numbers of pairs, and the coverage."""
    languages = prepared.data.languages
    names = {side: f"{side} ({code})" for side, code in zip(SIDES, languages, strict=True)}
    # Subwords can spell every word, so their coverage is not worth drawing.
    all_known = all(
        share == 1 for sides in prepared.report["coverage"].values() for share in sides.values()
    )
    with picture(path, 10 if all_known else 14, 4.2) as figure:
        ratios = (5, 4) if all_known else (5, 4, 4)
        lengths, pairs, *coverage = figure.subplots(1, len(ratios), width_ratios=ratios)
        _draw_lengths(lengths, prepared, names)
        _draw_pairs(pairs, prepared.report)
        for panel in coverage:
            _draw_coverage(panel, prepared.report, names)
        note = ", no token unknown" if all_known else ""
        title = f"{prepared.data.label}, {prepared.tokenizer.kind} tokens{note}"
        figure.suptitle("\n".join(textwrap.wrap(title, 110 if all_known else 150)))


def _draw_lengths(panel: "Axes", prepared: PreparedData, names: dict[str, str]) -> None:
    from matplotlib.ticker import MaxNLocator

    found = [sequences.lengths for sequences in prepared.sequences("train")]
    # Cut at 99.5%: a few long sentences would squeeze the others.
    last = max(1, *(int(np.percentile(lengths, 99.5)) for lengths in found))
    beyond = sum(int((lengths > last).sum()) for lengths in found)
    means = [prepared.report["lengths"][side]["mean"] for side in SIDES]
    sides = zip(names.values(), means, found, COLOURS, ("-", "--"), strict=False)
    for name, mean, lengths, colour, style in sides:
        counts = np.bincount(lengths, minlength=last + 1)[: last + 1]
        panel.stairs(
            counts,
            np.arange(last + 2) - 0.5,
            color=colour,
            linestyle=style,
            linewidth=1.8,
            label=f"{name}, mean {mean:.1f}",
        )
    rest = f"; {beyond:,} longer ones not shown" if beyond else ""
    panel.set(title="length of training sentences", xlabel=f"tokens{rest}", ylabel="sentences")
    panel.set_ylim(0, panel.get_ylim()[1] * 1.25)  # room for the legend
    panel.set_xlim(left=0)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.legend(loc="upper right")


def _draw_pairs(panel: "Axes", report: PreparationReport) -> None:
    dropped = {f"dropped: {why}": count for why, count in report["dropped"].items()}
    kept: Any = report["pairs"]
    counts: dict[str, int] = {"read for training": report["read"], **kept, **dropped}
    colours = ["#999999", *[COLOURS[1 if name in dropped else 0] for name in list(counts)[1:]]]
    bars = panel.barh(list(counts), list(counts.values()), color=colours)
    panel.bar_label(bars, [f"{count:,}" for count in counts.values()], padding=3)
    panel.set(title="pairs read, kept and dropped", xlabel="pairs")
    panel.margins(x=0.25)
    panel.locator_params(axis="x", nbins=4)
    panel.grid(axis="y", visible=False)
    panel.invert_yaxis()


def _draw_coverage(panel: "Axes", report: PreparationReport, names: dict[str, str]) -> None:
    shares = {
        f"{split}\n{names[side]}": 100 * sides[side]
        for split, sides in report["coverage"].items()
        for side in SIDES
    }
    bars = panel.barh(list(shares), list(shares.values()), color=COLOURS[2])
    panel.bar_label(bars, [f"{share:.2f}%" for share in shares.values()], padding=3)
    panel.set(title="tokens in the vocabulary", xlabel="%")
    panel.set_xlim(0, 125)
    panel.set_xticks(range(0, 101, 25))
    panel.grid(axis="y", visible=False)
    panel.invert_yaxis()
