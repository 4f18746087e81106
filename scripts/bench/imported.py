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

import json
import os
import sys
import tempfile
from itertools import islice
from pathlib import Path
from typing import Any

import nmt  # isort: skip # noqa: F401, before PyTorch: threads wait passively
import ctranslate2
import sentencepiece
import torch
from decoding import Translate, call_library, one_sentence, open_nmt, whole_file
from measuring import compared, cost, in_turn, options, report

from nmt.config.data import DataConfig
from nmt.corpus.sources.registry import open_corpus
from nmt.runs.finding import open_run

VOCABULARY = 58_101  # rows of the embeddings of Helsinki-NLP/opus-mt-en-de
PIECES = 32_000  # of each SentencePiece model, or as many as the corpus has
BEAM = 4
WRITTEN = 20  # tokens of each translation
ALONE = 20  # sentences that are translated one at a time
AT_ONCE = 32  # sentences in a batch of transformers
NEVER = -1e4  # bias of a token that is never written


def make_model(folder: Path) -> list[str]:
    """Write the model to a new folder; return source lines of the corpus."""
    import transformers

    folder.mkdir()
    pairs = list(open_corpus(DataConfig(source="everyday")).pairs("train"))
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
        pieces |= dict.fromkeys(model.id_to_piece(i) for i in range(3, model.get_piece_size()))
    numbers = ["</s>", "<unk>", *pieces][: VOCABULARY - 1]
    numbers += [f"<unused {row}>" for row in range(len(numbers), VOCABULARY - 1)]
    content = {piece: number for number, piece in enumerate([*numbers, "<pad>"])}
    (folder / "vocab.json").write_text(json.dumps(content), encoding="utf-8")
    settings = {"source_lang": "en", "target_lang": "de", "tokenizer_class": "MarianTokenizer"}
    (folder / "tokenizer_config.json").write_text(json.dumps(settings))
    last = VOCABULARY - 1
    torch.manual_seed(1)
    network = transformers.MarianMTModel(
        transformers.MarianConfig(
            vocab_size=VOCABULARY,
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


def open_ctranslate2(folder: Path, converted: Path, threads: int, each: int) -> Translate:
    """Return a function that translates lines; each: threads for one batch."""
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

    def split(lines: list[str]) -> list[list[str]]:
        return [[*source.encode(line, out_type=str), "</s>"] for line in lines]

    return call_library(engine, split, target.decode, BEAM, WRITTEN)


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


def main() -> None:
    parser = options(__doc__, "--threads", "--rounds")
    parser.add_argument("--lines", type=int, default=1000)
    arguments = parser.parse_args()
    threads = arguments.threads
    os.environ["OMP_NUM_THREADS"] = str(threads)  # read by nmt's engine
    torch.set_num_threads(threads)
    rows = []
    with tempfile.TemporaryDirectory() as scratch:
        folder, run, converted = (Path(scratch, name) for name in ("en-de", "run", "converted"))
        lines = make_model(folder)
        lines = lines[:: max(1, len(lines) // arguments.lines)][: arguments.lines]
        imported = cost([sys.executable, "-m", "nmt", "import", str(folder), "--run", str(run)])
        print(f"import: {imported.seconds:.1f} s, {imported.memory:,.0f} MiB", flush=True)
        nmt = open_nmt(open_run(run), BEAM, WRITTEN, compute_type="int8").translate
        transformers = open_transformers(folder)
        converter = ctranslate2.converters.TransformersConverter(str(folder))
        converter.convert(str(converted), quantization="int8")
        for name, work, each, some in (
            ("one sentence, warm", one_sentence, threads, lines[:ALONE]),
            (f"{len(lines):,} lines", whole_file, 1, lines),
        ):
            library = open_ctranslate2(folder, converted, threads, each)
            torch.set_num_threads(threads)  # for transformers; opening CTranslate2 may set it to 1
            translates = {"nmt": nmt, "CTranslate2": library, "transformers": transformers}
            works = {who: work(translate, some) for who, translate in translates.items()}
            rows += compared(f"{name}, beam {BEAM}", "s", in_turn(works, arguments.rounds))
    report(rows)


if __name__ == "__main__":
    main()
