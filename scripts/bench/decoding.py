"""Measure translating beside CTranslate2: the same weights in float32, the same text path.

    nmt train --config multi30k.yaml --run runs/multi30k
    python scripts/bench/decoding.py --run runs/multi30k

Translates the run's test set, Multi30k's test2016 in this case, greedily and with a beam of 5: the
whole file, and its sentences one at a time, by translators that are loaded already. Both engines
have the same threads, the same batches and the same limit for every output, and both tokenize and
join the text as nmt does. CTranslate2 comes with nmt's extra `ctranslate2`.
"""

import statistics
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import torch
from measuring import Row, faster, in_turn, options, report, seconds

from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translator
from nmt.run_folder import RunFolder, open_run

CPU = torch.device("cpu")
PEER = "CTranslate2, float32"
SEARCHES = {"greedy": 1, "beam 5": 5}
WHOLE_FILE, ONE_SENTENCE = 1.0, 1 / 1.5  # the least ratios
ALONE = 200  # sentences that are translated one at a time


def open_engines(run: RunFolder, beam_size: int) -> dict[str, Translator]:
    """Load both; every output may have the same number of pieces."""
    limits = ["decoding.max_length_factor=0", "decoding.max_length_extra=100"]
    overrides = [*limits, f"decoding.beam_size={beam_size}"]
    return {
        "nmt": load_translator(run, overrides=overrides, device=CPU),
        PEER: load_translator(run, overrides=overrides, device=CPU, engine="ctranslate2"),
    }


def whole_file(translator: Translator, lines: list[str]) -> Callable[[], float]:
    """Return the work that takes seconds for all lines."""
    return lambda: seconds(lambda: translator.translate(lines))


def one_sentence(translator: Translator, lines: list[str]) -> Callable[[], float]:
    """Return the work that takes seconds for a line by itself, the median of many."""
    return lambda: statistics.median(
        seconds(partial(translator.translate, [line])) for line in lines[:ALONE]
    )


def compare(name: str, works: Mapping[str, Callable[[], float]], rounds: int, least: float) -> Row:
    measured = in_turn(works, rounds)
    return faster(name, PEER, measured["nmt"], measured[PEER], least)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--run", type=Path, required=True, help="run folder that nmt train wrote")
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    run = open_run(arguments.run)
    lines = [example.source for example in run.examples("test")]
    rows = []
    for search, beam_size in SEARCHES.items():
        engines = open_engines(run, beam_size)
        for work, name, least in (
            (whole_file, f"{len(lines):,} sentences, {search}", WHOLE_FILE),
            (one_sentence, f"one sentence, warm, {search}", ONE_SENTENCE),
        ):
            works = {engine: work(translator, lines) for engine, translator in engines.items()}
            rows.append(compare(name, works, arguments.rounds, least))
    report(rows, arguments.json)


if __name__ == "__main__":
    main()
