"""Measure `nmt prepare` on a large corpus: its time against SentencePiece alone, and its memory.

    python scripts/bench/preparing.py
    python scripts/bench/preparing.py --pairs 100000 --corpus pairs.tsv

The corpus is a small one, the built-in sample or a tsv file, repeated with changes. Each program
runs in its own process; import time is included. A run takes minutes, so there is no warm-up round.
"""

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from measuring import Row, faster, in_turn, options, report
from repetition import repeated, write

from nmt.corpus.sources.readers import read_parallel, read_tsv
from nmt.shipped import SAMPLE_CORPUS

VOCABULARY_SIZE = "8000"
MOST_MEMORY = 1000  # MB


class Work:
    """A command that can be timed, each time in a new folder.

    peak: its peak memory in MB; at least this script's own peak, about 250, because a forked child
    starts with it
    """

    def __init__(self, command: Sequence[str]):
        self._command = [sys.executable, *command]
        self.peak = 0.0

    def __call__(self) -> float:
        """Run it; return the seconds that it took."""
        with tempfile.TemporaryDirectory() as folder:
            start = time.perf_counter()
            process = subprocess.Popen(self._command, cwd=folder, stdout=subprocess.DEVNULL)
            _, status, usage = os.wait4(process.pid, 0)
            seconds = time.perf_counter() - start
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise SystemExit(f"{' '.join(self._command)} ended with {process.returncode}")
        self.peak = max(
            self.peak, usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6
        )
        return seconds


def nmt_prepare(stem: Path) -> Work:
    command = ["-m", "nmt", "prepare", "--config", "wmt-base.yaml", "--set", f"data.path={stem}"]
    return Work([*command, "--set", f"tokenizer.vocabulary_size={VOCABULARY_SIZE}"])


def sentencepiece_alone(stem: Path) -> Work:
    script = Path(__file__).with_name("sentencepiece_alone.py")
    return Work([str(script), f"{stem}.en", f"{stem}.de", VOCABULARY_SIZE])


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--pairs", type=int, default=1_000_000)
    parser.add_argument("--corpus", type=Path, help="a tsv file to repeat; default: the sample")
    parser.set_defaults(rounds=1)
    arguments = parser.parse_args()
    sample = SAMPLE_CORPUS / "train.en", SAMPLE_CORPUS / "train.de"
    pairs = read_tsv(arguments.corpus) if arguments.corpus else read_parallel(*sample)
    with tempfile.TemporaryDirectory() as folder:
        stem = Path(folder, "pairs")
        write(repeated(list(pairs), arguments.pairs), stem)
        works = {"nmt prepare": nmt_prepare(stem), "sentencepiece": sentencepiece_alone(stem)}
        found = in_turn(works, arguments.rounds, warm_up=0)
    ours, theirs = works.values()
    print(f"memory: nmt {ours.peak:,.0f} MB, SentencePiece alone {theirs.peak:,.0f} MB")
    work = f"`nmt prepare`, {arguments.pairs:,} pairs"
    memory = Row(
        f"{work}: memory", "the limit", "MB", ours.peak, MOST_MEMORY, MOST_MEMORY / ours.peak, 1
    )
    taken = found["nmt prepare"], found["sentencepiece"]
    report([faster(work, "SentencePiece alone", *taken, 0.5), memory], arguments.json)


if __name__ == "__main__":
    main()
