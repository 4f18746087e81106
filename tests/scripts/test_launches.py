"""Counts of the operations that the host launches."""

import sys
from collections import Counter
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "bench"))

from launches import cause, table


@pytest.mark.parametrize(
    ("operation", "row"),
    [
        ("aten.mm", "products"),
        ("aten._to_copy", "casts"),
        ("aten._foreach_norm", "optimizer"),
        ("aten.native_layer_norm_backward", "norms"),
        ("aten.mm_something_else", "other"),
        ("aten.add", "other"),
    ],
)
def test_operations_have_causes(operation: str, row: str) -> None:
    assert cause(operation) == row


def test_the_table_has_sums_and_ratios() -> None:
    found = {
        "nmt, eager": Counter({"products": 60, "other": 20}),
        "nmt, graphs": Counter({"other": 4}),
        "plain loop": Counter({"products": 100}),
    }
    lines = table("small", found)
    assert "| products | 60 | 0 | 100 |" in lines
    assert "| all | 80 | 4 | 100 |" in lines
    assert any("0.80 of the plain loop" in line for line in lines)
    assert any("0.05 of the eager" in line for line in lines)
