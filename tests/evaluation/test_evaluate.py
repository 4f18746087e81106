"""Evaluation of a translator: scores, new sources, comparison, JSON; reading pairs."""

import math
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from unicodedata import normalize

import pytest

from nmt.config.data import DataConfig
from nmt.corpus.prepared import Example
from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translation, Translator
from nmt.errors import UserError
from nmt.evaluation.evaluate import EvaluationReport, evaluate, read_pairs
from nmt.evaluation.metrics import METRICS, corpus_bleu
from nmt.runs.folder import RunFolder

EVALUATE = "nmt.evaluation.evaluate"
REFERENCES = [
    "Die Katze sitzt auf der Matte.",
    "Ein Hund rennt schnell durch den Park.",
    "Ich mag Äpfel und Birnen sehr.",
]
HYPOTHESES = [
    "Die Katze liegt auf der Matte.",
    "Ein Hund läuft schnell durch den Park.",
    "ich mag Äpfel und Birnen.",
]
# The matching n-grams of 1 to 4 tokens, and 21 tokens against 22, are counted by hand.
GOLDEN = 100 * (18 / 21 * 12 / 18 * 7 / 15 * 4 / 12) ** 0.25 * math.exp(1 - 22 / 21)


class Fixed:
    """A translator that returns the given lines."""

    def __init__(self, texts: list[str]) -> None:
        self.texts, self.engine = texts, SimpleNamespace(name="ctranslate2")
        self.data = DataConfig(source="sample")

    def stream(self, lines: Iterable[str]) -> Iterator[list[Translation]]:
        for _, text in zip(lines, self.texts, strict=True):
            yield [Translation(text, 0.0, True)]


def translator_of(texts: list[str]) -> Translator:
    return cast(Translator, Fixed(texts))


def evaluated(texts: list[str], *in_train: bool, **options: Any) -> EvaluationReport:
    pairs = zip(REFERENCES, in_train, strict=True)
    examples = [Example("source", reference, seen) for reference, seen in pairs]
    return evaluate(translator_of(texts), examples, DataConfig(source="sample"), **options)


def test_without_pairs_there_is_nothing_to_evaluate() -> None:
    with pytest.raises(UserError, match="nothing to evaluate"):
        evaluate(translator_of([]), [], DataConfig(source="sample"))


@pytest.mark.parametrize("unicode", ["NFC", "NFKC", "none"])
def test_decomposed_umlauts_of_a_reference_match_unless_text_is_not_normalized(
    unicode: str,
) -> None:
    examples = [Example("source", normalize("NFD", REFERENCES[2]), False)]
    data = DataConfig.model_validate({"source": "sample", "unicode": unicode})
    found = evaluate(translator_of(REFERENCES[2:]), examples, data)
    assert (found.all.scores["bleu"] == pytest.approx(100)) == (unicode != "none")


def test_the_analysis_gets_the_references_that_were_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Example] = []
    monkeypatch.setattr(EVALUATE + ".analyse", lambda examples, *_, **__: seen.extend(examples))
    examples = [Example("source", normalize("NFD", REFERENCES[2]), False)]
    data = DataConfig(source="sample")
    evaluate(translator_of(REFERENCES[2:]), examples, data, seen=cast(Any, True))
    assert [example.reference for example in seen] == REFERENCES[2:]


def test_sources_that_are_not_in_train_are_scored_separately() -> None:
    report = evaluated(HYPOTHESES, False, True, False)

    assert report.all.sentences == 3
    assert report.all.scores["bleu"] == pytest.approx(GOLDEN)
    assert report.source_not_in_train is not None
    assert report.source_not_in_train.sentences == 2
    assert report.source_not_in_train.scores["bleu"] == pytest.approx(
        corpus_bleu([HYPOTHESES[0], HYPOTHESES[2]], [REFERENCES[0], REFERENCES[2]])
    )


