"""A drawing of one attention head: queries, keys, weights, values and their weighted sum."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from torch import Tensor

from nmt.model.attention import attention_weights
from nmt.reports.attention import readable
from nmt.reports.figures import COLOURS, picture


def draw_weighted_sum(
    tokens: Sequence[str], query: Tensor, key: Tensor, value: Tensor, chosen: int, path: Path
) -> None:
    """Draw softmax(Q Kᵀ / √d_key) V for a sentence without padding; frame one query's row.

    tokens: labels of the positions; query, key: (positions, d_key); value: (positions, d_value)
    """
    from matplotlib.patches import Rectangle

    weights = attention_weights(query, key, None, query.shape[1] ** -0.5)
    matrices = [each.numpy() for each in (query, key, weights, value, weights @ value)]
    titles = (
        "queries Q",
        "keys K",
        f"weights\nsoftmax(Q Kᵀ / √{query.shape[1]})",
        "values V",
        "output\nweights · V",
    )
    labels = list(map(readable, tokens))
    with picture(path, 14, 0.3 * len(tokens) + 1.9) as figure:
        panels = figure.subplots(1, 5, width_ratios=[1, 1, 1.3, 1, 1])
        for number, (panel, title, matrix) in enumerate(zip(panels, titles, matrices, strict=True)):
            panel.set_title(title)
            panel.set_yticks(range(len(tokens)), labels)
            panel.tick_params(length=0)
            panel.grid(False)
            panel.spines[:].set_visible(False)
            if number == 2:
                panel.imshow(matrix, cmap="Blues", vmin=0, vmax=1, aspect="auto")
                panel.set_xticks(range(len(tokens)), labels, rotation=90)
                for row, column in np.ndindex(matrix.shape):
                    shade = "white" if matrix[row, column] > 0.6 else "black"
                    text = f"{matrix[row, column]:.2f}".removeprefix("0")
                    panel.text(column, row, text, ha="center", va="center", color=shade, fontsize=8)
            else:
                most = np.abs(matrix).max()
                panel.imshow(matrix, cmap="RdBu", vmin=-most, vmax=most, aspect="auto")
                panel.set_xticks([])
                panel.set_xlabel(f"{matrix.shape[1]} numbers each")
            if number % 2 == 0:
                frame = Rectangle(
                    (-0.5, chosen - 0.5), matrix.shape[1], 1, fill=False, clip_on=False
                )
                frame.set(edgecolor=COLOURS[1], linewidth=2)
                panel.add_patch(frame)
