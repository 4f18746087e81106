"""Counts of the operations that the host launches."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "scripts" / "bench"))

from launches import CAUSES, ratios
from measuring import by_kind, kinds_table


@pytest.mark.parametrize(
    ("operation", "cause"),
    [
        ("aten.mm", "products"),
        ("aten._to_copy", "casts"),
        ("aten._foreach_norm", "optimizer"),
        ("aten.native_layer_norm_backward", "norms"),
        ("aten.mm_something_else", "other"),
        ("aten.add", "other"),
    ],
)
def test_operations_have_causes(operation: str, cause: str) -> None:
    counts = by_kind([(operation, 3)], CAUSES)
    assert {kind: count for kind, count in counts.items() if count} == {cause: 3, "total": 3}


def test_the_table_has_sums() -> None:
    found = {
        "eager": by_kind([("aten.mm", 1000), ("aten.bmm", 600), ("aten.add", 20)], CAUSES),
        "graphs": by_kind([("aten.add", 4)], CAUSES),
    }
    table = kinds_table("small", found)
    assert table.startswith("| small | eager | graphs |\n")
    assert "| products | 1,600 | 0 |" in table
    assert table.endswith("| total | 1,620 | 4 |")


def test_ratios_above_their_bounds_are_reported(capsys: pytest.CaptureFixture[str]) -> None:
    found = {"plain loop": {"total": 100.0}, "nmt, eager": {"total": 81.0}}
    assert ratios({**found, "nmt, graphs": {"total": 4.0}}) == {"nmt, eager"}
    assert capsys.readouterr().out == (
        "nmt, eager / plain loop: 0.81, at most 0.8: missed\n"
        "nmt, graphs / nmt, eager: 0.05, at most 0.2\n"
    )
