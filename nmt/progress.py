"""Progress display: bars, lines beside them, and work without a known number of steps."""

import re
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import islice
from typing import Any, TextIO, TypeVar

from tqdm import tqdm

from nmt.errors import escape_terminal

T = TypeVar("T")
_SECONDS = 30  # between the lines in a file
_DELAY = 2  # seconds before a bar appears
_COUNTED = "{desc}: {percentage:3.0f}%|{bar}| {n:,}/{total:,} {unit} [{elapsed}<{remaining}]"
_UNCOUNTED = "{desc}: {n:,} {unit} [{elapsed}]"
_CONTROLS = re.compile(r"\x1b\[A|[\r\n]")  # to the line above, to the start, to the next line


class Bar(tqdm):  # type: ignore[type-arg]
    """tqdm's progress bar, which appears after two seconds unless another delay is given.

    In a file, which cannot be redrawn, it is a line every 30 seconds.
    """

    def __init__(self, *values: Any, **named: Any):
        named.setdefault("delay", _DELAY)
        file = named.get("file") or sys.stderr
        if _can_be_redrawn(file):
            super().__init__(*values, **named)
            return
        named |= {"file": _Lines(file), "mininterval": _SECONDS, "miniters": 0}
        named["smoothing"] = 0  # the mean rate; a moving average expects equal intervals
        super().__init__(*values, **named)
        if (delay := named.get("delay")) and not self.disable:  # print the first line after it
            self.last_print_t -= _SECONDS - delay

    def display(self, *values: Any, **named: Any) -> bool:  # type: ignore[override]
        """Draw the bar, but not before its delay, not even when text is printed above it."""
        if self.delay and (start := getattr(self, "start_t", 0)):
            if self._time() < start + self.delay:  # type: ignore[attr-defined]
                return False
            self.last_print_t = max(self.last_print_t, start + self.delay)  # so `close` erases it
        return bool(super().display(*values, **named))

    @staticmethod
    def status_printer(file: Any) -> Callable[[str], None]:
        """Return tqdm's function that draws a bar; it does nothing if the terminal was closed."""
        try:
            return tqdm.status_printer(file)
        except OSError:
            return lambda text: None


def _can_be_redrawn(file: Any) -> bool:
    """Return whether the file is a terminal or the output of a notebook."""
    if any(kind.__module__ == "ipykernel.iostream" for kind in type(file).__mro__):
        return True
    try:
        return bool(file.isatty())
    except (AttributeError, ValueError):  # None, or closed; tqdm copes
        return True


class _Lines:
    """Passes on what tqdm writes, without the characters that move the cursor.

    Ignores a full disk, which must not stop training.
    """

    def __init__(self, file: TextIO):
        self._file, self.encoding = file, getattr(file, "encoding", None)  # tqdm asks

    def write(self, text: str) -> None:
        if line := _CONTROLS.sub("", text).strip():
            with suppress(OSError):
                self._file.write(f"{line}\n")

    def flush(self) -> None:
        with suppress(OSError):
            self._file.flush()


def with_progress(items: Iterable[T], description: str, total: int | None = None) -> Iterable[T]:
    """Iterate over items with a progress bar, which appears after two seconds."""
    return Bar(items, desc=escape_terminal(description), total=total, unit="", unit_scale=True)


def in_chunks(items: Iterable[T], size: int, description: str) -> Iterator[list[T]]:
    """Yield lists of up to `size` items, with a progress bar that moves once per list.

    With millions of items, a bar that counts each of them takes seconds.
    """
    remaining = iter(items)
    with Bar(desc=escape_terminal(description), unit="", unit_scale=True) as bar:
        while chunk := list(islice(remaining, size)):
            yield chunk
            bar.update(len(chunk))


def in_bursts(
    items: Iterable[T], description: str, total: int | None, leave: bool = True, unit: str = "lines"
) -> Iterator[T]:
    """Iterate over items that come in bursts, with a progress bar after two seconds.

    It counts each item at once, and shows that work goes on while the next one takes long.
    """
    with bursts(description, total, leave=leave, unit=unit) as bar:
        for item in items:
            bar.n += 1
            yield item


@contextmanager
def bursts(
    description: str, total: int | None, done: int = 0, leave: bool = True, unit: str = "lines"
) -> Iterator[Bar]:
    """Show a progress bar as `in_bursts` does, whose `n` counts the items; None: any number.

    done: items done before; unit: what is counted
    """
    bar = Bar(
        desc=escape_terminal(description),
        total=total,
        initial=done,
        unit=unit,
        bar_format=_COUNTED if total else _UNCOUNTED,
        leave=leave,
        smoothing=0,
    )
    with bar, _redrawn(bar):
        yield bar


@contextmanager
def _redrawn(bar: Bar) -> Iterator[None]:
    """Redraw a bar every second within the context, or in a file, every 30 seconds."""
    if bar.disable:
        yield
        return
    done = threading.Event()

    def show() -> None:
        due = time.monotonic() + (bar.delay or 0)
        while not done.wait(1):
            if time.monotonic() >= due:
                bar.refresh()
                due = time.monotonic() + bar.mininterval

    thread = threading.Thread(target=show, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


@contextmanager
def elapsed(description: str, file: TextIO | None = None) -> Iterator[None]:
    """Show what is being done and the elapsed time, after two seconds.

    `file` is standard error by default.
    """
    form = "{desc}: {elapsed}"
    bar = Bar(desc=escape_terminal(description), bar_format=form, leave=False, file=file)
    with bar, _redrawn(bar):
        yield
