"""What all pictures share: drawn without a screen, in colours that everybody can tell apart."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError, install_extra
from nmt.run_folder import RunFolder, replacing, require_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito (2008), https://jfly.uni-koeln.de/color: told apart with any colour vision.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
FORMATS = (".png", ".svg")

_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 10,
    "text.parse_math": False,  # a dollar in a sentence is a dollar
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "svg.fonttype": "none",  # text stays text
    "svg.hashsalt": "nmt",  # the same picture, the same file
    "savefig.dpi": 120,
}


def picture_path(output: Path | None, folder: Path, name: str) -> Path:
    """Return where a picture goes: `output`, or `folder`/NAME.png without one.

    Raises `UserError`, before any work is done, when nothing could be drawn there.
    """
    if find_spec("matplotlib") is None:
        raise UserError(
            f"pictures need matplotlib, which is not installed: {install_extra('plot')}"
        )
    path = output or folder / f"{name}.png"
    if path.suffix.lower() not in FORMATS:
        raise UserError(f"{path}: a picture's name ends in {' or '.join(FORMATS)}")
    if not folder.exists() and not output:
        folder.mkdir()
    require_file(path)
    return path


def pictures_of(run: RunFolder) -> Path:
    """Return the folder of a run's pictures."""
    return run.path / "pictures"


@contextmanager
def picture(path: Path, width: float, height: float) -> Iterator["Figure"]:
    """Yield an empty figure of so many inches; write it to `path` when the block ends well."""
    import matplotlib.style
    from matplotlib.figure import Figure

    # The canvas that a figure without a window gets writes files only: no screen is asked for.
    with matplotlib.style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # a box stands in for it
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        ending = path.suffix.lower().removeprefix(".")
        metadata = {"Date": None} if ending == "svg" else {"Software": None}
        with replacing(path.resolve()) as partial:
            figure.savefig(partial, format=ending, metadata=metadata)
