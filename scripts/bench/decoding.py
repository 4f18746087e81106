"""Decoding speed: nmt's default engine against plain CTranslate2 in float32.

    python scripts/bench/decoding.py --run runs/multi30k

Translates the run's test set, here Multi30k's test2016, greedily and with a beam of 5: the whole
file at once, then sentence by sentence. Everything from text to text is timed, but not loading the
models. CTranslate2 is called as in its documentation, with the tokens of all sentences in one
`translate_batch` and the same number of threads. On a CPU, also times `nmt translate` with one
sentence as a command, start-up included, next to `import torch` alone.
"""

import os
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable
from functools import partial
from pathlib import Path

import nmt  # isort: skip # noqa: F401, before PyTorch: threads wait passively
import ctranslate2
import torch
from measuring import compared, cost, in_turn, options, report, seconds

from nmt.config.choices import ComputeType
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.tokenizers.registry import load_tokenizers
from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translator
from nmt.export.export import export_run
from nmt.runs.finding import open_run
from nmt.runs.folder import RunFolder

PEER = "CTranslate2, float32"
LONGEST = 100  # maximum output length in tokens
ALONE = 200  # sentences that are translated one at a time

Translate = Callable[[list[str]], object]


def open_nmt(
    run: RunFolder,
    beam_size: int,
    longest: int,
    device: str = "cpu",
    compute_type: ComputeType | None = None,
) -> Translator:
    """Load the run without neighbours, with one length limit for all outputs."""
    limits = ["decoding.max_length_factor=0", f"decoding.max_length_extra={longest}"]
    overrides = [*limits, f"decoding.beam_size={beam_size}", "decoding.knn_k=0"]
    return load_translator(run, overrides=overrides, device=device, compute_type=compute_type)


def call_library(
    engine: ctranslate2.Translator,
    split: Callable[[list[str]], Iterable[list[str]]],
    join: Callable[[list[str]], str],
    beam_size: int,
    longest: int,
) -> Translate:
    """Return a function that translates lines with CTranslate2, split into tokens and joined."""

    def translate(lines: list[str]) -> list[str]:
        found = engine.translate_batch(
            list(split(lines)),
            beam_size=beam_size,
            max_batch_size=64,
            max_decoding_length=longest,
        )
        return [join(result.hypotheses[0]) for result in found]

    return translate


def open_library(
    run: RunFolder, beam_size: int, threads: int, folder: Path, device: str
) -> Translate:
    """Export the run to a new folder, and call CTranslate2 with it."""
    export_run(run, folder)
    config = run.config
    tokenizers = load_tokenizers(config.data, config.tokenizer, run.data)
    cleaner = Cleaner(config.data)
    engine = ctranslate2.Translator(
        str(folder),
        device,
        compute_type="float32",
        inter_threads=threads if device == "cpu" else 1,
        intra_threads=1,
    )

    def split(lines: list[str]) -> Iterable[list[str]]:
        return map(tokenizers.source.split, cleaner.sources(lines))

    return call_library(engine, split, tokenizers.target.join, beam_size, LONGEST)


def whole_file(translate: Translate, lines: list[str]) -> Callable[[], float]:
    """Return a function that measures the seconds for all lines together."""
    return lambda: seconds(lambda: translate(lines))


def one_sentence(translate: Translate, lines: list[str]) -> Callable[[], float]:
    """Return a function that measures the median seconds of single lines."""
    return lambda: statistics.median(seconds(partial(translate, [line])) for line in lines)


def program(*arguments: str) -> Callable[[], float]:
    """Return a function that measures the seconds that Python takes with these arguments."""
    return lambda: cost([sys.executable, *arguments]).seconds


def main() -> None:
    arguments = options(__doc__, "--run", "--threads", "--rounds", "--device").parse_args()
    device, threads = arguments.device, arguments.threads
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read by the default engine
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # use cached bytecode, as users do
    torch.set_num_threads(threads)
    run = open_run(arguments.run)
    lines = [example.source for example in run.examples("test")]
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        if device == "cpu":
            command = ["-m", "nmt", "translate", "--run", str(run.path), "oscar likes to code"]
            works = {"nmt": program(*command), "import torch": program("-c", "import torch")}
            rows += compared("one sentence, cold", "s", in_turn(works, arguments.rounds))
        for search, beam_size in {"greedy": 1, "beam 5": 5}.items():
            nmt = open_nmt(run, beam_size, LONGEST, device).translate
            theirs = open_library(run, beam_size, threads, Path(scratch, search), device)
            for name, work, some in (
                (f"{len(lines):,} sentences", whole_file, lines),
                ("one sentence, warm", one_sentence, lines[:ALONE]),
            ):
                works = {"nmt": work(nmt, some), PEER: work(theirs, some)}
                found = in_turn(works, arguments.rounds)
                rows += compared(f"{name}, {search}", "s", found)
    report(rows, device)


if __name__ == "__main__":
    main()
