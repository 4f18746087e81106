"""Scores equal sacreBLEU's; differences are tested for significance."""

import itertools
import math
import tracemalloc
from collections.abc import Sequence
from functools import partial
from typing import Any

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from nmt.errors import UserError
from nmt.evaluation.metrics import (
    METRICS,
    Comparison,
    compare_texts,
    corpus_bleu,
    corpus_chrf,
    evaluate_texts,
    moses_tokenize,
    require_tokenizer,
)

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
SHOUTED = [line.upper() for line in REFERENCES]
# The matching n-grams of 1 to 4 tokens, and 21 tokens against 22, are counted by hand.
GOLDEN = 100 * (18 / 21 * 12 / 18 * 7 / 15 * 4 / 12) ** 0.25 * math.exp(1 - 22 / 21)
MOSES = ["Geht's um 3,5 Mio. Euro?", 'Er sagt: "U-Bahn & Bus"'], ["Geht's?", "Er sagt: Bus"]
evaluate = partial(evaluate_texts, bootstrap=0)


# ------------------------------------------------------------------------------------ scores


@pytest.mark.parametrize(
    ("hypotheses", "references", "lowercase", "expected"),
    [
        # TER: liegt, läuft; ich, Birnen., -sehr. of 19 space-separated words
        (HYPOTHESES, [REFERENCES], False, {"bleu": GOLDEN, "ter": 100 * 5 / 19}),
        (HYPOTHESES, [REFERENCES], True, {"ter": 100 * 4 / 19}),
        (REFERENCES, [REFERENCES], False, {"bleu": 100, "chrf": 100, "ter": 0}),
        (SHOUTED, [REFERENCES], True, {"bleu": 100, "chrf": 100, "ter": 0}),
        (["", "", ""], [REFERENCES], False, {"bleu": 0, "chrf": 0, "ter": 100}),
        (HYPOTHESES, [REFERENCES, HYPOTHESES], False, {"bleu": 100, "chrf": 100, "ter": 0}),
    ],
)
def test_scores_counted_by_hand(
    hypotheses: list[str], references: list[list[str]], lowercase: bool, expected: dict[str, float]
) -> None:
    found = evaluate(hypotheses, *references, lowercase=lowercase)
    assert found.scores.keys() == METRICS.keys() == {"bleu", "chrf", "ter"}
    assert {name: found.scores[name] for name in expected} == pytest.approx(expected)
    bleu = corpus_bleu(hypotheses, *references, lowercase=lowercase)
    assert bleu == pytest.approx(found.scores["bleu"])
    if not lowercase:
        assert corpus_chrf(hypotheses, *references) == pytest.approx(found.scores["chrf"])
    assert all(f"nrefs:{len(references)}|" in text for text in found.signatures.values())


def test_case_matters_by_default() -> None:
    assert evaluate(SHOUTED, REFERENCES).scores["bleu"] < 20


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenize", ["13a", "intl", "char", "none"])
def test_scores_and_signatures_equal_those_of_sacrebleu(tokenize: Any, lowercase: bool) -> None:
    found = evaluate(HYPOTHESES, REFERENCES, tokenize=tokenize, lowercase=lowercase)
    theirs = {
        "bleu": BLEU(lowercase=lowercase, tokenize=tokenize, force=True),
        "chrf": CHRF(lowercase=lowercase),
        "ter": TER(case_sensitive=not lowercase),
    }
    for name, metric in theirs.items():
        assert found.scores[name] == metric.corpus_score(HYPOTHESES, [REFERENCES]).score
        assert found.signatures[name] == str(metric.get_signature())
        assert ("case:lc" if lowercase else "case:mixed") in found.signatures[name].split("|")
    assert found.sentences == 3


def test_moses_tokenization_of_both_sides_changes_only_bleu_and_is_in_its_signature() -> None:
    moses, plain = evaluate(*MOSES, tokenize="moses"), evaluate(*MOSES)
    split = [moses_tokenize(side, "de") for side in MOSES]
    expected = BLEU(tokenize="none").corpus_score(split[0], [split[1]]).score
    assert moses.scores == plain.scores | {"bleu": pytest.approx(expected)}
    assert moses.scores["bleu"] != pytest.approx(plain.scores["bleu"])
    assert "tok:moses" in moses.signatures["bleu"].split("|")
    assert corpus_bleu(*MOSES, tokenize="moses") == moses.scores["bleu"]
    both = [compare_texts(*MOSES, MOSES[1], tokenize=how, trials=9) for how in ("moses", "13a")]
    assert {name for name in METRICS if both[0][name] != both[1][name]} == {"bleu"}
    assert both[0]["bleu"].baseline == pytest.approx(expected)


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("Am 3. Mai, z. B.", "de", "Am 3. Mai , z. B."),
        ("Am 3. Mai, z. B.", "deu", "Am 3. Mai , z. B."),
        ('Er sagt: "U-Bahn & Bus", ja?', "de", 'Er sagt : " U-Bahn & Bus " , ja ?'),
    ],
)
def test_moses_tokens_follow_the_language_and_are_not_escaped(
    line: str, code: str, expected: str
) -> None:
    assert moses_tokenize([line], code) == [expected]


