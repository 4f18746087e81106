"""A dry run's numbers: exact counts, and estimates derived from measurements."""

import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest

from nmt.config.training import TrainingConfig
from nmt.corpus.preparing.prepare import prepare
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.errors import UserError
from nmt.model.transformer import Transformer, count_parameters
from nmt.training.dry_run import (
    DryRun,
    _busy_seconds,
    _estimate,
    _speeds,
    _watching_others,
    _with_short_validation,
    dry_run,
)
from nmt.training.step import TrainingState
from nmt.training.validation import Measures, Validator

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_an_update_has_no_more_batches_than_an_epoch(toy_config):
    found = dry_run(toy_config(training={"accumulate": 10_000}))
    assert found.accumulate < 100
    assert found.updates == (2, 2)  # one in each epoch


def test_what_training_refuses_is_refused(toy_config, monkeypatch):
    monkeypatch.setattr("nmt.training.fill_datastore._LARGEST", 1)
    with pytest.raises(UserError, match=r"decoding\.knn_k"):
        dry_run(toy_config(decoding={"knn_k": 2}))


def test_performs_two_updates_on_the_largest_batch_and_some_on_others(toy_config, monkeypatch):
    config = toy_config(training={"accumulate": 3, "batch_tokens": 300})
    taken = []
    update = TrainingState.update

    def watched(self: TrainingState, batches: list) -> object:
        taken.append(batches)
        return update(self, batches)

    monkeypatch.setattr(TrainingState, "update", watched)
    validated = []
    measure = Validator.measure

    def watched_measure(self: Validator, model: Transformer) -> Measures:
        validated.append(model)
        return measure(self, model)

    monkeypatch.setattr(Validator, "measure", watched_measure)
    found = dry_run(config)
    assert len(validated) == 2  # validations count towards the memory
    assert {len(batches) for batches in taken[:-1]} == {3}
    batch = taken[0][0]
    assert taken[1] == taken[0]
    # Other sizes follow, to include their memory.
    assert len({each.source.shape for batches in taken for each in batches}) > 1
    assert found.batch == (*batch.source.shape, batch.target_in.shape[1])
    assert (found.device, found.accumulate, found.ends_early) == ("cpu", 3, False)
    assert found.tokens == 3 * batch.tokens
    assert found.updates[0] == found.updates[1] > 1
    assert 0 <= found.busy <= psutil.cpu_count()
    assert found.batch[0] * max(found.batch[1:]) <= 300
    tokenizers = prepare(config).tokenizers
    model = Transformer(config.model, tokenizers.source.size, tokenizers.target.size)
    assert found.parameters == count_parameters(model)
    assert found.peak_memory is not None
    assert 50 * 2**20 < found.peak_memory < 2**36  # PyTorch alone takes more than 50 MiB
    assert 0 < found.update_seconds < 60
    assert 0 < found.decode_seconds < 60


@pytest.mark.parametrize(("validate_pairs", "expected"), [(None, 1000), (200, 200), (5000, 1000)])
def test_at_most_1000_pairs_are_validated(validate_pairs, expected, toy_config):
    config = _with_short_validation(toy_config(training={"validate_pairs": validate_pairs}))
    assert config.training.validate_pairs == expected


def test_validation_limits_translations_to_the_length_of_their_sources(toy_config, monkeypatch):
    """An untrained model would decode up to the usual limit, which a trained one rarely reaches."""
    lengths = []
    search = PyTorchEngine.__call__

    def watched(self: PyTorchEngine, sources: Any, limits: Any, *rest: Any, **named: Any) -> Any:
        lengths.append([(len(ids), limit) for ids, limit in zip(sources, limits, strict=True)])
        return search(self, sources, limits, *rest, **named)

    monkeypatch.setattr(PyTorchEngine, "__call__", watched)
    dry_run(toy_config(decoding={"max_length_factor": 50, "max_length_extra": 50}))
    *validations, alone = filter(None, lengths)  # without empty searches
    pairs = [pair for sentences in validations for pair in sentences]
    assert len(pairs) == 2 * 16  # all validation pairs, twice
    assert all(limit <= length for length, limit in pairs)  # the length includes <eos>
    assert alone[0][1] > alone[0][0]


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        ({"epochs": 4}, "training.epochs"),
        ({"epochs": 400, "max_updates": 7}, "training.max_updates"),
    ],
)
def test_the_estimated_time_is_the_number_of_labels_divided_by_the_measured_speed(
    toy_config, limits, limit
):
    config = toy_config(training=limits)
    found = dry_run(config)
    target = prepare(config).sequences("train")[1]
    epoch = int((target.lengths + 1).sum())
    assert found.limit == limit
    if limit == "training.epochs":
        tokens = 4.0 * epoch
        assert found.updates[0] % 4 == 0
    else:
        tokens = 7 * epoch / (dry_run(toy_config(training={"epochs": 1})).updates[0])
        assert found.updates == (7, 7)
    slow, fast = found.speeds
    assert slow < fast
    expected = [tokens / fast, tokens / slow]
    assert [60 * minutes for minutes in found.minutes] == pytest.approx(expected)


