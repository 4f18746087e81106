"""Pictures have the format of their file extension, are complete, and are reproducible."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.reports.figures import picture, picture_path

STARTS = {".png": b"\x89PNG\r\n\x1a\n", ".svg": b"<?xml", ".PNG": b"\x89PNG\r\n\x1a\n"}


def draw(path: Path) -> None:
    with picture(path, 3, 2) as figure:
        figure.subplots().plot([1, 2, 4], label="$1")


@pytest.mark.parametrize("ending", STARTS)
def test_the_extension_determines_the_format_and_equal_pictures_give_identical_files(
    tmp_path: Path, ending: str
) -> None:
    one, other = tmp_path / f"a{ending}", tmp_path / f"b{ending}"
    draw(one)
    assert [file.name for file in tmp_path.iterdir()] == [one.name]
    draw(other)
    assert one.read_bytes().startswith(STARTS[ending])
    assert one.read_bytes() == other.read_bytes()


def test_a_failed_picture_keeps_the_old_file(tmp_path: Path) -> None:
    path = tmp_path / "a.png"
    path.write_text("old")
    with pytest.raises(UserError, match="too much"), picture(path, 3, 2):
        raise UserError("too much")
    assert path.read_text() == "old"


def test_no_display_is_needed(tmp_path: Path) -> None:
    code = (
        "import sys\nfrom pathlib import Path\nfrom nmt.reports.figures import picture\n"
        "with picture(Path('a.png'), 3, 2) as figure: figure.subplots()\n"
        "print({'matplotlib.pyplot', 'tkinter', 'torch'} & set(sys.modules))"
    )
    environment = {"PYTHONPATH": ":".join(sys.path), "MPLBACKEND": "tkagg", "HOME": str(tmp_path)}
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environment, capture_output=True, check=True
    )
    assert done.stdout.strip() == b"set()"


def test_without_an_output_the_picture_is_saved_in_the_folder(tmp_path: Path) -> None:
    assert picture_path(None, tmp_path / "new", "a") == tmp_path / "new" / "a.png"
    assert not (tmp_path / "new").exists()  # until there is a picture
    with picture(tmp_path / "new" / "a.svg", 1, 1):
        pass
    assert (tmp_path / "new" / "a.svg").exists()
    assert picture_path(tmp_path / "b.svg", tmp_path / "other", "a") == tmp_path / "b.svg"
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize("name", ["a.jpg", "a", "no/a.png", "folder.png"])
def test_invalid_outputs_are_refused_before_any_work(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.png").mkdir()
    with pytest.raises(UserError, match=f"{tmp_path / name}|{tmp_path / 'no'}; create"):
        picture_path(tmp_path / name, tmp_path, "a")


def test_without_matplotlib_its_extra_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    find = importlib.util.find_spec
    monkeypatch.setattr(
        "nmt.reports.figures.find_spec", lambda name: None if name == "matplotlib" else find(name)
    )
    with pytest.raises(UserError, match=r"pip install .nmt-trainer\[plot\]"):
        picture_path(tmp_path / "a.png", tmp_path, "a")
