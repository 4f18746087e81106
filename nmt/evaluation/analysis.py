"""Analyses translations by length, by rare words, and by type of error."""

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from sacrebleu.metrics.chrf import CHRF

from nmt.config.choices import BleuTokenizer
from nmt.config.data import DataConfig
from nmt.corpus.prepared import Example
from nmt.corpus.preparing.statistics import FREQUENT, TrainingStatistics
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.text.tags import show_tag, split_tag
from nmt.decoding.translator import Translation
from nmt.evaluation.metrics import corpus_bleu

_LONGEST = (5, 10, 20, 40)  # source words per bucket; the last bucket is open-ended
_WORST = 10
_LONGEST_REPEATED = 10  # words


@dataclass(frozen=True)
class Group:
    """A group of sentences and its BLEU."""

    name: str
    sentences: int
    bleu: float


@dataclass(frozen=True)
class Scored:
    """A sentence with its translation and the chrF of the translation, 0–100."""

    source: str
    reference: str
    translation: str
    chrf: float


@dataclass(frozen=True)
class Analysis:
    """An analysis of translations."""

    sentences: int
    by_length: list[Group]
    by_rare_words: list[Group]
    """With and without a word, in source or reference, that occurs fewer than 5 times in
    training."""
    training_targets: int
    """Translations equal to a training target."""
    empty: int
    """Empty translations of non-empty sources."""
    truncated: int
    """Truncated by the length limit."""
    repeating: int
    """With the same words twice in a row, unlike the reference."""
    worst: list[Scored]
    """The sentences with the lowest chrF, worst first."""

    def __str__(self) -> str:
        lines = [
            "BLEU by words in the source",
            *_table(self.by_length),
            f"BLEU by words that training saw fewer than {FREQUENT} times",
            *_table(self.by_rare_words),
        ]
        faults = {
            "equal to a training target": self.training_targets,
            "empty": self.empty,
            "cut at the length limit": self.truncated,
            "repeating words": self.repeating,
        }
        lines.append("translations")
        for name, count in faults.items():
            lines.append(f"  {name:26} {count:6,}  {count / self.sentences:.1%}")
        lines.append("the worst by chrF")
        for scored in self.worst:
            lines += [
                f"  {scored.chrf:6.2f}  source       {scored.source}",
                f"          reference    {scored.reference}",
                f"          translation  {scored.translation}",
            ]
        return "\n".join(lines)


def analyse(
    examples: Sequence[Example],
    translations: Sequence[Translation],
    data: DataConfig,
    seen: TrainingStatistics,
    *,
    other_references: Sequence[Sequence[str]] = (),
    lowercase: bool = False,
    tokenize: BleuTokenizer = "13a",
) -> Analysis:
    """Analyse translations; data: the section of the run; seen: facts about its training text.

    other_references: lists of further references, one per example; lowercase, tokenize: as for the
    scores
    """
    pairs = list(zip(examples, translations, strict=True))
    references = [[example.reference for example in examples], *other_references]

    def group(numbers: list[int], names: Sequence[str]) -> list[Group]:
        """Score each group of sentences; numbers: each sentence's group, as an index of `names`."""
        found = []
        for number, name in enumerate(names):
            chosen = [i for i, own in enumerate(numbers) if own == number]
            if chosen:
                score = corpus_bleu(
                    [translations[i].text for i in chosen],
                    *([each[i] for i in chosen] for each in references),
                    language=data.target_language,
                    lowercase=lowercase,
                    tokenize=tokenize,
                )
                found.append(Group(name, len(chosen), score))
        return found

    tidy, target = Cleaner(data).tidy, Cleaner(data).target
    rare = [seen.has_rare_word(tidy(e.source), tidy(e.reference)) for e in examples]
    lengths = [
        bisect_left(_LONGEST, len(split_tag(data, example.source)[1].split()))
        for example in examples
    ]
    chrf = CHRF(lowercase=lowercase)
    scored = [
        Scored(
            show_tag(data, e.source),
            e.reference,
            t.text,
            chrf.sentence_score(t.text, list(right)).score,
        )
        for (e, t), right in zip(pairs, zip(*references, strict=True), strict=True)
        if t.text or e.reference  # chrF is 0 if both are empty
    ]
    return Analysis(
        sentences=len(pairs),
        by_length=group(lengths, _length_names()),
        by_rare_words=group([int(not is_rare) for is_rare in rare], ("some", "none")),
        training_targets=sum(seen.is_target(target(t.text)) for t in translations),
        empty=sum(not t.text for e, t in pairs if split_tag(data, e.source)[1].strip()),
        truncated=sum(not t.complete for t in translations),
        repeating=sum(not _repeated(t.text) <= _repeated(e.reference) for e, t in pairs),
        worst=sorted(scored, key=lambda sentence: sentence.chrf)[:_WORST],
    )


def _length_names() -> list[str]:
    starts = [1, *(longest + 1 for longest in _LONGEST)]
    names = [f"{a} to {b}" for a, b in zip(starts, _LONGEST, strict=False)]
    return [*names, f"{starts[-1]} or more"]


def _repeated(text: str) -> set[tuple[str, ...]]:
    """Return the sequences of words, in lower case and not too long, that occur twice in a row."""
    words = text.lower().split()
    return {
        tuple(words[start : start + size])
        for size in range(1, min(_LONGEST_REPEATED, len(words) // 2) + 1)
        for start in range(len(words) - 2 * size + 1)
        if words[start : start + size] == words[start + size : start + 2 * size]
    }


def _table(groups: list[Group]) -> list[str]:
    return [f"  {g.name:12} {g.sentences:6,} sentences  {g.bleu:6.2f}" for g in groups]
