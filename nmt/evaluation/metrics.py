"""BLEU, chrF and TER of hypotheses against references, computed with sacrebleu (Post 2018).

Hypotheses are detokenized text, references raw text. sacrebleu tokenizes both, and its signature
records how, so that scores are comparable.
"""

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from nmt.config.choices import BleuTokenizer
from nmt.corpus.text.languages import two_letters
from nmt.errors import UserError, one_line

LABELS = {"bleu": "BLEU", "chrf": "chrF", "ter": "TER"}
_SEED = 12345  # sacrebleu's own default


@dataclass(frozen=True)
class Evaluation:
    """Corpus scores, their signatures, and 95% bootstrap confidence intervals (Koehn 2004)."""

    bleu: float
    """0–100, higher is better."""
    chrf: float
    """0–100, higher is better."""
    ter: float
    """Edits per 100 reference words, lower is better."""
    sentences: int
    signatures: dict[str, str]
    intervals: dict[str, tuple[float, float]]
    """Low and high, around the bootstrap mean; empty without bootstrap."""

    def __str__(self) -> str:
        lines = []
        for name, label in LABELS.items():
            text = f"{label:5} {getattr(self, name):6.2f}"
            if name in self.intervals:
                low, high = self.intervals[name]
                text += f"  [{low:.2f}, {high:.2f}]"
            lines.append(f"{text}  {self.signatures[name]}")
        return "\n".join(lines)


def require_tokenizer(tokenize: BleuTokenizer) -> None:
    """Raise `UserError` if a tokenizer of BLEU is not installed or cannot be downloaded."""
    try:
        _metrics(False, tokenize)
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
    texts, *right = _as_counted("bleu", tokenize, language, hypotheses, *references)
    return _score(_metrics(lowercase, tokenize)["bleu"], texts, right, 0)[0]


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
    metrics = _metrics(lowercase, tokenize)
    signatures, scores, intervals = {}, {}, {}
    for name, metric in metrics.items():
        texts, *right = _as_counted(name, tokenize, language, hypotheses, *references)
        samples = min(bootstrap, 100) if name == "ter" else bootstrap  # TER is slow
        if len(hypotheses) == 1:  # all resamples are the same
            samples = 0
        score, resampled = _score(metric, texts, right, samples)
        info = metric.get_signature()
        for key, value in zip(("test", "lang"), test_set or (), strict=False):
            info.update(key, value)
        signature = str(info)
        if name == "bleu" and tokenize == "moses":
            signature = signature.replace("tok:none", "tok:moses")
        scores[name], signatures[name] = score, signature
        if samples:
            intervals[name] = _interval(resampled, math.inf if name == "ter" else 100.0)
    return Evaluation(
        **scores, sentences=len(hypotheses), signatures=signatures, intervals=intervals
    )


def moses_tokenize(lines: Sequence[str], language: str) -> list[str]:
    """Tokenize like Moses' tokenizer.perl, using the sacremoses library."""
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang=two_letters(language))
    return [tokenizer.tokenize(line, return_str=True, escape=False) for line in lines]


def _as_counted(
    metric: str, tokenize: BleuTokenizer, language: str, *texts: Sequence[str]
) -> list[Sequence[str]]:
    """Return the texts as input for a metric: Moses-tokenized for BLEU with `moses`."""
    if metric == "bleu" and tokenize == "moses":
        return [moses_tokenize(lines, language) for lines in texts]
    return list(texts)


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
    for name, metric in _metrics(lowercase, tokenize).items():
        texts = _as_counted(name, tokenize, language, baseline, system, *references)
        first, second, *right = texts
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


def _metrics(lowercase: bool, tokenize: BleuTokenizer) -> dict[str, Metric]:
    library_tokenizer = "none" if tokenize == "moses" else tokenize
    return {
        "bleu": BLEU(lowercase=lowercase, tokenize=library_tokenizer, force=True),
        "chrf": CHRF(lowercase=lowercase),
        "ter": TER(case_sensitive=not lowercase),
    }


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
    """Return the score, and the scores of this many bootstrap samples.

    The samples are those that sacrebleu draws; it holds all of them in memory, 80 kB per sentence.
    """
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
