"""What counts as a name, number or address that stands in the translation."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts"))

from measure_carried import occurrences


@pytest.mark.parametrize(
    ("filler", "text", "count"),
    [
        ("7", "Er hat 7. (7)", 2),
        ("7", "https://example.org/shop?id=7 um 9:7, 1,7, 17, 7.5", 0),
        ("https://example.org", "https://example.org/shop?id=7 https://example.org.", 1),
        ("Zoë", "Zoës Zoëlein", 1),
        ("%s", "%s, bitte", 1),
    ],
)
def test_fillers_within_others_do_not_count(filler: str, text: str, count: int) -> None:
    assert occurrences(filler, text) == count
