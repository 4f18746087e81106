"""Progress display; the tests of preparation and tokenizers check that it appears."""

import io

import pytest

from nmt.progress import announce, elapsed


def test_no_progress_is_shown_for_quick_work() -> None:
    shown = io.StringIO()
    with elapsed("thinking", shown):
        pass
    assert shown.getvalue() == ""


def test_messages_escape_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    announce("continue with", "  nmt train --run 'a\x1b[2Jb\nc'")
    assert capsys.readouterr().out == "continue with\n  nmt train --run 'a\\x1b[2Jb\\nc'\n"


def test_announcing_nothing_prints_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    announce()
    assert capsys.readouterr().out == ""
