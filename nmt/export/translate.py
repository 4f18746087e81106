"""Translate with this model: needs only `pip install ctranslate2 sentencepiece`, no nmt.

If sentencex is installed as well, lines are split into sentences by the same rules as in nmt,
otherwise by a simpler rule.

    python translate.py "A sentence to translate."
    python translate.py < sentences.txt > translations.txt

Or in a program: `from translate import Translator; Translator().translate(["A sentence."])`.

Each line is processed as follows (settings.json selects the steps for this model): remove invisible
characters, replace words that did not occur in training with placeholders, lower-case the rest,
split it into SentencePiece pieces, translate them with CTranslate2, restore capitals, and fill in
the replaced words.
"""

import io
import json
import os
import re
import sys
from collections.abc import Iterable, Sequence
from functools import partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any

import ctranslate2
import sentencepiece

try:
    from sentencex import segment
except ImportError:
    segment = None

from nmt.corpus.text.normalization import (
    SEPARATORS,
    count_lost,
    halves,
    hide,
    join_words,
    part_words,
    printable,
    restore_capitals,
    reveal,
    sentence_lengths,
    tidy,
)
from nmt.special_tokens import SPECIALS, SUPPRESSED

LINES_AT_A_TIME = 1_000
SENTENCE = re.compile(r".+?(?:(?<=[.!?…])(?<!\b[Mm]r\.)(?<!\b[Mm]rs\.)(?<!\b\w\.)\s+|$)", re.DOTALL)


