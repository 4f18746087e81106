"""Scores of text against text, by the sacrebleu library (Post 2018).

Hypotheses are what people read, references are raw: sacrebleu does the tokenizing, and its
signature says how, so that a score can be compared with others.
"""

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from sacrebleu.metrics.base import Metric, Score
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from nmt.corpus.prepared import Example
from nmt.errors import UserError

Tokenize = Literal["13a", "moses", "char", "intl", "none"]
_SEED = 12345  # sacrebleu's own default


@dataclass(frozen=True)
class Evaluation:
    """Corpus scores, their signatures, and 95% intervals by bootstrap (Koehn 2004).

    bleu, chrf: 0–100, higher is better; ter: edits a 100 reference words, lower is better;
    intervals: low and high end, around the bootstrap's mean; empty where no bootstrap was made
    """

    bleu: float
    chrf: float
    ter: float
    sentences: int
    signatures: dict[str, str]
    intervals: dict[str, tuple[float, float]]

    def __str__(self) -> str:
        lines = []
        for name, label in (("bleu", "BLEU"), ("chrf", "chrF"), ("ter", "TER")):
            text = f"{label:5} {getattr(self, name):6.2f}"
            if name in self.intervals:
                low, high = self.intervals[name]
                text += f"  [{low:.2f}, {high:.2f}]"
            lines.append(f"{text}  {self.signatures[name]}")
        return "\n".join(lines)


