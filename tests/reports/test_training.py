"""Curves of runs, read back from the picture."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.errors import UserError
from nmt.reports.training import draw_training
from nmt.runs.folder import RunFolder

from .conftest import texts

MakeRun = Callable[..., RunFolder]


def curves(svg: Path) -> int:
    """Count lines through three points."""
    paths = re.findall(r'<path d="([^"]*)" clip-path', svg.read_text())
    return sum(len(re.findall("[ML]", path)) == 3 for path in paths)


@pytest.mark.parametrize("names", [["first"], ["first", "_second $1"], ["a/same", "b/same"]])
def test_each_run_has_four_curves_and_the_bleu_of_its_best_weights(
    make_run: MakeRun, tmp_path: Path, names: list[str]
) -> None:
    runs = [make_run(name) for name in names]
    draw_training(runs, tmp_path / "a.svg")
    assert curves(tmp_path / "a.svg") == 4 * len(runs)
    # Runs of the same name are distinguished by their paths.
    shown = [str(run.path) if "/" in name else name for run, name in zip(runs, names, strict=True)]
    assert {"learning rate", *(f"{name}, BLEU 12.5" for name in shown)} <= set(
        texts(tmp_path / "a.svg")
    )


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


def test_more_runs_than_colours_and_those_without_validations_are_refused(
    make_run: MakeRun, tmp_path: Path
) -> None:
    runs = [make_run(f"run{number}") for number in range(8)]
    draw_training(runs[:7], tmp_path / "a.svg")
    for refused, named in ((runs, "7 runs"), ([make_run("young", validations=0)], "young")):
        with pytest.raises(UserError, match=named):
            draw_training(refused, tmp_path / "b.svg")
    assert not (tmp_path / "b.svg").exists()
