"""Recommends settings for a corpus, from its size, its sentence lengths and the training time.

More pairs allow a larger model, if there is time for several epochs. The fewer the epochs, the less
dropout. docs/your-data.md has the measurements behind these rules. For fine-tuning, the model is
that of a run, and only data, training and decoding are chosen; see docs/public-models.md, and
docs/lab/2026-11-ablations.md for measurements.
"""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import isinf
from pathlib import Path
from textwrap import fill

from nmt.config.data import DataConfig, Source
from nmt.config.decoding import DecodingConfig
from nmt.config.languages import base_language
from nmt.config.model import ModelConfig
from nmt.config.yaml_files import written
from nmt.corpus.sources.paths import expanded, ignoring_os_errors
from nmt.corpus.sources.registry import likely_source, open_corpus
from nmt.decoding.engines.ctranslate2 import threads
from nmt.errors import UserError, escape_terminal
from nmt.progress import with_progress
from nmt.reports.summaries import count_stored
from nmt.runs.folder import RunFolder
from nmt.training.fine_tuning import LOW_PEAK

_SHORT = 5  # words
_FEWEST = 100  # pairs
_FEWEST_EPOCHS = 7  # with fewer, a smaller model learns more in the same time
_OVERFITTING = 50  # epochs; from this number on, a small corpus needs strong dropout
_LITTLE_DROPOUT = 0.1
_MOST_EPOCHS = 20  # of fine-tuning
# With so many epochs of fine-tuning, this peak learns as much as LOW_PEAK, and forgets less.
_LONG, _LONG_PEAK = 7, 3e-4
_FEWEST_UPDATES, _VALIDATIONS = 20, 10  # between validations; about how many of them
# Parameters from which on settings are chosen that need less memory on a CPU: with batches of 4,096
# tokens, fine-tuning 74 million of them takes more than 3 GB (docs/benchmarks.md).
_LARGE = 60_000_000
_SMALL_BATCH = 1024  # tokens
_NO_TAG = "CHOOSE"
_FORMATS = {
    "tsv": "English TAB other language on each line; or source TAB target",
    "table": "Parquet, JSON, CSV or Arrow; data.columns: [SOURCE, TARGET] names columns",
    "parallel": "a file for each language",
}


@dataclass(frozen=True)
class Recipe:
    """A configuration as commented YAML, and warnings about the corpus."""

    yaml: str
    warnings: list[str]


@dataclass(frozen=True)
class _Size:
    """Settings for corpora of at most this many pairs."""

    pairs: float
    speed: int
    """Target tokens per second and core, measured on two cores."""
    vocabulary: int
    d_model: int
    d_ff: int
    layers: int
    dropout: float
    """Dropout for training over many epochs."""
    batch_tokens: int
    learning_rate: float


_SIZES = (
    _Size(15_000, 4700, 2000, 256, 512, 2, 0.3, 1024, 2e-3),
    _Size(100_000, 3000, 8000, 256, 512, 4, 0.3, 2048, 1.8e-3),
    _Size(500_000, 980, 16_000, 384, 1536, 5, 0.2, 8192, 1.5e-3),
    _Size(float("inf"), 500, 32_000, 512, 2048, 6, 0.1, 16_384, 1e-3),
)


def recommend(corpus: Path, minutes: float, device: str) -> Recipe:
    """Choose settings for a corpus, in any format that `nmt prepare` reads, and this training time.

    device: where to train: cpu, cuda or mps
    """
    text = _read(corpus, ("en", "de"))
    pairs, target_tokens = text.pairs, text.target_tokens
    size, epochs = _fitting(pairs, target_tokens, minutes, device)
    dropout = size.dropout if epochs >= _OVERFITTING else _LITTLE_DROPOUT
    yaml = f"""\
{text.heading(minutes, device, epochs)}
#   nmt train --config mine.yaml --dry-run

data:
{text.source_line}
  path: {_quoted(corpus)}
  source_language: en     # the languages of the file
  target_language: de
{text.held_out}

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
    return Recipe(yaml, list(_warnings(pairs, text.longest, epochs)))


def recommend_fine_tuning(corpus: Path, minutes: float, device: str, run: RunFolder) -> Recipe:
    """Choose settings to fine-tune a run on a corpus, in any format that `nmt prepare` reads."""
    config = run.config
    text = _read(corpus, config.data.languages)
    speed = _speed(config.model)
    tokens = 60 * minutes * speed * threads() if device == "cpu" else float("inf")
    epochs = tokens / text.target_tokens
    batch_tokens = 1024 if text.pairs <= _SIZES[0].pairs else 4096
    updates = int(min(tokens, _MOST_EPOCHS * text.target_tokens) / batch_tokens)
    every = max(_FEWEST_UPDATES, min(200, updates // _VALIDATIONS))
    peak = min(_LONG_PEAK if epochs >= _LONG else LOW_PEAK, config.training.learning_rate)
    decoding = [
        f"  {name}: {written(value)}"
        for name, value in config.decoding
        if name != "glossary" and value != DecodingConfig.model_fields[name].default
    ]
    advice = """\
