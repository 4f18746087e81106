"""BLEU, chrF and TER of hypotheses against references, computed with sacrebleu (Post 2018).

Hypotheses are detokenized text, references raw text. sacrebleu tokenizes both, and its signature
records how, so that scores are comparable.

`METRICS` and `LEARNED` have an entry for each metric. Resampling uses two methods of sacrebleu's
metrics that are not public, since the public ones hold all bootstrap samples in memory, 80 kB per
sentence, and call a system significantly different from itself.
"""

import math
import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from nmt.config.choices import BleuTokenizer, ExtraMetric
from nmt.config.languages import two_letters
from nmt.errors import UserError, one_line

_SEED = 12345  # sacrebleu's own default


@dataclass(frozen=True)
class CorpusMetric:
    """A metric of sacrebleu."""

    label: str
    make: Callable[[bool, str], Metric]
    """Makes it, given whether to ignore case, and BLEU's tokenizer."""
    has_tokenizer: bool = False
    """Whether that tokenizer matters."""
    highest: float = 100.0
    most_samples: int = 10_000
    """Of the bootstrap, if it is slow."""


METRICS = {
    "bleu": CorpusMetric(
        "BLEU",
        lambda lowercase, tokenize: BLEU(lowercase=lowercase, tokenize=tokenize, force=True),
        has_tokenizer=True,
    ),
    "chrf": CorpusMetric("chrF", lambda lowercase, _: CHRF(lowercase=lowercase)),
    "ter": CorpusMetric(
        "TER", lambda lowercase, _: TER(case_sensitive=not lowercase), False, math.inf, 100
    ),
}


class LearnedMetric(Protocol):
    """A metric that also reads the sources; its score is a dataclass that can be printed."""

    def score(
        self, sources: Sequence[str], hypotheses: Sequence[str], references: Sequence[str]
    ) -> Any:
        """Return the score of hypotheses, given sources and references line by line."""


def _comet(environment: Path | None, model: str | None, device: str | None) -> LearnedMetric:
    from nmt.evaluation.comet import Comet  # only now, as it needs PyTorch

    return Comet(environment, model, device)


# Given a virtual environment, a model and a device, or None for the default; see `Comet`.
LEARNED: dict[ExtraMetric, Callable[[Path | None, str | None, str | None], LearnedMetric]] = {
    "comet": _comet
}


@dataclass(frozen=True)
class Evaluation:
    """Corpus scores, their signatures, and 95% bootstrap confidence intervals (Koehn 2004)."""

    scores: dict[str, float]
    """By metric: BLEU and chrF from 0 to 100, higher is better; TER in edits per 100 reference
    words, lower is better."""
    sentences: int
    signatures: dict[str, str]
    intervals: dict[str, tuple[float, float]]
    """Low and high, around the bootstrap mean; empty without bootstrap."""

    def as_json(self) -> dict[str, Any]:
        """Return the scores by metric, with the other fields beside them."""
        fields = asdict(self)
        scores: dict[str, Any] = fields.pop("scores")
        return scores | fields

    def __str__(self) -> str:
        lines = []
        for name, score in self.scores.items():
            text = f"{METRICS[name].label:5} {score:6.2f}"
            if name in self.intervals:
                low, high = self.intervals[name]
                text += f"  [{low:.2f}, {high:.2f}]"
            lines.append(f"{text}  {self.signatures[name]}")
        return "\n".join(lines)


def require_tokenizer(tokenize: BleuTokenizer) -> None:
    """Raise `UserError` if a tokenizer of BLEU is not installed or cannot be downloaded."""
    try:
        BLEU(tokenize=_of_sacrebleu(tokenize))
    except Exception as error:  # of any type: sacrebleu downloads without checks
        cause = f"--tokenize {tokenize}: cannot be opened"
        if tokenize == "ja-mecab":
            raise UserError(f"{cause}; pip install 'sacrebleu[ja]'") from None
        raise UserError(
            f"{cause} ({one_line(error)[:200]}); check your network, or choose another tokenizer"
        ) from None


def corpus_bleu(
    hypotheses: Sequence[str],
    *references: Sequence[str],
    language: str = "de",
    lowercase: bool = False,
    tokenize: BleuTokenizer = "13a",
) -> float:
    """Return BLEU, 0–100; the arguments are those of `evaluate_texts`."""
    metric, texts, *right = _prepared(
        "bleu", lowercase, tokenize, language, hypotheses, *references
    )
    return _score(metric, texts, right, 0)[0]


def corpus_chrf(hypotheses: Sequence[str], *references: Sequence[str]) -> float:
    """Return chrF, 0–100, which needs no tokenizer."""
    return _score(CHRF(), hypotheses, references, 0)[0]


def evaluate_texts(
    hypotheses: Sequence[str],
    *references: Sequence[str],
    language: str = "de",
    lowercase: bool = False,
    tokenize: BleuTokenizer = "13a",
    bootstrap: int = 1000,
    test_set: tuple[str, str] | None = None,
) -> Evaluation:
    """Score hypotheses against one or more lists of references, line by line.

    tokenize: `moses`, as in many papers, runs the Moses tokenizer of `language` on both sides
    first; bootstrap: number of resamples for the intervals, or 0; test_set: name and language
    pair, for the signature
    """
    for each in references:
        _check(hypotheses, each)
    signatures, scores, intervals = {}, {}, {}
    for name, kind in METRICS.items():
        metric, texts, *right = _prepared(
            name, lowercase, tokenize, language, hypotheses, *references
        )
        # All resamples of one sentence are the same.
        samples = min(bootstrap, kind.most_samples) if len(hypotheses) > 1 else 0
        score, resampled = _score(metric, texts, right, samples)
        info = metric.get_signature()
        for key, value in zip(("test", "lang"), test_set or (), strict=False):
            info.update(key, value)
        signature = str(info)
        if kind.has_tokenizer and tokenize == "moses":
            signature = signature.replace("tok:none", "tok:moses")
        scores[name], signatures[name] = score, signature
        if samples:
            intervals[name] = _interval(resampled, kind.highest)
    return Evaluation(scores, len(hypotheses), signatures, intervals)


