"""Splits depend only on seed and content, and share no source sentence."""

import numpy as np
import pytest
from numpy.typing import NDArray

from nmt.corpus.preparing.splitting import (
    Part,
    assign_parts,
    first_occurrences,
    linked_groups,
    sentence_key,
    sentence_keys,
)
from nmt.corpus.text.normalization import words_only
from nmt.errors import UserError

SIZES = {Part.TEST: 30, Part.VALIDATION: 20}
NONE = np.empty(0, np.int64)


def keys(seed: int = 1) -> NDArray[np.int64]:
    """Return keys of 400 pairs, in which every sentence occurs 1, 2, 3 or 4 times."""
    sentences = [f"sentence {i}" for i in range(160) for _ in range(i % 4 + 1)]
    return np.array([sentence_key(sentence, seed) for sentence in sentences])


def assign(
    source_keys: NDArray[np.int64],
    sizes: dict[Part, int] = SIZES,
    kept: NDArray[np.bool_] | None = None,
    reserved: NDArray[np.int64] = NONE,
) -> NDArray[np.uint8]:
    kept = np.ones(len(source_keys), bool) if kept is None else kept
    return assign_parts(source_keys, kept, sizes, reserved)


def test_a_key_depends_on_text_and_seed() -> None:
    assert sentence_key("Grüße", 1) == 1913342157127267129
    assert sentence_key("Grüße", 2) != sentence_key("Grüße", 1) != sentence_key("Grüsse", 1)


def test_parts_reach_their_sizes_with_all_pairs_of_a_source() -> None:
    parts = assign(keys())
    for key in np.unique(keys()):
        assert len(set(parts[keys() == key])) == 1
    counts = np.bincount(parts, minlength=4)
    assert counts[Part.DROPPED] == 0
    assert 30 <= counts[Part.TEST] < 34
    assert 20 <= counts[Part.VALIDATION] < 24
    assert counts.sum() == 400


def test_splits_depend_on_the_seed_but_not_on_the_order_of_the_lines() -> None:
    order = np.random.default_rng(1).permutation(400)
    assert (assign(keys()[order]) == assign(keys())[order]).all()
    assert (assign(keys(1)) != assign(keys(2))).sum() > 50


def test_reserved_sources_stay_in_training() -> None:
    reserved = np.unique(keys()[assign(keys()) == Part.TEST])
    parts = assign(keys(), reserved=reserved)
    assert (parts[np.isin(keys(), reserved)] == Part.TRAIN).all()
    assert (parts == Part.TEST).sum() >= 30


def test_dropped_pairs_stay_dropped_and_do_not_count_towards_sizes() -> None:
    kept = np.arange(400) % 2 == 0
    parts = assign(keys(), kept=kept)
    assert ((parts == Part.DROPPED) == ~kept).all()
    assert (parts == Part.TEST).sum() >= 30


def test_the_minimum_number_of_pairs_and_none_held_out_are_accepted() -> None:
    assert (assign(keys(), sizes={}) == Part.TRAIN).all()
    parts = assign(np.arange(6), {Part.TEST: 3, Part.VALIDATION: 2})
    assert parts.tolist() == [3, 3, 3, 2, 2, 1]


@pytest.mark.parametrize(
    ("pairs", "reserved", "sizes", "named"),
    [
        (5, 0, {Part.TEST: 100, Part.VALIDATION: 10}, "5 pairs.* 100 test and 10 validation"),
        (5, 0, {Part.TEST: 3, Part.VALIDATION: 10}, "5 pairs.* 3 test and 10 validation"),
        (5, 0, {Part.VALIDATION: 6}, "5 pairs.* 6 validation"),
        (0, 0, {Part.TEST: 1}, "data.disjoint_splits"),
        (10, 7, {Part.TEST: 4}, "3 pairs .* 4 test"),  # reserved pairs cannot be held out
    ],
)
def test_too_few_pairs_are_refused(
    pairs: int, reserved: int, sizes: dict[Part, int], named: str
) -> None:
    with pytest.raises(UserError, match=named):
        assign(np.arange(pairs), sizes, reserved=np.arange(reserved))


def test_a_duplicate_equals_an_earlier_kept_pair_on_both_sides() -> None:
    source, target = sentence_keys("aabaab", 1), sentence_keys("baabab", 1)
    kept = np.array([False, True, True, True, True, True])
    first = first_occurrences(source, target, kept)
    assert first.tolist() == [False, True, True, True, False, True]


def test_plain_text_consists_only_of_words_in_one_case() -> None:
    assert words_only("„Wirklich?“, fragte TOM – ja.") == words_only("wirklich fragte Tom ja")
    assert words_only("Straße") == words_only("STRASSE")
    assert words_only("Ich gehe.") != words_only("Ich stehe.")


def test_linked_pairs_form_one_group() -> None:
    def groups(pairs: list[tuple[int, int]]) -> dict[int, set[int]]:
        sources, targets = np.array(pairs, np.int64).T
        found: dict[int, set[int]] = {}
        for number, key in enumerate(linked_groups(sources, targets).tolist()):
            found.setdefault(key, set()).add(number)
        return found

    # 0 and 1 share a source, 1 and 2 a target, 2 and 3 a source; 4 stands alone.
    pairs = [(7, 1), (7, 2), (5, 2), (5, 9), (6, 3)]
    assert sorted(map(sorted, groups(pairs).values())) == [[0, 1, 2, 3], [4]]
    # A long chain of linked pairs, in any order, is one group with the same key.
    chain = [(i // 2 + 1, (i + 1) // 2 + 1) for i in range(1000)]
    [key] = groups(chain)
    assert list(groups(chain[::-1])) == [key]
