"""Progress display; the tests of preparation and tokenizers check that it appears."""

import errno
import io
import re
import sys
import time
from collections.abc import Iterator

import pytest

from nmt.progress import Bar, elapsed, in_bursts, in_chunks, with_progress


class Terminal(io.StringIO):
    """A stream that can be redrawn."""

    def isatty(self) -> bool:
        """Pretend to be a terminal."""
        return True


def write_progress(file: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what is written for 95 steps of a second, with other work during the 50th."""
    now = 1000.0
    monkeypatch.setattr("tqdm.std.time", lambda: now)
    with Bar(desc="reading", total=100, file=file, delay=0) as bar:
        for second in range(1, 96):
            now += 1
            bar.update()
            if second == 50:
                with Bar(desc="checking", total=3, file=file, delay=0, leave=False) as inner:
                    inner.update()
    return file.getvalue()


def test_in_a_file_progress_is_a_line_now_and_then(monkeypatch):
    written = write_progress(io.StringIO(), monkeypatch)
    assert re.findall(r"(\w+): +(\d+)%.*\n", written) == [
        *(("reading", "0"), ("reading", "30"), ("checking", "0")),
        *(("reading", "60"), ("reading", "90"), ("reading", "95")),
    ]
    assert len(written.splitlines()) == 6
    assert not set("\r\x1b") & set(written)


def test_in_a_file_the_first_line_appears_after_the_delay(monkeypatch):
    now, file = 1000.0, io.StringIO()
    monkeypatch.setattr("tqdm.std.time", lambda: now)
    with Bar(
        desc="waiting", bar_format="{desc}: {elapsed}", file=file, delay=2, leave=False
    ) as bar:
        for _ in range(40):
            now += 1
            bar.update()
    assert file.getvalue() == "waiting: 00:02\nwaiting: 00:32\n"


@pytest.mark.parametrize("delay", [0, 2])
@pytest.mark.parametrize("kind", [io.StringIO, Terminal])
def test_progress_can_be_switched_off(kind, delay):
    file = kind()
    assert list(Bar(range(3), file=file, disable=True, delay=delay)) == [0, 1, 2]
    assert file.getvalue() == ""


def test_in_a_file_the_rate_is_the_mean(monkeypatch):
    now, file = 1000.0, io.StringIO()
    monkeypatch.setattr("tqdm.std.time", lambda: now)
    with Bar(total=100, file=file, delay=2, unit="x") as bar:
        for _ in range(40):
            now += 1
            bar.update(2)
    assert re.findall(r", +(\S+)x/s", file.getvalue()) == ["2.00"] * 3


def test_a_closed_stream_and_none_at_all_are_left_to_tqdm(monkeypatch):
    closed = io.StringIO()
    closed.close()
    for stream in (None, closed):
        monkeypatch.setattr("sys.stderr", stream)
        assert list(Bar(range(3), delay=60)) == [0, 1, 2]


def test_on_a_terminal_progress_is_redrawn(monkeypatch):
    written = write_progress(Terminal(), monkeypatch)
    assert written.count("\rreading") > 90


def test_in_a_notebook_progress_is_redrawn(monkeypatch):
    kind = type("OutStream", (io.StringIO,), {"__module__": "ipykernel.iostream"})
    written = write_progress(kind(), monkeypatch)
    assert written.count("\rreading") > 90


def test_items_in_chunks_are_counted_by_chunk(monkeypatch):
    file = Terminal()
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setattr("nmt.progress._DELAY", 0)
    assert list(in_chunks(iter(range(7)), 3, "reading")) == [[0, 1, 2], [3, 4, 5], [6]]
    assert file.getvalue().rpartition("\r")[2].startswith("reading: 7.00 ")


def test_items_in_bursts_are_counted_at_once(monkeypatch):
    """The bar also appears, and moves, while the next burst takes long."""
    file = Terminal()
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setattr("nmt.progress._DELAY", 0.1)

    def items() -> Iterator[int]:
        for start in (0, 10, 20):
            until, wanted = time.monotonic() + 30, f" {start}/30 "
            while wanted not in file.getvalue() and time.monotonic() < until:
                time.sleep(0.1)
            assert wanted in file.getvalue()
            yield from range(start, start + 10)

    assert list(in_bursts(items(), "working", 30)) == list(range(30))
    assert file.getvalue().rpartition("\r")[2].startswith("working: 100%")


def test_in_a_file_items_in_bursts_take_a_line_every_30_seconds(monkeypatch):
    file = io.StringIO()
    monkeypatch.setattr("sys.stderr", file)
    monkeypatch.setattr("nmt.progress._DELAY", 0.1)

    def items() -> Iterator[int]:
        for start in (0, 10, 20):
            time.sleep(1.8)
            yield from range(start, start + 10)

    assert len(list(in_bursts(items(), "working", 30))) == 30
    first, last = file.getvalue().splitlines()
    assert " 0/30 " in first
    assert " 30/30 " in last


def test_a_closed_terminal_is_not_an_error():
    class Closed(Terminal):
        def flush(self) -> None:
            raise OSError(errno.EIO, "Input/output error")

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "stderr", Closed())
        assert list(with_progress(range(3), "working")) == [0, 1, 2]


def test_no_progress_is_shown_for_quick_work():
    shown = io.StringIO()
    with elapsed("thinking", shown):
        pass
    assert shown.getvalue() == ""


def test_a_full_disk_does_not_stop_what_shows_progress():
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("no space left on device")

    for _ in Bar(range(3), file=Full()):
        pass


@pytest.mark.parametrize(("seconds", "shown"), [(1, False), (3, True)])
def test_text_printed_above_a_bar_does_not_draw_it_too_early(seconds, shown, monkeypatch):
    now = 1000.0
    monkeypatch.setattr("tqdm.std.time", lambda: now)
    terminal = Terminal()
    with Bar(desc="writing", total=9, file=terminal, delay=2, leave=False):
        now += seconds
        Bar.write("line 3: truncated", file=terminal)
        assert ("writing" in terminal.getvalue()) == shown
    assert terminal.getvalue().endswith("\r") == shown  # cleared
