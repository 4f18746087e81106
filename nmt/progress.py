"""Progress display: lines beside a progress bar, and work without a known number of steps."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import TextIO, TypeVar

from tqdm import tqdm

from nmt.errors import shown

T = TypeVar("T")


def announce(*lines: str) -> None:
    """Print lines for the user, above any progress bar; they may contain names of files."""
    for line in lines:
        tqdm.write(shown(line))


def with_progress(items: Iterable[T], description: str, total: int | None = None) -> Iterable[T]:
    """Iterate over items with a progress bar, which appears after two seconds."""
    return tqdm(items, desc=shown(description), total=total, unit="", unit_scale=True, delay=2)


@contextmanager
def elapsed(description: str, file: TextIO | None = None) -> Iterator[None]:
    """Show what is being done and the elapsed time, after two seconds.

    `file` is standard error by default.
    """
    done = threading.Event()
    form = "{desc}: {elapsed}"
    with tqdm(desc=shown(description), bar_format=form, delay=2, leave=False, file=file) as bar:

        def show() -> None:
            while not done.wait(1):
                bar.update()

        thread = threading.Thread(target=show, daemon=True)
        thread.start()
        try:
            yield
        finally:
            done.set()
            thread.join()
