"""Handles Ctrl-C, SIGTERM and SIGHUP between two updates."""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any

#: Comes when a terminal is closed, often twice; Windows has none.
HANGUP = getattr(signal, "SIGHUP", None)
#: The signals that ask a process to stop.
STOPPING = (signal.SIGINT, signal.SIGTERM, *((HANGUP,) if HANGUP else ()))


class Interruption:
    """requested: whether the user or a scheduler has asked this process to stop."""

    def __init__(self) -> None:
        self.requested = False


@contextmanager
def catching_signals(at_second: Any) -> Iterator[Interruption]:
    """Record Ctrl-C, SIGTERM and SIGHUP within the context, instead of raising immediately.

    at_second: handler for a second signal of the same kind, except SIGHUP. Signals that the process
    ignores stay ignored: shell scripts start `nmt … &` with Ctrl-C ignored. Outside the main
    thread, where Python allows no handlers, nothing is caught.
    """
    interruption = Interruption()

    def stop(number: int, frame: FrameType | None) -> None:
        interruption.requested = True
        signal.signal(number, signal.SIG_IGN if number == HANGUP else at_second)

    if threading.current_thread() is not threading.main_thread():
        yield interruption
        return
    wanted = [number for number in STOPPING if signal.getsignal(number) != signal.SIG_IGN]
    before = {number: signal.signal(number, stop) for number in wanted}
    try:
        yield interruption
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
