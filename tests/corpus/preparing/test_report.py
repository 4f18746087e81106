"""The report of `nmt prepare`, as numbers and as text."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.corpus.prepared import read_report
from nmt.corpus.preparing.report import format_report, length_summary


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [(range(1, 101), (50.5, 50, 95, 100)), ([1, 1, 2], (1.33, 1, 1, 2)), ([], (0.0, 0, 0, 0))],
)
def test_lengths_are_summarised(lengths: Iterable[int], expected: tuple[float, ...]) -> None:
    found = length_summary(np.array([*lengths], np.int64))
    assert found == dict(zip(("mean", "median", "p95", "longest"), expected, strict=True))


def report(**changes: Any) -> dict[str, Any]:
    lengths = {"mean": 6.5, "median": 6, "p95": 11, "longest": 20}
    return {
        "read": 12000,
        "dropped": {"duplicate": 1500, "too long": 3},
        "pairs": {"train": 9000, "validation": 500, "test": 1000},
        "with_placeholders": 0,
        "lengths": {"source": lengths, "target": {**lengths, "mean": 7.25}},
        "vocabulary_size": {"source": 2000, "target": 1800},
        "coverage": {
            "validation": {"source": 1.0, "target": 0.98765},
            "test": {"source": 0.5, "target": 1.0},
        },
        "source_in_train": {"validation": 0, "test": 1322},
        **changes,
    }


def test_the_report_is_formatted_as_text() -> None:
    assert format_report(report()).split("\n") == [
        "pairs read       12,000",
        "dropped          duplicate 1,500, too long 3",
        "pairs kept       train 9,000, validation 500, test 1,000",
        "source tokens    mean 6.5, 95% ≤ 11, longest 20",
        "target tokens    mean 7.25, 95% ≤ 11, longest 20",
        "vocabulary       source 2,000, target 1,800",
        "validation covered source 100.00%, target 98.77%",
        "test covered     source 50.00%, target 100.00%",
        "validation overlap 0 sources also occur in train",
        "test overlap     1,322 sources also occur in train",
    ]


def test_placeholders_and_dropped_pairs_are_reported() -> None:
    lines = format_report(report(with_placeholders=2345)).split("\n")
    assert lines[3] == "placeholders     in 2,345 training pairs"
    assert format_report(report(dropped={})).split("\n")[1] == "dropped          none"


def test_reports_of_earlier_versions_are_read(tmp_path: Path) -> None:
    former = report(hidden_names=7)
    del former["with_placeholders"]
    (tmp_path / "report.json").write_text(json.dumps(former))
    assert read_report(tmp_path) == report(with_placeholders=7)
