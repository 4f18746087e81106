"""Output files appear only when complete."""

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from nmt.errors import UserError
from nmt.files.output_files import replacing, require_file, temporary_folder

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def test_replacing_moves_the_complete_file_into_place() -> None:
    for text in ("old", "new"):
        with replacing(Path("a")) as partial:
            partial.write_text(text)
            assert not Path("a").exists() or Path("a").read_text() == "old"
        assert Path("a").read_text() == text
    assert [path.name for path in Path().iterdir()] == ["a"]


def write(text: str, **options: Any) -> None:
    with replacing(Path("a"), **options) as partial:
        partial.write_text(text)


def test_new_files_have_default_permissions_and_replaced_ones_keep_theirs() -> None:
    Path("plain").touch()
    with replacing(Path("a")) as partial:
        partial.chmod(0o600)
    assert Path("a").stat().st_mode == Path("plain").stat().st_mode
    Path("a").chmod(0o600)
    write("new")
    assert Path("a").stat().st_mode & 0o777 == 0o600


def test_a_write_protected_file_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("a").touch()
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path).name != "a")
    with pytest.raises(UserError, match="a: is read-only; choose another file"):
        require_file(Path("a"))


def test_a_write_protected_folder_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(UserError, match=f"a: the folder {Path().resolve()} is read-only"):
        require_file(Path("a"))


def test_a_file_is_on_the_disk_before_it_replaces_another(monkeypatch: pytest.MonkeyPatch) -> None:
    flushed: list[int] = []
    moved: list[int] = []
    move = Path.replace

    def recorded(self: Path, target: Path) -> Path:
        moved.append(self.stat().st_ino)
        assert moved == flushed
        return move(self, target)

    monkeypatch.setattr(os, "fsync", lambda number: flushed.append(os.fstat(number).st_ino))
    monkeypatch.setattr(Path, "replace", recorded)
    write("new")
    assert len(moved) == 1


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
        write(text, previous=Path("before"))
    assert (Path("a").read_text(), Path("before").read_text()) == ("three", "two")


def test_a_temporary_folder_is_deleted_at_the_end() -> None:
    with temporary_folder() as folder:
        (folder / "a").write_text("text")
    assert not folder.exists()
    with pytest.raises(FileNotFoundError), temporary_folder():  # which it does not concern
        Path("nowhere").read_text()


def test_a_full_disk_is_reported_with_the_temporary_folder(
    full_disk: Callable[[int], AbstractContextManager[None]],
) -> None:
    with (
        pytest.raises(UserError, match=r"be written \(.* free on its disk.*TMPDIR") as caught,
        temporary_folder() as folder,
        full_disk(10),
    ):
        (folder / "a").write_text("longer than allowed")
    assert str(caught.value).startswith(f"{folder}: ")
    assert not folder.exists()


def test_full_disks_without_room_for_a_temporary_folder_are_reported(
    full_disk: Callable[[int], AbstractContextManager[None]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", None)  # not chosen yet
    with (
        full_disk(0),
        pytest.raises(UserError, match=r"No usable temporary directory.*free some space, or set"),
        temporary_folder(),
    ):
        pass
