"""The report of `nmt prepare`: what was read, dropped, split and covered."""

from collections.abc import Mapping, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray
from pydantic import AliasChoices, Field, FiniteFloat
from typing_extensions import NotRequired, TypedDict

from nmt.files.json_files import FailFastList

_MOST_TOKENS = 10_000_000  # as `tokenizer.vocabulary_size`


class Pairs(TypedDict):
    """A number for each split."""

    train: int
    validation: int
    test: int


class Lengths(TypedDict):
    """Sentence lengths of one side of the training split, in tokens."""

    mean: FiniteFloat
    median: int
    p95: int
    longest: int


class BothLengths(TypedDict):
    """Lengths by side."""

    source: Lengths
    target: Lengths


class Sizes(TypedDict):
    """The size of the vocabulary on each side."""

    source: Annotated[int, Field(ge=1, le=_MOST_TOKENS)]
    target: Annotated[int, Field(ge=1, le=_MOST_TOKENS)]


class CorpusReport(TypedDict):
    """A corpus: pairs read, and how many of them are in training."""

    name: str
    licence: str
    read: int
    train: int


class InheritedReport(TypedDict):
    """How the vocabularies of a run fit the new text, and what the run was trained on.

    pieces_per_word: by side, on the new validation text; pieces_per_word_before: on the run's own;
    target_seen_before: by split, number of held-out pairs whose target that run was trained on;
    corpora_before: of that run, and of those that it started from
    """

    run: str
    pieces_per_word: dict[str, FiniteFloat]
    pieces_per_word_before: dict[str, FiniteFloat]
    target_seen_before: dict[str, int]
    corpora_before: NotRequired[FailFastList[CorpusReport]]


class PreparationReport(TypedDict):
    """What `prepare` did.

    dropped: pairs by reason, 0 for a filter that dropped none; with_placeholders: number of
    training pairs; coverage: share of known tokens, by split and side; source_in_train: number of
    pairs, by split; several_sentences: share of sources with several sentences, of a sample;
    lacks_mark: share of those that end without a punctuation mark, as names and labels do;
    corpora: in the same order as their pairs in the training data
    """

    read: int
    dropped: dict[str, int]
    pairs: Pairs
    with_placeholders: Annotated[
        int, Field(validation_alias=AliasChoices("with_placeholders", "hidden_names"))
    ]  # its former name
    lengths: BothLengths
    vocabulary_size: Sizes
    coverage: dict[str, dict[str, FiniteFloat]]
    source_in_train: dict[str, int]
    several_sentences: NotRequired[FiniteFloat]
    lacks_mark: NotRequired[FiniteFloat]
    corpora: NotRequired[FailFastList[CorpusReport]]
    inherited: NotRequired[InheritedReport]


def length_summary(lengths: NDArray[np.int64]) -> Lengths:
    """Summarize sentence lengths in tokens."""
    if not len(lengths):
        return {"mean": 0.0, "median": 0, "p95": 0, "longest": 0}
    return {
        "mean": round(float(lengths.mean()), 2),
        "median": int(np.median(lengths)),
        "p95": int(np.percentile(lengths, 95)),
        "longest": int(lengths.max()),
    }


def format_report(
    report: PreparationReport, epoch: Sequence[tuple[int, float]] | None = None
) -> str:
    """Return the report as readable text; epoch: `PreparedData.mixing_weights`."""
    pairs = ", ".join(f"{split} {count:,}" for split, count in report["pairs"].items())
    lines = [f"pairs read       {report['read']:,}", format_dropped(report["dropped"])]
    lines.append(f"pairs kept       {pairs}")
    if report["with_placeholders"]:
        lines.append(f"placeholders     in {report['with_placeholders']:,} training pairs")
    for side, lengths in (
        ("source", report["lengths"]["source"]),
        ("target", report["lengths"]["target"]),
    ):
        lines.append(
            f"{side} tokens    mean {lengths['mean']}, 95% ≤ {lengths['p95']}, "
            f"longest {lengths['longest']}"
        )
    sizes = report["vocabulary_size"]
    lines.append(f"vocabulary       source {sizes['source']:,}, target {sizes['target']:,}")
    for split, coverage in report["coverage"].items():
        shares = ", ".join(f"{side} {share:.2%}" for side, share in coverage.items())
        lines.append(f"{split} covered ".ljust(17) + shares)
    for split, overlap in report["source_in_train"].items():
        lines.append(f"{split} overlap ".ljust(17) + f"{overlap:,} sources also occur in train")
    if "inherited" in report:
        lines += format_inherited(report["inherited"])
    return "\n".join(lines + format_corpora(report, epoch))


def format_dropped(dropped: Mapping[str, int]) -> str:
    """Return the numbers of dropped pairs by reason as a readable line."""
    counts = ", ".join(f"{why} {count:,}" for why, count in dropped.items())
    return f"dropped          {counts or 'none'}"


def format_corpora(
    report: PreparationReport, epoch: Sequence[tuple[int, float]] | None = None
) -> list[str]:
    """Return facts about the corpora as readable lines; epoch: `PreparedData.mixing_weights`."""
    return [f"{name:<17}{fact}" for name, fact in corpus_facts(report, epoch)]


def corpus_facts(
    report: PreparationReport, epoch: Sequence[tuple[int, float]] | None = None
) -> list[tuple[str, str]]:
    """Return each corpus, if there are several, and its licence, if known, as names and values.

    The corpora of the run that this one was fine-tuned from follow.
    """
    corpora = report.get("corpora", [])
    facts: list[tuple[str, str]] = []
    for number, corpus in enumerate(corpora):
        if len(corpora) > 1:
            counts = f"read {corpus['read']:,}, train {corpus['train']:,}"
            share = f", {epoch[number][1]:.1%} of each epoch" if epoch else ""
            facts.append(("corpus", f"{corpus['name']}: {counts}{share}"))
        if corpus["licence"]:
            facts.append(("licence", corpus["licence"]))
    for corpus in corpora_before(report):
        fact = f"{corpus['name']}: train {corpus['train']:,}"
        facts.append(("earlier corpus", "; ".join(filter(None, (fact, corpus["licence"])))))
    return facts


def corpora_before(report: PreparationReport) -> list[CorpusReport]:
    """Return the corpora of the run that this one was fine-tuned from, if any."""
    return report["inherited"].get("corpora_before", []) if "inherited" in report else []


def format_inherited(report: InheritedReport) -> list[str]:
    """Return how well the vocabularies of a run fit the new text, as readable lines."""
    new, own = report["pieces_per_word"], report["pieces_per_word_before"]
    tokens = ", ".join(
        f"{side} {new[side]:.2f} (the run's own text {own[side]:.2f})" for side in new
    )
    seen = ", ".join(f"{split} {n:,}" for split, n in report["target_seen_before"].items())
    return [
        f"vocabulary of    {report['run']}",
        f"tokens per word  {tokens}",
        f"seen before      {seen} pairs whose target occurs in that run's training data",
    ]
