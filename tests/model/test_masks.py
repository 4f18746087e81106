"""Masks are True where attention is allowed."""

import torch

from nmt.model.masks import boolean, causal_mask, for_kernels, padding_mask, target_mask


def test_padding_mask_is_true_for_tokens():
    ids = torch.tensor([[5, 6, 3], [7, 3, 0], [0, 0, 0]])
    assert padding_mask(ids).tolist() == [
        [[[True, True, True]]],
        [[[True, True, False]]],
        [[[False, False, False]]],
    ]


def test_only_pad_is_masked_among_the_special_tokens():
    assert padding_mask(torch.tensor([[0, 1, 2, 3]])).tolist() == [[[[False, True, True, True]]]]


def test_causal_mask_allows_a_position_itself_and_earlier_ones():
    assert causal_mask(3).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_target_mask_combines_causality_and_padding():
    ids = torch.tensor([[2, 5, 6], [2, 5, 0]])
    assert target_mask(ids).tolist() == [
        [[[True, False, False], [True, True, False], [True, True, True]]],
        [[[True, False, False], [True, True, False], [True, True, False]]],
    ]


def test_masks_stay_boolean_on_other_devices():
    mask = padding_mask(torch.tensor([[5, 6, 0]]))
    assert for_kernels(mask, torch.float32) is mask
    assert boolean(mask) is mask


def test_additive_masks_are_converted_to_boolean_ones():
    mask = padding_mask(torch.tensor([[5, 6, 0], [5, 0, 0]]))
    assert boolean(torch.zeros(mask.shape).masked_fill(~mask, float("-inf"))).equal(mask)
