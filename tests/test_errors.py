"""Error messages: full disks, and untrusted text."""

import errno
import os
from pathlib import Path

import pytest

from nmt.errors import UserError, escape_terminal, writing


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)),
        OSError("I/O error: No space left on device (os error 28)"),  # safetensors'
        OSError("6914 requested and 5120 written"),  # numpy's
    ],
)
def test_a_full_disk_is_reported_with_file_free_space_and_remedy(tmp_path, error):
    path = tmp_path / "not made yet" / "file"
    with pytest.raises(UserError, match=r"MB free on its disk\); free some space") as caught:
        _write(path, error)
    assert str(caught.value).startswith(f"{path}: cannot be written (")


def test_other_write_errors_do_not_mention_a_full_disk(tmp_path):
    with pytest.raises(UserError, match=r"\(Permission denied\); check its folder's permissions"):
        _write(tmp_path, OSError(errno.EACCES, os.strerror(errno.EACCES)))


def test_messages_escape_control_characters_and_truncate_long_text():
    assert escape_terminal("a\x1b[2J\x85b\udcff „c“") == r"a\x1b[2J\x85b\udcff „c“"
    assert len(escape_terminal("x" * 5000)) < 400
    assert len(escape_terminal("x y " * 5000)) < 4000
    assert escape_terminal("déjà\xa0vu\u3000e\u0301") == "déjà\xa0vu\u3000e\u0301"


def _write(path: Path, error: OSError) -> None:
    with writing(path):
        raise error