class Translator:
    """Translates lines of text with the model in a folder, by default the one of this file."""

    def __init__(self, folder: Path = Path(__file__).parent, compute_type: str = "default"):
        self.settings: dict[str, Any] = _read(folder / "settings.json")
        self.engine = ctranslate2.Translator(str(folder), compute_type=compute_type)
        self.source, self.target = (
            sentencepiece.SentencePieceProcessor(model_file=str(folder / self.settings[name]))
            for name in ("source_model", "target_model")
        )
        hides, restores = self.settings["carry_over"] != "none", self.settings["restore_case"]
        self.known = frozenset(_read(folder / "known_words.json")) if hides else None
        self.casing = _read(folder / "casing.json") if restores else None

    def translate(self, lines: Sequence[str]) -> list[str]:
        """Return the translation of each line, which must not contain line breaks.

        Raises `TypeError` for a single string.
        """
        if isinstance(lines, str):  # a sequence, too: of characters
            raise TypeError("translate takes a list of lines: translate([text])")
        single = self.settings["split_sentences"]
        form = self.settings["unicode"]
        cut = [self._sentences(line) if single else [line] for line in lines]
        parts = [[self._cut(tidy(sentence, form)) for sentence in line] for line in cut]
        found = iter(self._search([part for line in parts for each in line for part in each]))
        translations = []
        for sentences, line in zip(cut, parts, strict=True):
            text = ""
            for sentence, each in zip(sentences, line, strict=True):
                start = len(sentence) - len(sentence.lstrip())
                end = len(sentence.rstrip())
                translation = " ".join(filter(None, (next(found) for _ in each)))
                text += sentence[:start] + translation + sentence[max(start, end) :]
            translations.append(text.strip())
        return translations

    # ------------------------------------------------------------------------------ before a search

    def _cut(self, text: str) -> list[str]:
        """Split text longer than any in training into sentences, and halve those still too long."""
        length = len(self._pieces(text)[0])
        if length <= self.settings["longest"] or len(text) == 1:
            return [text] if length else []
        parts = [sentence.strip() for sentence in self._sentences(text)]
        if len(parts) == 1:
            if length <= self.settings["room"]:
                return parts
            parts = halves(text)
        return [each for part in parts for each in self._cut(part)]

    def _sentences(self, text: str) -> list[str]:
        """Cut text into sentences, each with the whitespace around it."""
        language = self.settings["source_language"]
        cut = partial(segment, language) if segment else SENTENCE.findall
        ends = accumulate(sentence_lengths(text, cut))
        return [text[start:end] for start, end in pairwise((0, *ends))]

    def _pieces(self, sentence: str) -> tuple[list[str], list[str]]:
        """Return the pieces of a sentence, and the words behind its placeholders."""
        text = sentence
        hidden: list[str] = []
        if self.known is not None:
            text, hidden = hide(text, self.known, self.settings["carry_over"] == "names")
        if self.settings["lowercase"] in ("source", "both"):
            text = text.lower()
        if self.settings["word_mark"] == "end":
            text = part_words(text)
        return self.source.encode(text, out_type=str), hidden

    # ------------------------------------------------------------------------------------- a search

    def _search(self, sentences: Sequence[str]) -> list[str]:
        """Translate sentences, batched by equal length."""
        # A single character may have more bytes than a small model has positions.
        room = self.settings["room"]
        read = [(pieces[:room], hidden) for pieces, hidden in map(self._pieces, sentences)]
        found = [""] * len(read)
        for length in sorted({len(pieces) for pieces, _ in read} - {0}):
            chosen = [i for i, (pieces, _) in enumerate(read) if len(pieces) == length]
            limit = int(length * self.settings["max_length_factor"])
            limit = min(limit + self.settings["max_length_extra"], room)
            results = self.engine.translate_batch(
                [read[i][0] for i in chosen],
                max_batch_size=64,
                beam_size=self.settings["beam_size"],
                num_hypotheses=self.settings["beam_size"],
                length_penalty=0.0,
                min_decoding_length=0,
                max_decoding_length=limit,
                max_input_length=0,
                suppress_sequences=[[SPECIALS[i]] for i in SUPPRESSED],
                return_scores=True,
            )
            for i, result in zip(chosen, results, strict=True):
                found[i] = self._best(result, limit, read[i][1])
        return found

    def _best(self, result: Any, limit: int, hidden: list[str]) -> str:
        """Return the best complete hypothesis with the fewest lost words."""
        alpha = self.settings["length_penalty"]

        def rank(hypothesis: tuple[list[str], float]) -> tuple[bool, int, float]:
            pieces, log_probability = hypothesis
            lost = count_lost(self._decode(pieces), hidden)
            score = log_probability / ((6 + len(pieces)) / 6) ** alpha
            return (len(pieces) >= limit, lost, -score) if hidden else (False, 0, -score)

        pieces, _ = min(zip(result.hypotheses, result.scores, strict=True), key=rank)
        return self._write(pieces, hidden)

    # ------------------------------------------------------------------------------- after a search

    def _decode(self, pieces: list[str]) -> str:
        text = " ".join(printable(self.target.decode(pieces)).split())
        return join_words(text) if self.settings["word_mark"] == "end" else text

    def _write(self, pieces: list[str], hidden: list[str]) -> str:
        text = self._decode(pieces)
        if self.casing is not None:
            text = restore_capitals(text, **self.casing)
        return reveal(text, hidden)


def _read(path: Path) -> Any:
    return json.loads(path.read_text(encoding="utf-8"))


def main(texts: Iterable[str]) -> None:
    """Print the translations of texts, or of standard input if there are none, in UTF-8."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8", errors="replace")
    lines = [line for text in texts for line in text.split("\n")]
    try:
        if not lines and (read := sys.stdin.buffer.read().decode("utf-8")):
            lines = read.removesuffix("\n").split("\n")
    except UnicodeDecodeError:
        print("translate.py: the input is not UTF-8 text; convert it first", file=sys.stderr)
        sys.exit(2)
    translator = Translator()
    for start in range(0, len(lines), LINES_AT_A_TIME):
        for translation in translator.translate(lines[start : start + LINES_AT_A_TIME]):
            print(translation.translate(SEPARATORS))  # one line, for any reader
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BrokenPipeError:  # the reader has enough: python translate.py < lines.en | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
