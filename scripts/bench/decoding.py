"""Decoding speed: nmt's default engine against plain CTranslate2 and JoeyNMT in float32.

    python scripts/bench/decoding.py --run runs/multi30k

Translates the run's test set, here Multi30k's test2016, greedily and with a beam of 5: the whole
file at once, then sentence by sentence. Loading the models is not timed. For nmt and CTranslate2,
everything from text to text is timed; CTranslate2 is called as in its documentation, with the
tokens of all sentences in one `translate_batch` and the same number of threads. `--joeynmt` adds
JoeyNMT's beam search over the whole file, from token ids, which takes minutes per round. It needs a
pre-norm model with sinusoidal positions and tied embeddings, such as the one of `make bench`.
"""

import json
import os
import statistics
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import ctranslate2
import numpy as np
import peers
import torch
from measuring import Peer, Row, faster, in_turn, options, report, seconds

from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.tokenizers.registry import load_tokenizers
from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translator
from nmt.export.export import export_run
from nmt.runs.finding import open_run
from nmt.runs.folder import RunFolder

PEER = "CTranslate2, float32"
SEARCHES = {"greedy": 1, "beam 5": 5}
WHOLE_FILE, ONE_SENTENCE, BESIDE_JOEYNMT = 1.5, 1.0, 10.0  # minimum speed-ups
LONGEST = 100  # maximum output length in tokens
ALONE = 200  # sentences that are translated one at a time

Translate = Callable[[list[str]], object]


def open_nmt(run: RunFolder, beam_size: int, device: str = "cpu") -> Translator:
    """Load the run without neighbours, with one length limit for all outputs."""
    limits = ["decoding.max_length_factor=0", f"decoding.max_length_extra={LONGEST}"]
    overrides = [*limits, f"decoding.beam_size={beam_size}", "decoding.knn_k=0"]
    return load_translator(run, overrides=overrides, device=device)


def open_library(
    run: RunFolder, beam_size: int, threads: int, scratch: Path, device: str = "cpu"
) -> Translate:
    """Load an export, and return a function that translates lines with it."""
    folder = scratch / f"exported-{beam_size}"
    export_run(run, folder)
    config = run.config
    tokenizers = load_tokenizers(config.data, config.tokenizer, run.data)
    source, target = tokenizers.source, tokenizers.target
    cleaner = Cleaner(config.data)
    engine = ctranslate2.Translator(
        *(str(folder), device),
        compute_type="float32",
        inter_threads=threads if device == "cpu" else 1,
        intra_threads=1,
    )

    def translate(lines: list[str]) -> list[str]:
        tokens = [source.split(line) for line in cleaner.sources(lines)]
        found = engine.translate_batch(
            tokens, beam_size=beam_size, max_batch_size=64, max_decoding_length=LONGEST
        )
        return [target.join(result.hypotheses[0]) for result in found]

    return translate


def whole_file(translate: Translate, lines: list[str]) -> Callable[[], float]:
    """Return a function that measures the seconds for all lines together."""
    return lambda: seconds(lambda: translate(lines))


def one_sentence(translate: Translate, lines: list[str]) -> Callable[[], float]:
    """Return a function that measures the median seconds of single lines."""
    return lambda: statistics.median(seconds(partial(translate, [line])) for line in lines[:ALONE])


def joeynmt(translator: Translator, lines: list[str], threads: int, scratch: Path) -> Peer:
    """Start JoeyNMT with the translator's weights and its source ids, sorted by length."""
    model = translator.pytorch.models[0]
    if (positions := model.config.positions) != "sinusoidal":
        raise SystemExit(
            f"--joeynmt: JoeyNMT does not support {positions} positions; choose another --run"
        )
    weights, sources = scratch / "weights.npz", scratch / "sources.json"
    np.savez(weights, **{name: value.numpy() for name, value in model.state_dict().items()})
    ids = [trace.source_ids for line in lines for trace in translator.trace(line)]
    sources.write_text(json.dumps(sorted(ids, key=len)))
    settings = {
        "size": model.source_embedding.tokens.num_embeddings,
        "target_size": model.output.out_features,
        "d_model": model.config.d_model,
        "heads": model.config.heads,
        "d_ff": model.config.d_ff,
        "layers": model.config.encoder_layers,
        "dropout": 0.0,
        "label_smoothing": 0.0,
        "threads": threads,
        "limit": LONGEST,
        "beam_size": 5,
    }
    arguments = str(weights), json.dumps(settings), str(sources)
    return Peer(peers.python(), "joeynmt_decoding.py", *arguments)


def compare(name: str, works: Mapping[str, Callable[[], float]], rounds: int, least: float) -> Row:
    measured = in_turn(works, rounds)
    return faster(name, PEER, measured["nmt"], measured[PEER], least)


def main() -> None:
    parser = options(__doc__, device=True)
    parser.add_argument("--run", type=Path, required=True, help="run folder that nmt train wrote")
    parser.add_argument("--joeynmt", action="store_true", help="compare with JoeyNMT as well")
    arguments = parser.parse_args()
    if arguments.joeynmt and arguments.device != "cpu":
        parser.error("--joeynmt is for --device cpu")
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)  # read by the default engine
    torch.set_num_threads(arguments.threads)
    run = open_run(arguments.run)
    lines = [example.source for example in run.examples("test")]
    rows, device = [], arguments.device
    with tempfile.TemporaryDirectory() as scratch:
        for search, beam_size in SEARCHES.items():
            translates: dict[str, Translate] = {
                "nmt": open_nmt(run, beam_size, device=device).translate,
                PEER: open_library(run, beam_size, arguments.threads, Path(scratch), device),
            }
            for work, name, least in (
                (whole_file, f"{len(lines):,} sentences, {search}", WHOLE_FILE),
                (one_sentence, f"one sentence, warm, {search}", ONE_SENTENCE),
            ):
                works = {engine: work(each, lines) for engine, each in translates.items()}
                rows.append(compare(name, works, arguments.rounds, least))
        if arguments.joeynmt:
            nmt = open_nmt(run, 5)
            theirs = joeynmt(nmt, lines, arguments.threads, Path(scratch))
            works = {"nmt": whole_file(nmt.translate, lines), "JoeyNMT": theirs}
            found = in_turn(works, arguments.rounds)
            name = f"{len(lines):,} sentences, beam 5"
            rows.append(faster(name, "JoeyNMT", found["nmt"], found["JoeyNMT"], BESIDE_JOEYNMT))
    report(rows, arguments.json, device)


if __name__ == "__main__":
    main()
