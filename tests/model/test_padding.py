"""Padding is on the right and consists of <pad>."""

import torch

from nmt.model.padding import pad


def test_short_sequences_are_padded_on_the_right():
    assert pad([[5, 6, 3], [3], [7, 3]]).tolist() == [[5, 6, 3], [3, 0, 0], [7, 3, 0]]


def test_padded_ids_have_the_dtype_of_indices():
    assert pad([[5]]).dtype == torch.int64