# If it forgets too much, add freeze: [embeddings] to the section training. If it needs too much
# memory, do the same, or lower training.batch_tokens and raise training.accumulate."""
    batch = f"  batch_tokens: {batch_tokens}"
    if device == "cpu" and (count_stored(run) or 0) >= _LARGE:
        advice = "# If it learns too little and there is memory, remove training.freeze."
        batch = f"""\
  # For less memory: small batches (accumulate: how many per update), and frozen embeddings.
  batch_tokens: {_SMALL_BATCH}
  accumulate: {batch_tokens // _SMALL_BATCH}
  freeze: [embeddings]"""
    yaml = f"""\
{text.heading(minutes, device, epochs)}
#   nmt train --from {run.address} --config mine.yaml --dry-run
{advice}

data:
{_corpus_of(corpus, text, config.data)}
  source_language: {config.data.source_language}
  target_language: {config.data.target_language}
{text.held_out}

training:
  epochs: {_MOST_EPOCHS}              # max_minutes and patience end it sooner
  max_minutes: {minutes:g}
  patience: 5             # validations without improvement
{batch}
  label_smoothing: {config.training.label_smoothing:g}
  learning_rate: {peak:g}   # with higher ones, it forgets more of what it has learned
  warmup_updates: {every}
  validate_updates: {every}
{_section("decoding", decoding, "as in the run")}"""
    return Recipe(yaml, list(_fine_tuning_warnings(text, epochs)))


def _corpus_of(corpus: Path, text: "_Text", data: DataConfig) -> str:
    """Return the fields of the corpus, with a tag for a model that needs one.

    If not exactly one of its tags is the target language, the tag is one that training refuses.
    """
    if not data.imported_tags:
        return f"{text.source_line}\n  path: {_quoted(corpus)}"
    fitting = [tag for tag in data.imported_tags if base_language(tag) == data.target_language]
    tag = fitting[0] if len(fitting) == 1 else f"{_NO_TAG}   # replace it by one of these"
    return f"""\
  corpora:                # the tag is the target language of the pairs; the model knows
{_listed(data.imported_tags)}
    - {text.source_line.strip()}
      path: {_quoted(corpus)}
      tag: {tag}"""


def _listed(tags: Sequence[str]) -> str:
    return fill(", ".join(tags), 96, initial_indent="    # ", subsequent_indent="    # ")


def _section(name: str, lines: list[str], comment: str) -> str:
    return "\n".join([f"\n{name}:  # {comment}", *lines, ""]) if lines else ""


def _speed(model: ModelConfig) -> int:
    """Return about how many target tokens a core trains on in a second."""
    layers = max(model.encoder_layers, model.decoder_layers)
    return next(
        (size.speed for size in _SIZES if (size.d_model, size.layers) >= (model.d_model, layers)),
        _SIZES[-1].speed,
    )


def _fine_tuning_warnings(text: "_Text", epochs: float) -> Iterator[str]:
    if epochs < 1:
        yield (
            f"there is time for only about {_rounded(epochs)} epochs: raise --minutes, or use a "
            "part of the pairs"
        )
    if text.longest <= _SHORT:
        yield (
            f"longest sentence: {text.longest} words; the model may forget how to translate longer "
            "ones: add longer sentences"
        )


@dataclass(frozen=True)
class _Text:
    """What matters about a corpus."""

    name: str
    source: Source
    pairs: int
    longest: int
    """Number of words in the longest pair."""
    usual: int
    """Number of words that 99% of the pairs do not exceed."""
    target_tokens: float
    """Number of target tokens, including <eos>."""

    def heading(self, minutes: float, device: str, epochs: float) -> str:
        """Return the first lines, which end with: "To check memory and speed:"."""
        machine = f"{threads()} processors" if device == "cpu" else device
        unit = "minute" if minutes == 1 else "minutes"
        return f"""\
# For {self.name}: {self.pairs:,} pairs, 99% with at most {self.usual} words, the longest with \
{self.longest}.
# For {minutes:g} {unit} of training on {machine}{_epochs(epochs)}. To check memory and speed:"""

    @property
    def source_line(self) -> str:
        """The field that says how to read the corpus, with a comment."""
        return (
            f"  source: {self.source:<15} # {_FORMATS.get(self.source, 'the format of the file')}"
        )

    @property
    def held_out(self) -> str:
        """The fields that hold pairs out and limit their lengths."""
        held_out = min(1000, self.pairs // 20)
        return f"""\
  validation_size: {held_out}   # held out to choose the best weights
  test_size: {held_out}         # held out for the final score
  max_words: {max(self.usual, 10) + 10}           # longer training pairs are dropped"""


def _read(corpus: Path, languages: tuple[str, str]) -> _Text:
    """Read a corpus; raises `UserError` if it is missing or has too few pairs."""
    kind = likely_source(corpus)
    if kind != "parallel" and not ignoring_os_errors(expanded(corpus).exists):
        raise UserError(f"{corpus}: no such file; give the path of a corpus, such as pairs.tsv")
    data = DataConfig(
        source=kind,
        path=corpus,
        source_language=languages[0],
        target_language=languages[1],
    )
    read = open_corpus(data).pairs("train")
    lengths: Counter[int] = Counter()  # in words, of the longer side
    target_words = 0
    for source, target in with_progress(read, f"reading {corpus.name}"):
        words = len(target.split())
        target_words += words
        lengths[max(words, len(source.split()))] += 1
    pairs = lengths.total()
    if pairs < _FEWEST:
        raise UserError(
            f"{corpus}: too few pairs to learn from: {pairs}; provide at least {_FEWEST}, and "
            "100,000 for a model of everyday language"
        )
    name, usual = escape_terminal(corpus.name), _percentile(lengths, 99)
    return _Text(name, data.source, pairs, max(lengths), usual, pairs + 1.3 * target_words)


def _quoted(path: Path) -> str:
    return json.dumps(str(path), ensure_ascii=False)


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
