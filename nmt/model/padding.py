"""Sentences of different lengths in one tensor."""

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from nmt.special_tokens import PAD


def pad(sequences: Sequence[Sequence[int]]) -> Tensor:
    """Stack sequences of ids to (batch, longest), padded on the right."""
    batch = np.full((len(sequences), max(map(len, sequences))), PAD, np.int64)
    for row, ids in enumerate(sequences):
        batch[row, : len(ids)] = ids
    return torch.from_numpy(batch)
