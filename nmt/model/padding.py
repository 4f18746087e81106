"""Pads sentences of different lengths into one tensor."""

from collections.abc import Sequence
from itertools import chain

import numpy as np
import torch
from torch import Tensor

from nmt.special_tokens import PAD


def pad(sequences: Sequence[Sequence[int]]) -> Tensor:
    """Stack sequences of ids into (batch, longest), padded on the right."""
    lengths = np.fromiter(map(len, sequences), np.int64, len(sequences))
    batch = np.full((len(sequences), lengths.max()), PAD, np.int64)
    inside = np.arange(lengths.max()) < lengths[:, None]  # (batch, longest)
    batch[inside] = np.fromiter(chain.from_iterable(sequences), np.int64, lengths.sum())
    return torch.from_numpy(batch)
