"""Train variants of a configuration, one change each, and rank them by validation score.

    python scripts/ablations.py scripts/ablations.yaml --folder ../ablations \
        --set data.path=multi30k

The YAML file gives a configuration, the fields that all variants change, and those that each
variant changes. Every variant is a run in the folder. If called again, finished runs are kept and
an interrupted one continues. Prints a Markdown table, best first. The test set is never used.
"""

import argparse
import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import torch
import yaml

from nmt.run_folder import RunFolder

NMT = [sys.executable, "-m", "nmt"]


@dataclass(frozen=True)
class Variant:
    """One row: its name, what it changes, and where it is trained."""

    name: str
    changes: list[str]
    run: RunFolder

    def train(self, config: str, common: list[str]) -> None:
        """Train it, or resume its training, until the configuration's limits."""
        if self.run.checkpoint.exists():
            if not _finished(self.run.checkpoint):
                subprocess.run([*NMT, "train", "--resume", "--run", self.run.path], check=True)
            return
        fields = [word for change in [*common, *self.changes] for word in ("--set", change)]
        command = [*NMT, "train", "--config", config, "--run", str(self.run.path), *fields]
        subprocess.run(command, check=True)

    def score(self) -> float:
        """Return validation BLEU, in lower case with Moses tokenization; uses the run's beam."""
        options = ["--split", "validation", "--lowercase", "--tokenize", "moses", "--json"]
        command = [*NMT, "evaluate", "--run", str(self.run.path), *options]
        found = json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout)
        return float(found["bleu"])

    def row(self) -> str:
        """Return its row of the table."""
        last = self.run.read_metrics()[-1]
        changes = ", ".join(f"`{change}`" for change in self.changes) or "–"
        return f"| {self.name} | {changes} | {last['update']:,} | {self.score():.2f} |"


def _finished(checkpoint: Path) -> bool:
    progress = torch.load(checkpoint, map_location="cpu", weights_only=True)["progress"]
    return bool(progress["finished"])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("variants", type=Path)
    parser.add_argument("--folder", type=Path, required=True, help="where the runs are kept")
    parser.add_argument("--set", action="append", default=[], metavar="FIELD=VALUE")
    arguments = parser.parse_args()
    tree = yaml.safe_load(arguments.variants.read_text(encoding="utf-8"))
    arguments.folder.mkdir(parents=True, exist_ok=True)
    variants = [
        Variant(name, changes or [], RunFolder(arguments.folder / name))
        for name, changes in tree["variants"].items()
    ]
    for variant in variants:
        variant.train(tree["config"], [*tree.get("common", []), *arguments.set])
    print("| variant | changes | updates | validation BLEU |\n| --- | --- | --- | --- |")
    rows = sorted(
        (variant.row() for variant in variants), key=lambda row: -float(row.split("|")[4])
    )
    print("\n".join(rows))


if __name__ == "__main__":
    main()
