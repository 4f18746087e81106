"""Translate with this model: needs only `pip install ctranslate2 sentencepiece`, no nmt.

If sentencex is installed as well, lines are split into sentences by the same rules as in nmt,
otherwise by a simpler rule.

    python translate.py "A sentence to translate."
    python translate.py < sentences.txt > translations.txt

Or in a program: `from translate import Translator; Translator().translate(["A sentence."])`.

Each line is processed as follows (settings.json selects the steps for this model): split it into
sentences, and long ones into parts (parts.py, division.py); set aside what stands around a sentence
(sentence_edges.py); translate quotations and brackets within it by themselves (quotations.py);
remove emphasis and links, which are put back by the order of words (emphasis.py); replace words
that did not occur in training, numbers and codes with placeholders (placeholders.py); lower-case
the rest, split it into SentencePiece tokens, translate them with CTranslate2, restore capitals, and
fill in the replaced words.
"""

import io
import json
import logging
import os
import re
import sys
from collections.abc import Iterable, Sequence
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from pathlib import Path
from typing import Any, NamedTuple

import ctranslate2
import sentencepiece

try:
    from sentencex import segment
except ImportError:
    segment = None

from nmt.corpus.text.names import TITLES
from nmt.corpus.text.normalization import (
    SEPARATORS,
    join_words,
    missing_space,
    part_words,
    printable,
    restore_capitals,
    sentence_lengths,
)
from nmt.corpus.text.parts import Part, Splitter, TextRules, surround
from nmt.corpus.text.placeholders import PlaceholderRules, count_missing_placeholders
from nmt.corpus.text.punctuation import SENTENCE_ENDS
from nmt.corpus.text.target_words import TARGET_WORDS, TargetWords
from nmt.special_tokens import SPECIALS, SUPPRESSED

_LOG = logging.getLogger("translate.py")
LINES_AT_A_TIME = 1_000
_NO_END = "".join(rf"(?<!\b(?i:{title[:-2]})\.)" for title in TITLES if title.endswith(". "))
SENTENCE = re.compile(rf".+?(?:(?<=[{SENTENCE_ENDS}]){_NO_END}(?<!\b\w\.)\s+|$)", re.DOTALL)


class _Found(NamedTuple):
    """A translation, the number of its parts, whether the length limit cut none of them, and
    whether a sentence was divided because it is unusually long.
    """

    text: str
    parts: int
    complete: bool
    is_long: bool = False


