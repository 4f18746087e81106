"""Position encodings: attention ignores order, so each position has its own vector or angle."""

from typing import Literal

import torch
from torch import Tensor, nn

from nmt.config.model import ModelConfig
from nmt.model.sinusoids import sinusoid_table


def sinusoids(
    length: int, d_model: int, first: int = 0, exponent: Literal["pair", "column"] = "pair"
) -> Tensor:
    """Return `sinusoid_table`, which documents the equation, as a tensor: (length, d_model)."""
    return torch.from_numpy(sinusoid_table(length, d_model, first, exponent))


class SinusoidalPositions(nn.Module):
    """Fixed sinusoidal encodings."""

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
    """One learned vector per position (Gehring et al. 2017)."""

    def __init__(self, config: ModelConfig):
        super().__init__()
        self.table = nn.Parameter(torch.empty(config.max_length, config.d_model))

    def forward(self, start: int, length: int) -> Tensor:
        """Return the vectors of tokens start … start + length - 1: (length, d_model)."""
        return self.table[start : start + length]


class RotaryPositions(nn.Module):
    """Rotations of queries and keys by angles that grow with the position (Su et al. 2021).

    The dot product of a rotated query and key depends on their positions only through the
    (signed) difference.
    https://arxiv.org/abs/2104.09864
    """

    table: Tensor

    def __init__(self, config: ModelConfig):
        super().__init__()
        waves = sinusoids(config.max_length, config.key_size)
        cosines, sines = waves[:, 1::2], waves[:, 0::2]
        table = torch.stack([cosines, sines, -sines, sines], dim=-1)
        self.register_buffer("table", table, persistent=False)

    def forward(self, start: int, length: int) -> Tensor:
        """Return the angles pos / 10000^(2j / d_key) of tokens start … start + length - 1.

        → (length, d_key / 2, 4): cosine, sine, -sine and sine of each angle, as `rotate` needs them
        """
        return self.table[start : start + length]


def rotate(x: Tensor, rotations: Tensor) -> Tensor:
    """Rotate every pair of columns by its angle (Su et al. 2021, equation 34).

    x: (batch, heads, length, d_key); rotations: from `RotaryPositions`, (length or 1, d_key / 2, 4)
    → the shape of x
    """
    rotate_pairs = _rotate_as_complex if x.device.type == "cpu" else _rotate_as_real
    return rotate_pairs(x, rotations).flatten(-2).type_as(x)


def _rotate_as_complex(x: Tensor, rotations: Tensor) -> Tensor:
    """Rotate by complex products, which take a third of the time on a CPU."""
    exact = x.to(torch.promote_types(x.dtype, torch.float32))  # there are no 16-bit complex numbers
    if any(stride % 2 for stride in exact.stride()[:-1]):  # a complex number takes two elements
        exact = exact.clone(memory_format=torch.contiguous_format)
    pairs = torch.view_as_complex(exact.view(*x.shape[:-1], -1, 2))
    return torch.view_as_real(pairs * torch.view_as_complex(rotations[..., :2]))


def _rotate_as_real(x: Tensor, rotations: Tensor) -> Tensor:
    """Rotate in real numbers: complex tensors cannot be compiled, and MPS support is incomplete."""
    pairs = x.view(*x.shape[:-1], -1, 2)
    cosine, sines = rotations[..., :1], rotations[..., 2:]
    return torch.addcmul(pairs * cosine, pairs.flip(-1), sines)


POSITIONS = {
    "sinusoidal": SinusoidalPositions,
    "learned": LearnedPositions,
    "rotary": RotaryPositions,
}
