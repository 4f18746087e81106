"""Lines for the user: escaped, at once, and never a reason to stop."""

import io

import pytest

from nmt.echo import echo


def test_messages_escape_control_characters(capsys):
    echo("continue with", "  nmt train --run 'a\x1b[2Jb\nc'")
    assert capsys.readouterr().out == "continue with\n  nmt train --run 'a\\x1b[2Jb\\nc'\n"


def test_nothing_to_say_prints_nothing(capsys):
    echo()
    assert capsys.readouterr().out == ""


def test_messages_reach_a_file_at_once(monkeypatch):
    file = io.BytesIO()
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(file, encoding="utf-8"))
    echo("trained")
    assert file.getvalue() == b"trained\n"


def test_a_result_that_cannot_be_printed_goes_to_standard_error(monkeypatch, capsys):
    class Gone(io.StringIO):
        def flush(self) -> None:
            raise BrokenPipeError

    monkeypatch.setattr("sys.stdout", Gone())
    echo("continue with nmt train --resume")
    assert capsys.readouterr().err == "continue with nmt train --resume\n"


@pytest.mark.parametrize("err", [False, True])
def test_a_full_disk_and_no_stream_at_all_stop_nothing(err, monkeypatch):
    class Full(io.StringIO):
        def write(self, text: str) -> int:
            raise OSError("no space left on device")

    for stream in (Full(), None):
        monkeypatch.setattr("sys.stdout", stream)
        monkeypatch.setattr("sys.stderr", stream)
        echo("trained", err=err)


def test_a_hint_goes_to_standard_error(capsys):
    echo("a hint", err=True)
    assert capsys.readouterr() == ("", "a hint\n")
