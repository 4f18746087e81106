"""Draw the README's pictures from the output of `make run` and the run that it trained.

    make run 2>&1 | tee make-run.log
    python scripts/readme_pictures.py make-run.log runs/sample

Writes docs/images/run-{light,dark}.svg, attention next to training curves, and
docs/images/make-run.svg, the terminal.
"""

import argparse
import io
import re
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from rich.console import Console
from rich.terminal_theme import DIMMED_MONOKAI
from rich.text import Text

from nmt.decoding.loading import load_translator
from nmt.reports.attention import AttentionMap, read_attention
from nmt.reports.figures import picture
from nmt.runs.folder import RunFolder

IMAGES = Path(__file__).resolve().parent.parent / "docs" / "images"
SENTENCE = "A week ago she bought an expensive washing machine."
COLUMNS = 124

# Ink, loss, BLEU and colour map, for GitHub's light and dark background.
THEMES = {
    "light": ("#1f2328", "#0969da", "#bc4c00", "Blues"),
    "dark": ("#e6edf3", "#58a6ff", "#ffa657", "magma"),
}
# The lines that the recording shows.
_SHOWN = re.compile(r"\.venv/bin/nmt (?!plot)|pairs kept|runs/|update |  A week|Oscar|BLEU|chrF")


def draw_run(run: RunFolder, theme: str, path: Path) -> None:
    """Draw the clearest head of the cross-attention next to the training curves."""
    import matplotlib as mpl

    ink, loss_colour, bleu_colour, colour_map = THEMES[theme]
    found = read_attention(load_translator(run.path), SENTENCE)["cross"]
    with picture(path, 11, 2.9) as figure:
        mpl.rcParams["svg.fonttype"] = "path"
        mpl.rc("axes", labelcolor=ink, edgecolor=ink)
        for name in ("text", "xtick", "ytick"):
            mpl.rc(name, color=ink)
        left, right = figure.subplots(1, 2, width_ratios=[1, 1.2])
        figure.patch.set_alpha(0)
        _draw_attention(left, found, colour_map)
        _draw_training(right, run, loss_colour, bleu_colour)


def _draw_attention(panel: Axes, found: AttentionMap, colour_map: str) -> None:
    layer, head = found.clearest()[0]
    queries, keys = _words(found.queries), _words(found.keys)
    weights = np.add.reduceat(found.weights[layer, head], list(keys), axis=1)
    weights = np.add.reduceat(weights, list(queries), axis=0)
    panel.pcolormesh(weights / weights.sum(1, keepdims=True), cmap=colour_map, vmin=0, vmax=1)
    panel.set_title("Cross-attention", loc="left", weight="bold")
    places = np.arange(len(keys)) + 0.5
    panel.set_xticks(places, list(keys.values()), rotation=45, ha="right")
    panel.set_yticks(np.arange(len(queries)) + 0.5, list(queries.values()))
    panel.tick_params(length=0)
    panel.invert_yaxis()
    panel.grid(False)
    panel.spines[:].set_visible(False)
    panel.patch.set_alpha(0)


def _words(tokens: list[str]) -> dict[int, str]:
    """Return the words that the tokens form, by the index of their first token."""
    words: dict[int, str] = {}
    start = 0
    for index, token in enumerate(tokens):
        if token.startswith("▁") or not token.isalnum():
            start = index
        words[start] = words.get(start, "") + token.lstrip("▁")
    return words


def _draw_training(panel: Axes, run: RunFolder, loss_colour: str, bleu_colour: str) -> None:
    updates, validations = run.read_updates(), run.read_metrics()
    panel.set_title("Training curves", loc="left", weight="bold")
    panel.plot(
        [u["update"] for u in updates], [u["loss"] for u in updates], color=loss_colour, alpha=0.6
    )
    points = [v["update"] for v in validations]
    panel.plot(points, [v["loss"] for v in validations], "o-", color=loss_colour)
    panel.set(xlabel="updates", ylim=(0, None), xlim=(0, None))
    panel.set_ylabel("loss: training, validation (dots)", color=loss_colour)
    panel.patch.set_alpha(0)
    bleu = panel.twinx()
    bleu.plot(points, [v["bleu"] for v in validations], "o-", color=bleu_colour)
    bleu.set_ylim(0, 100)
    bleu.set_ylabel("validation BLEU", color=bleu_colour)
    bleu.grid(False)


def draw_terminal(log: str, path: Path) -> None:
    """Draw an excerpt of what `make run` printed."""
    console = Console(record=True, width=COLUMNS, file=io.StringIO(), force_terminal=True)
    for line in excerpt(log):
        command = line.startswith(".venv/bin/")
        text = line.replace(".venv/bin/", "$ ", 1) if command else line
        style = "bold green" if command else ""
        console.print(Text(text, style=style), no_wrap=True, overflow="ellipsis")
    svg = console.export_svg(title="make run", theme=DIMMED_MONOKAI)
    # Load nothing from other hosts.
    svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)
    svg = svg.replace("Fira Code, monospace", "Menlo, Consolas, monospace")
    path.write_text(svg, encoding="utf-8")


def excerpt(log: str) -> list[str]:
    """Return the lines to show, with only the first and the last validation."""
    lines = [line.rsplit("\r", 1)[-1].rstrip() for line in log.splitlines()]
    lines = [line for line in lines if _SHOWN.match(line)]
    validations = [index for index, line in enumerate(lines) if line.startswith("update ")]
    if len(validations) < 3:
        return lines
    return [*lines[: validations[1]], "…", *lines[validations[-1] :]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("log", type=Path, help="output of make run")
    parser.add_argument("run", type=Path, help="the run that it trained")
    given = parser.parse_args()
    IMAGES.mkdir(exist_ok=True)
    run = RunFolder(given.run)
    for theme in THEMES:
        draw_run(run, theme, IMAGES / f"run-{theme}.svg")
    draw_terminal(given.log.read_bytes().decode("utf-8"), IMAGES / "make-run.svg")


if __name__ == "__main__":
    main()
