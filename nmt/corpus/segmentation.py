"""Random segmentation of words into subwords, a regulariser in training.

BPE-dropout (Provilkov et al. 2020) leaves merges out at random; for a unigram model segmentations
are drawn from the n best (Kudo 2018). SentencePiece has both, but draws from a generator that
cannot be seeded across processes; here every draw is a function of the caller's generator.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from nmt.config import TokenizerConfig
from nmt.corpus.tokenizers import SPACE, SubwordTokenizer
from nmt.special_tokens import UNK

_ALTERNATIVES = 32  # segmentations a word
_KEPT = 2**18  # segmentations in memory
_SMOOTHING = 0.2  # Kudo's α; unsmoothed, nearly all draws would be the second best
_Ids = tuple[int, ...]


class SegmentationSampler:
    """Draws another segmentation of sequences of piece ids, word by word."""

    def __init__(self, tokenizer: SubwordTokenizer, config: TokenizerConfig):
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
        self._starts_word = [piece.startswith(SPACE) for piece in self._pieces]
        # Words recur: most draws are a look-up.
        self._alternative = lru_cache(maxsize=_KEPT)(self._draw)

    def resample(self, ids: Sequence[int], generator: np.random.Generator) -> list[int]:
        """Return ids that spell the same text, segmented anew."""
        words = list(self._words(ids))
        choices = generator.integers(_ALTERNATIVES, size=len(words)).tolist()
        drawn = map(self._alternative, words, choices)
        return [i for word in drawn for i in word]

    def _words(self, ids: Sequence[int]) -> Iterator[_Ids]:
        start = 0
        for end in range(1, len(ids)):
            if self._starts_word[ids[end]]:
                yield tuple(ids[start:end])
                start = end
        if len(ids):
            yield tuple(ids[start:])

    def _draw(self, word: _Ids, choice: int) -> _Ids:
        """Return one of the word's alternatives, always the same for the same choice."""
        if not self._fixed.isdisjoint(word):  # nothing known about how to spell it
            return word
        # Seeded by the word, so that a resumed run draws what the uninterrupted one drew.
        generator = np.random.default_rng([*word, choice])
        text = "".join(self._pieces[i] for i in word)
        if self._kind == "bpe":
            return self._bpe(text, word, generator)
        return self._unigram(text, word, generator)

    def _bpe(self, text: str, word: _Ids, generator: np.random.Generator) -> _Ids:
        """BPE from characters up, each possible merge left out with probability `rate`."""
        symbols = list(text)
        while len(symbols) > 1:
            merges = [
                (rank, i)
                for i in range(len(symbols) - 1)
                if (rank := self._ids.get(symbols[i] + symbols[i + 1])) is not None
                and generator.random() >= self._rate
            ]
            if not merges:
                break
            _, i = min(merges)  # the earliest learnt merge has the lowest id
            symbols[i : i + 2] = [symbols[i] + symbols[i + 1]]
        return tuple(self._ids[symbol] for symbol in symbols)

    def _unigram(self, text: str, word: _Ids, generator: np.random.Generator) -> _Ids:
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
        return others[generator.choice(len(others), p=weights / weights.sum())]