def corpus_bleu(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Return plain sacreBLEU (13a, cased)."""
    return float(BLEU().corpus_score(list(hypotheses), [list(references)]).score)


def evaluate_texts(
    hypotheses: Sequence[str],
    references: Sequence[str],
    *,
    language: str = "de",
    lowercase: bool = False,
    tokenize: Tokenize = "13a",
    bootstrap: int = 1000,
) -> Evaluation:
    """Score hypotheses against references, line by line.

    tokenize `moses` is for published figures that were scored so: both sides go through the Moses
    tokenizer of `language` first. bootstrap: resamples for the intervals, 0 for none.
    """
    _check(hypotheses, references)
    metrics = _metrics(lowercase, tokenize)
    signatures, scores, intervals = {}, {}, {}
    for name, metric in metrics.items():
        pair = hypotheses, references
        if name == "bleu" and tokenize == "moses":
            pair = moses_tokenize(hypotheses, language), moses_tokenize(references, language)
        samples = min(bootstrap, 100) if name == "ter" else bootstrap  # TER is slow
        score = _score(metric, *pair, samples)
        signature = str(metric.get_signature())
        if name == "bleu" and tokenize == "moses":
            signature = signature.replace("tok:none", "tok:moses")
        scores[name], signatures[name] = float(score.score), signature
        if samples > 1 and len(hypotheses) > 1 and score._ci >= 0:
            intervals[name] = _interval(score)
    return Evaluation(
        scores["bleu"], scores["chrf"], scores["ter"], len(references), signatures, intervals
    )


def evaluate_examples(
    examples: Sequence[Example],
    hypotheses: Sequence[str],
    language: str,
    lowercase: bool,
    tokenize: Tokenize,
) -> "Report":
    """Score translations of examples, and by themselves those whose source is not in train."""

    def score(rows: list[int]) -> Evaluation:
        return evaluate_texts(
            [hypotheses[i] for i in rows],
            [examples[i].reference for i in rows],
            language=language,
            lowercase=lowercase,
            tokenize=tokenize,
        )

    new = [i for i, example in enumerate(examples) if not example.source_in_train]
    partly = 0 < len(new) < len(examples)
    return Report(score(list(range(len(examples)))), score(new) if partly else None)


@dataclass(frozen=True)
class Report:
    """Scores of all sentences and, where training holds some of the sources, of the others."""

    all: Evaluation
    source_not_in_train: Evaluation | None

    def to_json(self) -> str:
        """Return one JSON object: the scores of all, and a nested one of the new sources."""
        fields = asdict(self.all)
        if self.source_not_in_train:
            fields["source_not_in_train"] = asdict(self.source_not_in_train)
        return json.dumps(fields, indent=2)

    def __str__(self) -> str:
        text = f"{self.all.sentences} sentences\n{self.all}"
        if self.source_not_in_train:
            new = self.source_not_in_train
            text += f"\n{new.sentences} of them whose source is not in train\n{new}"
        return text


def moses_tokenize(lines: Sequence[str], language: str) -> list[str]:
    """Tokenize as Moses' tokenizer.perl does, by the sacremoses library."""
    from sacremoses import MosesTokenizer

    tokenizer = MosesTokenizer(lang=language)
    return [tokenizer.tokenize(line, return_str=True, escape=False) for line in lines]


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same references: BLEU of each and how likely the gap is chance."""

    baseline: float
    system: float
    p_value: float

    def __str__(self) -> str:
        verdict = "significant" if self.p_value < 0.05 else "not significant"
        return (
            f"BLEU {self.baseline:.2f} → {self.system:.2f}, p = {self.p_value:.4f} "
            f"({verdict} at 0.05, paired approximate randomization)"
        )


def compare_texts(
    baseline: Sequence[str],
    system: Sequence[str],
    references: Sequence[str],
    *,
    language: str = "de",
    lowercase: bool = False,
    tokenize: Tokenize = "13a",
    trials: int = 10_000,
) -> Comparison:
    """Test whether two systems differ, by approximate randomization (Riezler & Maxwell 2005).

    In each trial a coin decides for every sentence whether its two translations change places;
    the p-value is the share of trials, the real pair among them, whose gap is no smaller than the
    real one. (sacrebleu's own test counts larger gaps only: to it, a system differs from itself.)
    """
    _check(baseline, references)
    _check(system, references)
    if tokenize == "moses":
        texts = (moses_tokenize(lines, language) for lines in (baseline, system, references))
        baseline, system, references = texts
        tokenize = "none"
    # effective_order is what sacrebleu wants for single sentences; it changes no counts.
    bleu = BLEU(lowercase=lowercase, tokenize=tokenize, effective_order=True)
    first, second = (_sentence_counts(bleu, texts, references) for texts in (baseline, system))
    difference = second - first
    difference = difference[difference.any(1)]  # (sentences that differ, 10)
    totals = first.sum(0), second.sum(0)
    scores = [_bleu_of_counts(total) for total in totals]
    gap = abs(scores[0] - scores[1])
    random = np.random.default_rng(_SEED)
    as_large = 1
    for _ in range(trials):
        moved = difference[random.integers(2, size=len(difference), dtype=bool)].sum(0)
        shuffled = _bleu_of_counts(totals[0] + moved), _bleu_of_counts(totals[1] - moved)
        as_large += abs(shuffled[0] - shuffled[1]) >= gap
    return Comparison(scores[0], scores[1], as_large / (trials + 1))


def _sentence_counts(
    bleu: BLEU, hypotheses: Sequence[str], references: Sequence[str]
) -> NDArray[np.int64]:
    """Return what BLEU is made from: matches and n-grams of 4 orders, both lengths: (lines, 10)."""
    scores = [
        bleu.sentence_score(hypothesis, [reference])
        for hypothesis, reference in zip(hypotheses, references, strict=True)
    ]
    return np.array([[*s.counts, *s.totals, s.sys_len, s.ref_len] for s in scores], np.int64)


def _bleu_of_counts(counts: NDArray[np.int64]) -> float:
    *ngrams, hypothesis, reference = counts.tolist()
    score = BLEU.compute_bleu(ngrams[:4], ngrams[4:], hypothesis, reference, smooth_method="exp")
    return float(score.score)


def _check(hypotheses: Sequence[str], references: Sequence[str]) -> None:
    if len(hypotheses) != len(references):
        raise UserError(
            f"{len(hypotheses)} hypotheses for {len(references)} references; "
            "both need the same number of lines"
        )
    if not references:
        raise UserError("there is nothing to score: no line in the references")


def _metrics(lowercase: bool, tokenize: Tokenize) -> dict[str, Metric]:
    library_tokenizer = "none" if tokenize == "moses" else tokenize
    return {
        "bleu": BLEU(lowercase=lowercase, tokenize=library_tokenizer, force=True),
        "chrf": CHRF(lowercase=lowercase),
        "ter": TER(case_sensitive=not lowercase),
    }


def _score(
    metric: Metric, hypotheses: Sequence[str], references: Sequence[str], samples: int
) -> Score:
    """Score with a bootstrap of so many samples; without one where the library cannot."""
    texts, reference_sets = list(hypotheses), [list(references)]
    score: Score
    try:
        score = metric.corpus_score(texts, reference_sets, n_bootstrap=max(1, samples))
    except TypeError:  # sacrebleu 2.6 fails to average when some samples score exactly 0
        score = metric.corpus_score(texts, reference_sets)
    return score


def _interval(score: Score) -> tuple[float, float]:
    mean, half = float(score._mean), float(score._ci)
    return mean - half, mean + half
