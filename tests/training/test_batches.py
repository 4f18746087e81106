from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import Tensor

from nmt.config.config import Config
from nmt.corpus.prepared import PreparedData, Sequences
from nmt.corpus.preparing.prepare import prepare
from nmt.special_tokens import BOS, EOS, PAD
from nmt.training.batches import Batch, BatchPlan, batches_of

MakeConfig = Callable[..., Config]


@pytest.fixture
def prepared(toy_config: MakeConfig, tmp_path: Path) -> PreparedData:
    return prepare(toy_config(), tmp_path / "prepared")


def plan(prepared: PreparedData, config: Config, max_length: int = 64) -> BatchPlan:
    return BatchPlan(prepared, config.training, max_length)


def test_the_target_is_shifted_for_teacher_forcing():
    batch = Batch.from_ids([[5, 6], [7]], [[8, 9], [4]])
    assert batch.source.tolist() == [[5, 6, EOS], [7, EOS, PAD]]
    assert batch.target_in.tolist() == [[BOS, 8, 9], [BOS, 4, PAD]]
    assert batch.target_out.tolist() == [[8, 9, EOS], [4, EOS, PAD]]
    assert batch.tokens == 5


def test_copies_are_non_blocking_only_on_cuda(monkeypatch):
    copies = []
    original = Tensor.to

    def to(tensor: Tensor, device: torch.device, non_blocking: bool = False) -> Tensor:
        copies.append(non_blocking)
        return original(tensor, device)

    monkeypatch.setattr(Tensor, "to", to)
    Batch.from_ids([[5]], [[6]]).to(torch.device("meta"))  # like MPS, neither CPU nor CUDA
    assert copies == [False] * 4


def test_duplicated_batches_interleave_equal_labels():
    batch = Batch.from_ids([[5, 6], [7]], [[8], [9, 10]])
    twice = batch.duplicated()
    assert twice.source.tolist() == [*batch.source.tolist(), *batch.source.tolist()]
    assert twice.target_out.shape == twice.target_in.shape
    indices = twice.label_indices
    assert twice.target_in.flatten()[indices].tolist() == [2, 2, 8, 8, 2, 2, 9, 9, 10, 10]
    assert twice.target_out.flatten()[indices].tolist() == [8, 8, 3, 3, 9, 9, 10, 10, 3, 3]
    assert len({*indices.tolist()}) == twice.tokens == 2 * batch.tokens


def test_an_epoch_contains_every_pair_once(toy_config, prepared):
    pairs = [i for batch in plan(prepared, toy_config()).epoch(1).order for i in batch.tolist()]
    assert sorted(pairs) == list(range(168))


def test_batches_respect_the_token_limit(toy_config, prepared):
    batches = plan(prepared, toy_config(training={"batch_tokens": 100}))
    sizes = [max(b.source.numel(), b.target_in.numel()) for b in batches.epoch(1).batches()]
    assert max(sizes) <= 100
    assert sum(sizes) / len(sizes) > 70


def test_a_batch_is_filled_up_to_the_token_limit(toy_config, prepared):
    divide = plan(prepared, toy_config(training={"batch_tokens": 9}))._divide
    batches = [pairs.tolist() for pairs in divide(np.arange(5), [3, 3, 3, 4, 10])]
    assert batches == [[0, 1, 2], [3], [4]]


def test_the_incomplete_last_batch_can_be_left_out(toy_config, prepared):
    def sizes(sentences: int, drop: bool) -> list[int]:
        settings = {"batch_tokens": None, "batch_sentences": sentences, "drop_last": drop}
        return [len(b) for b in plan(prepared, toy_config(training=settings)).epoch(1).order]

    assert sizes(50, drop=False) == [50, 50, 50, 18]
    assert sizes(50, drop=True) == [50, 50, 50]
    assert sizes(84, drop=True) == [84, 84]
    assert sizes(500, drop=True) == [168]  # the only one


def test_the_order_depends_on_seed_and_epoch(toy_config, prepared):
    def order(seed: int, epoch: int) -> list[list[int]]:
        batches = plan(prepared, toy_config(training={"seed": seed})).epoch(epoch).order
        return [batch.tolist() for batch in batches]

    assert order(1, 1) == order(1, 1)
    assert order(1, 1) != order(1, 2)
    assert order(1, 1) != order(2, 1)


