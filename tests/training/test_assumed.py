"""Estimates for a GPU that is not in this machine."""

import math
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch

from nmt.config.config import Config
from nmt.config.yaml_files import load_config
from nmt.corpus.preparing.prepare import prepare
from nmt.errors import UserError
from nmt.ops import compiled, cross_entropy
from nmt.training.assumed import (
    CARDS,
    AssumedRun,
    Card,
    Count,
    assumed_run,
    count_update,
    find_card,
)
from nmt.training.batches import Batch


def test_estimated_memory_and_operations_agree_with_the_formulas() -> None:
    config = load_config("wmt-base.yaml", ["data.path=x"])
    size, length, pairs = 34_001, 32, 781  # 25,000 tokens per side
    rows = [[5] * (length - 1)] * pairs
    batch = Batch.from_ids(rows, rows)
    count = count_update(config, (size, size), batch, CARDS["H100 80GB"], torch.bfloat16)
    # A forward pass takes two operations per weight and token, a backward pass twice as many.
    d, inner = config.model.d_model, config.model.d_ff
    layers = 6 * (12 * d * d + 4 * d * inner)  # two self-attentions, one cross-attention
    weights = layers + size * d
    assert count.operations == pytest.approx(3 * 2 * weights * batch.tokens, rel=0.05)
    parameters = layers + size * d
    assert count.peak > 4 * 4 * parameters  # weights, gradients, two moments
    assert count.peak < 9e9  # with the logits of the whole batch it would be 17 GB
    assert count.traffic > 20 * 4 * parameters


def test_operations_traffic_and_launches_are_added_up() -> None:
    card = Card(memory=1, bandwidth=1e3, float32=1e6, float16=24.0, bfloat16=0)
    left, right = torch.ones(2, 3), torch.ones(3, 4)
    with Count(card) as count:
        left @ right  # two operations for each of 2 × 3 × 4 products
        torch.empty(100).view(10, 10)  # launches no kernel
    assert (count.operations, count.traffic, count.launches) == (48, 4 * (6 + 12 + 8), 1)
    assert count.seconds == pytest.approx(0.104)  # limited by memory
    with count:
        left.half() @ right.half()
    assert count.operations == 2 * 48
    assert count.launches == 1 + 3  # two conversions and a product
    converted = (4 + 2) * (6 + 12)
    assert count.traffic == 104 + converted + 2 * (6 + 12 + 8)
    assert count.seconds == pytest.approx(0.104 + converted / 1e3 + 2)  # limited by arithmetic


def test_memory_is_counted_until_it_is_freed() -> None:
    weights = torch.ones(100)
    count = Count(CARDS["T4 16GB"])
    count.hold(weights)
    count.hold(weights.view(10, 10))  # the same memory
    assert count.peak == 400
    with count:
        for _ in range(3):
            weights + 1
        assert count.peak == 800
        kept = [weights + 1 for _ in range(3)]
    assert count.peak == 400 * (1 + len(kept))


