"""Random segmentation of words into subwords, a regulariser in training.

BPE-dropout (Provilkov et al. 2020) leaves merges out at random; for a unigram model segmentations
are drawn from the n best (Kudo 2018). SentencePiece has both, but draws from a generator that
cannot be seeded across processes; here every draw is a function of the caller's generator.
"""

import random
from array import array
from collections.abc import Iterator, Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

from nmt.config import TokenizerConfig
from nmt.corpus.prepared import Sequences
from nmt.corpus.tokenizers import SPACE, SubwordTokenizer
from nmt.special_tokens import UNK

_ALTERNATIVES = 32  # segmentations drawn of a word; number 0 is the given one
_UNDRAWN = -1
_SENTENCES_AT_A_TIME = 10_000
_SMOOTHING = 0.2  # Kudo's α; unsmoothed, nearly all draws would be the second best
_Ids = tuple[int, ...]


class SegmentationSampler:
    """Draws other segmentations of a corpus, word by word.

    Words recur, so each has a few alternatives that are made when they are first drawn; a draw of
    the whole corpus is then a look-up.
    """

    def __init__(self, tokenizer: SubwordTokenizer, config: TokenizerConfig, corpus: Sequences):
        self._processor = tokenizer.processor
        self._kind = config.kind
        self._rate = config.sampling
        self._pieces = tokenizer.pieces(range(tokenizer.size))
        # Text that happens to spell a special token or a byte must not become one.
        special = [
            self._processor.is_control(i) or self._processor.is_byte(i) or i == UNK
            for i in range(tokenizer.size)
        ]
        self._fixed = {i for i, fixed in enumerate(special) if fixed}
        self._ids = {p: i for i, p in enumerate(self._pieces) if i not in self._fixed}
        # In which order the merges were learnt; the ids follow it only within each side's pieces.
        self._ranks = {p: -self._processor.get_score(i) for p, i in self._ids.items()}
        # A word ends after a piece with the mark, or before one.
        self._mark_after = int(tokenizer.marks_end)
        marked = str.endswith if tokenizer.marks_end else str.startswith
        self._marked = [marked(piece, SPACE) for piece in self._pieces]
        numbers, ends, known = array("i"), array("q", [0]), dict[_Ids, int]()
        starts = range(0, len(corpus), _SENTENCES_AT_A_TIME)
        for start in tqdm(
            starts, "counting words", unit="", unit_scale=_SENTENCES_AT_A_TIME, delay=2
        ):
            end = min(start + _SENTENCES_AT_A_TIME, len(corpus))
            for ids in corpus.rows(np.arange(start, end)):
                numbers.extend(known.setdefault(word, len(known)) for word in self._words(ids))
                ends.append(len(numbers))
        self._words_known = list(known)
        self._words_of_corpus = np.array(numbers)
        self._sentences = np.array(ends)  # where each begins among the words, and the end
        # Of each alternative: where its ids begin among the drawn ones, and how many they are.
        self._starts = np.full(len(known) * (1 + _ALTERNATIVES), _UNDRAWN)
        self._lengths = np.zeros_like(self._starts)
        self._drawn = array("i")

    def draw(self, generator: np.random.Generator, longest: int) -> Sequences:
        """Return the corpus segmented anew; sentences of more than `longest` ids stay as given."""
        words = self._words_of_corpus
        given = words * np.int64(1 + _ALTERNATIVES)  # the first alternative of each
        drawn = given + generator.integers(1, 1 + _ALTERNATIVES, size=len(words))
        lengths = np.diff(self._ends(drawn)[self._sentences])
        too_long = np.repeat(lengths > longest, np.diff(self._sentences))
        drawn = np.where(too_long, given, drawn)
        ends = self._ends(drawn)
        # Of each id of the new corpus: its place among the drawn ones.
        moved = np.repeat(self._starts[drawn] - ends[:-1], self._lengths[drawn])
        ids = np.array(self._drawn, np.int32)[moved + np.arange(len(moved))]
        return Sequences(ids, ends[self._sentences])

    def _ends(self, drawn: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return where alternatives laid one after another begin, and the end; make missing ones.

        drawn: (words,), word · (1 + _ALTERNATIVES) + choice → (words + 1,)
        """
        missing = np.unique(drawn[self._starts[drawn] == _UNDRAWN]).tolist()
        for number in tqdm(missing, "segmenting", unit="", unit_scale=True, delay=2, leave=False):
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
        """Return one of the word's alternatives, always the same for the same choice."""
        if not choice or not self._fixed.isdisjoint(word):  # unknown how to spell it
            return word
        # Seeded by the word, so that a resumed run draws what the uninterrupted one drew.
        generator = random.Random(f"{choice} {word}")
        text = "".join(self._pieces[i] for i in word)
        if self._kind == "bpe":
            return self._bpe(text, word, generator)
        return self._unigram(text, word, generator)

    def _bpe(self, text: str, word: _Ids, generator: random.Random) -> _Ids:
        """BPE from characters up, each possible merge left out with probability `rate`."""
        ranks, draw, rate = self._ranks, generator.random, self._rate
        symbols = list(text)
        # The rank of what each symbol and the next would become, if anything.
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
        """With probability `rate`, another of the n best segmentations."""
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