def test_a_small_corpus_is_sorted_by_length_and_its_batches_are_shuffled(
    toy_config, prepared, monkeypatch
):
    monkeypatch.setattr("nmt.training.batches._POOL_BATCHES", 1000)
    source, target = prepared.sequences("train")
    lengths = np.maximum(source.lengths, target.lengths)
    order = plan(prepared, toy_config(training={"batch_tokens": 100})).epoch(1).order
    ranges = [(int(lengths[pairs].min()), int(lengths[pairs].max())) for pairs in order]
    assert ranges != sorted(ranges)
    ends = [end for pair in sorted(ranges) for end in pair]
    assert ends == sorted(ends)


def test_batches_of_sentences_mix_short_and_long_ones(toy_config, prepared):
    training = {"batch_tokens": None, "batch_sentences": 16}
    lengths = np.maximum(*(side.lengths for side in prepared.sequences("train")))
    order = plan(prepared, toy_config(training=training)).epoch(1).order
    assert {len(pairs) for pairs in order[:-1]} == {16}
    spread = np.mean([np.ptp(lengths[pairs]) for pairs in order])
    by_length = np.array_split(np.sort(lengths), len(order))
    assert spread > 2 * np.mean([np.ptp(each) for each in by_length])


def test_pairs_longer_than_max_length_are_skipped_and_counted(toy_config, prepared):
    source, target = prepared.sequences("train")
    longest = max(source.lengths.max(), target.lengths.max()) + 1
    assert plan(prepared, toy_config(), max_length=int(longest)).too_long == 0
    batches = plan(prepared, toy_config(), max_length=int(longest) - 1)
    assert batches.too_long > 0
    assert batches.too_long + len(batches.usable) == 168
    loaded = list(batches.epoch(1).batches())
    assert max(batch.target_in.shape[1] for batch in loaded) < longest


@pytest.mark.parametrize(
    "size", [{"batch_tokens": 100}, {"batch_tokens": None, "batch_sentences": 7}]
)
def test_largest_returns_the_largest_batch_of_the_epoch(size, toy_config, prepared):
    batches = plan(prepared, toy_config(training=size))
    sizes = [b.source.numel() + b.target_in.numel() for b in batches.epoch(1).batches()]
    largest = batches.largest()
    assert len(set(sizes)) > 1
    assert largest.source.numel() + largest.target_in.numel() == max(sizes)


@pytest.mark.parametrize("sampling", [0, 0.3])
@pytest.mark.parametrize("join_pairs", [0, 0.5])
def test_the_label_count_of_an_epoch_is_the_sum_over_its_batches(
    sampling, join_pairs, toy_config, tmp_path
):
    config = toy_config(
        tokenizer={"subword_regularization": sampling}, training={"join_pairs": join_pairs}
    )
    batches = plan(prepare(config, tmp_path / "prepared"), config, max_length=12)
    assert batches.too_long > 0
    epoch = batches.epoch(2)
    assert epoch.tokens == sum(b.tokens for b in epoch.batches())


def test_joined_pairs_stay_parallel_and_complete(toy_config, prepared):
    """Each example is one pair or several, in the same order on both sides; none is lost."""
    source, target = prepared.sequences("train")
    pairs = {(tuple(source[i]), tuple(target[i])) for i in range(168)}
    config = toy_config(training={"join_pairs": 0.5})
    epoch = plan(prepared, config, max_length=40).epoch(1)
    assert len(epoch.source) == len(epoch.target) < 110  # 84 expected
    assert max(epoch.source.lengths.max(), epoch.target.lengths.max()) < 40
    assert np.sort(epoch.source.ids).tolist() == np.sort(source.ids).tolist()
    assert np.sort(epoch.target.ids).tolist() == np.sort(target.ids).tolist()
    for i in range(len(epoch.source)):
        left, right = tuple(epoch.source[i]), tuple(epoch.target[i])
        while left:
            one, other = next(
                (one, other)
                for one, other in pairs
                if left[: len(one)] == one and right[: len(other)] == other
            )
            left, right = left[len(one) :], right[len(other) :]
        assert not right


def test_each_epoch_joins_different_pairs(toy_config, prepared):
    batches = plan(prepared, toy_config(training={"join_pairs": 0.5}))
    first, again, second = (batches.epoch(number).source.ids.tolist() for number in (1, 1, 2))
    assert first == again != second


