"""Several threads compute the same gradient as one thread."""

import pytest
import torch

from nmt.config.model import ModelConfig
from nmt.config.training import TrainingConfig
from nmt.model.transformer import Transformer
from nmt.training.backward import DropoutSeed, backward, backward_in_shards
from nmt.training.batches import Batch
from nmt.training.loss import BatchLoss

pytestmark = pytest.mark.usefixtures("two_threads")

GENERATOR = torch.Generator().manual_seed(5)
SEED = DropoutSeed(seed=1, update=2, batch=0)


def make_model(dropout: float) -> Transformer:
    torch.manual_seed(0)
    config = ModelConfig(
        d_model=8,
        heads=2,
        d_ff=16,
        encoder_layers=1,
        decoder_layers=1,
        dropout=dropout,
        attention_dropout=dropout,
    )
    return Transformer(config, 11, 11).train()


def sentences(count: int) -> list[list[int]]:
    lengths = torch.randint(1, 9, (count,), generator=GENERATOR).tolist()
    return [torch.randint(4, 11, (n,), generator=GENERATOR).tolist() for n in lengths]


BATCH = Batch.from_ids(sentences(201), sentences(201))


def loss_of(model: Transformer, precision: str = "float32") -> BatchLoss:
    settings = TrainingConfig.model_validate({"precision": precision})
    return BatchLoss(model, settings, torch.device("cpu"))


def gradients(model: Transformer) -> list[torch.Tensor]:
    return [p.grad.clone() for p in model.parameters() if p.grad is not None]


def sums_and_gradients(
    model: Transformer, seed: DropoutSeed = SEED, batch: Batch = BATCH
) -> list[torch.Tensor]:
    """Return the reported sums and the gradients that the threads compute."""
    model.zero_grad()
    sums = backward_in_shards(loss_of(model), batch, batch.tokens, seed)
    return [sums, *gradients(model)]


@pytest.mark.parametrize("by_threads", [True, False])
def test_gradients_in_bfloat16_are_close_to_those_in_float32(by_threads):
    found = []
    for precision in ("bfloat16", "float32"):
        model = make_model(0.0)
        loss = loss_of(model, precision)
        if by_threads:
            backward_in_shards(loss, BATCH, BATCH.tokens, SEED)
        else:
            backward(loss, BATCH, BATCH.tokens)
        found.append(torch.cat([gradient.flatten() for gradient in gradients(model)]))
    rounded, exact = found
    assert rounded.dtype == torch.float32
    assert 0 < (rounded - exact).norm() < 0.02 * exact.norm()


def test_shares_partition_the_batch():
    shards = [BATCH.shard(number, 2) for number in range(2)]
    assert [len(share) for share in shards] == [101, 100]
    assert sum(share.tokens for share in shards) == BATCH.tokens
    together = torch.cat([share.target_out[share.target_out != 0] for share in shards])
    assert torch.equal(together.sort()[0], BATCH.target_out[BATCH.target_out != 0].sort()[0])
    for share in shards:
        labels = share.target_out.flatten()
        assert torch.equal(labels[share.label_indices], labels[labels != 0])


def test_two_threads_compute_the_gradient_of_the_whole_batch():
    model = make_model(0.0)
    found = sums_and_gradients(model)
    assert torch.get_num_threads() == 2  # restored
    model.zero_grad()
    sums = backward(loss_of(model), BATCH, BATCH.tokens)
    expected = [sums, *gradients(model)]
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


def test_gradients_of_several_batches_add_up():
    model = make_model(0.0)
    once = sums_and_gradients(model)[1:]
    backward_in_shards(loss_of(model), BATCH, BATCH.tokens, SEED)
    for parameter, gradient in zip(model.parameters(), once, strict=True):
        torch.testing.assert_close(parameter.grad, 2 * gradient)


def test_results_depend_on_the_seed_but_not_on_thread_timing():
    model = make_model(0.3)
    first = sums_and_gradients(model)
    for _ in range(5):
        assert all(map(torch.equal, first, sums_and_gradients(model)))
    for other in (DropoutSeed(2, 2, 0), DropoutSeed(1, 3, 0), DropoutSeed(1, 2, 1)):
        assert not torch.equal(first[0], sums_and_gradients(model, other)[0])


def test_shards_have_independent_dropout():
    numbers = [torch.rand(1000, generator=SEED.generator(shard)) for shard in range(3)]
    assert abs(torch.corrcoef(torch.stack(numbers))[0, 1]) < 0.1


class Watched(BatchLoss):
    """Records the sizes of the shards."""

    def __init__(self, r_drop: float = 0.0) -> None:
        settings = TrainingConfig.model_validate({"r_drop": r_drop})
        super().__init__(make_model(0.0), settings, torch.device("cpu"))
        self.seen: list[int] = []

    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        self.seen.append(len(batch))
        return super().forward(batch)


def test_a_small_batch_is_one_shard():
    loss = Watched()
    backward_in_shards(loss, Batch.from_ids(sentences(9), sentences(9)), 50, SEED)
    assert loss.seen == [9]
    backward_in_shards(loss, BATCH, BATCH.tokens, SEED)
    assert sorted(loss.seen) == [9, 100, 101]


@pytest.mark.parametrize("r_drop", [0.0, 1.0])
def test_a_large_batch_is_processed_in_several_rounds(r_drop, monkeypatch):
    model = make_model(0.0)
    once = sums_and_gradients(model)
    padded = max(BATCH.source.numel(), BATCH.target_in.numel())
    monkeypatch.setattr("nmt.training.backward._MOST_TOKENS", padded // 4)
    for one, other in zip(once, sums_and_gradients(model), strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)
    loss = Watched(r_drop)
    backward_in_shards(loss, BATCH, BATCH.tokens, SEED)
    assert len(loss.seen) == (10 if r_drop else 6)  # with 2 threads, and R-Drop's two passes
    assert sum(loss.seen) == len(BATCH)
    assert max(loss.seen) - min(loss.seen) <= 1


def test_shards_of_a_large_model_are_smaller(monkeypatch):
    loss = Watched()
    padded = max(BATCH.source.numel(), BATCH.target_in.numel())
    width = 2 * loss.model.config.d_model  # two layers
    monkeypatch.setattr("nmt.training.backward._MOST_ACTIVATIONS", width * (padded // 4))
    backward_in_shards(loss, BATCH, BATCH.tokens, SEED)
    assert len(loss.seen) == 6


class TooLarge(BatchLoss):
    def forward(self, batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        raise MemoryError("too large")


def test_an_error_in_a_thread_propagates_to_the_caller():
    loss = TooLarge(make_model(0.0), TrainingConfig(), torch.device("cpu"))
    with pytest.raises(MemoryError, match="too large"):
        backward_in_shards(loss, BATCH, BATCH.tokens, SEED)
