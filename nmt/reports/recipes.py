"""Recommends settings for a corpus, from its size, its sentence lengths and the training time.

More pairs allow a larger model, if there is time for several epochs. The fewer the epochs, the less
dropout. docs/your-data.md has the measurements behind these rules.
"""

import json
from collections import Counter
from dataclasses import dataclass
from itertools import accumulate
from math import isinf
from pathlib import Path

from nmt.corpus.sources.readers import read_tsv
from nmt.decoding.engines.ctranslate2 import threads
from nmt.errors import UserError, escape_terminal
from nmt.progress import with_progress

_SHORT = 5  # words
_FEWEST = 100  # pairs
_FEWEST_EPOCHS = 7  # with fewer, a smaller model learns more in the same time
_OVERFITTING = 50  # epochs; from this number on, a small corpus needs strong dropout
_LITTLE_DROPOUT = 0.1


@dataclass(frozen=True)
class Recipe:
    """A configuration as commented YAML, and warnings about the corpus."""

    yaml: str
    warnings: list[str]


@dataclass(frozen=True)
class _Size:
    """Settings for corpora of at most this many pairs.

    speed: target tokens per second and core, measured on two; dropout: for many epochs
    """

    pairs: float
    speed: int
    vocabulary: int
    d_model: int
    d_ff: int
    layers: int
    dropout: float
    batch_tokens: int
    learning_rate: float


_SIZES = (
    _Size(15_000, 4700, 2000, 256, 512, 2, 0.3, 1024, 2e-3),
    _Size(100_000, 3000, 8000, 256, 512, 4, 0.3, 4096, 2.5e-3),
    _Size(500_000, 980, 16_000, 384, 1536, 5, 0.2, 8192, 1.5e-3),
    _Size(float("inf"), 500, 32_000, 512, 2048, 6, 0.1, 16_384, 1e-3),
)


def recommend(corpus: Path, minutes: float, device: str) -> Recipe:
    """Choose settings for a file of tab-separated pairs and this training time.

    device: where to train: cpu, cuda or mps
    """
    lengths: Counter[int] = Counter()  # in words, of the longer side
    target_words = 0
    for source, target in with_progress(read_tsv(corpus), f"reading {corpus.name}"):
        words = len(target.split())
        target_words += words
        lengths[max(words, len(source.split()))] += 1
    pairs = lengths.total()
    if pairs < _FEWEST:
        raise UserError(
            f"{corpus}: too few pairs to learn from: {pairs}; provide at least {_FEWEST}, and "
            "100,000 for a model of everyday language"
        )
    longest, usual = max(lengths), _percentile(lengths, 99)
    target_tokens = pairs + 1.3 * target_words  # including <eos>
    size, epochs = _fitting(pairs, target_tokens, minutes, device)
    dropout = size.dropout if epochs >= _OVERFITTING else _LITTLE_DROPOUT
    held_out = min(1000, pairs // 20)
    machine = f"{threads()} processors" if device == "cpu" else device
    name = escape_terminal(corpus.name)
    unit = "minute" if minutes == 1 else "minutes"
    text = f"""\
# For {name}: {pairs:,} pairs, 99% with at most {usual} words, the longest with {longest}.
# For {minutes:g} {unit} of training on {machine}{_epochs(epochs)}. To check memory and speed:
#   nmt train --config mine.yaml --dry-run

data:
  source: tsv             # English TAB other language on each line; or source TAB target
  path: {json.dumps(str(corpus), ensure_ascii=False)}
  source_language: en     # the languages of the file
  target_language: de
  validation_size: {held_out}   # held out to choose the best weights
  test_size: {held_out}         # held out for the final score
  max_words: {max(usual, 10) + 10}           # longer training pairs are dropped

tokenizer:
  kind: bpe
  vocabulary_size: {size.vocabulary}   # larger for more pairs: more words stay whole

model:                    # larger for more pairs and more time
  d_model: {size.d_model}
  heads: {size.d_model // 64}
  d_ff: {size.d_ff}
  encoder_layers: {size.layers}
  decoder_layers: {size.layers}
  dropout: {dropout}            # 0.3 for few pairs that training sees often

training:
  epochs: 1000            # max_minutes and patience end it sooner
  max_minutes: {minutes:g}
  patience: 10            # validations without improvement
  batch_tokens: {size.batch_tokens}
  learning_rate: {size.learning_rate}
  warmup_updates: 400
  average_decay: 0.998    # keeps a moving average of the weights; validation uses it
  validate_updates: 200

decoding:
  beam_size: 4
  length_penalty: 0.6
"""
    return Recipe(text, list(_warnings(pairs, longest, epochs)))


def _percentile(counts: Counter[int], percent: int) -> int:
    """Return the smallest length that this share of the pairs does not exceed."""
    wanted = counts.total() * percent / 100
    lengths = sorted(counts)
    reached = accumulate(counts[length] for length in lengths)
    return next(length for length, sum_ in zip(lengths, reached, strict=True) if sum_ >= wanted)


def _fitting(pairs: int, target_tokens: float, minutes: float, device: str) -> tuple[_Size, float]:
    """Return the largest size for which the time allows enough epochs, and their number.

    A GPU counts as fast enough for any.
    """
    largest = next(number for number, size in enumerate(_SIZES) if pairs <= size.pairs)
    if device != "cpu":
        return _SIZES[largest], float("inf")
    for size in reversed(_SIZES[: largest + 1]):
        epochs = size.speed * threads() * 60 * minutes / target_tokens
        if epochs >= _FEWEST_EPOCHS:
            break
    return size, epochs


def _epochs(epochs: float) -> str:
    return "" if isinf(epochs) else f", about {_rounded(epochs)} epochs"


def _rounded(epochs: float) -> str:
    return f"{epochs:,.0f}" if epochs >= 10 else f"{epochs:.1f}"


def _warnings(pairs: int, longest: int, epochs: float) -> list[str]:
    warnings = []
    if epochs < _FEWEST_EPOCHS:
        warnings.append(
            f"there is time for only about {_rounded(epochs)} epochs; good translations need "
            f"{_FEWEST_EPOCHS} or more: raise --minutes"
        )
    if longest <= _SHORT:
        warnings.append(
            f"longest sentence: {longest} words; the model will fail on longer ones: add longer "
            "sentences"
        )
    if pairs < 10_000:
        warnings.append(f"only {pairs:,} pairs; a model of everyday language needs 100,000")
    return warnings
