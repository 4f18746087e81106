"""Locates the files that ship with the package: configs and the sample corpus.

A wheel carries them inside this folder; a source checkout has them at its top level.
"""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
_CHECKOUT = _HERE.parent.parent
_IN_WHEEL = (_HERE / "configs").is_dir()

SHIPPED_CONFIGS = _HERE / "configs" if _IN_WHEEL else _CHECKOUT / "configs"
SAMPLE_CORPUS = _HERE / "sample" if _IN_WHEEL else _CHECKOUT / "data" / "sample"
