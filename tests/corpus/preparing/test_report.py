"""The report of `nmt prepare`, as numbers and as text."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from nmt.corpus.prepared import read_report
from nmt.corpus.preparing.report import format_report, length_summary


def test_lengths_are_summarised() -> None:
    lengths = np.arange(1, 101)
    assert length_summary(lengths) == {"mean": 50.5, "median": 50, "p95": 95, "longest": 100}
    assert length_summary(np.array([1, 1, 2])) == {
        "mean": 1.33,
        "median": 1,
        "p95": 1,
        "longest": 2,
    }


def test_all_lengths_are_zero_without_sentences() -> None:
    nothing = length_summary(np.empty(0, np.int64))
    assert nothing == {"mean": 0.0, "median": 0, "p95": 0, "longest": 0}


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


def test_placeholders_are_reported_if_there_are_any() -> None:
    lines = format_report(report(with_placeholders=2345)).split("\n")
    assert lines[3] == "placeholders     in 2,345 training pairs"


def test_the_report_says_if_no_pairs_were_dropped() -> None:
    assert format_report(report(dropped={})).split("\n")[1] == "dropped          none"


def test_reports_of_earlier_versions_are_read(tmp_path: Path) -> None:
    former = report(hidden_names=7)
    del former["with_placeholders"]
    (tmp_path / "report.json").write_text(json.dumps(former))
    assert read_report(tmp_path) == report(with_placeholders=7)
