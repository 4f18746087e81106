"""Masks say True where attention may go."""

import torch

from nmt.model.masks import added_to_scores, causal_mask, padding_mask, target_mask


def test_padding_mask_is_true_where_a_token_stands():
    ids = torch.tensor([[5, 6, 3], [7, 3, 0], [0, 0, 0]])

    assert padding_mask(ids).tolist() == [
        [[[True, True, True]]],
        [[[True, True, False]]],
        [[[False, False, False]]],
    ]


def test_only_pad_is_masked_among_the_special_tokens():
    assert padding_mask(torch.tensor([[0, 1, 2, 3]])).tolist() == [[[[False, True, True, True]]]]


def test_causal_mask_lets_a_position_see_itself_and_its_past():
    assert causal_mask(3).tolist() == [
        [True, False, False],
        [True, True, False],
        [True, True, True],
    ]


def test_target_mask_combines_past_and_padding():
    ids = torch.tensor([[2, 5, 6], [2, 5, 0]])

    assert target_mask(ids).tolist() == [
        [[[True, False, False], [True, True, False], [True, True, True]]],
        [[[True, False, False], [True, True, False], [True, True, False]]],
    ]


def test_a_mask_added_to_scores_takes_away_what_may_not_be_attended_to():
    mask = torch.tensor([[True, False], [True, True]])

    assert added_to_scores(mask).tolist() == [[0.0, float("-inf")], [0.0, 0.0]]


def test_where_all_may_attend_nothing_is_added():
    assert added_to_scores(None) is None
    assert added_to_scores(torch.ones(2, 2, dtype=torch.bool)) is None