def test_chinese_is_divided_into_characters() -> None:
    lines = ["我们今天去北京。"], ["我们明天去北京。"]
    found = evaluate(*lines, tokenize="zh")
    assert found.scores["bleu"] > 30
    assert "tok:zh" in found.signatures["bleu"]
    assert corpus_bleu(*lines) == 0


def test_the_signature_names_the_test_set() -> None:
    scores = evaluate(["Geh."], ["Geh."], test_set=("wmt20", "en-de"))
    assert all("|test:wmt20|lang:en-de|" in text for text in scores.signatures.values())


# --------------------------------------------------------------------------------- intervals


def test_intervals_are_those_of_sacrebleu() -> None:
    hypotheses, references = HYPOTHESES * 5 + REFERENCES * 5, REFERENCES * 10
    found = evaluate_texts(hypotheses, references, bootstrap=200)
    for name, metric in {"bleu": BLEU(force=True), "chrf": CHRF()}.items():
        theirs = metric.corpus_score(hypotheses, [references], n_bootstrap=200)
        interval = theirs._mean - theirs._ci, theirs._mean + theirs._ci
        assert found.intervals[name] == pytest.approx(interval, abs=1e-4)
        assert found.signatures[name] == str(metric.get_signature())
    assert found.intervals.keys() == METRICS.keys()
    assert all(low < found.scores[name] < high for name, (low, high) in found.intervals.items())
    assert found.scores == evaluate(hypotheses, references).scores


def test_intervals_need_little_memory() -> None:
    """Resampling all at once would take 80 kB per sentence."""
    hypotheses = ["Ben liest ein Buch .", "Anna singt ."] * 500
    tracemalloc.start()
    try:
        evaluate_texts(hypotheses, hypotheses)
        assert tracemalloc.get_traced_memory()[1] < 30e6
    finally:
        tracemalloc.stop()


def test_intervals_stay_between_0_and_100() -> None:
    sentence = "Wo ist der Bahnhof von hier aus?"  # resamples score anything from 0 to 100
    found = evaluate_texts([sentence, "", "x y z"], [sentence, "", sentence], bootstrap=100)
    low, high = found.intervals["bleu"]
    assert 0 <= low < high <= 100
    longer = evaluate_texts(["a b c d e f"] * 3, ["x"] * 3, bootstrap=20)
    assert longer.intervals["ter"][1] > 100  # more edits than words


def test_resamples_without_any_match_do_not_stop_the_evaluation() -> None:
    found = evaluate_texts(["x", "y", REFERENCES[2]], REFERENCES, bootstrap=100)
    assert found.intervals["bleu"][0] == 0  # not below it


@pytest.mark.parametrize(
    ("rows", "bootstrap", "has_intervals"), [(4, 50, 1), (1, 50, 0), (4, 0, 0)]
)
def test_a_signature_mentions_the_bootstrap_only_if_there_is_an_interval(
    rows: int, bootstrap: int, has_intervals: bool
) -> None:
    hypotheses = ["a a b", "a", "", "e d e c e"][:rows]
    references = ["b e", "e c d d", "a c e", "d"][:rows]
    found = evaluate_texts(hypotheses, references, bootstrap=bootstrap)
    assert bool(found.intervals) == has_intervals
    for name, signature in found.signatures.items():
        assert ("|bs:50|seed:" in signature) == (name in found.intervals)


def test_each_score_is_printed_on_one_line() -> None:
    lines = str(evaluate_texts(HYPOTHESES, REFERENCES, bootstrap=50)).splitlines()
    assert [line.split()[0] for line in lines] == ["BLEU", "chrF", "TER"]
    assert lines[0].startswith("BLEU   52.06  [")
    assert "tok:13a" in lines[0]


# ---------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        ((HYPOTHESES[:2], REFERENCES), "2 hypotheses for 3 references"),
        ((HYPOTHESES, REFERENCES, REFERENCES[:2]), "3 hypotheses for 2 references"),
        (([], []), "nothing to score"),
    ],
)
def test_unequal_numbers_of_lines_and_none_are_refused(
    texts: Sequence[list[str]], message: str
) -> None:
    hypotheses, *references = texts
    with pytest.raises(UserError, match=message):
        evaluate_texts(hypotheses, *references)
    for pair in ((hypotheses, references[-1]), (references[-1], hypotheses)):
        with pytest.raises(UserError):
            compare_texts(*pair, *references)


