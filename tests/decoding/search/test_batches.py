"""Sentences are divided among batches of similar cost, and none is lost."""

import pytest

from nmt.decoding.search.batches import make_batches


def padded(batch: list[int], tokens: list[int]) -> int:
    return len(batch) * max(tokens[i] for i in batch)


@pytest.mark.parametrize("limit", [1, 24, 60, 4096])
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_every_sentence_is_in_one_batch_within_the_limit(limit, workers):
    tokens = [1 + i * 7 % 20 for i in range(50)]
    batches = make_batches(tokens, limit, workers)
    assert sorted(i for batch in batches for i in batch) == list(range(50))
    for batch in batches:
        assert len(batch) == 1 or padded(batch, tokens) <= limit


def test_sentences_of_a_batch_have_similar_lengths_and_the_longest_come_first():
    batches = make_batches([5, 1, 9, 2, 9, 1], 10)
    assert [sorted(batch) for batch in batches] == [[4], [2], [0], [1, 3, 5]]


def test_workers_get_equally_many_batches_of_similar_cost():
    tokens = [2 * (2 + i % 9) for i in range(1000)]
    batches = make_batches(tokens, 8000, workers=2)
    assert len(batches) == 4  # 12,000 tokens plus padding would fit into three batches
    work = [padded(batch, tokens) for batch in batches]
    assert max(work) < 1.1 * min(work)


def test_a_few_sentences_are_not_split_among_workers():
    tokens = [2 * (2 + i % 9) for i in range(1000)]
    assert len(make_batches(tokens[:50], 8000, workers=2)) == 1
    assert len(make_batches(tokens, 8000, workers=64)) == 11  # of about a thousand tokens each


def test_without_sentences_there_are_no_batches():
    assert make_batches([], 100, workers=2) == []
