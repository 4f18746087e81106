"""Measure what reading a translation memory (TMX) takes, against the same pairs as TSV.

    python scripts/bench/memories.py
    python scripts/bench/memories.py --pairs 1000000 --prepare

The pairs are the built-in sample, repeated with changes. Processor time is measured, because other
programs change it less; `--prepare` measures `nmt prepare` as a whole, with its peak memory.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from xml.sax.saxutils import escape

from repetition import repeated

from nmt.config.data import DataConfig
from nmt.corpus.sources.readers import read_parallel
from nmt.corpus.sources.registry import open_corpus
from nmt.shipped import SAMPLE_CORPUS

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n<tmx version="1.4">\n<header srclang="en"/>\n<body>\n'
)
UNIT = """\
    <tu tuid="1" datatype="Text">
      <tuv xml:lang="en">
        <seg>{}</seg>
      </tuv>
      <tuv xml:lang="de">
        <seg>{}</seg>
      </tuv>
    </tu>
"""


def write_both(count: int, tsv: Path, tmx: Path) -> None:
    sample = read_parallel(SAMPLE_CORPUS / "train.en", SAMPLE_CORPUS / "train.de")
    with tsv.open("w", encoding="utf-8") as lines, tmx.open("w", encoding="utf-8") as units:
        units.write(HEAD)
        for pair in repeated(list(sample), count):
            lines.write("\t".join(pair) + "\n")
            units.write(UNIT.format(*map(escape, pair)))
        units.write("</body>\n</tmx>\n")


def read(path: Path) -> str:
    corpus = open_corpus(DataConfig(source="tmx" if path.suffix == ".tmx" else "tsv", path=path))
    start = time.process_time()
    for _ in corpus.pairs("train"):
        pass
    return f"{time.process_time() - start:.2f} s"


def prepare(path: Path) -> str:
    command = [sys.executable, "-m", "nmt", "prepare", "--config", "wmt-base.yaml"]
    command += ["--set", f"data.source={path.suffix[1:]}", "--set", f"data.path={path}"]
    command += ["--set", "tokenizer.vocabulary_size=8000"]
    process = subprocess.Popen(command, cwd=path.parent, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    seconds = usage.ru_utime + usage.ru_stime
    peak = usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    return f"{seconds:.1f} s, {peak / 1e6:.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pairs", type=int, default=100_000)
    parser.add_argument("--prepare", action="store_true", help="instead of only reading")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        tsv, tmx = Path(folder, "pairs.tsv"), Path(folder, "pairs.tmx")
        write_both(arguments.pairs, tsv, tmx)
        for path in (tsv, tmx, tsv, tmx):
            print(path.suffix, prepare(path) if arguments.prepare else read(path), flush=True)


if __name__ == "__main__":
    main()
