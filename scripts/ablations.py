"""Train variants of a configuration, one change each, and rank them by validation scores.

    python scripts/ablations.py scripts/ablations/base.yaml --folder ../ablations

The YAML file gives a configuration, the fields that all variants set, those that each variant sets,
the seeds, and options of `nmt evaluate`. Every seed of a variant is a run in the folder. If called
again, finished runs are kept and an interrupted one continues. Prints a Markdown table, best first,
of the scores' means and ranges. The test set is never used.
"""

import argparse
import json
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from nmt.runs.folder import RunFolder

NMT = [sys.executable, "-m", "nmt"]
METRICS = ("bleu", "chrf")


@dataclass(frozen=True)
class Variant:
    """One row: its name, what it changes, and its runs, one per seed."""

    name: str
    changes: list[str]
    runs: dict[int, RunFolder]

    def train(self, config: str, common: list[str]) -> None:
        """Train or resume its runs, until the configuration's limits."""
        for seed, run in self.runs.items():
            if run.checkpoint.exists():  # if complete, this only adds a missing datastore
                subprocess.run([*NMT, "train", "--resume", "--run", run.path], check=True)
                continue
            changes = [*common, *self.changes, f"training.seed={seed}"]
            fields = [word for change in changes for word in ("--set", change)]
            command = [*NMT, "train", "--config", config, "--run", str(run.path), *fields]
            subprocess.run(command, check=True)

    def scores(self, options: list[str]) -> dict[str, list[float]]:
        """Return the validation scores of each seed, with the run's own beam."""
        found = []
        for run in self.runs.values():
            command = [*NMT, "evaluate", "--run", str(run.path), "--split", "validation", "--json"]
            output = subprocess.run([*command, *options], check=True, stdout=subprocess.PIPE).stdout
            found.append(json.loads(output))
        return {metric: [each[metric] for each in found] for metric in METRICS}

    def updates(self) -> int:
        """Return the number of updates of its longest run."""
        return max(run.read_metrics()[-1]["update"] for run in self.runs.values())


def _row(variant: Variant, scores: dict[str, list[float]]) -> str:
    changes = ", ".join(f"`{change}`" for change in variant.changes) or "–"
    cells = [variant.name, changes, f"{variant.updates():,}"]
    for values in scores.values():
        cells.append(f"{statistics.mean(values):.2f} ({min(values):.2f}–{max(values):.2f})")
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("variants", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    arguments = parser.parse_args()
    tree: dict[str, Any] = yaml.safe_load(arguments.variants.read_text(encoding="utf-8"))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    scored = []
    for name, changes in tree["variants"].items():
        place = arguments.folder / name.replace(" ", "-")
        runs = {seed: RunFolder(place.with_name(f"{place.name}-{seed}")) for seed in tree["seeds"]}
        variant = Variant(name, changes or [], runs)
        variant.train(tree["config"], [*tree.get("common", []), *arguments.set])
        scored.append((variant, variant.scores(tree.get("evaluate", []))))
    scored.sort(key=lambda pair: -statistics.mean(pair[1]["bleu"]))
    print("| variant | changes | updates | BLEU | chrF |\n| --- | --- | --- | --- | --- |")
    for variant, scores in scored:
        print(_row(variant, scores))


if __name__ == "__main__":
    main()
