"""The peer of `nmt prepare`: SentencePiece learns subwords from two files and encodes both.

    python scripts/bench/sentencepiece_alone.py train.en train.de 8000

It reads the files itself, and learns from as many lines and on as many threads as nmt does. The ids
are counted, not kept.
"""

import sys
from itertools import islice
from pathlib import Path

import sentencepiece

LINES = 1_000_000  # to learn from at most, as in nmt
THREADS = 8  # to learn with, as in nmt
CHUNK = 10_000  # lines to encode at once


def learn(paths: list[str], vocabulary_size: int) -> bytes:
    model = Path(f"{paths[0]}.model")
    with model.open("wb") as file:
        sentencepiece.SentencePieceTrainer.train(
            input=",".join(paths),
            input_sentence_size=LINES,
            model_writer=file,
            model_type="bpe",
            vocab_size=vocabulary_size,
            byte_fallback=True,
            character_coverage=0.9999,
            normalization_rule_name="identity",
            num_threads=THREADS,
            minloglevel=2,
        )
    return model.read_bytes()


def count_tokens(processor: sentencepiece.SentencePieceProcessor, path: str) -> int:
    count = 0
    with Path(path).open(encoding="utf-8") as file:
        lines = (line.removesuffix("\n") for line in file)
        while chunk := list(islice(lines, CHUNK)):
            count += sum(map(len, processor.encode(chunk, out_type=int)))
    return count


def main() -> None:
    *paths, vocabulary_size = sys.argv[1:]
    model = learn(paths, int(vocabulary_size))
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    print(sum(count_tokens(processor, path) for path in paths))


if __name__ == "__main__":
    main()
