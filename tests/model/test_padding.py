"""Padding is on the right and consists of <pad>."""

import torch

from nmt.model.padding import pad


def test_short_sequences_are_filled_up_on_the_right():
    assert pad([[5, 6, 3], [3], [7, 3]]).tolist() == [[5, 6, 3], [3, 0, 0], [7, 3, 0]]


def test_the_result_indexes_an_embedding():
    assert pad([[5]]).dtype == torch.int64
