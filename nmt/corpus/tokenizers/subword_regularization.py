"""Random segmentation of words into subwords, a regularizer for training.

BPE-dropout (Provilkov et al. 2020) skips merges at random; for a unigram model, segmentations are
sampled from the n best (Kudo 2018). SentencePiece implements both, but its random generator cannot
be seeded reproducibly across processes. Here every draw depends only on the caller's generator.
"""

import random
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.prepared import Sequences
from nmt.corpus.tokenizers.subwords import SPACE, SubwordTokenizer
from nmt.progress import Bar
from nmt.special_tokens import UNK

_ALTERNATIVES = 32  # sampled segmentations per word; number 0 is the original
_UNDRAWN = -1
_SENTENCES_AT_A_TIME = 10_000
_SMOOTHING = 0.2  # Kudo's α; without it, nearly every draw would be the second-best segmentation
_Ids = tuple[int, ...]


class SegmentationSampler:
    """Samples segmentations of a corpus, word by word.

    Each distinct word has a few alternative segmentations, computed when first drawn; after that,
    segmenting the corpus is a table lookup.
    """

    def __init__(self, tokenizer: SubwordTokenizer, config: TokenizerConfig, corpus: Sequences):
        self._processor = tokenizer.processor
        self._kind = config.kind
        self._rate = config.subword_regularization
        self._tokens = tokenizer.tokens(range(tokenizer.size))
        # Text that looks like a special token or a byte token must not become one.
        special = [
            self._processor.is_control(i) or self._processor.is_byte(i) or i == UNK
            for i in range(tokenizer.size)
        ]
        self._fixed = {i for i, fixed in enumerate(special) if fixed}
        self._ids = {p: i for i, p in enumerate(self._tokens) if i not in self._fixed}
        # Merge order; ids may differ: `put_target_first` moves source-only tokens to the end.
        self._ranks = {p: -self._processor.get_score(i) for p, i in self._ids.items()}
        # A word ends after a token with the mark, or before one.
        self._mark_after = int(tokenizer.marks_end)
        marked = str.endswith if tokenizer.marks_end else str.startswith
        self._marked = [marked(token, SPACE) for token in self._tokens]
        numbers, ends, known = array("i"), array("q", [0]), dict[_Ids, int]()
        starts = range(0, len(corpus), _SENTENCES_AT_A_TIME)
        for start in Bar(starts, "counting words", unit="", unit_scale=_SENTENCES_AT_A_TIME):
            end = min(start + _SENTENCES_AT_A_TIME, len(corpus))
            for ids in corpus.rows(np.arange(start, end)):
                numbers.extend(known.setdefault(word, len(known)) for word in self._words(ids))
                ends.append(len(numbers))
        self._words_known = list(known)
        self._words_of_corpus = np.array(numbers)
        # The start of each sentence in `_words_of_corpus`, and the total length.
        self._sentences = np.array(ends)
        # For each alternative: the offset of its ids in `_drawn`, and their number.
        self._starts = np.full(len(known) * (1 + _ALTERNATIVES), _UNDRAWN)
        self._lengths = np.zeros_like(self._starts)
        self._drawn = array("i")

    def draw(self, generator: np.random.Generator, longest: int) -> Sequences:
        """Return a new segmentation; a sentence above `longest` ids keeps its original."""
        words = self._words_of_corpus
        given = words * np.int64(1 + _ALTERNATIVES)  # the original of each
        drawn = given + generator.integers(1, 1 + _ALTERNATIVES, size=len(words))
        lengths = np.diff(self._ends(drawn)[self._sentences])
        too_long = np.repeat(lengths > longest, np.diff(self._sentences))
        drawn = np.where(too_long, given, drawn)
        ends = self._ends(drawn)
        # For each id of the new corpus: its index in `_drawn`, minus its index here.
        moved = np.repeat(self._starts[drawn] - ends[:-1], self._lengths[drawn])
        ids = np.array(self._drawn, np.int32)[moved + np.arange(len(moved))]
        return Sequences(ids, ends[self._sentences])

    def _ends(self, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
        """Compute missing ones; return where each alternative starts in the new ids, and their end.

        drawn: (words,), word · (1 + _ALTERNATIVES) + choice → (words + 1,)
        """
        missing = np.unique(drawn[self._starts[drawn] == _UNDRAWN]).tolist()
        for number in Bar(missing, "segmenting", unit="", unit_scale=True, leave=False):
            word, choice = divmod(number, 1 + _ALTERNATIVES)
            ids = self._alternative(self._words_known[word], choice)
            self._starts[number], self._lengths[number] = len(self._drawn), len(ids)
            self._drawn.extend(ids)
        return np.concatenate([[0], self._lengths[drawn].cumsum()])

    def _words(self, ids: Sequence[int]) -> Iterator[_Ids]:
        start = 0
        for end in range(1, len(ids)):
            if self._marked[ids[end - self._mark_after]]:
                yield tuple(ids[start:end])
                start = end
        if len(ids):
            yield tuple(ids[start:])

    def _alternative(self, word: _Ids, choice: int) -> _Ids:
        """Return an alternative of a word, always the same for the same choice."""
        # Special tokens and bytes have no text to segment.
        if not choice or not self._fixed.isdisjoint(word):
            return word
        # Seeded by the word, so that a resumed run draws the same as an uninterrupted one.
        generator = random.Random(f"{choice} {word}")
        text = "".join(self._tokens[i] for i in word)
        if self._kind == "bpe":
            return self._bpe(text, generator)
        return self._unigram(text, word, generator)

    def _bpe(self, text: str, generator: random.Random) -> _Ids:
        """Apply BPE, skipping each possible merge with probability `rate`."""
        ranks, draw, rate = self._ranks, generator.random, self._rate
        symbols = list(text)
        # The rank of the merge of each symbol with the next, if there is one.
        merged = [ranks.get(one + other) for one, other in pairwise(symbols)]
        while merges := [
            (rank, i) for i, rank in enumerate(merged) if rank is not None and draw() >= rate
        ]:
            _, i = min(merges)
            symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]
            del merged[i]
            for left in range(max(i - 1, 0), min(i + 1, len(merged))):
                merged[left] = ranks.get(symbols[left] + symbols[left + 1])
        return tuple(self._ids[symbol] for symbol in symbols)

    def _unigram(self, text: str, word: _Ids, generator: random.Random) -> _Ids:
        """Return, with probability `rate`, another one of the n best segmentations."""
        if generator.random() >= self._rate:
            return word
        line = text.replace(SPACE, " ").strip()
        best = self._processor.nbest_encode_as_ids(line, _ALTERNATIVES)
        others = [ids for ids in map(tuple, best) if ids != word]
        if not others:
            return word
        scores = np.array([sum(self._processor.get_score(i) for i in ids) for ids in others])
        weights = np.exp(_SMOOTHING * (scores - scores.max()))
        return generator.choices(others, weights.tolist())[0]
