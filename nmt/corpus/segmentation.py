"""Random segmentation of words into subwords, a regulariser in training.

BPE-dropout (Provilkov et al. 2020) leaves merges out at random; for a unigram model segmentations
are drawn from the n best (Kudo 2018). SentencePiece has both, but draws from a generator that
cannot be seeded across processes; here every draw is a function of the caller's generator.
"""

from collections.abc import Iterator, Sequence

import numpy as np

from nmt.config import TokenizerConfig
from nmt.corpus.tokenizers import SPACE, SubwordTokenizer
from nmt.special_tokens import UNK

_ALTERNATIVES = 32  # segmentations kept a word: drawing among them costs a look-up
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
        self._alternatives: dict[_Ids, list[_Ids]] = {}

    def resample(self, ids: Sequence[int], generator: np.random.Generator) -> list[int]:
        """Return ids that spell the same text, segmented anew."""
        words = [self._alternatives_of(word) for word in self._words(ids)]
        choices = generator.integers(_ALTERNATIVES, size=len(words)).tolist()
        return [i for word, choice in zip(words, choices, strict=True) for i in word[choice]]

    def _words(self, ids: Sequence[int]) -> Iterator[_Ids]:
        start = 0
        for end in range(1, len(ids)):
            if self._starts_word[ids[end]]:
                yield tuple(ids[start:end])
                start = end
        if len(ids):
            yield tuple(ids[start:])

    def _alternatives_of(self, word: _Ids) -> list[_Ids]:
        known = self._alternatives.get(word)
        if known is None:
            # Seeded by the word, so that a resumed run draws what the uninterrupted one drew.
            generator = np.random.default_rng(word)
            text = "".join(self._pieces[i] for i in word)
            if not self._fixed.isdisjoint(word):  # nothing known about how to spell it
                known = [word] * _ALTERNATIVES
            elif self._kind == "bpe":
                known = [self._bpe(text, word, generator) for _ in range(_ALTERNATIVES)]
            else:
                known = self._unigram(text, word, generator)
            self._alternatives[word] = known
        return known

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

    def _unigram(self, text: str, word: _Ids, generator: np.random.Generator) -> list[_Ids]:
        """With probability `rate`, another of the n best segmentations."""
        line = text.replace(SPACE, " ").strip()
        best = self._processor.nbest_encode_as_ids(line, _ALTERNATIVES)
        others = [ids for ids in map(tuple, best) if ids != word]
        if not others:
            return [word] * _ALTERNATIVES
        scores = np.array([sum(self._processor.get_score(i) for i in ids) for ids in others])
        weights = np.exp(_SMOOTHING * (scores - scores.max()))
        drawn = generator.choice(len(others), size=_ALTERNATIVES, p=weights / weights.sum())
        kept = generator.random(_ALTERNATIVES) >= self._rate
        return [word if keep else others[i] for keep, i in zip(kept, drawn, strict=True)]
