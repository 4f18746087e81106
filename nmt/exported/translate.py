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
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import zip_longest
from pathlib import Path
from typing import Any

import ctranslate2
import sentencepiece

try:
    from sentencex import segment
except ImportError:
    segment = None

PLACEHOLDERS = "\ue001\ue002\ue003\ue004\ue005\ue006\ue007\ue008"
RESERVED = "\ue011\ue012\ue013\ue014\ue015\ue016\ue017\ue018"
JOINER = "￭"
LINES_AT_A_TIME = 1_000
MOST_AT_ONCE = 5_000  # characters; sentencex takes quadratic time for unclosed quotation marks
SEPARATORS = str.maketrans(dict.fromkeys("\t\n\v\f\r\x1c\x1d\x1e\x85\u2028\u2029", " "))
INVISIBLE = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f\x80-\x84\x86-\x9f\u00ad\u200b\u2060\ufeff\ufffe\uffff"
    f"{PLACEHOLDERS}{RESERVED}]"
)
HALFWIDTH = "\uff9e\uff9f"  # letters that NFKC turns into marks
MOST_MARKS = 30
MARKS = re.compile(rf"(?:[^\w\s\x00-\u02ff]|[{HALFWIDTH}]){{{MOST_MARKS + 1},}}")
UNPRINTABLE = re.compile(r"[\x00-\x08\x0e-\x1b\x7f-\x84\x86-\x9f\ufffd]")
WORD = re.compile(r"[^\W\d_]+")
HIDEABLE = re.compile(
    r"(?<![^\W\d_])(?!(?<=\w['’])(?i:s|t|re|ve|ll|d|m)\b)[^\W\d_]+(?![^\W\d_])"
    r"(?!(?<=[nN])['’][tT]\b)"
)
COPIED = re.compile(rf"(?<![^\W\d_])[{PLACEHOLDERS}](?=s?(?![^\W\d_]|[{PLACEHOLDERS}]))")
SENTENCE_START = re.compile(rf"(?:^(?:[–—-]\s)?|[.!?:]\s)[^\w\s{PLACEHOLDERS}]*$")
SENTENCE = re.compile(r".+?(?:(?<=[.!?…])(?<!\b[Mm]r\.)(?<!\b[Mm]rs\.)(?<!\b\w\.)\s+|$)", re.DOTALL)
TOUCHING_LEFT = re.compile(r"(?<=\S)(?!(?<=\w).\w)([^\w\s])")
TOUCHING_RIGHT = re.compile(rf"(?<!\w)([^\w\s{JOINER}])(?=\w)")


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
        cut = [self._sentences(line) if single else [line] for line in lines]
        parts = [[self._cut(self._tidy(sentence)) for sentence in line] for line in cut]
        found = iter(self._search([part for line in parts for each in line for part in each]))
        translations = []
        for sentences, line in zip(cut, parts, strict=True):
            text = ""
            for sentence, each in zip(sentences, line, strict=True):
                space = sentence[len(sentence.rstrip()) :]
                text += " ".join(filter(None, (next(found) for _ in each))) + space
            translations.append(text.strip())
        return translations

    # ------------------------------------------------------------------------------ before a search

    def _tidy(self, line: str) -> str:
        line = INVISIBLE.sub("", line)
        if self.settings["unicode"] != "none":
            line = unicodedata.normalize(self.settings["unicode"], MARKS.sub(_limit_marks, line))
        return " ".join(line.encode("utf-8", "replace").decode("utf-8").split())

    def _cut(self, text: str) -> list[str]:
        """Split text longer than any in training into sentences, and halve those still too long."""
        length = len(self._pieces(text)[0])
        if length <= self.settings["longest"] or len(text) == 1:
            return [text] if length else []
        parts = [sentence.strip() for sentence in self._sentences(text)]
        if len(parts) == 1:
            if length <= self.settings["room"]:
                return parts
            space, units = (" ", text.split(" ")) if " " in text else ("", list(text))
            middle = len(units) // 2
            parts = [space.join(units[:middle]), space.join(units[middle:])]
        return [each for part in parts for each in self._cut(part)]

    def _sentences(self, text: str) -> list[str]:
        """Cut text into sentences, each with the whitespace after it."""
        if segment is None:
            return SENTENCE.findall(text)
        # sentencex fails on unusual whitespace and lone surrogates; replacing them one for one
        # preserves lengths.
        plain = re.sub("[\ud800-\udfff]", "\ufffd", re.sub(r"\s", " ", text))
        sentences: list[str] = []
        start = 0
        while start < len(text):
            part = plain[start : start + MOST_AT_ONCE]
            lengths = list(map(len, segment(self.settings["source_language"], part)))
            if start + len(part) < len(text):  # the last sentence may continue
                half = len(part) // 2
                lengths = lengths[:-1] or [part.rfind(" ", 0, half) + 1 or half]
            for length in lengths:
                sentences.append(text[start : start + length])
                start += length
        return sentences

    def _pieces(self, sentence: str) -> tuple[list[str], list[str]]:
        """Return the pieces of a sentence, and the words behind its placeholders."""
        text, hidden = self._hide(sentence)
        if self.settings["lowercase"] in ("source", "both"):
            text = text.lower()
        if self.settings["word_mark"] == "end":
            text = TOUCHING_LEFT.sub(rf" {JOINER}\1", text)
            text = TOUCHING_RIGHT.sub(rf"\1{JOINER} ", text)
        return self.source.encode(text, out_type=str), hidden

    def _hide(self, text: str) -> tuple[str, list[str]]:
        """Replace words that did not occur in training with placeholders."""
        hidden: list[str] = []
        only_names = self.settings["carry_over"] == "names"

        def replacement(match: re.Match[str]) -> str:
            word = match.group()
            if self._knows(word.lower()) or (only_names and not word[0].isupper()):
                return word
            if word not in hidden:
                if len(hidden) == len(PLACEHOLDERS):
                    return word
                hidden.append(word)
            return PLACEHOLDERS[hidden.index(word)]

        return HIDEABLE.sub(replacement, text), hidden

    def _knows(self, word: str) -> bool:
        # In lower case, the Turkish İ has a combining dot, at which training text is split.
        known = self.known
        return known is None or word in known or known.issuperset(WORD.findall(word))

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
                suppress_sequences=[["<pad>"], ["<sos>"]],
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
            kept = COPIED.findall(self._decode(pieces))
            lost = sum(mark not in kept for mark in PLACEHOLDERS[: len(hidden)])
            score = log_probability / ((6 + len(pieces)) / 6) ** alpha
            return (len(pieces) >= limit, lost, -score) if hidden else (False, 0, -score)

        pieces, _ = min(zip(result.hypotheses, result.scores, strict=True), key=rank)
        return self._write(pieces, hidden)

    # ------------------------------------------------------------------------------- after a search

    def _decode(self, pieces: list[str]) -> str:
        text = " ".join(UNPRINTABLE.sub("", self.target.decode(pieces)).split())
        if self.settings["word_mark"] == "end":
            text = text.replace(f" {JOINER}", "").replace(f"{JOINER} ", "").replace(JOINER, "")
        return text

    def _write(self, pieces: list[str], hidden: list[str]) -> str:
        text = self._decode(pieces)
        if self.casing is not None:
            text = self._capitals(text)
        for mark, word in zip_longest(PLACEHOLDERS, hidden, fillvalue=""):
            text = text.replace(mark, word)
        return " ".join(text.split())

    def _capitals(self, text: str) -> str:
        """Restore capitals in lower-cased text."""
        casing: dict[str, Any] = self.casing or {}
        words, after = casing["words"], casing["after"]
        before = ""

        def replacement(match: re.Match[str]) -> str:
            nonlocal before
            word = match.group()
            if match.start() and text[match.start() - 1] in PLACEHOLDERS:
                return word  # an ending, such as the genitive's s
            form = after.get(f"{before} {word}") or words.get(word) or _by_ending(words, word)
            before = word
            starts = casing["sentence_capital"] and SENTENCE_START.search(text[: match.start()])
            if starts and form.islower():  # not "iPhone"
                return form[0].upper() + form[1:]
            return str(form)

        return WORD.sub(replacement, text)


def _by_ending(words: dict[str, str], word: str) -> str:
    """Capitalize an unknown word like the longest known word it ends in (a compound's head)."""
    for start in range(1, len(word) - 2):
        if form := words.get(word[start:]):
            return word[0].upper() + word[1:] if form[0].isupper() else word
    return word


def _limit_marks(found: re.Match[str]) -> str:
    """Remove marks after the 30th: normalization sorts them, which takes quadratic time."""
    run = found.group()
    return run[:MOST_MARKS] + "".join(
        c for c in run[MOST_MARKS:] if not unicodedata.combining(c) and c not in HALFWIDTH
    )


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
