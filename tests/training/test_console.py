"""Console output of training."""

import re
from types import SimpleNamespace

import pytest

from nmt.config.data import DataConfig
from nmt.config.training import TrainingConfig
from nmt.runs.folder import Validation
from nmt.special_tokens import TAGS
from nmt.training.checkpoint import Progress
from nmt.training.console import _REPORT_MINUTES, ProgressBar, duration, show_validation


@pytest.mark.parametrize(
    ("minutes", "expected"),
    [
        *((0.5, "30 s"), (1.9, "114 s"), (2, "2 min"), (119, "119 min")),
        *((120, "2.0 h"), (6000, "100.0 h")),
    ],
)
def test_durations_are_shown_in_a_suitable_unit(minutes, expected):
    assert duration(minutes) == expected


def progress_bar(progress: Progress, final_update: int, **settings: object) -> ProgressBar:
    return ProgressBar(TrainingConfig(**settings), progress, final_update)


def advance(bar: ProgressBar, progress: Progress, **fields: float) -> None:
    """Set fields of the progress, and draw the bar."""
    for name, value in fields.items():
        setattr(progress, name, value)
    bar.advance(progress)
    bar._bar.refresh()


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """The time that the bar sees."""
    clock = SimpleNamespace(now=1000.0)
    monkeypatch.setattr("tqdm.std.time", lambda: clock.now)
    return clock


def test_with_a_time_limit_progress_is_shown_in_minutes_up_to_the_limit(capsys):
    progress, shown = Progress(), []
    with progress_bar(progress, 100_000, max_minutes=5) as bar:
        for minutes in (1.0, 1.1, 3.0, 5.5):  # the machine is busy for a while
            progress.updates += 10
            progress.minutes = minutes
            bar.advance(progress)
            bar.report(progress, epoch=1, loss=2.5)
            bar._bar.refresh()
            shown.append(capsys.readouterr().err)
    assert all("/5 min" in each for each in shown)
    assert "20%" in shown[0]
    assert "1.0/5 min" in shown[0]
    assert "5.0/5 min" in shown[-1]
    assert "update 40" in shown[-1]


def test_the_bar_shows_the_limit_that_is_reached_first(capsys):
    progress = Progress(updates=80, minutes=0.6)  # training was resumed
    with progress_bar(progress, 100, max_minutes=30) as bar:
        assert re.search(r"80%\|\S+ +\| 80/100 updates, 0.6 min", capsys.readouterr().err)
        advance(bar, progress, minutes=27)
        assert re.search(r"90%\|\S+ +\| 27.0/30 min", capsys.readouterr().err)


def test_with_a_time_limit_a_log_file_gets_a_line_every_half_minute(clock, capsys):
    progress = Progress()
    with progress_bar(progress, 100_000, max_minutes=5) as bar:
        for second in range(1, 100):
            clock.now += 1
            progress.updates, progress.minutes = second, second / 60
            bar.advance(progress)
    written = capsys.readouterr().err.splitlines()
    shown = [line.rpartition("| ")[2] for line in written]
    assert shown[:4] == ["0.0/5 min", "0.5/5 min", "1.0/5 min", "1.5/5 min"]


def test_without_a_time_limit_updates_are_counted(capsys):
    progress = Progress(updates=7)  # training was resumed
    with progress_bar(progress, 100) as bar:
        for updates in (8, 9, 10):
            advance(bar, progress, updates=updates)
    shown = capsys.readouterr().err
    assert "training:" in shown
    assert "10/100 " in shown


@pytest.mark.parametrize(("seconds", "rate"), [(0.5, "2.00 updates/s"), (2, "2.00s/update]")])
def test_a_slow_rate_is_shown_per_update(seconds, rate, clock, capsys):
    progress = Progress()
    with progress_bar(progress, 100) as bar:
        clock.now += seconds
        advance(bar, progress, updates=1)
    assert rate in capsys.readouterr().err


def test_the_speed_is_that_of_the_last_half_minute_without_validations(capsys):
    progress = Progress(tokens=5000)  # training was resumed
    with progress_bar(progress, 100) as bar:
        for seconds, tokens in [(60, 60_000), (15, 30_000), (20, 40_000)]:
            progress.minutes += seconds / 60
            progress.tokens += tokens
            bar.report(progress, epoch=2, loss=2.5)
            bar._bar.refresh()
        progress.minutes += 10  # a validation
        bar.exclude(10)
        bar.report(progress, epoch=2, loss=2.25)
        bar._bar.refresh()
    shown = capsys.readouterr().err
    speeds = ["2.500, 1,000 tokens/s", "2.500, 1,200 tokens/s", "2.250, 2,000 tokens/s"]
    assert [speed for speed in speeds if f"epoch 2, loss {speed}" in shown] == speeds


