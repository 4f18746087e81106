"""Locates the files that ship with the package: configs and the built-in corpora.

A wheel carries them inside this folder; a source checkout has them at its top level.
"""

from pathlib import Path

_HERE = Path(__file__).resolve().parent
_CHECKOUT = _HERE.parent.parent
_IN_WHEEL = (_HERE / "configs").is_dir()

SHIPPED_CONFIGS = _HERE / "configs" if _IN_WHEEL else _CHECKOUT / "configs"
EVERYDAY_CORPUS = _HERE / "everyday" if _IN_WHEEL else _CHECKOUT / "data" / "everyday"
SAMPLE_CORPUS = _HERE / "sample" if _IN_WHEEL else _CHECKOUT / "data" / "sample"