def moses_tokenize(lines: Sequence[str], language: str) -> list[str]:
    """Tokenize like Moses' tokenizer.perl, using the sacremoses library."""
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang=two_letters(language))
    return [tokenizer.tokenize(line, return_str=True, escape=False) for line in lines]


def _of_sacrebleu(tokenize: BleuTokenizer) -> str:
    return "none" if tokenize == "moses" else tokenize


def _prepared(
    name: str, lowercase: bool, tokenize: BleuTokenizer, language: str, *texts: Sequence[str]
) -> tuple[Any, ...]:  # a metric and its texts; Python 3.10 has no type for this
    """Return a metric, and the texts as input for it: Moses-tokenized for BLEU with `moses`."""
    kind = METRICS[name]
    if kind.has_tokenizer and tokenize == "moses":
        texts = tuple(moses_tokenize(lines, language) for lines in texts)
    return kind.make(lowercase, _of_sacrebleu(tokenize)), *texts


@dataclass(frozen=True)
class Comparison:
    """The scores of two systems on the same references, and the p-value of their difference."""

    baseline: float
    system: float
    difference: float
    p_value: float

    def __str__(self) -> str:
        verdict = "significant" if self.p_value < 0.05 else "not significant"
        return (
            f"{self.baseline:6.2f} → {self.system:6.2f} ({self.difference:+.2f}), "
            f"p = {self.p_value:.4f}, {verdict} at 0.05"
        )


def compare_texts(
    baseline: Sequence[str],
    system: Sequence[str],
    *references: Sequence[str],
    language: str = "de",
    lowercase: bool = False,
    tokenize: BleuTokenizer = "13a",
    trials: int = 10_000,
) -> dict[str, Comparison]:
    """Test with each metric whether two systems differ (Riezler & Maxwell 2005).

    references: one or more lists

    Approximate randomization: each trial swaps the two translations of each sentence with
    probability 1/2. The p-value is the share of trials, including the actual one, whose difference
    is at least as large as the actual difference. (sacrebleu's own test counts only strictly
    larger differences, so that even a system compared with itself differs significantly.)
    """
    for each in references:
        _check(baseline, each)
        _check(system, each)
    found = {}
    for name in METRICS:
        metric, first, second, *right = _prepared(
            name, lowercase, tokenize, language, baseline, system, *references
        )
        found[name] = _compare(metric, first, second, right, trials)
    return found


def _compare(
    metric: Metric,
    baseline: Sequence[str],
    system: Sequence[str],
    references: Sequence[Sequence[str]],
    trials: int,
) -> Comparison:
    first, second = (_counts(metric, texts, references) for texts in (baseline, system))
    totals = first.sum(0), second.sum(0)
    scores = _score_of(metric, totals[0]), _score_of(metric, totals[1])
    moves = second - first
    moves = moves[moves.any(1)]  # of the sentences that differ
    gap = abs(scores[0] - scores[1])
    random = np.random.default_rng(_SEED)
    as_large = 1
    for _ in range(trials):
        moved = moves[random.integers(2, size=len(moves), dtype=bool)].sum(0)
        one, other = (_score_of(metric, each) for each in (totals[0] + moved, totals[1] - moved))
        as_large += abs(one - other) >= gap
    return Comparison(*scores, scores[1] - scores[0], as_large / (trials + 1))


def _check(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    if len(hypotheses) != len(references):
        raise UserError(
            f"{len(hypotheses)} hypotheses for {len(references)} references; "
            "both need the same number of lines"
        )
    if not references:
        raise UserError("nothing to score: the references are empty")


def _counts(
    metric: Metric, hypotheses: Sequence[str], references: Sequence[Sequence[str]]
) -> NDArray[np.float64]:
    """Return the sufficient statistics of the score: (sentences, counts), integers."""
    texts, reference_sets = list(hypotheses), list(map(list, references))
    return np.array(metric._extract_corpus_statistics(texts, reference_sets), float)


def _score_of(metric: Metric, total: NDArray[np.float64]) -> float:
    """Return the score for the sums of all sentences' counts."""
    return float(metric._compute_score_from_stats(total.tolist()).score)


def _score(
    metric: Metric, hypotheses: Sequence[str], references: Sequence[Sequence[str]], samples: int
) -> tuple[float, list[float]]:
    """Return the score, and the scores of this many bootstrap samples, those of sacrebleu."""
    counts = _counts(metric, hypotheses, references)
    if samples:
        metric.n_bootstrap, metric.seed = samples, str(_SEED)  # for the signature
    random = np.random.default_rng(_SEED)
    draws = (random.choice(len(counts), size=len(counts)) for _ in range(samples))
    resampled = [_score_of(metric, counts[draw].sum(0)) for draw in draws]
    return _score_of(metric, counts.sum(0)), resampled


def _interval(scores: list[float], highest: float) -> tuple[float, float]:
    """Return sacrebleu's interval, clipped to 0 … highest, a range that it may exceed."""
    ordered = sorted(scores)
    tail = len(ordered) // 40
    half = (ordered[-1 - tail] - ordered[tail]) / 2
    mean = statistics.mean(ordered)
    return max(mean - half, 0.0), min(mean + half, highest)