def test_moses_tokenization_is_that_of_the_target_language(
    trained_run: RunFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    languages: set[str] = set()

    def tokenize(lines: Sequence[str], language: str) -> list[str]:
        languages.add(language)
        return list(lines)

    monkeypatch.setattr("nmt.evaluation.metrics.moses_tokenize", tokenize)
    translator = load_translator(trained_run, device="cpu")
    data = trained_run.config.data.model_copy(
        update={"source_language": "de", "target_language": "en"}
    )
    evaluate(
        translator,
        trained_run.examples("test")[:3],
        data,
        tokenize="moses",
        baseline=translator,
        seen=trained_run.seen,
    )
    assert languages == {"en"}


@pytest.mark.parametrize("seen", [False, True])
def test_there_is_no_separate_score_if_all_or_no_sources_are_new(seen: bool) -> None:
    report = evaluated(HYPOTHESES, seen, seen, seen)

    assert report.source_not_in_train is None
    assert "source_not_in_train" not in report.as_json()
    assert str(report).splitlines()[0] == "3 sentences"


def test_a_report_is_converted_to_json_and_text() -> None:
    report = evaluated(HYPOTHESES, True, False, False, lowercase=True, tokenize="moses")

    tree = report.as_json()
    assert tree["bleu"] == report.all.scores["bleu"]
    assert tree["sentences"] == 3
    assert tree["engine"] == "ctranslate2"
    assert "translations" not in tree
    assert report.translations == HYPOTHESES
    assert tree["source_not_in_train"]["sentences"] == 2
    assert "case:lc" in tree["signatures"]["bleu"]
    assert "tok:moses" in tree["source_not_in_train"]["signatures"]["bleu"]
    assert "2 of them with a source that is not in train" in str(report).splitlines()


def test_the_options_of_scores_apply_to_the_comparison_and_the_analysis(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    analysed: list[dict[str, Any]] = []
    monkeypatch.setattr(EVALUATE + ".analyse", lambda *_, **options: analysed.append(options))
    lower, options = [each.lower() for each in REFERENCES], {"lowercase": True, "tokenize": "moses"}
    report = evaluated(
        lower, False, True, False, baseline=translator_of(REFERENCES), seen=True, **options
    )

    assert report.against is not None
    assert (
        report.against["bleu"].baseline
        == report.against["bleu"].system
        == report.all.scores["bleu"]
    )
    assert analysed == [{**options, "other_references": []}]


def test_a_comparison_is_part_of_the_report() -> None:
    report = evaluated(REFERENCES, False, True, False, baseline=translator_of(HYPOTHESES))

    against = report.as_json()["against"]
    assert against.keys() == METRICS.keys()
    assert against["bleu"] == {
        "baseline": pytest.approx(GOLDEN),
        "system": pytest.approx(100),
        "difference": pytest.approx(100 - GOLDEN),
        "p_value": pytest.approx(0.25, abs=0.02),  # as for three coins that show the same side
    }
    lines = str(report).splitlines()
    start = lines.index("against the other run (paired approximate randomization)")
    assert lines[start + 1].startswith("BLEU   52.06 → 100.00 (+47.94), p = 0.2")


def test_files_are_read_as_pairs_line_by_line(tmp_path: Path) -> None:
    source, reference = tmp_path / "source.txt", tmp_path / "reference.txt"
    source.write_text("a\u2028b\n\n", encoding="utf-8")
    reference.write_text("c\nd", encoding="utf-8")

    assert read_pairs(source, reference) == [
        Example("a\u2028b", "c", False),
        Example("", "d", False),
    ]


def test_files_of_different_lengths_are_refused(tmp_path: Path) -> None:
    source, reference = tmp_path / "source.txt", tmp_path / "reference.txt"
    source.write_text("a\nb\n")
    reference.write_text("c\n")

    with pytest.raises(
        UserError, match=r"source.txt and .*reference.txt have different numbers of lines: 2 and 1"
    ):
        read_pairs(source, reference)
