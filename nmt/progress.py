"""Signs of life from work that cannot be counted; what can be has a bar of its own, by tqdm."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from tqdm import tqdm


@contextmanager
def elapsed(description: str, file: TextIO | None = None) -> Iterator[None]:
    """Show what is going on and for how long, once it has taken two seconds.

    `file` is standard error by default.
    """
    done = threading.Event()
    shown = "{desc}: {elapsed}"
    with tqdm(desc=description, bar_format=shown, delay=2, leave=False, file=file) as bar:

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
