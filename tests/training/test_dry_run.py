"""A dry run's numbers: counted where they can be, and estimates that follow from the measured."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config import Config
from nmt.corpus.prepare import prepare
from nmt.errors import UserError
from nmt.model.transformer import Transformer, count_parameters
from nmt.training.dry_run import DryRun, dry_run
from nmt.training.state import TrainingState

MakeConfig = Callable[..., Config]


@pytest.fixture(autouse=True)
def _in_empty_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_takes_two_updates_on_the_largest_batch_and_some_on_others(
    toy_config: MakeConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = toy_config(training={"accumulate": 3, "batch_tokens": 300})
    taken = []
    update = TrainingState.update

    def watched(self: TrainingState, batches: list) -> object:  # type: ignore[type-arg]
        taken.append(batches)
        return update(self, batches)

    monkeypatch.setattr(TrainingState, "update", watched)
    found = dry_run(config)
    assert {len(batches) for batches in taken[:-1]} == {3}
    batch = taken[0][0]
    assert taken[1] == taken[0]
    # And some of other sizes, for the memory that they take.
    assert len({each.source.shape for batches in taken for each in batches}) > 1
    assert found.batch == (*batch.source.shape, batch.target_in.shape[1])
    assert found.tokens == 3 * batch.tokens
    assert found.batch[0] * max(found.batch[1:]) <= 300
    tokenizers = prepare(config).tokenizers
    model = Transformer(config.model, tokenizers.source.size, tokenizers.target.size)
    assert found.parameters == count_parameters(model)
    assert found.peak_memory is not None
    assert 50 * 2**20 < found.peak_memory < 2**36  # PyTorch alone takes more than the first
    assert found.decode_seconds > 0


@pytest.mark.parametrize(
    ("limits", "limit"),
    [
        ({"epochs": 4}, "training.epochs"),
        ({"epochs": 400, "max_updates": 7}, "training.max_updates"),
    ],
)
def test_the_estimate_is_the_labels_of_all_updates_at_the_measured_speed(
    toy_config: MakeConfig, limits: dict[str, object], limit: str
) -> None:
    config = toy_config(training=limits)
    found = dry_run(config)
    target = prepare(config).sequences("train")[1]
    epoch = int((target.lengths + 1).sum())
    assert found.limit == limit
    if limit == "training.epochs":
        tokens = 4.0 * epoch
        assert found.updates % 4 == 0
    else:
        tokens = 7 * epoch / (dry_run(toy_config(training={"epochs": 1})).updates)
        assert found.updates == 7
    assert 60 * found.minutes == pytest.approx(tokens / found.tokens_per_second)


def test_a_limit_in_minutes_bounds_the_updates(toy_config: MakeConfig) -> None:
    found = dry_run(toy_config(training={"epochs": 10**8, "max_minutes": 0.5}))
    assert (found.minutes, found.limit) == (0.5, "training.max_minutes")
    at_least = 0.5 * 60 / found.update_seconds
    assert found.updates == pytest.approx(at_least, rel=0.5)  # other batches are smaller


def test_no_run_is_left_behind_and_prepared_data_is_reused(toy_config: MakeConfig) -> None:
    config = toy_config()
    dry_run(config)
    assert [path.name for path in Path().iterdir()] == ["data"]
    files = {path: path.stat().st_mtime_ns for path in Path("data").rglob("prepared.json")}
    dry_run(config)
    assert {path: path.stat().st_mtime_ns for path in files} == files


@pytest.mark.parametrize(
    ("minutes", "memory", "device", "parts"),
    [
        (1.5, 3 * 2**20, "cpu", ["about 90 s", "3 MiB resident"]),
        (50.0, None, "cpu", ["about 50 min", "unknown on this system"]),
        (600.0, 2**30, "cuda", ["about 10.0 h", "1,024 MiB of the GPU"]),
    ],
)
def test_prints_units_that_fit(
    minutes: float, memory: int | None, device: str, parts: list[str]
) -> None:
    found = DryRun(
        parameters=1234567,
        device=device,
        batch=(50, 20, 21),
        accumulate=2,
        tokens=2000,
        update_seconds=0.5,
        peak_memory=memory,
        decode_seconds=0.0123,
        updates=1000,
        minutes=minutes,
        limit="training.epochs",
        ends_early=False,
    )
    shown = str(found)
    expected = ["1,234,567", "50 pairs × 20 source × 21 target", "2 times", "4,000 tokens/s"]
    assert all(part in shown for part in [*expected, *parts])


def test_a_rate_that_explodes_is_found(toy_config: MakeConfig) -> None:
    config = toy_config(training={"warmup_updates": 0})
    # Beyond what the configuration allows, so that two updates are enough.
    rate = config.training.model_copy(update={"learning_rate": 1e30})
    wild = config.model_copy(update={"training": rate})
    with pytest.raises(UserError, match=r"diverged before update 2 .*lower training\.learning"):
        dry_run(wild)
