"""The base of all pictures: drawn without a display, in colour-blind-safe colours."""

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from nmt.errors import UserError, missing_extra
from nmt.files.output_files import replacing, require_file

if TYPE_CHECKING:
    from matplotlib.figure import Figure

# Okabe and Ito (2008), https://jfly.uni-koeln.de/color: distinguishable with any colour vision.
COLOURS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"]
FORMATS = (".png", ".svg")

_STYLE = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 10,
    "text.parse_math": False,  # no maths: sentences may contain dollars
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "axes.axisbelow": True,
    "grid.alpha": 0.3,
    "svg.fonttype": "none",  # keep text as text
    "svg.hashsalt": "nmt",  # reproducible files
    "savefig.dpi": 120,
}


def picture_path(output: Path | None, folder: Path, name: str) -> Path:
    """Return where a picture goes: `output`, or `folder`/NAME.png without one.

    Raises `UserError` if nothing can be written there, before any work is done.
    """
    if find_spec("matplotlib") is None:
        raise missing_extra("drawing pictures", "plot")
    path = output or folder / f"{name}.png"
    if path.suffix.lower() not in FORMATS:
        raise UserError(f"{path}: unknown picture format; use {' or '.join(FORMATS)}")
    # `picture` creates the folder, so that a command that fails leaves none.
    require_file(path if output or folder.exists() else folder.parent / path.name)
    return path


@contextmanager
def picture(path: Path, width: float, height: float) -> Iterator["Figure"]:
    """Yield an empty figure of this size in inches; write it to `path` if the block succeeds."""
    import matplotlib.style
    from matplotlib.figure import Figure

    # A figure without a window gets a canvas that only writes files and needs no display.
    with matplotlib.style.context(["default", _STYLE]), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing")  # it is drawn as a box
        figure = Figure(figsize=(width, height), layout="constrained")
        yield figure
        extension = path.suffix.lower().removeprefix(".")
        metadata = {"Date": None} if extension == "svg" else {"Software": None}
        path.parent.mkdir(exist_ok=True)
        with replacing(path.resolve()) as partial:
            figure.savefig(partial, format=extension, metadata=metadata)