def test_the_speed_is_that_of_the_two_halves_of_the_measured_updates(monkeypatch):
    seconds = iter([1.0, 2.0, 3.0, 4.0, 5.0])
    monkeypatch.setattr("nmt.training.dry_run._update_seconds", lambda *_: next(seconds))
    batches = [SimpleNamespace(tokens=100 * n) for n in range(1, 11)]  # two per update
    epoch = SimpleNamespace(batches=lambda: iter(batches))
    trainer = SimpleNamespace(
        plan=SimpleNamespace(epoch=lambda number: epoch), settings=SimpleNamespace(accumulate=2)
    )
    speeds = _speeds(trainer, 1)
    assert speeds == [2100 / 6, 3400 / 9]


@pytest.mark.parametrize(
    ("max_minutes", "expected"),
    [
        (2.0, (60, 2.0, "training.max_minutes")),
        (0.001, (1, 0.001, "training.max_minutes")),  # training performs at least one update
        (30.0, (600, 20.0, "training.epochs")),
    ],
)
def test_a_time_limit_limits_the_updates(max_minutes, expected):
    settings = TrainingConfig(max_minutes=max_minutes)
    trainer = SimpleNamespace(settings=settings, final_update=600, updates_in_epoch=60)
    # 100 labels per update
    assert _estimate(trainer, labels=6000, tokens_per_second=50) == expected


def test_no_run_is_left_behind_and_prepared_data_is_reused(toy_config):
    config = toy_config()
    dry_run(config)
    assert [path.name for path in Path().iterdir()] == ["data"]
    files = {path: path.stat().st_mtime_ns for path in Path("data").rglob("prepared.json")}
    dry_run(config)
    assert {path: path.stat().st_mtime_ns for path in files} == files


@pytest.mark.parametrize(
    ("minutes", "busy", "memory", "device", "parts"),
    [
        ((1.4, 1.5), 0.0, 3 * 2**20, "cpu", ["about 84 s to 90 s (", "3 MiB resident"]),
        ((50.0, 50.1), 1.25, None, "cpu", ["about 50 min (", "unknown on", "processes use 1.2 of"]),
        ((600.0, 900.0), 0.1, 2**30, "cuda", ["about 10.0 h to 15.0 h", "1,024 MiB of the GPU"]),
    ],
)
def test_values_are_shown_in_suitable_units(minutes, busy, memory, device, parts):
    found = DryRun(
        parameters=1234567,
        device=device,
        batch=(50, 20, 21),
        accumulate=2,
        tokens=2000,
        update_seconds=0.5,
        speeds=(3000.4, 4000),
        busy=busy,
        peak_memory=memory,
        decode_seconds=0.0123,
        updates=(1000, 1000),
        minutes=minutes,
        limit="training.epochs",
        ends_early=False,
    )
    shown = str(found)
    parts += ["1,234,567", "50 pairs × 20 source × 21 target", "3,000 to 4,000 tokens/s"]
    assert all(part in shown for part in [*parts, "2 times", "training.epochs"])
    assert ("busy" in shown) == (busy > 1)
    assert "1,000 updates" in shown.splitlines()[7]
    assert "earlier" not in shown
    assert "earlier" in str(replace(found, ends_early=True))
    assert "times" not in str(replace(found, accumulate=1))


def test_other_busy_processes_are_detected():
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as other:
        with _watching_others() as busy:
            time.sleep(0.5)
        other.kill()
    assert busy[0] > 0.3


def test_an_idle_machine_is_not_reported_as_busy(monkeypatch):
    times = psutil.cpu_times()
    monkeypatch.setattr(psutil, "cpu_times", lambda: times)
    with _watching_others() as busy:
        pass
    assert busy == [0.0]


def test_the_time_of_guests_is_counted_once():
    times = psutil.cpu_times()
    if not hasattr(times, "guest"):
        pytest.skip("only Linux reports the time of guests")
    more = times._replace(user=times.user + 3, guest=times.guest + 3, idle=times.idle + 5)
    assert _busy_seconds(more) - _busy_seconds(times) == pytest.approx(3)


def test_divergence_is_detected(toy_config):
    config = toy_config(training={"warmup_updates": 0})
    # Larger than the configuration allows, so that two updates are enough.
    rate = config.training.model_copy(update={"learning_rate": 1e30})
    wild = config.model_copy(update={"training": rate})
    with pytest.raises(UserError, match=r"diverged before update 2 .*lower training\.learning"):
        dry_run(wild)
