"""Positions: attention knows no order, so each position adds its own vector to the embedding."""

from typing import Literal

import torch
from torch import Tensor, nn

from nmt.config import ModelConfig


def sinusoids(
    length: int, d_model: int, first: int = 0, exponent: Literal["pair", "column"] = "pair"
) -> Tensor:
    """Build the table of sinusoidal encodings (Vaswani et al. 2017, section 3.5).

    PE(pos, 2i)     = sin(pos / 10000^(2i / d_model))
    PE(pos, 2i + 1) = cos(pos / 10000^(2i / d_model))

    for pos = first, first + 1, …; some write i for the column, which `exponent` allows.

    → (length, d_model)
    """
    position = torch.arange(first, first + length, dtype=torch.float64)[:, None]
    column = torch.arange(d_model, dtype=torch.float64)
    # 2i is the same for both columns of pair i.
    doubled = {"pair": column - column % 2, "column": 2 * column}[exponent]
    angle = position / 10000.0 ** (doubled / d_model)
    return torch.where(column % 2 == 0, angle.sin(), angle.cos()).float()


class SinusoidalPositions(nn.Module):
    """Fixed encodings, computed and not learnt."""

    table: Tensor

    def __init__(self, config: ModelConfig):
        super().__init__()
        table = sinusoids(
            config.max_length, config.d_model, config.first_position, config.position_exponent
        )
        self.register_buffer("table", table, persistent=False)

    def forward(self, start: int, length: int) -> Tensor:
        """Return the encodings of tokens start … start + length - 1: (length, d_model)."""
        return self.table[start : start + length]


class LearnedPositions(nn.Module):
    """One learnt vector a position (Gehring et al. 2017)."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.table = nn.Parameter(torch.empty(config.max_length, config.d_model))

    def forward(self, start: int, length: int) -> Tensor:
        """Return the vectors of tokens start … start + length - 1: (length, d_model)."""
        return self.table[start : start + length]


POSITIONS = {"sinusoidal": SinusoidalPositions, "learned": LearnedPositions}
