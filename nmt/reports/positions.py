"""The position encodings: what tells the model where in the sentence a token stands."""

from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from nmt.config import ModelConfig
from nmt.errors import UserError
from nmt.model.positions import POSITIONS, LearnedPositions
from nmt.model.transformer import Transformer
from nmt.reports.figures import COLOURS, picture

SHOWN = 60  # positions
_CURVES = 4


def position_table(source: Transformer | ModelConfig) -> NDArray[np.float32]:
    """Return the encodings of the first positions, as a model adds them: (positions, d_model).

    Of learnt ones, which each side has its own of, those of the source. Of rotary ones, cosines and
    sines of the angles by which a head's pairs of columns are turned: (positions, d_key).
    Those that are computed need a configuration alone; raises `UserError` where they are learnt.
    """
    if isinstance(source, Transformer):
        config, positions = source.config, source.source_embedding.positions
    else:
        config, positions = source, POSITIONS[source.positions](source)
        if isinstance(positions, LearnedPositions):
            raise UserError(
                f"model.positions: {source.positions} positions are learnt; name a trained run: "
                "--run FOLDER"
            )
    table = positions(0, min(SHOWN, config.max_length))
    if table.is_complex():
        table = torch.view_as_real(table).flatten(1)
    return table.detach().float().cpu().numpy()  # type: ignore[no-any-return]


def draw_positions(table: NDArray[np.float32], title: str, path: Path) -> None:
    """Draw the table as a map, and some of its columns as curves; table: (positions, columns)."""
    positions, width = table.shape
    # Even columns at equal ratios of wavelength, the fastest first; the slowest hardly move.
    columns = sorted({width * i // (2 * _CURVES) // 2 * 2 for i in range(_CURVES)})
    bound = float(np.abs(table).max()) or 1.0
    with picture(path, 13, 5) as figure:
        left, right = figure.subplots(1, 2)
        mesh = left.imshow(
            table, cmap="RdBu_r", vmin=-bound, vmax=bound, aspect="auto", interpolation="none"
        )
        left.grid(False)
        left.set(title="every position's vector", xlabel="dimension", ylabel="position")
        figure.colorbar(mesh, ax=left, label="value", ticks=[-bound, 0, bound], format="%.2g")
        for column, colour, style in zip(columns, COLOURS, ("-", "--", "-.", ":"), strict=False):
            right.plot(table[:, column], style, color=colour, marker=".", label=str(column))
        right.set(title="some dimensions", xlabel="position", ylabel="value")
        right.set_xlim(0, max(1, positions - 1))
        right.set_ylim(top=right.get_ylim()[1] + 0.35 * bound)  # room for the legend
        right.legend(loc="upper center", ncols=_CURVES, title="dimension")
        figure.suptitle(title)
