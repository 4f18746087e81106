"""Several threads learn from a batch what one would."""

import pytest
import torch

from nmt.config import ModelConfig
from nmt.device import autocast
from nmt.model.transformer import Transformer
from nmt.training.batches import Batch
from nmt.training.loss import batch_loss
from nmt.training.shards import Seed, Shards

pytestmark = pytest.mark.usefixtures("two_threads")

GENERATOR = torch.Generator().manual_seed(5)
SEED = Seed(seed=1, update=2, batch=0)


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


def learnt(model: Transformer, seed: Seed = SEED, batch: Batch = BATCH) -> list[torch.Tensor]:
    """Return the losses and gradients that the threads find."""
    model.zero_grad()
    shards = Shards(model, lambda batch: batch_loss(model, batch, 0.1))
    losses = shards.backward(batch, batch.tokens, seed)
    return [*losses, *(p.grad.clone() for p in model.parameters() if p.grad is not None)]


def test_bfloat16_learns_nearly_what_float32_does() -> None:
    def learnt_in(precision: str) -> torch.Tensor:
        model = make_model(0.0)

        def learn(batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
            with autocast(torch.device("cpu"), precision):
                return batch_loss(model, batch, 0.1)

        Shards(model, learn).backward(BATCH, BATCH.tokens, SEED)
        return torch.cat([p.grad.flatten() for p in model.parameters() if p.grad is not None])

    rounded, exact = learnt_in("bfloat16"), learnt_in("float32")
    assert rounded.dtype == torch.float32
    assert 0 < (rounded - exact).norm() < 0.02 * exact.norm()


def test_shares_make_up_the_batch() -> None:
    shares = [BATCH.share(number, 2) for number in range(2)]
    assert [len(share) for share in shares] == [101, 100]
    assert sum(share.tokens for share in shares) == BATCH.tokens
    together = torch.cat([share.target_out[share.target_out != 0] for share in shares])
    assert torch.equal(together.sort()[0], BATCH.target_out[BATCH.target_out != 0].sort()[0])
    for share in shares:
        labels = share.target_out.flatten()
        assert torch.equal(labels[share.places], labels[labels != 0])


def test_two_threads_find_the_gradient_of_the_whole_batch() -> None:
    model = make_model(0.0)
    found = learnt(model)
    model.zero_grad()
    loss, plain = batch_loss(model, BATCH, 0.1)
    (loss / BATCH.tokens).backward()  # type: ignore[no-untyped-call]
    expected = [loss.detach(), plain, *(p.grad for p in model.parameters())]
    assert len(found) == len(expected)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-6)


def test_gradients_of_several_batches_add_up() -> None:
    model = make_model(0.0)
    once = learnt(model)[2:]
    shards = Shards(model, lambda batch: batch_loss(model, batch, 0.1))
    shards.backward(BATCH, BATCH.tokens, SEED)
    for parameter, gradient in zip(model.parameters(), once, strict=True):
        torch.testing.assert_close(parameter.grad, 2 * gradient)


def test_the_seed_decides_whichever_thread_is_faster() -> None:
    model = make_model(0.3)
    first = learnt(model)
    for _ in range(5):
        assert all(map(torch.equal, first, learnt(model)))
    for other in (Seed(2, 2, 0), Seed(1, 3, 0), Seed(1, 2, 1)):
        assert not torch.equal(first[0], learnt(model, other)[0])


def test_threads_drop_different_numbers() -> None:
    numbers = [torch.rand(1000, generator=SEED.generator(shard)) for shard in range(3)]
    assert not torch.equal(numbers[0], numbers[1])
    assert abs(torch.corrcoef(torch.stack(numbers))[0, 1]) < 0.1


def test_a_small_batch_is_learnt_from_at_once() -> None:
    model = make_model(0.0)
    seen: list[int] = []

    def learn(batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        seen.append(len(batch))
        return batch_loss(model, batch, 0.1)

    shards = Shards(model, learn)
    shards.backward(Batch.from_ids(sentences(9), sentences(9)), 50, SEED)
    assert seen == [9]
    shards.backward(BATCH, BATCH.tokens, SEED)
    assert sorted(seen) == [9, 100, 101]


def test_all_threads_are_there_again_afterwards() -> None:
    learnt(make_model(0.0))
    assert torch.get_num_threads() == 2


def test_an_error_of_a_thread_reaches_the_caller() -> None:
    def learn(batch: Batch) -> tuple[torch.Tensor, torch.Tensor]:
        raise MemoryError("too large")

    with pytest.raises(MemoryError, match="too large"):
        Shards(make_model(0.0), learn).backward(BATCH, BATCH.tokens, SEED)
