"""Write the built-in English-German sample corpus to data/sample.

python scripts/make_sample.py                     rewrite the files and print statistics
python scripts/make_sample.py --check             say whether the files are up to date
python scripts/make_sample.py --show 200 --seed 1 print random pairs for proofreading
"""

from __future__ import annotations

import argparse
import random
import sys
from pathlib import Path

from sample import corpus
from sample.dice import Draft

FOLDER = Path(__file__).resolve().parent.parent / "data" / "sample"


def show(made: corpus.Corpus, count: int, seed: int, frame: str) -> None:
    """Print random pairs, or random pairs of every frame whose name contains `frame`."""
    chooser = random.Random(seed)
    for name, drafts in corpus.by_frame(made).items() if frame else [("", _all(made))]:
        if frame in name or frame == "each":
            print(f"# {name}" if name else "", end="\n" if name else "")
            for draft in chooser.sample(drafts, min(count, len(drafts))):
                print(f"{draft.en}  |  {draft.de}")


def _all(made: corpus.Corpus) -> list[Draft]:
    return [draft for drafts in made.splits.values() for draft in drafts]


def main() -> int:
    """Run the command line."""
    parser = argparse.ArgumentParser(description="Write the sample corpus to data/sample.")
    parser.add_argument("--check", action="store_true", help="only compare the files on disk")
    parser.add_argument("--show", type=int, metavar="N", help="print N random pairs and stop")
    parser.add_argument("--seed", type=int, default=1, help="random seed of --show")
    frame = 'only frames with this in their name; "each" for all'
    parser.add_argument("--frame", default="", help=frame)
    arguments = parser.parse_args()
    made = corpus.build()
    if arguments.show:
        show(made, arguments.show, arguments.seed, arguments.frame)
        return 0
    if arguments.check:
        stale = corpus.differing_files(made, FOLDER)
        print(f"not up to date: {', '.join(stale)}" if stale else "up to date")
        return 1 if stale else 0
    corpus.write(made, FOLDER)
    print(corpus.summary(made))
    return 0


if __name__ == "__main__":
    sys.exit(main())