def test_skipping_batches_gives_the_rest_of_the_epoch(toy_config, tmp_path):
    config = toy_config(tokenizer={"subword_regularization": 0.3})
    batches = plan(prepare(config, tmp_path / "sampled"), config)
    whole = list(batches.epoch(1).batches())
    rest = list(batches.epoch(1).batches(skip=3))
    assert len(rest) == len(whole) - 3
    for one, other in zip(whole[3:], rest, strict=True):
        assert torch.equal(one.source, other.source)
        assert torch.equal(one.target_out, other.target_out)


def test_processes_share_each_batch(toy_config, prepared):
    config = toy_config(training={"batch_tokens": None, "batch_sentences": 83})  # 83, 83, 2
    epoch = plan(prepared, config).epoch(1)
    whole = epoch.batches()
    shards = [epoch.batches(rank=rank, size=3) for rank in range(3)]
    for batch, *parts in zip(whole, *shards, strict=True):
        assert sum(part.tokens for part in parts) == batch.tokens
        with_labels = [part for part in parts if part.tokens]
        assert sum(len(part.source) for part in with_labels) == len(batch.source)
    assert [part.tokens > 0 for part in parts] == [True, True, False]


def test_sampling_resegments_each_epoch(toy_config, tmp_path):
    config = toy_config(tokenizer={"subword_regularization": 0.5})
    data = prepare(config, tmp_path / "sampled")
    batches = plan(data, config)
    first, second = (batches.epoch(epoch).source for epoch in (1, 2))
    rows = [side.rows(np.arange(168)) for side in (first, second)]
    decode = data.tokenizers.source.decode
    assert rows[0] != rows[1]
    assert [decode(row) for row in rows[0]] == [decode(row) for row in rows[1]]


def test_order_and_segmentation_draw_different_random_numbers(toy_config, prepared):
    """NumPy pads seeds with zeros: [3, 1] gives the same numbers as [3, 1, 0]."""
    batches = plan(prepared, toy_config(training={"seed": 3}))
    drawn: list[float] = []

    class Recorder:
        def draw(self, generator: np.random.Generator, longest: int) -> Sequences:
            drawn.append(generator.random())
            return prepared.sequences("train")[0]

    batches._samplers = [Recorder(), Recorder()]
    batches.epoch(1)
    assert len({*drawn, np.random.default_rng([3, 1]).random()}) == 3


def test_an_epoch_is_made_once(toy_config, prepared):
    batches = plan(prepared, toy_config())
    first = batches.epoch(1)
    assert batches.epoch(1) is first
    assert batches.epoch(2) is not first


def test_resegmented_pairs_are_not_longer_than_max_length(toy_config, tmp_path):
    data = prepare(toy_config(tokenizer={"subword_regularization": 0.9}), tmp_path / "sampled")
    longest = max(side.lengths.max() for side in data.sequences("train")) + 1  # <eos>
    epoch = plan(data, toy_config(), max_length=int(longest)).epoch(1)
    assert max(side.lengths.max() for side in (epoch.source, epoch.target)) + 1 == longest


def test_validation_batches_contain_every_validation_pair(toy_config, prepared):
    settings = toy_config().training
    batches = batches_of("validation", prepared, settings, 64)
    assert sum(len(batch.source) for batch in batches) == 16
    longest = max(max(batch.source.shape[1], batch.target_in.shape[1]) for batch in batches)
    pairs = [
        sum(len(batch.source) for batch in batches_of("validation", prepared, settings, limit))
        for limit in (longest, longest - 1)
    ]
    assert pairs[0] == 16 > pairs[1]


def test_a_validation_batch_has_at_least_one_pair(toy_config, prepared):
    tiny = toy_config(training={"batch_tokens": 1}).training
    assert [len(b.source) for b in batches_of("validation", prepared, tiny, 64)] == [1] * 16
    tokens = toy_config(training={"batch_tokens": 100}).training
    sizes = [len(b.source) for b in batches_of("validation", prepared, tokens, 64)]
    assert max(sizes) > 1
    for batch in batches_of("validation", prepared, tokens, 64):
        assert max(batch.source.numel(), batch.target_in.numel()) <= 100
    assert batches_of("validation", prepared, tokens, 0) == []
