"""Sinusoidal position encodings without PyTorch, for the model and for other engines."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray


def sinusoid_table(
    length: int, d_model: int, first: int = 0, exponent: Literal["pair", "column"] = "pair"
) -> NDArray[np.float32]:
    """Build the table of sinusoidal encodings (Vaswani et al. 2017, section 3.5).

    PE(pos, 2i)     = sin(pos / 10000^(2i / d_model))
    PE(pos, 2i + 1) = cos(pos / 10000^(2i / d_model))

    for pos = first, first + 1, …; with `exponent` "column", column c has the exponent 2c / d_model,
    as in some tutorials.

    → (length, d_model)
    """
    position = np.arange(first, first + length, dtype=np.float64)[:, None]
    column = np.arange(d_model, dtype=np.float64)
    # 2i is equal for both columns of pair i.
    doubled = {"pair": column - column % 2, "column": 2 * column}[exponent]
    angle = position / 10000.0 ** (doubled / d_model)
    return np.where(column % 2 == 0, np.sin(angle), np.cos(angle)).astype(np.float32)
