"""Updates of the weights: gradients, precision, dropout and averages."""

import pytest
import torch
from torch import Tensor

from nmt.errors import UserError
from nmt.training.batches import Batch
from nmt.training.console import ProgressBar
from nmt.training.loop import Trainer
from tests.trainers import make_trainer

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_training_on_a_cpu_keeps_freed_memory(toy_config, monkeypatch):
    kept: list[bool] = []
    monkeypatch.setattr("nmt.training.step.keep_memory", lambda: kept.append(True))
    make_trainer(toy_config())
    assert kept == [True]


def test_accumulating_four_batches_gives_the_loss_and_the_gradient_of_the_whole(toy_config):
    trainer = make_trainer(toy_config(model={"dropout": 0.0}, training={"precision": "float32"}))
    source, target = trainer.prepared.sequences("train")
    sources = [source[i].tolist() for i in range(16)]
    targets = [target[i].tolist() for i in range(16)]
    # Quarters of different lengths, so that a mean of means would differ.
    cuts = [(0, 2), (2, 5), (5, 11), (11, 16)]
    quarters = [Batch.from_ids(sources[a:b], targets[a:b]) for a, b in cuts]
    assert len({batch.tokens for batch in quarters}) > 1
    whole_loss, whole = _gradient(trainer, [Batch.from_ids(sources, targets)])
    loss, parts = _gradient(trainer, quarters)
    assert loss == pytest.approx(whole_loss, rel=1e-5)
    for one, other in zip(whole, parts, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-4, atol=1e-7)


def _gradient(trainer: Trainer, batches: list[Batch]) -> tuple[float, list[Tensor]]:
    """Return the loss and the gradients that the optimizer would apply."""
    found: list[Tensor] = []
    step = trainer.state.optimizer.step

    def grab() -> None:
        found.extend(p.grad.clone() for p in trainer.state.model.parameters() if p.grad is not None)

    trainer.state.optimizer.step = grab
    loss = trainer.state.update(batches)
    trainer.state.optimizer.step = step
    return loss.item(), found


def test_the_average_includes_the_weights_after_the_update(toy_config):
    trainer = make_trainer(toy_config(training={"average_decay": 0.9}))
    weight, average = next(trainer.state.model.parameters()), trainer.state.average
    assert average
    before = weight.detach().clone()
    trainer.state.update([trainer.plan.largest()])
    expected = before.lerp(weight.detach(), 1 - 2 / 11)  # the decay of the first update
    torch.testing.assert_close(average.average[0], expected)
    assert not torch.equal(expected, before)


def test_a_gradient_is_clipped_to_the_norm(toy_config):
    norms = []
    for clip_norm in (None, 1e-3):
        trainer = make_trainer(toy_config(training={"clip_norm": clip_norm}), f"run-{clip_norm}")
        _, gradient = _gradient(trainer, [trainer.plan.largest()])
        norms.append(torch.cat([part.flatten() for part in gradient]).norm().item())
    assert norms[0] > 0.01
    assert norms[1] == pytest.approx(1e-3, rel=1e-3)


def test_dropout_differs_between_updates_and_between_accumulated_batches(toy_config):
    """The rate is too small to change the weights, so losses differ only by dropout."""
    settings = {"learning_rate": 1e-30, "precision": "float32"}
    trainer = make_trainer(toy_config(model={"dropout": 0.5}, training=settings))
    batch = trainer.plan.largest()
    single = [trainer.state.update([batch]).item() for _ in range(3)]
    assert len(set(single)) == 3
    trainer.state.progress.updates -= 1  # the same update again, with a second batch
    both = trainer.state.update([batch, batch]).item()
    assert both != pytest.approx(single[-1], rel=1e-5)


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_matrix_products_use_the_configured_precision(toy_config, precision):
    trainer = make_trainer(toy_config(training={"precision": precision}))
    seen: set[torch.dtype] = set()
    inner = trainer.state.model.encoder_layers()[0].feed_forward.inner
    inner.register_forward_hook(lambda module, inputs, output: seen.add(output.dtype))
    for work in (
        lambda: trainer.state.update([trainer.plan.largest()]),
        lambda: trainer.validator._score(trainer.state.model),
    ):
        seen.clear()
        work()
        assert seen == {getattr(torch, precision)}


@pytest.mark.parametrize(("precision", "scaled"), [("float16", True), ("bfloat16", False)])
def test_the_loss_is_scaled_for_float16_only(toy_config, precision, scaled):
    trainer = make_trainer(toy_config(training={"precision": precision}))
    assert (float(trainer.state.loss_scaler.divisor(1)) < 1) == scaled


def test_updates_skipped_for_float16_leave_no_trace_in_the_loss(toy_config):
    settings = {"precision": "float16", "validate_updates": 100}
    trainer = make_trainer(toy_config(training=settings))
    batch = trainer.plan.largest()
    bias = trainer.state.model.encoder_layers()[0].feed_forward.inner.bias
    trainer.state.update([batch])
    loss, tokens = trainer.state.mean_loss(), trainer.progress.loss_tokens
    assert loss > 0

    before = bias.detach().clone()
    with torch.no_grad():
        bias.fill_(1e5)  # too large for float16
    trainer.state.update([batch])
    skipped = trainer.state.update([batch])
    with torch.no_grad():
        bias.copy_(before)
    assert not skipped.isfinite()
    assert trainer.state.loss_scaler.skipped == 2
    assert trainer.progress.tokens == 3 * batch.tokens  # for the speed, they count
    with ProgressBar(trainer.settings, trainer.progress, trainer.final_update) as bar:
        trainer._report(skipped, bar)  # does not take it for divergence
        assert trainer.state.mean_loss() == loss
        assert trainer.progress.loss_tokens == tokens
        trainer._save()
        make_trainer(trainer.config, "other").state.restore(trainer.folder)

        trainer.state.loss_scaler._scaler.update(0.5)
        with pytest.raises(UserError, match="diverged"):
            trainer._report(skipped, bar)


def test_gradients_that_overflow_with_any_scale_end_training(toy_config):
    trainer = make_trainer(
        toy_config(training={"precision": "float16", "max_updates": 60, "epochs": 20})
    )
    bias = trainer.state.model.encoder_layers()[0].feed_forward.inner.bias
    bias.register_hook(lambda gradient: gradient + torch.inf)
    message = "gradients overflow float16 however small the loss is scaled"
    with pytest.raises(UserError, match=message):
        trainer.run()


def test_unused_memory_is_returned_periodically(toy_config, monkeypatch):
    returned: list[int] = []
    monkeypatch.setattr("nmt.training.step._RETURN_UPDATES", 2)
    trainer = make_trainer(toy_config())
    note = lambda: returned.append(trainer.progress.updates)  # noqa: E731
    monkeypatch.setattr("nmt.training.step.return_memory", note)
    for _ in range(5):
        trainer.state.update([trainer.plan.largest()])
    assert returned == [2, 4]


def test_graphs_that_are_required_need_a_gpu(toy_config):
    with pytest.raises(UserError, match=r"training\.graphs"):
        make_trainer(toy_config(training={"graphs": "always"}))
