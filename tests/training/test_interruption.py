"""Signals to stop during training: recorded once, and left alone where they are ignored."""

import os
import signal
from collections.abc import Iterator

import pytest

from nmt.training.interruption import catching_signals

ALL = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]


@pytest.fixture(autouse=True)
def _handlers() -> Iterator[None]:
    """Restore the handlers of these signals after each test; nohup, for example, ignores some."""
    before = {number: signal.signal(number, signal.SIG_DFL) for number in ALL}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("number", ALL)
def test_the_first_signal_is_recorded_and_the_second_stops_at_once(number):
    before = signal.getsignal(number)
    with catching_signals(signal.default_int_handler) as interruption:
        assert not interruption.requested
        os.kill(os.getpid(), number)
        assert interruption.requested
        if number == signal.SIGHUP:  # a closed terminal often sends two
            os.kill(os.getpid(), number)
        else:
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), number)
    assert signal.getsignal(number) == before


@pytest.mark.parametrize("number", ALL)
def test_a_signal_that_is_ignored_stays_ignored(number):
    signal.signal(number, signal.SIG_IGN)  # as a shell script does for Ctrl-C in `nmt train … &`
    with catching_signals(signal.default_int_handler) as interruption:
        os.kill(os.getpid(), number)
        assert not interruption.requested
    assert signal.getsignal(number) == signal.SIG_IGN