def test_the_remaining_time_leaves_validations_out(capsys):
    progress = Progress()
    with progress_bar(progress, 240) as bar:
        for _ in range(2):
            progress.updates += 60
            progress.minutes += 0.5
            bar.advance(progress)
            progress.minutes += 10  # a validation
            bar.exclude(10)
            bar.report(progress, epoch=1, loss=2.5)
            bar._bar.refresh()
    assert "<01:00,  2.00 updates/s" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, "in 9 min"),
        ({"max_minutes": 12}, "in 4 min"),
        ({"patience": 3}, "in 9 min, or earlier"),
    ],
)
def test_the_remaining_time_follows_from_the_speed_so_far(settings, expected, capsys):
    progress = Progress(updates=100, minutes=7.0)  # training was resumed
    with progress_bar(progress, 120, **settings) as bar:
        advance(bar, progress, updates=101, minutes=7.1)
        assert not capsys.readouterr().out  # too early for an estimate
        advance(bar, progress, updates=102, minutes=8.0)
        assert f"training will finish {expected}\n" in capsys.readouterr().out
        advance(bar, progress, updates=104, minutes=9.0)
    assert not capsys.readouterr().out  # told once


def test_a_slow_run_is_told_its_hours_and_a_finished_one_nothing(capsys):
    progress = Progress()
    with progress_bar(progress, 3) as bar:
        progress.updates, progress.minutes = 1, 150.0
        bar.print_time_left(progress)
        assert "training will finish in 5.0 h\n" in capsys.readouterr().out
        progress.updates = 3
        bar.print_time_left(progress)
    assert not capsys.readouterr().out


def test_the_estimate_follows_the_latest_speed_and_includes_validations(capsys):
    progress = Progress()
    with progress_bar(progress, 50) as bar:
        for _ in range(10):  # one update a minute, then two
            progress.minutes += 1
            progress.updates += 1
            bar.report(progress, epoch=1, loss=2.5)
        progress.minutes += 20
        bar.exclude(20)  # as long as the training will have taken
        for _ in range(20):
            progress.minutes += 0.5
            progress.updates += 1
            bar.report(progress, epoch=1, loss=2.5)
        bar.print_time_left(progress)  # 20 updates at two a minute, and as much for validations
    assert "training will finish in 20 min\n" in capsys.readouterr().out


def test_the_bar_follows_the_number_of_updates():
    progress = Progress()
    with progress_bar(progress, 3) as bar:
        bar.expect(4)
        for progress.updates in range(1, 5):
            bar.advance(progress)
        assert (bar._bar.n, bar._bar.total) == (4, 4)


def test_a_report_is_due_a_while_after_the_last_one():
    progress = Progress(minutes=7.0)  # training was resumed
    with progress_bar(progress, 100) as bar:
        assert not bar.wants_report(progress)
        progress.minutes += _REPORT_MINUTES + 1e-6
        assert bar.wants_report(progress)
        bar.report(progress, epoch=1, loss=2.5)
        assert not bar.wants_report(progress)


@pytest.mark.parametrize(("best", "ending"), [(True, "BLEU 12.35 (best)"), (False, "BLEU 12.35")])
def test_a_validation_is_shown_with_its_samples_but_without_their_tags(best, ending, capsys):
    data = DataConfig(corpora=({"source": "sample", "tag": "everyday"},))
    line: Validation = {
        "update": 1000,
        "epoch": 2,
        "minutes": 3.14,
        "train_loss": 2.0,
        "train_accuracy": 0.5,
        "loss": 1.5,
        "perplexity": 4.4817,
        "accuracy": 0.625,
        "bleu": 12.345678,
        "samples": [
            {"source": f"{TAGS[0]} hi", "reference": "hallo", "translation": "na"},
            {"source": "hi", "reference": "hallo", "translation": "hallo"},
        ],
    }
    show_validation(line, best, data)
    assert capsys.readouterr().out == (
        "update 1,000, epoch 2, 3.1 min: training loss 2.000, accuracy 50.0%; validation loss "
        f"1.500, perplexity 4.48, accuracy 62.5%, {ending}\n  hi  →  na\n  hi  →  hallo\n"
    )
