"""The report of a preparation: what was read, dropped, split and covered."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def length_summary(lengths: NDArray[np.int64]) -> dict[str, float]:
    """Summarise sentence lengths in pieces."""
    if not len(lengths):
        return {"mean": 0.0, "median": 0, "p95": 0, "longest": 0}
    return {
        "mean": round(float(lengths.mean()), 2),
        "median": int(np.median(lengths)),
        "p95": int(np.percentile(lengths, 95)),
        "longest": int(lengths.max()),
    }


def format_report(report: dict[str, Any]) -> str:
    """Return the report as text for people."""
    dropped = ", ".join(f"{why} {count:,}" for why, count in report["dropped"].items()) or "none"
    pairs = ", ".join(f"{split} {count:,}" for split, count in report["pairs"].items())
    lines = [f"pairs read       {report['read']:,}", f"dropped          {dropped}"]
    lines.append(f"pairs kept       {pairs}")
    if report["hidden_names"]:
        lines.append(f"hidden names     in {report['hidden_names']:,} pairs of train")
    for side in ("source", "target"):
        lengths = report["lengths"][side]
        lines.append(
            f"{side} pieces    mean {lengths['mean']}, 95% ≤ {lengths['p95']}, "
            f"longest {lengths['longest']}"
        )
    sizes = report["vocabulary_size"]
    lines.append(f"vocabulary       source {sizes['source']:,}, target {sizes['target']:,}")
    for split, coverage in report["coverage"].items():
        shares = ", ".join(f"{side} {share:.2%}" for side, share in coverage.items())
        lines.append(f"{split} covered ".ljust(17) + shares)
    for split, overlap in report["source_in_train"].items():
        lines.append(f"{split} overlap ".ljust(17) + f"{overlap:,} pairs' source is in train too")
    return "\n".join(lines)
