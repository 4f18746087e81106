"""Recommends settings for the user's own corpus, from its size, sentence lengths and the time.

The sizes are those of shipped configurations: `base.yaml` was tuned on 10,000 pairs,
`multi30k.yaml` on 29,000, and `wmt-base.yaml` is the paper's base model. In between they are rules
of thumb: try `--dry-run`, and look at the validation curves.
"""

import os
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from nmt.corpus.readers import read_tsv
from nmt.errors import UserError

_MOST_READ = 1_000_000  # pairs
_SHORT = 5  # words
_FEWEST = 100  # pairs


@dataclass(frozen=True)
class Recipe:
    """A configuration as commented YAML, and warnings about the corpus."""

    yaml: str
    warnings: list[str]


@dataclass(frozen=True)
class _Size:
    """Settings for corpora of at most this many pairs."""

    pairs: float
    vocabulary: int
    d_model: int
    d_ff: int
    layers: int
    dropout: float
    batch_tokens: int
    learning_rate: float


_SIZES = (
    _Size(15_000, 2000, 256, 512, 2, 0.3, 1024, 2e-3),
    _Size(100_000, 8000, 256, 512, 4, 0.3, 4096, 2.5e-3),
    _Size(500_000, 16_000, 384, 1536, 5, 0.2, 8192, 1.5e-3),
    _Size(float("inf"), 32_000, 512, 2048, 6, 0.1, 16_384, 1e-3),
)


def recommend(corpus: Path, minutes: float) -> Recipe:
    """Choose settings for tab-separated pairs, source first, and this training time."""
    words = [
        (len(source.split()), len(target.split()))
        for source, target in islice(read_tsv(corpus), _MOST_READ)
    ]
    if len(words) < _FEWEST:
        raise UserError(
            f"{corpus}: {len(words)} pairs are too few to learn from; provide at least 10,000"
        )
    pairs, longest = len(words), int(np.max(words))
    usual = int(np.percentile(np.max(words, axis=1), 99))
    size = next(size for size in _SIZES if pairs <= size.pairs)
    held_out = min(1000, pairs // 20)
    processors = os.cpu_count() or 1
    text = f"""\
# For {corpus.name}: {pairs:,} pairs, 99% with at most {usual} words, the longest with {longest}.
# For {minutes:g} minutes of training on {processors} processors. To check memory and speed:
#   nmt train --config mine.yaml --dry-run

data:
  source: tsv             # source TAB target on each line
  path: {_quoted(str(corpus))}
  source_language: en     # the languages of the file
  target_language: de
  validation_size: {held_out}   # held out to choose the best weights
  test_size: {held_out}         # held out for the final score
  max_words: {max(usual, 10) + 10}           # longer training pairs are dropped

tokenizer:
  kind: bpe
  vocabulary_size: {size.vocabulary}   # larger for more pairs: more words stay whole

model:                    # larger for more pairs; on few pairs it would overfit
  d_model: {size.d_model}
  heads: {size.d_model // 64}
  d_ff: {size.d_ff}
  encoder_layers: {size.layers}
  decoder_layers: {size.layers}
  dropout: {size.dropout}            # higher for fewer pairs

training:
  epochs: 1000            # max_minutes and patience end it sooner
  max_minutes: {minutes:g}
  patience: 10            # validations without improvement
  batch_tokens: {size.batch_tokens}
  learning_rate: {size.learning_rate}
  warmup_updates: 400
  average_decay: 0.998    # averaged weights usually translate better
  validate_updates: 200

decoding:
  beam_size: 4
  length_penalty: 0.6
"""
    return Recipe(text, list(_warnings(pairs, longest)))


def _warnings(pairs: int, longest: int) -> list[str]:
    warnings = []
    if longest <= _SHORT:
        warnings.append(
            f"the longest sentence has {longest} words: the model will fail on longer ones; add "
            "longer sentences"
        )
    if pairs < 10_000:
        warnings.append(f"{pairs:,} pairs are few; a model of everyday language needs 100,000")
    return warnings


def _quoted(text: str) -> str:
    """Return text as a quoted YAML string."""
    import json

    return json.dumps(text, ensure_ascii=False)
