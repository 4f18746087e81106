"""Output files appear only when complete."""

import os
import time
from pathlib import Path

import pytest

from nmt.output_files import replacing

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_replacing_moves_the_complete_file_into_place() -> None:
    for text in ("old", "new"):
        with replacing(Path("a")) as partial:
            partial.write_text(text)
            assert not Path("a").exists() or Path("a").read_text() == "old"
        assert Path("a").read_text() == text
    assert [path.name for path in Path().iterdir()] == ["a"]


def test_replaced_files_have_default_permissions() -> None:
    Path("plain").touch()
    with replacing(Path("a")) as partial:
        partial.chmod(0o600)
    assert Path("a").stat().st_mode == Path("plain").stat().st_mode


@pytest.mark.parametrize("old", ["old", None])
def test_an_error_while_replacing_keeps_the_old_file(old: str | None) -> None:
    if old:
        Path("a").write_text(old)

    def fail() -> None:
        with replacing(Path("a")) as partial:
            partial.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [path.read_text() for path in Path().iterdir()] == ([old] if old else [])


def test_leftovers_of_killed_processes_are_deleted_but_not_files_in_use() -> None:
    remains, at_work = Path(".a.1.partial"), Path(".a.2.partial")
    for path in (remains, at_work):
        path.write_text("half")
    two_days_ago = time.time() - 2 * 24 * 60 * 60
    os.utime(remains, (two_days_ago, two_days_ago))
    with replacing(Path("a")) as partial:
        partial.write_text("new")
        assert partial not in (remains, at_work)
    assert sorted(path.name for path in Path().iterdir()) == [at_work.name, "a"]
    assert Path("a").read_text() == "new"


def test_the_replaced_file_can_be_kept() -> None:
    for text in ("one", "two", "three"):
        with replacing(Path("a"), previous=Path("before")) as partial:
            partial.write_text(text)
    assert (Path("a").read_text(), Path("before").read_text()) == ("three", "two")
