"""The fixture `make_run`, for fake runs, and the text of pictures."""

from pathlib import Path
from xml.etree import ElementTree

from tests.fake_runs import make_run

__all__ = ["make_run", "texts"]


def texts(svg: Path) -> list[str]:
    """Return the text elements of a picture."""
    elements = ElementTree.parse(svg).getroot().iter()
    return [element.text or "" for element in elements if element.tag.endswith("}text")]
