"""Evaluates a translator on held-out pairs: translate, score, compare, analyse."""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, replace
from operator import ne
from pathlib import Path
from typing import Any

from nmt.config.choices import BleuTokenizer
from nmt.config.data import DataConfig
from nmt.corpus.prepared import Example
from nmt.corpus.preparing.statistics import TrainingStatistics
from nmt.corpus.sources.readers import read_lines, read_parallel
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.text.tags import retagged
from nmt.decoding.translator import Translation, Translator
from nmt.errors import UserError
from nmt.evaluation.analysis import Analysis, analyse
from nmt.evaluation.metrics import METRICS, Comparison, Evaluation, compare_texts, evaluate_texts
from nmt.progress import elapsed, in_bursts

_LOG = logging.getLogger(__name__)


@dataclass(frozen=True)
class EvaluationReport:
    """Translations and scores, for all sentences and for those whose source is not in training."""

    engine: str
    """The engine that translated."""
    translations: list[str]
    all: Evaluation
    source_not_in_train: Evaluation | None = None
    """Scores of the sentences whose source is not in training; None if training contains none or
    all of the sources.
    """
    against: dict[str, Comparison] | None = None
    """Comparison with another translator, by metric."""
    analysis: Analysis | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the scores of all sentences, with the other parts nested in it."""
        new, analysis = self.source_not_in_train, self.analysis
        parts = {
            "engine": self.engine,
            "source_not_in_train": new and new.as_json(),
            "against": {name: asdict(each) for name, each in (self.against or {}).items()},
            "analysis": analysis and asdict(analysis),
        }
        return self.all.as_json() | {name: part for name, part in parts.items() if part}

    def __str__(self) -> str:
        unit = "sentence" if self.all.sentences == 1 else "sentences"
        text = f"{self.all.sentences:,} {unit}\n{self.all}"
        if self.source_not_in_train:
            new = self.source_not_in_train
            text += f"\n{new.sentences:,} of them with a source that is not in train\n{new}"
        if self.against:
            text += "\nagainst the other run (paired approximate randomization)"
            for name, comparison in self.against.items():
                text += f"\n{METRICS[name].label:5} {comparison}"
        return f"{text}\n{self.analysis}" if self.analysis else text


def evaluate(
    translator: Translator,
    examples: Sequence[Example],
    data: DataConfig,
    *,
    lowercase: bool = False,
    tokenize: BleuTokenizer = "13a",
    baseline: Translator | None = None,
    seen: TrainingStatistics | None = None,
    other_references: Sequence[Sequence[str]] = (),
) -> EvaluationReport:
    """Translate the sources of the examples and score the translations.

    data: the run's section of the configuration; lowercase, tokenize: as in `evaluate_texts`;
    baseline: another translator to compare with; each tag is replaced by its tag of the same name,
    or dropped if it has none; seen: facts about the training text, for an analysis by length, rare
    words and types of errors; other_references: lists of further references, one per example
    """
    if not examples:
        raise UserError("nothing to evaluate: there are no sentence pairs")
    first = compose_references([each.reference for each in examples], data)
    references = [first, *(compose_references(each, data) for each in other_references)]
    examples = [
        replace(each, reference=reference) for each, reference in zip(examples, first, strict=True)
    ]
    scoring: dict[str, Any] = {"lowercase": lowercase, "tokenize": tokenize}
    sources = [example.source for example in examples]
    translations = translate_sources(translator, sources)
    texts = [translation.text for translation in translations]

    def score(rows: Iterable[int]) -> Evaluation:
        chosen = [(texts[i], *(each[i] for each in references)) for i in rows]
        return evaluate_texts(*zip(*chosen, strict=True), language=data.target_language, **scoring)

    new = [i for i, example in enumerate(examples) if not example.source_in_train]
    against = None
    if baseline:
        same = [retagged(data, baseline.data, source) for source in sources]
        rival = [translation.text for translation in translate_sources(baseline, same)]
        with elapsed("comparing"):
            against = compare_texts(
                rival, texts, *references, language=data.target_language, **scoring
            )
    with elapsed("scoring"):
        return EvaluationReport(
            translator.engine.name,
            texts,
            score(range(len(examples))),
            score(new) if 0 < len(new) < len(examples) else None,
            against,
            analyse(examples, translations, data, seen, other_references=references[1:], **scoring)
            if seen
            else None,
        )


def compose_references(references: Sequence[str], data: DataConfig) -> list[str]:
    """Return references with composed letters, as models write them; report if any changed."""
    composed = list(map(Cleaner(data).composed, references))
    if changed := sum(map(ne, composed, references)):
        _LOG.warning(
            f"references normalized before scoring (NFC): {changed:,}, for example ü written as u "
            "and ¨; sacrebleu alone would not do this"
        )
    return composed


def translate_sources(translator: Translator, sources: Sequence[str]) -> list[Translation]:
    """Return the best translation of each source, with a progress bar."""
    found = translator.stream(sources)
    return [best for best, *_ in in_bursts(found, "translating", len(sources))]


def read_pairs(source: Path | str, reference: Path | str, tag: str = "") -> list[Example]:
    """Read the pairs to score from two parallel files; tag: put before each source."""
    pairs = list(read_parallel(Path(source), Path(reference)))
    if not pairs:
        raise UserError(f"{source} and {reference} are empty; check the files")
    for path, texts in zip((source, reference), zip(*pairs, strict=True), strict=True):
        _require_one_column(path, texts)
    return [Example(tag + s, r, False) for s, r in pairs]


def read_references(paths: Sequence[Path], source: Path, count: int) -> list[list[str]]:
    """Read further references of a source file with `count` lines, a list per file."""
    found = [list(read_lines(path)) for path in paths]
    for path, texts in zip(paths, found, strict=True):
        if len(texts) != count:
            raise UserError(
                f"{source} and {path} have different numbers of lines: {count:,} and "
                f"{len(texts):,}; line n of one must be the translation of line n of the other"
            )
        _require_one_column(path, texts)
    return found


def _require_one_column(path: Path | str, texts: Sequence[str]) -> None:
    """Raise `UserError` if each line has a tab, as in a file of pairs or of several references."""
    if all("\t" in text for text in texts):
        raise UserError(
            f"{path}: has a tab in every line; give each column as a file of its own, as written "
            f"by cut -f1 (several references: repeat --reference)"
        )
