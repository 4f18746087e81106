import math
from dataclasses import replace

import pytest
import torch

from nmt.config.model import ModelConfig
from nmt.config.training import TrainingConfig
from nmt.model.transformer import Transformer
from nmt.training import loss as module
from nmt.training.batches import Batch
from nmt.training.loss import BatchLoss, batch_loss, score_batch


@pytest.fixture(params=[False, True], ids=["without-bias", "with-bias"])
def model(request: pytest.FixtureRequest) -> Transformer:
    torch.manual_seed(0)
    sizes = {"d_model": 8, "heads": 2, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1}
    model = Transformer(ModelConfig(**sizes, dropout=0, output_bias=request.param), 11, 11)
    if request.param:
        torch.nn.init.normal_(model.output.bias)
    return model


BATCH = Batch.from_ids([[5, 6, 7], [8]], [[9, 10], [4, 5, 6, 7]])


def literal_loss(model: Transformer, smoothing: float) -> float:
    """Σ over labels of -(1 - ε) log p(label) - ε / V Σ_v log p(v)."""
    logs = model(BATCH.source, BATCH.target_in).log_softmax(-1)
    total = 0.0
    for row, labels in enumerate([[9, 10, 3], [4, 5, 6, 7, 3]]):
        for position, label in enumerate(labels):
            p = logs[row, position]
            total -= (1 - smoothing) * p[label].item() + smoothing * p.mean().item()
    return total


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_the_loss_equals_the_equation_over_tokens_without_padding(model, smoothing):
    loss, reported = batch_loss(model, BATCH, smoothing)
    assert loss.item() == pytest.approx(literal_loss(model, smoothing), rel=1e-5)
    assert reported[0].item() == pytest.approx(literal_loss(model, 0.0), rel=1e-5)
    assert loss.requires_grad
    assert not reported.requires_grad


def test_training_counts_the_same_correct_predictions_as_validation(model):
    predicted = model(BATCH.source, BATCH.target_in).argmax(-1)
    labels = torch.cat([predicted[:1], BATCH.target_out[1:]])
    batch = replace(BATCH, target_out=labels)
    _, (_, correct) = batch_loss(model, batch, 0.1)
    assert int(correct) == score_batch(model.eval(), batch).correct >= 3


def test_the_gradient_equals_that_of_pytorchs_smoothed_cross_entropy(model):
    batch_loss(model, BATCH, 0.1)[0].backward()
    ours = [parameter.grad for parameter in model.parameters()]
    model.zero_grad()
    logits = model(BATCH.source, BATCH.target_in).transpose(1, 2)
    torch.nn.functional.cross_entropy(
        logits, BATCH.target_out, reduction="sum", label_smoothing=0.1, ignore_index=0
    ).backward()
    for gradient, parameter in zip(ours, model.parameters(), strict=True):
        torch.testing.assert_close(gradient, parameter.grad)


def test_r_drop_changes_nothing_without_dropout(model):
    found = []
    for r_drop in (0.0, 1.0):
        model.zero_grad()
        loss, plain = batch_loss(model, BATCH, 0.1, r_drop)
        loss.backward()
        found.append([loss.detach(), plain, *(parameter.grad for parameter in model.parameters())])
    for one, other in zip(*found, strict=True):
        torch.testing.assert_close(one, other)


def test_r_drop_adds_the_weighted_divergence_of_two_passes():
    torch.manual_seed(0)
    sizes = {"d_model": 8, "heads": 2, "d_ff": 16, "encoder_layers": 1, "decoder_layers": 1}
    model = Transformer(ModelConfig(**sizes, dropout=0.5), 11, 11)
    losses = []
    for r_drop in (1e-9, 1.0, 2.0):
        torch.manual_seed(1)  # the same dropout
        losses.append(batch_loss(model, BATCH, 0.1, r_drop)[0].item())
    none, once, twice = losses
    assert once > none + 0.1
    assert twice - none == pytest.approx(2 * (once - none), rel=1e-4)


def test_padding_does_not_contribute_to_the_loss(model):
    short = Batch.from_ids([[5, 6, 7]], [[9, 10]])
    long = Batch.from_ids([[8]], [[4, 5, 6, 7]])
    apart = batch_loss(model, short, 0.1)[0] + batch_loss(model, long, 0.1)[0]
    assert batch_loss(model, BATCH, 0.1)[0].item() == pytest.approx(apart.item(), rel=1e-5)


def test_without_labels_loss_and_gradient_are_zero(model):
    loss, plain = batch_loss(model, BATCH.without_labels(), 0.1)
    loss.backward()
    assert (loss.item(), plain.tolist()) == (0, [0, 0])
    for parameter in model.parameters():
        assert parameter.grad is not None
        assert not parameter.grad.any()


def test_scores_count_correct_predictions(model):
    guesses = model(BATCH.source, BATCH.target_in).argmax(-1)
    labels = BATCH.target_out
    right = int(((guesses == labels) & (labels != 0)).sum())
    scores = score_batch(model, BATCH)
    assert (scores.correct, scores.tokens) == (right, 8)
    assert scores.loss == pytest.approx(literal_loss(model, 0.0), rel=1e-5)
    assert math.isfinite(scores.loss)


def test_scoring_in_chunks_does_not_change_the_scores(model, monkeypatch):
    whole = score_batch(model, BATCH)
    monkeypatch.setattr(module, "_LOGITS_AT_A_TIME", 3 * 11)  # three rows
    scores = score_batch(model, BATCH)
    assert (scores.correct, scores.tokens) == (whole.correct, whole.tokens)
    assert scores.loss == pytest.approx(whole.loss, rel=1e-6)


def test_the_loss_uses_the_configured_smoothing_and_r_drop(model):
    settings = TrainingConfig(label_smoothing=0.3, r_drop=2.0, precision="float32")
    model.train()
    for layer in model.encoder_layers():
        layer.feed_forward_residual.dropout.rate = 0.5
    found = []
    for compute in (
        BatchLoss(model, settings, torch.device("cpu")),
        lambda batch: batch_loss(model, batch, 0.3, 2.0),
        lambda batch: batch_loss(model, batch, 0.0, 2.0),
        lambda batch: batch_loss(model, batch, 0.3, 0.0),
    ):
        torch.manual_seed(1)
        found.append(compute(BATCH)[0].item())
    assert found[0] == found[1]
    assert len(set(found)) == 3