def test_a_tokenizer_that_cannot_be_opened_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no network\n")

    require_tokenizer("13a")
    monkeypatch.setattr("nmt.evaluation.metrics.BLEU", fail)
    for name in ("flores200", "ja-mecab"):
        with pytest.raises(UserError, match=f"^--tokenize {name}: [^\n]*$"):
            require_tokenizer(name)  # type: ignore[arg-type]


# -------------------------------------------------------------------------------- comparison


def compare_bleu(*texts: Sequence[str], **options: Any) -> Comparison:
    return compare_texts(*texts, **options)["bleu"]


@pytest.mark.parametrize(
    ("baseline", "system", "score"), [(HYPOTHESES, HYPOTHESES, GOLDEN), ([""] * 3, [""] * 3, 0)]
)
def test_a_system_does_not_differ_from_itself(
    baseline: list[str], system: list[str], score: float
) -> None:
    found = compare_bleu(baseline * 5, system * 5, REFERENCES * 5, trials=100)
    assert found.p_value == 1
    assert found.baseline == found.system == pytest.approx(score)
    assert "p = 1.0000, not significant at 0.05" in str(found)


def test_one_better_sentence_is_not_significant() -> None:
    better, references = HYPOTHESES * 20 + REFERENCES[:1], REFERENCES * 20 + REFERENCES[:1]
    found = compare_bleu(HYPOTHESES * 20 + HYPOTHESES[:1], better, references, trials=100)
    assert found.system > found.baseline
    assert found.p_value == 1  # swapping the two systems does not change the gap


def test_a_clearly_better_system_is_significant_by_every_metric() -> None:
    found = compare_texts(HYPOTHESES * 10, REFERENCES * 10, REFERENCES * 10, trials=999)
    before, after = (evaluate(texts * 10, REFERENCES * 10) for texts in (HYPOTHESES, REFERENCES))
    assert found == {
        name: Comparison(score, after.scores[name], after.scores[name] - score, 1 / 1000)
        for name, score in before.scores.items()
    }
    assert found["ter"].difference < 0
    assert str(found["bleu"]) == " 52.06 → 100.00 (+47.94), p = 0.0010, significant at 0.05"


def test_the_p_value_is_close_to_that_of_all_permutations() -> None:
    baseline = HYPOTHESES + REFERENCES[:2] + HYPOTHESES[:2]
    system = REFERENCES[:2] + HYPOTHESES[2:] + HYPOTHESES[:2] + REFERENCES[:2]
    references = REFERENCES + REFERENCES[:2] * 2
    gap = abs(corpus_bleu(baseline, references) - corpus_bleu(system, references))
    as_large = []
    for swaps in itertools.product([False, True], repeat=len(references)):
        pairs = [
            (b, a) if swap else (a, b) for a, b, swap in zip(baseline, system, swaps, strict=True)
        ]
        first, second = zip(*pairs, strict=True)
        difference = abs(corpus_bleu(first, references) - corpus_bleu(second, references))
        as_large.append(difference > gap - 1e-9)
    exact = sum(as_large) / len(as_large)
    assert 0.1 < exact < 0.9
    found = compare_bleu(baseline, system, references, trials=5000)
    assert found.p_value == pytest.approx(exact, abs=0.03)


def test_a_comparison_is_reproducible_and_symmetric() -> None:
    mixed = (REFERENCES[:1] + HYPOTHESES[1:]) * 4
    first = compare_bleu(HYPOTHESES * 4, mixed, REFERENCES * 4, trials=300)
    assert compare_bleu(HYPOTHESES * 4, mixed, REFERENCES * 4, trials=300) == first
    swapped = compare_bleu(mixed, HYPOTHESES * 4, REFERENCES * 4, trials=300)
    assert (swapped.system, swapped.baseline) == (first.baseline, first.system)
    assert swapped.p_value == first.p_value
    assert 1 / 301 < first.p_value < 1


def test_a_comparison_may_ignore_case() -> None:
    lower = [line.lower() for line in REFERENCES] * 5
    cased = compare_bleu(lower, REFERENCES * 5, REFERENCES * 5, trials=200)
    caseless = compare_bleu(lower, REFERENCES * 5, REFERENCES * 5, lowercase=True, trials=200)
    assert cased.baseline < 60
    assert cased.p_value < 0.05
    assert (caseless.baseline, caseless.p_value) == (pytest.approx(100), 1)
