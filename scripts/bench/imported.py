"""An imported model of OPUS-MT's size against CTranslate2 and `transformers`, and its import.

    python scripts/bench/imported.py --lines 200

Builds a Marian model of 6 + 6 layers, d_model 512, 8 heads and d_ff 2048 in the format of
`transformers`, with random weights and SentencePiece models that are trained on the everyday
corpus; rows that no text reaches fill its vocabulary up to the size of opus-mt-en-de's. Random
weights never end a translation by themselves, so all three write the same fixed number of tokens.

nmt and CTranslate2 compute in int8, `transformers` in float32, its default. For nmt and
CTranslate2, everything from text to text is timed. CTranslate2 is called directly with the model
that its own converter makes: for one sentence with all threads for the one, for many lines with a
thread for each batch. `transformers` translates the lines in batches, sorted by length.
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import torch
from measuring import Row, faster, in_turn, less, options, peak_memory, report, seconds

from nmt.config.config import Config
from nmt.corpus.sources.registry import open_corpora
from nmt.decoding.loading import load_translator
from nmt.runs.finding import open_run

VOCABULARY = 58_101  # rows of the embeddings of Helsinki-NLP/opus-mt-en-de
PIECES = 32_000  # of each SentencePiece model, or as many as the corpus has
BEAM = 4
WRITTEN = 20  # tokens of each translation
ALONE = 20  # sentences that are translated one at a time
AT_ONCE = 32  # sentences in a batch of transformers
NEVER = -1e4  # bias of a token that is never written
INTERVAL = 0.02  # seconds between readings of the peak memory, which Linux records
LONGEST_IMPORT, MOST_MEMORY = 20.0, 1024.0  # targets: seconds, MiB

Translate = Callable[[list[str]], object]


def make_model(folder: Path, vocabulary: int) -> list[str]:
    """Write the model to an empty folder; return source lines of the corpus."""
    import sentencepiece
    import transformers

    corpora = open_corpora(Config.model_validate({"data": {"source": "everyday"}}).data)
    pairs = [pair for corpus in corpora for pair in corpus.pairs("train")]
    pieces: dict[str, None] = {}
    for side, name in enumerate(("source", "target")):
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter([pair[side] for pair in pairs]),
            model_prefix=str(folder / name),
            vocab_size=PIECES,
            model_type="unigram",
            hard_vocab_limit=False,
            minloglevel=2,
        )
        (folder / f"{name}.model").rename(folder / f"{name}.spm")
        (folder / f"{name}.vocab").unlink()
        model = sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{name}.spm"))
        print(f"{name}.spm: {model.get_piece_size():,} pieces", file=sys.stderr)
        pieces |= dict.fromkeys(model.id_to_piece(i) for i in range(3, model.get_piece_size()))
    numbers = ["</s>", "<unk>", *pieces][: vocabulary - 1]
    numbers += [f"<unused {row}>" for row in range(len(numbers), vocabulary - 1)]
    content = {piece: number for number, piece in enumerate([*numbers, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(content), encoding="utf-8")
    settings = {"source_lang": "en", "target_lang": "de", "tokenizer_class": "MarianTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    last = vocabulary - 1
    torch.manual_seed(1)
    network = transformers.MarianMTModel(
        transformers.MarianConfig(
            vocab_size=vocabulary,
            decoder_vocab_size=vocabulary,
            pad_token_id=last,
            decoder_start_token_id=last,
            eos_token_id=0,
            forced_eos_token_id=None,
            d_model=512,
            encoder_layers=6,
            decoder_layers=6,
            encoder_attention_heads=8,
            decoder_attention_heads=8,
            encoder_ffn_dim=2048,
            decoder_ffn_dim=2048,
            activation_function="swish",
            max_position_embeddings=512,
            scale_embedding=True,
        )
    )
    bias: Any = network.final_logits_bias
    bias[0, [0, last]] = NEVER
    network.generation_config.num_beams = BEAM
    network.generation_config.bad_words_ids = [[last]]
    network.save_pretrained(folder)
    # Different sentences, evenly spread over the corpus.
    return list(dict.fromkeys(pair[0] for pair in pairs))


def import_model(folder: Path, run: Path) -> tuple[float, float]:
    """Import the model in a process of its own; return seconds and its peak memory in MiB."""
    command = [sys.executable, "-m", "nmt", "import", str(folder), "--run", str(run)]
    start, peak = time.perf_counter(), 0.0
    with subprocess.Popen(command) as process:
        while process.poll() is None:
            with suppress(StopIteration, OSError):  # it has just ended
                peak = peak_memory(process.pid)
            time.sleep(INTERVAL)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return time.perf_counter() - start, peak


def open_nmt(run: Path) -> Translate:
    limits = ["decoding.max_length_factor=0", f"decoding.max_length_extra={WRITTEN}"]
    overrides = [*limits, f"decoding.beam_size={BEAM}"]
    return load_translator(open_run(run), overrides=overrides, compute_type="int8").translate


def open_ctranslate2(folder: Path, converted: Path, threads: int, each: int) -> Any:
    """Return a function that translates lines; each: threads for one batch."""
    import ctranslate2
    import sentencepiece

    if not converted.exists():
        converter = ctranslate2.converters.TransformersConverter(str(folder))
        converter.convert(str(converted), quantization="int8")
    engine = ctranslate2.Translator(
        str(converted),
        compute_type="int8",
        inter_threads=threads // each,
        intra_threads=each,
    )
    source, target = (
        sentencepiece.SentencePieceProcessor(model_file=str(folder / f"{side}.spm"))
        for side in ("source", "target")
    )

    def translate(lines: list[str]) -> list[str]:
        tokens = [[*source.encode(line, out_type=str), "</s>"] for line in lines]
        found = engine.translate_batch(
            tokens, beam_size=BEAM, max_batch_size=64, max_decoding_length=WRITTEN
        )
        assert all(len(result.hypotheses[0]) == WRITTEN for result in found)
        return [target.decode(result.hypotheses[0]) for result in found]

    return translate


def open_transformers(folder: Path) -> Translate:
    import transformers

    network: Any = transformers.MarianMTModel.from_pretrained(folder)
    network.eval()
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)

    @torch.inference_mode()
    def translate(lines: list[str]) -> list[str]:
        found = []
        ordered = iter(sorted(lines, key=len))
        while some := list(islice(ordered, AT_ONCE)):
            batch = tokenizer(some, return_tensors="pt", padding=True)
            ids: Any = network.generate(**batch, num_beams=BEAM, max_new_tokens=WRITTEN)
            assert ids.shape[1] == 1 + WRITTEN
            found += tokenizer.batch_decode(ids, skip_special_tokens=True)
        return found

    return translate


def one_sentence(translate: Translate, lines: list[str]) -> Callable[[], float]:
    """Return a function that measures the median seconds of single lines."""
    return lambda: statistics.median(seconds(partial(translate, [line])) for line in lines[:ALONE])


def all_lines(translate: Translate, lines: list[str]) -> Callable[[], float]:
    """Return a function that measures the seconds of all lines together."""
    return lambda: seconds(lambda: translate(lines))


def rows_of(arguments: argparse.Namespace, folder: Path, scratch: Path) -> Iterator[Row]:
    threads = arguments.threads
    lines = make_model(folder, arguments.vocabulary)
    lines = lines[:: max(1, len(lines) // arguments.lines)][: arguments.lines]
    run = scratch / "run"
    taken, memory = import_model(folder, run)
    yield faster("import", "target", taken, LONGEST_IMPORT, 1)
    yield less("import, peak memory", "target", "MiB", memory, MOST_MEMORY, 1)
    if arguments.only_import:
        return
    nmt, theirs = open_nmt(run), open_transformers(folder)
    library = partial(open_ctranslate2, folder, scratch / "converted", threads)
    for name, work, each, targets in (
        ("one sentence, warm", one_sentence, threads, (1 / 1.1, 1 / 0.5)),
        (f"{len(lines):,} lines", all_lines, 1, (0.9, 4.0)),
    ):
        translates = {"nmt": nmt, "CTranslate2": library(each), "transformers": theirs}
        torch.set_num_threads(threads)  # for transformers; opening CTranslate2 may set it to 1
        works = {peer: work(translate, lines) for peer, translate in translates.items()}
        found = in_turn(works, arguments.rounds)
        for peer, target in zip(("CTranslate2", "transformers"), targets, strict=True):
            yield faster(f"{name}, beam {BEAM}", peer, found["nmt"], found[peer], target)


def main() -> None:
    parser = options(__doc__)
    parser.add_argument("--lines", type=int, default=1000)
    parser.add_argument("--vocabulary", type=int, default=VOCABULARY)
    parser.add_argument("--only-import", action="store_true")
    arguments = parser.parse_args()
    os.environ["OMP_NUM_THREADS"] = str(arguments.threads)  # read by nmt's engine
    torch.set_num_threads(arguments.threads)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch, "en-de")
        folder.mkdir()
        report(list(rows_of(arguments, folder, Path(scratch))), arguments.json)


if __name__ == "__main__":
    main()
