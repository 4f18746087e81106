"""The peer of `nmt prepare`: SentencePiece learns subwords from two files and encodes both.

    python scripts/bench/sentencepiece_alone.py train.en train.de 8000

It reads the files itself, and learns from as many lines and on as many threads as nmt does. The ids
are counted, not kept.
"""

import io
import sys
from itertools import islice
from pathlib import Path

import sentencepiece

LINES = 1_000_000  # to learn from at most, as in nmt
THREADS = 8  # to learn with, as in nmt
CHUNK = 10_000  # lines to encode at once


def main() -> None:
    *paths, vocabulary_size = sys.argv[1:]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        input=paths,
        input_sentence_size=LINES,
        model_writer=model,
        model_type="bpe",
        vocab_size=int(vocabulary_size),
        byte_fallback=True,
        character_coverage=0.9999,
        normalization_rule_name="identity",
        num_threads=THREADS,
        minloglevel=2,
    )
    processor = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    count = 0
    for path in paths:
        with Path(path).open(encoding="utf-8") as file:
            lines = (line.removesuffix("\n") for line in file)
            while chunk := list(islice(lines, CHUNK)):
                count += sum(map(len, processor.encode(chunk, out_type=int)))
    print(count)


if __name__ == "__main__":
    main()