@pytest.mark.usefixtures("in_empty_folder")
def test_the_estimate_depends_on_the_card(
    toy_config: Callable[..., Config],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(compiled, "_REASONS", [])
    cross_entropy._fused_on_cuda.cache_clear()
    config = toy_config(training={"average_decay": 0.9, "clip_norm": 1.0, "compile": True})
    found = {name: assumed_run(config, name) for name in ("T4 16GB", "H100 80GB")}
    assert found["T4 16GB"].precision == "float16"
    assert found["H100 80GB"].precision == "bfloat16"
    assert found["T4 16GB"].seconds > 5 * found["H100 80GB"].seconds
    assert found["H100 80GB"].fits
    shown = str(found["H100 80GB"])
    assert "limited by the host" in shown
    assert shown.count("estimate: ") == 2
    assert not caplog.messages  # no warning about a missing compiler
    doubled = assumed_run(toy_config(training={"accumulate": 2}), "H100 80GB")
    assert doubled.tokens == 2 * found["H100 80GB"].tokens
    epochs, updates = config.training.epochs, found["H100 80GB"].updates
    assert doubled.updates == epochs * math.ceil(updates / epochs / 2)


@pytest.mark.usefixtures("in_empty_folder")
def test_a_requested_precision_replaces_the_cards_own(toy_config: Callable[..., Config]) -> None:
    fast, exact = (
        assumed_run(toy_config(training={"precision": precision}), "H100 80GB")
        for precision in ("auto", "float32")
    )
    assert (fast.precision, exact.precision) == ("bfloat16", "float32")
    assert exact.seconds > fast.seconds
    labels = fast.updates * fast.tokens_per_update
    target = prepare(toy_config()).sequences("train")[1]
    assert labels == 2 * (target.lengths + 1).sum()  # in two epochs


def test_the_estimate_is_shown_in_suitable_units() -> None:
    run = AssumedRun(
        card="X",
        memory=40e9,
        precision="float32",
        batch=(1000, 20, 21),
        tokens=20_000,
        operations=3_210_000_000_000,
        traffic=45_600_000_000,
        launches=1000,
        peak_memory=7_890_000_000,
        seconds=0.1,
        updates=36_000,
        tokens_per_update=10_000.0,
    )
    assert str(run) == (
        "device           X (assumed); matrix products in float32\n"
        "largest batch    1,000 pairs × 20 source × 21 target tokens\n"
        "one update       20,000 tokens, 3.21 TFLOP, 45.6 GB of memory traffic, 1,000 launches\n"
        "peak memory      7.9 GB of 40: fits\n"
        "speed            estimate: at most 200,000 tokens/s, limited by the GPU "
        "(100 ms GPU, 8 ms host)\n"
        "whole run        estimate: 36,000 updates, at least 30 min, excluding validation"
    )
    slow = str(replace(run, seconds=12.0, traffic=4_560_000_000_000))
    assert "20,000 tokens, 3.21 TFLOP, 4,560 GB of memory" in slow
    assert "(12,000 ms GPU, 8 ms host)" in slow
    assert "at least 60.0 h" in slow


def test_a_time_limit_ends_the_estimated_run() -> None:
    run = AssumedRun("X", 1e9, "float32", (1, 1, 1), 20_000, 1, 1, 1, 1, 0.1, 36_000, 1e4)
    assert "whole run        estimate: 36,000 updates, at least 30 min" in str(run)
    assert "36,000 updates, at least 30 min" in str(replace(run, max_minutes=30.0))
    assert "at most 12,000 updates, until training.max_minutes" in str(
        replace(run, max_minutes=10.0)
    )


@pytest.mark.usefixtures("in_empty_folder")
def test_what_training_refuses_is_refused(toy_config: Callable[..., Config]) -> None:
    with pytest.raises(UserError, match=r"model.max_length: every training pair is longer"):
        assumed_run(toy_config(model={"max_length": 4}), "T4 16GB")


@pytest.mark.usefixtures("in_empty_folder")
def test_a_missing_package_is_reported_as_in_training(
    toy_config: Callable[..., Config], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.training.tensorboard.find_spec", lambda name: None)
    with pytest.raises(UserError, match="tensorboard"):
        assumed_run(toy_config(training={"tensorboard": True}), "T4 16GB")


@pytest.mark.parametrize(("d_key", "d_value"), [(16, 8), (8, 16)])
def test_keys_and_values_may_have_different_widths(
    toy_config: Callable[..., Config], d_key: int, d_value: int
) -> None:
    batch = Batch.from_ids([[5] * 7] * 10, [[5] * 7] * 10)
    config = toy_config(model={"d_key": d_key, "d_value": d_value})
    half, full = (
        count_update(config, (120, 120), batch, CARDS["T4 16GB"], dtype)
        for dtype in (torch.float16, torch.float32)
    )
    assert half.operations == full.operations


def test_a_batch_that_fits_leaves_room_for_the_driver() -> None:
    full = AssumedRun(
        "X", 10_000_000_000, "float32", (1, 1, 1), 1, 1, 1, 1, 9_200_000_000, 1.0, 1, 1.0
    )
    assert full.fits
    assert "GB of 10: fits" in str(full)
    over = replace(full, peak_memory=9_200_000_001)
    assert not over.fits
    assert "does not fit: use smaller batches" in str(over)


@pytest.mark.parametrize(
    "settings",
    [
        {"training": {"optimizer": "nadam"}},
        {
            "training": {"initial_weights": "nowhere/best.safetensors"},
            "tokenizer": {"run": "nowhere"},
        },
    ],
)
def test_nadam_and_fine_tuning_can_be_estimated(
    toy_config: Callable[..., Config], settings: dict[str, dict[str, str]]
) -> None:
    rows = [[5] * 7] * 10
    batch = Batch.from_ids(rows, rows)
    found, plain = (
        count_update(toy_config(**each), (120, 120), batch, CARDS["T4 16GB"], torch.float16)
        for each in (settings, {})
    )
    assert found.operations == plain.operations


def test_an_unknown_card_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UserError, match=r"--assume GTX: unknown card; .*H100 80GB"):
        find_card("GTX")
