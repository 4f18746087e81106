"""Draws the position encodings of a model."""

from collections.abc import Sequence
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from nmt.config.model import ModelConfig
from nmt.errors import UserError
from nmt.model.positions import POSITIONS, LearnedPositions
from nmt.model.transformer import Transformer
from nmt.reports.figures import COLOURS, picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes

_CURVES = 4


def position_table(source: Transformer | ModelConfig, length: int) -> NDArray[np.float32]:
    """Return the encodings of the first positions, as a model adds them: (positions, d_model).

    For learned positions: those of the source side. For rotary ones: cosines and sines of the
    rotation angles of a head, (positions, d_key). Computed ones need only a configuration; raises
    `UserError` for learned ones without a run. There are at most `model.max_length` positions.
    """
    if isinstance(source, Transformer):
        config, positions = source.config, source.source_embedding.positions
    else:
        config, positions = source, POSITIONS[source.positions](source)
        if isinstance(positions, LearnedPositions):
            raise UserError(
                "model.positions: learned positions exist only in a trained run; select one with "
                "--run FOLDER"
            )
    table = positions(0, min(length, config.max_length))
    if config.positions == "rotary":
        table = table[..., :2].flatten(1)  # cosines and sines
    return table.detach().float().cpu().numpy()  # type: ignore[no-any-return]


def draw_positions(
    table: NDArray[np.float32], title: str, path: Path, columns: Sequence[int] = ()
) -> None:
    """Draw the table as a map, some columns as curves, and the similarity of positions.

    table: (positions, columns); columns: to draw as curves; default: a range of wavelengths. Raises
    `UserError` if the table lacks a column.
    """
    width = table.shape[1]
    if outside := [column for column in columns if not 0 <= column < width]:
        raise UserError(f"no column {outside[0]}; there are columns 0 to {width - 1}")
    with picture(path, 18, 5) as figure:
        every, some, similar = figure.subplots(1, 3)
        _draw_map(every, table, "every position's vector", "dimension")
        _draw_curves(some, table, columns or _spread(width))
        _draw_map(similar, cosines(table), "similarity of positions (cosine)", "position")
        figure.suptitle(title)


def cosines(table: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return the cosine of the angle between any two rows: (positions, positions)."""
    unit = table / np.maximum(np.linalg.norm(table, axis=1, keepdims=True), 1e-12)
    similarity: NDArray[np.float32] = unit @ unit.T
    return similarity


def _spread(width: int) -> list[int]:
    """Return even columns at equal ratios of wavelength, fastest first."""
    return sorted({width * i // (2 * _CURVES) // 2 * 2 for i in range(_CURVES)})


def _draw_map(panel: "Axes", values: NDArray[np.float32], title: str, across: str) -> None:
    from matplotlib.ticker import MaxNLocator

    bound = float(np.abs(values).max()) or 1.0
    mesh = panel.imshow(
        values, cmap="RdBu_r", vmin=-bound, vmax=bound, aspect="auto", interpolation="none"
    )
    panel.grid(False)
    panel.xaxis.set_major_locator(MaxNLocator(integer=True))
    panel.set(title=title, xlabel=across, ylabel="position")
    panel.figure.colorbar(mesh, ax=panel, ticks=[-bound, 0, bound], format="%.2g")


def _draw_curves(panel: "Axes", table: NDArray[np.float32], columns: Sequence[int]) -> None:
    bound = float(np.abs(table).max()) or 1.0
    styles = zip(cycle(COLOURS), cycle(("-", "--", "-.", ":")), strict=False)
    for column, (colour, style) in zip(columns, styles, strict=False):
        panel.plot(table[:, column], style, color=colour, marker=".", label=str(column))
    panel.set(title="some dimensions", xlabel="position", ylabel="value")
    panel.set_xlim(0, max(1, len(table) - 1))
    panel.set_ylim(top=panel.get_ylim()[1] + 0.35 * bound)  # room for the legend
    panel.legend(loc="upper center", ncols=4, title="dimension")
