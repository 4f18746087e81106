"""Curves of runs, read back from the picture."""

import re
from collections.abc import Callable
from pathlib import Path
from xml.etree import ElementTree

import pytest

from nmt.errors import UserError
from nmt.reports.training import draw_training
from nmt.runs.folder import RunFolder

MakeRun = Callable[..., RunFolder]


def texts(svg: Path) -> list[str]:
    elements = ElementTree.parse(svg).getroot().iter()
    return [element.text or "" for element in elements if element.tag.endswith("}text")]


def curves(svg: Path) -> int:
    """Count lines through three points."""
    paths = re.findall(r'<path d="([^"]*)" clip-path', svg.read_text())
    return sum(len(re.findall("[ML]", path)) == 3 for path in paths)


def test_a_run_has_four_curves_and_the_bleu_of_its_best_weights(
    make_run: MakeRun, tmp_path: Path
) -> None:
    draw_training([make_run("first")], tmp_path / "a.svg")
    assert curves(tmp_path / "a.svg") == 4
    assert {"first, BLEU 12.5", "learning rate"} <= set(texts(tmp_path / "a.svg"))


def test_several_runs_are_drawn_in_one_picture(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run("first"), make_run("_second $1")]
    draw_training(runs, tmp_path / "a.svg")
    assert curves(tmp_path / "a.svg") == 8
    assert {f"{name}, BLEU 12.5" for name in ("first", "_second $1")} <= set(
        texts(tmp_path / "a.svg")
    )


def test_runs_of_the_same_name_are_distinguished_by_their_paths(
    make_run: MakeRun, tmp_path: Path
) -> None:
    runs = [make_run("a/same"), make_run("b/same")]
    draw_training(runs, tmp_path / "a.svg")
    assert {f"{run.path}, BLEU 12.5" for run in runs} <= set(texts(tmp_path / "a.svg"))


def test_long_names_are_not_cut_off(
    make_run: MakeRun, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from matplotlib.figure import Figure

    columns: list[int] = []
    monkeypatch.setattr(
        Figure, "legend", lambda figure, *_, ncols, **options: columns.append(ncols)
    )
    for length in (1, 40, 200):
        draw_training([make_run(f"{n}{'x' * length}") for n in range(4)], tmp_path / "a.svg")
    assert columns == [4, 2, 1]


def test_more_runs_than_colours_are_refused(make_run: MakeRun, tmp_path: Path) -> None:
    runs = [make_run(f"run{number}") for number in range(8)]
    draw_training(runs[:7], tmp_path / "a.svg")
    with pytest.raises(UserError, match="at most 7 runs, not 8; give fewer"):
        draw_training(runs, tmp_path / "b.svg")


def test_a_run_without_validations_is_refused(make_run: MakeRun, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="young: no validation yet, so there is nothing to draw"):
        draw_training([make_run("young", validations=0)], tmp_path / "a.svg")
    assert not (tmp_path / "a.svg").exists()