class Translator:
    """Translates lines of text with the model in a folder, by default the one of this file."""

    def __init__(self, folder: Path = Path(__file__).parent, compute_type: str = "default"):
        self.settings: dict[str, Any] = _read(folder / "settings.json")
        self.engine = ctranslate2.Translator(str(folder), compute_type=compute_type)
        self.source, self.target = (
            sentencepiece.SentencePieceProcessor(model_file=str(folder / self.settings[name]))
            for name in ("source_model", "target_model")
        )
        rules = TextRules(**self.settings["rules"])
        self.rules, replaced, restore = rules, None, None
        language = self.settings["sentence_language"]
        self._segment = partial(segment, language) if segment else SENTENCE.findall
        knows = lru_cache(10_000)(self._knows)
        words = folder / TARGET_WORDS
        self._target_words = TargetWords(_read(words) if words.exists() else ())
        if self.settings["placeholders"] != "none":
            known, names = (
                frozenset(_read(folder / name)) for name in ("known_words.json", "rare_names.json")
            )
            replaced = PlaceholderRules(
                known,
                self.settings["placeholders"] == "names",
                (rules.source_language, rules.target_language),
                knows,
                names,
                self._target_words.words,
            )
        if self.settings["restore_case"]:
            restore = partial(restore_capitals, **_read(folder / "casing.json"))
        self._splitter = Splitter(rules, self._encode, knows, self._segment, replaced, restore)

    def translate(self, lines: Sequence[str], first: int = 1) -> list[str]:
        """Return the translation of each line, which must not contain line breaks.

        Warns of lines that were divided or cut off. first: the number of the first line
        Raises `TypeError` for a single string.
        """
        if isinstance(lines, str):  # a sequence, too: of characters
            raise TypeError("translate takes a list of lines: translate([text])")
        found = self._translate(lines)
        for number, line in enumerate(found, first):
            if line.is_long:
                _LOG.warning(f"line {number}: unusually long, translated in {line.parts} parts")
            if not line.complete:
                _LOG.warning(
                    f"line {number}: translation truncated; raise max_length_extra in settings.json"
                )
        return [line.text for line in found]

    def _translate(self, lines: Sequence[str]) -> list[_Found]:
        single = self.settings["split_sentences"]
        cut = [self._sentences(line) if single else [line] for line in lines]
        parts = [[self._splitter.parts(sentence) for sentence in line] for line in cut]
        flat = [part for line in parts for each in line for part in each]
        found = iter(self._search(self._with_quotations(flat)))
        translations = []
        for sentences, line in zip(cut, parts, strict=True):
            text, before, pieces, is_long = "", "", [], False
            for sentence, each in zip(sentences, line, strict=True):
                text += missing_space(before, sentence)
                before = sentence
                start = len(sentence) - len(sentence.lstrip())
                end = len(sentence.rstrip())
                own = [next(found) for _ in each]
                pieces += own
                tokens = sum(len(part.tokens) for part in each)
                is_long |= sum(x.parts for x in own) > 1 and tokens > self.rules.longest
                translated = _joined(own)
                text += sentence[:start]
                text += translated if each else self._splitter.tidy(sentence)
                text += sentence[max(start, end) :]
            count, whole = sum(x.parts for x in pieces), all(x.complete for x in pieces)
            translations.append(_Found(text.strip(), count, whole, is_long))
        return translations

    # ------------------------------------------------------------------------------ before a search

    def _sentences(self, text: str) -> list[str]:
        """Cut text into sentences, each with the whitespace around it."""
        ends = accumulate(sentence_lengths(text, self._segment))
        return [text[start:end] for start, end in pairwise((0, *ends))]

    def _encode(self, text: str) -> list[str]:
        """Return the tokens of a text."""
        if self.settings["whitespace_as_suffix"]:
            text = part_words(text)
        tokens: list[str] = self.source.encode(text, out_type=str)
        return tokens

    def _knows(self, text: str) -> bool:
        """Return whether a text can be spelled without unknown tokens and without bytes."""
        ids = self.source.piece_to_id(self._encode(text))
        return bool(ids) and not any(map(self._is_unknown, ids))

    def _is_unknown(self, token: int) -> bool:
        return bool(self.source.is_unknown(token) or self.source.is_byte(token))

    def _with_quotations(self, parts: list[Part]) -> list[Part]:
        """Return the parts with the translations of what they enclose in marks.

        Whether the length limit cut these is not kept.
        """
        quotations = (each for part in parts for each in part.quotations.values())
        sources = dict.fromkeys(each.source for each in quotations if each.source)
        if not sources:
            return parts
        found = (each.text for each in self._translate([*sources]))
        translations = dict(zip(sources, found, strict=True))
        return [self._splitter.with_quotations(part, translations) for part in parts]

    # ------------------------------------------------------------------------------------- a search

    def _search(self, parts: Sequence[Part]) -> list[_Found]:
        """Translate parts; divide those whose translations are of unusual length or repetitive."""
        translations = []
        for part, (tokens, complete) in zip(parts, self._best(parts), strict=True):
            halves = [part]
            fits = self.rules.in_proportion(len(part.tokens), len(tokens))
            if not fits or self.rules.repeats(part.tokens, tokens):
                halves = self._splitter.divide(part)
            if len(halves) > 1:
                again = self._search(halves)
                count, whole = sum(x.parts for x in again), all(x.complete for x in again)
                translations.append(_Found(_joined(again), count, whole))
            else:
                text = self._splitter.write(part, self._decode(tokens))
                translations.append(_Found(surround(part, text), 1, complete))
        return translations

    def _best(self, parts: Sequence[Part]) -> list[tuple[list[str], bool]]:
        """Return the tokens of the best translations, and whether each is complete."""
        found: list[tuple[list[str], bool]] = [([], True) for _ in parts]
        for length in sorted({len(part.tokens) for part in parts}):
            chosen = [i for i, part in enumerate(parts) if len(part.tokens) == length]
            limit = int(length * self.settings["max_length_factor"])
            limit = min(limit + self.settings["max_length_extra"], self.rules.room)
            results = self.engine.translate_batch(
                [parts[i].tokens for i in chosen],
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
                tokens = self._choose(result, limit, parts[i])
                found[i] = tokens, len(tokens) < limit
        return found

    def _choose(self, result: Any, limit: int, part: Part) -> list[str]:
        """Return the complete hypothesis with the fewest missing placeholders, then new words."""
        alpha, k = self.settings["length_penalty"], self.settings["length_offset"]
        hypotheses = list(zip(result.hypotheses, result.scores, strict=True))

        def score(hypothesis: tuple[list[str], float]) -> float:
            return float(hypothesis[1] / ((k + 1 + len(hypothesis[0])) / (k + 1)) ** alpha)

        def rank(hypothesis: tuple[list[str], float]) -> tuple[bool, int]:
            tokens = hypothesis[0]
            if not part.words:
                return False, 0
            return len(tokens) >= limit, count_missing_placeholders(
                self._decode(tokens), part.words, part.text
            )

        def count_new(hypothesis: tuple[list[str], float]) -> int:
            text = self._splitter.write(part, self._decode(hypothesis[0]))
            return self._target_words.count_new(text, part.raw)

        hypotheses.sort(key=lambda each: (rank(each), -score(each)))
        best = hypotheses[0]
        margin = self.settings["new_words_margin"]
        if margin and self._target_words.words and count_new(best):
            enough = score(best) - margin
            near = [h for h in hypotheses if rank(h) == rank(best) and score(h) >= enough]
            best = min(near, key=count_new)
        return list(best[0])

    # ------------------------------------------------------------------------------- after a search

    def _decode(self, tokens: list[str]) -> str:
        text = " ".join(printable(self.target.decode(tokens)).split())
        return join_words(text) if self.settings["whitespace_as_suffix"] else text


def _joined(found: Sequence[_Found]) -> str:
    return " ".join(filter(None, (each.text for each in found)))


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
        some = lines[start : start + LINES_AT_A_TIME]
        for translation in translator.translate(some, start + 1):
            print(translation.translate(SEPARATORS))  # one line, for any reader
    sys.stdout.flush()


if __name__ == "__main__":
    try:
        main(sys.argv[1:])
    except BrokenPipeError:  # the reader has enough: python translate.py < lines.en | head
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
