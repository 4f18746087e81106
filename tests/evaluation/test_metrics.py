"""Scores equal sacreBLEU's; differences are tested for significance."""

import itertools
import math
import tracemalloc

import pytest
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from nmt.errors import UserError
from nmt.evaluation.metrics import (
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
# The matching n-grams of 1 to 4 tokens, and 21 tokens against 22, are counted by hand.
GOLDEN = 100 * (18 / 21 * 12 / 18 * 7 / 15 * 4 / 12) ** 0.25 * math.exp(1 - 22 / 21)


# ------------------------------------------------------------------------------------ scores


def test_bleu_equals_a_score_computed_by_hand():
    assert pytest.approx(52.0632386) == GOLDEN
    assert corpus_bleu(HYPOTHESES, REFERENCES) == pytest.approx(GOLDEN)
    assert evaluate_texts(HYPOTHESES, REFERENCES, bootstrap=0).scores["bleu"] == pytest.approx(
        GOLDEN
    )


def test_ter_counts_edits_of_space_separated_words():
    # liegt, läuft; ich, Birnen., -sehr. of 19 space-separated words
    assert evaluate_texts(HYPOTHESES, REFERENCES, bootstrap=0).scores["ter"] == pytest.approx(
        100 * 5 / 19
    )


def test_ter_may_ignore_case():
    found = evaluate_texts(HYPOTHESES, REFERENCES, lowercase=True, bootstrap=0)

    assert found.scores["ter"] == pytest.approx(100 * 4 / 19)


@pytest.mark.parametrize("lowercase", [False, True])
@pytest.mark.parametrize("tokenize", ["13a", "intl", "char", "none"])
def test_scores_equal_those_of_sacrebleu(tokenize, lowercase):
    found = evaluate_texts(
        HYPOTHESES, REFERENCES, tokenize=tokenize, lowercase=lowercase, bootstrap=0
    )

    bleu = BLEU(lowercase=lowercase, tokenize=tokenize).corpus_score(HYPOTHESES, [REFERENCES])
    chrf = CHRF(lowercase=lowercase).corpus_score(HYPOTHESES, [REFERENCES])
    ter = TER(case_sensitive=not lowercase).corpus_score(HYPOTHESES, [REFERENCES])
    assert tuple(found.scores.values()) == (bleu.score, chrf.score, ter.score)
    assert found.sentences == 3


def test_a_perfect_translation_has_perfect_scores():
    found = evaluate_texts(REFERENCES, REFERENCES, bootstrap=0)

    assert tuple(found.scores.values()) == (pytest.approx(100), 100, 0)


def test_empty_translations_have_the_worst_scores():
    found = evaluate_texts(["", "", ""], REFERENCES, bootstrap=10)

    assert tuple(found.scores.values()) == (0, 0, 100)


def test_case_matters_by_default():
    shouted = [line.upper() for line in REFERENCES]

    assert evaluate_texts(shouted, REFERENCES, bootstrap=0).scores["bleu"] < 20
    found = evaluate_texts(shouted, REFERENCES, lowercase=True, bootstrap=0)
    assert tuple(found.scores.values()) == (pytest.approx(100), 100, 0)


def test_signatures_name_tokenizer_and_case():
    plain = evaluate_texts(HYPOTHESES, REFERENCES, bootstrap=0).signatures
    lower = evaluate_texts(HYPOTHESES, REFERENCES, lowercase=True, bootstrap=0).signatures

    assert {"tok:13a", "case:mixed"} <= set(plain["bleu"].split("|"))
    assert {"tok:13a", "case:lc"} <= set(lower["bleu"].split("|"))
    assert "case:lc" in lower["chrf"].split("|")
    assert "case:mixed" in plain["ter"].split("|")
    assert "case:lc" in lower["ter"].split("|")


def test_moses_tokenization_splits_both_sides_and_is_in_the_signature():
    lines = ["Geht's um 3,5 Mio. Euro?", 'Er sagt: "U-Bahn & Bus"'], ["Geht's?", "Er sagt: Bus"]

    found = evaluate_texts(*lines, tokenize="moses", bootstrap=0)

    split = [moses_tokenize(side, "de") for side in lines]
    expected = BLEU(tokenize="none").corpus_score(split[0], [split[1]])
    assert found.scores["bleu"] == pytest.approx(expected.score)
    assert "tok:moses" in found.signatures["bleu"].split("|")
    plain = evaluate_texts(*lines, bootstrap=0)
    assert (found.scores["chrf"], found.scores["ter"]) == (
        plain.scores["chrf"],
        plain.scores["ter"],
    )
    assert found.scores["bleu"] != pytest.approx(plain.scores["bleu"])


@pytest.mark.parametrize("code", ["de", "deu"])
def test_moses_tokenization_follows_the_language(code):
    assert moses_tokenize(["Am 3. Mai, z. B."], code) == ["Am 3. Mai , z. B."]


def test_moses_tokens_are_not_escaped():
    assert moses_tokenize(['Er sagt: "U-Bahn & Bus", ja?'], "de") == [
        'Er sagt : " U-Bahn & Bus " , ja ?'
    ]


# --------------------------------------------------------------------------------- intervals


def test_intervals_enclose_the_score_and_are_reproducible():
    hypotheses, references = HYPOTHESES * 5 + REFERENCES * 5, REFERENCES * 10

    found = evaluate_texts(hypotheses, references, bootstrap=200)

    assert set(found.intervals) == {"bleu", "chrf", "ter"}
    for name, (low, high) in found.intervals.items():
        assert low < found.scores[name] < high
        assert high - low < 40
    assert evaluate_texts(hypotheses, references, bootstrap=200).intervals == found.intervals
    assert "bs:200" in found.signatures["bleu"].split("|")


def test_intervals_are_those_of_sacrebleu():
    hypotheses, references = HYPOTHESES * 5 + REFERENCES * 5, REFERENCES * 10

    found = evaluate_texts(hypotheses, references, bootstrap=200)

    for name, metric in {"bleu": BLEU(force=True), "chrf": CHRF()}.items():
        theirs = metric.corpus_score(hypotheses, [references], n_bootstrap=200)
        interval = theirs._mean - theirs._ci, theirs._mean + theirs._ci
        assert found.intervals[name] == pytest.approx(interval, abs=1e-4)
        assert found.signatures[name] == str(metric.get_signature())


def test_intervals_need_little_memory():
    """Resampling all at once would take 80 kB per sentence."""
    hypotheses = ["Ben liest ein Buch .", "Anna singt ."] * 500
    tracemalloc.start()
    try:
        evaluate_texts(hypotheses, hypotheses)
        assert tracemalloc.get_traced_memory()[1] < 30e6
    finally:
        tracemalloc.stop()


def test_intervals_stay_between_0_and_100():
    sentence = "Wo ist der Bahnhof von hier aus?"  # resamples score anything from 0 to 100

    found = evaluate_texts([sentence, "", "x y z"], [sentence, "", sentence], bootstrap=100)

    low, high = found.intervals["bleu"]
    assert 0 <= low < high <= 100
    longer = evaluate_texts(["a b c d e f"] * 3, ["x"] * 3, bootstrap=20)
    assert longer.intervals["ter"][1] > 100  # more edits than words


def test_the_bootstrap_does_not_change_the_scores():
    plain = evaluate_texts(HYPOTHESES, REFERENCES, bootstrap=0)
    found = evaluate_texts(HYPOTHESES, REFERENCES, bootstrap=50)

    assert tuple(found.scores.values()) == tuple(plain.scores.values())


def test_there_are_no_intervals_without_bootstrap_or_for_a_single_sentence():
    assert evaluate_texts(HYPOTHESES, REFERENCES, bootstrap=0).intervals == {}
    assert evaluate_texts(HYPOTHESES[:1], REFERENCES[:1], bootstrap=50).intervals == {}


def test_resamples_without_any_match_do_not_stop_the_evaluation():
    hypotheses = ["x", "y", REFERENCES[2]]  # many resamples lack the only good line

    found = evaluate_texts(hypotheses, REFERENCES, bootstrap=100)

    assert found.scores["chrf"] == CHRF().corpus_score(hypotheses, [REFERENCES]).score
    assert "bleu" in found.intervals


def test_a_signature_mentions_the_bootstrap_only_if_there_is_an_interval():
    hypotheses = ["a a b", "a", "", "e d e c e"]
    references = ["b e", "e c d d", "a c e", "d"]

    for rows in (4, 1):
        found = evaluate_texts(hypotheses[:rows], references[:rows], bootstrap=50)
        for name, signature in found.signatures.items():
            assert ("|bs:50|seed:" in signature) == (name in found.intervals)


def test_each_score_is_printed_on_one_line():
    lines = str(evaluate_texts(HYPOTHESES, REFERENCES, bootstrap=50)).splitlines()

    assert [line.split()[0] for line in lines] == ["BLEU", "chrF", "TER"]
    assert lines[0].startswith("BLEU   52.06  [")
    assert "tok:13a" in lines[0]


# ---------------------------------------------------------------------------------- mistakes


@pytest.mark.parametrize("evaluate", [evaluate_texts, lambda h, r: compare_texts(h, h, r)])
def test_unequal_numbers_of_lines_are_refused(evaluate):
    with pytest.raises(UserError, match="2 hypotheses for 3 references"):
        evaluate(HYPOTHESES[:2], REFERENCES)


def test_a_second_system_of_another_length_is_refused():
    with pytest.raises(UserError, match="2 hypotheses for 3 references"):
        compare_texts(HYPOTHESES, HYPOTHESES[:2], REFERENCES)


@pytest.mark.parametrize("evaluate", [evaluate_texts, lambda h, r: compare_texts(h, h, r)])
def test_empty_input_is_refused(evaluate):
    with pytest.raises(UserError, match="nothing to score"):
        evaluate([], [])


# -------------------------------------------------------------------------------- comparison


def compare_bleu(*texts, **options) -> Comparison:
    return compare_texts(*texts, **options)["bleu"]


def test_a_system_does_not_differ_from_itself():
    found = compare_bleu(HYPOTHESES * 5, HYPOTHESES * 5, REFERENCES * 5, trials=100)

    assert found.p_value == 1
    assert found.baseline == found.system == corpus_bleu(HYPOTHESES, REFERENCES)
    assert "p = 1.0000, not significant at 0.05" in str(found)


def test_one_better_sentence_is_not_significant():
    better = HYPOTHESES * 20 + REFERENCES[:1]

    found = compare_bleu(
        HYPOTHESES * 20 + HYPOTHESES[:1], better, REFERENCES * 20 + REFERENCES[:1], trials=100
    )

    assert found.system > found.baseline
    assert found.p_value == 1  # swapping the two systems does not change the gap


def test_a_clearly_better_system_is_significant():
    found = compare_bleu(HYPOTHESES * 10, REFERENCES * 10, REFERENCES * 10, trials=1000)

    assert (found.baseline, found.system) == (pytest.approx(GOLDEN), pytest.approx(100))
    assert found.p_value == 1 / 1001
    assert found.difference == pytest.approx(100 - GOLDEN)
    assert str(found) == " 52.06 → 100.00 (+47.94), p = 0.0010, significant at 0.05"


def test_the_p_value_is_close_to_that_of_all_permutations():
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

    found = compare_bleu(baseline, system, references, trials=5000)

    assert 0.1 < exact < 0.9
    assert found.p_value == pytest.approx(exact, abs=0.03)


def test_a_comparison_is_reproducible_and_symmetric():
    mixed = (REFERENCES[:1] + HYPOTHESES[1:]) * 4
    first = compare_bleu(HYPOTHESES * 4, mixed, REFERENCES * 4, trials=300)

    assert compare_bleu(HYPOTHESES * 4, mixed, REFERENCES * 4, trials=300) == first
    swapped = compare_bleu(mixed, HYPOTHESES * 4, REFERENCES * 4, trials=300)
    assert (swapped.system, swapped.baseline) == (first.baseline, first.system)
    assert swapped.p_value == first.p_value
    assert 1 / 301 < first.p_value < 1


def test_a_comparison_may_ignore_case():
    lower = [line.lower() for line in REFERENCES] * 5
    cased = compare_bleu(lower, REFERENCES * 5, REFERENCES * 5, trials=200)
    caseless = compare_bleu(lower, REFERENCES * 5, REFERENCES * 5, lowercase=True, trials=200)

    assert cased.baseline < 60
    assert cased.p_value < 0.05
    assert (caseless.baseline, caseless.p_value) == (pytest.approx(100), 1)


def test_systems_with_empty_output_can_be_compared():
    found = compare_bleu([""] * 3, [""] * 3, REFERENCES, trials=10)

    assert (found.baseline, found.system, found.p_value) == (0, 0, 1)


def test_every_metric_is_compared_with_its_own_scores():
    found = compare_texts(HYPOTHESES * 10, REFERENCES * 10, REFERENCES * 10, trials=99)

    before, after = (
        evaluate_texts(texts * 10, REFERENCES * 10, bootstrap=0)
        for texts in (HYPOTHESES, REFERENCES)
    )
    assert list(found) == ["bleu", "chrf", "ter"]
    for name, comparison in found.items():
        scores = before.scores[name], after.scores[name]
        assert (comparison.baseline, comparison.system) == scores
        assert comparison.difference == scores[1] - scores[0]
        assert comparison.p_value == 1 / 100
    assert found["ter"].difference < 0


def test_moses_tokenization_changes_only_bleu():
    lines = ["Geht's um 3,5 Mio. Euro?", 'Er sagt: "U-Bahn & Bus"'], ["Geht's?", "Er sagt: Bus"]

    moses = compare_texts(*lines, lines[1], tokenize="moses", trials=9)
    plain = compare_texts(*lines, lines[1], trials=9)

    expected = evaluate_texts(lines[0], lines[1], tokenize="moses", bootstrap=0)
    assert moses["bleu"].baseline == pytest.approx(expected.scores["bleu"])
    assert moses["bleu"] != plain["bleu"]
    assert (moses["chrf"], moses["ter"]) == (plain["chrf"], plain["ter"])


def test_several_references_are_scored_together() -> None:
    found = evaluate_texts(HYPOTHESES, REFERENCES, HYPOTHESES, tokenize="moses", bootstrap=0)
    assert found.scores["bleu"] == pytest.approx(100)
    assert found.scores["ter"] == 0
    assert all("nrefs:2|" in text for text in found.signatures.values())
    with pytest.raises(UserError, match="3 hypotheses for 2 references"):
        evaluate_texts(HYPOTHESES, REFERENCES, REFERENCES[:2])


def test_chinese_is_divided_into_characters() -> None:
    found = evaluate_texts(["我们今天去北京。"], ["我们明天去北京。"], tokenize="zh", bootstrap=0)
    assert found.scores["bleu"] > 30
    assert "tok:zh" in found.signatures["bleu"]
    assert corpus_bleu(["我们今天去北京。"], ["我们明天去北京。"]) == 0
    assert corpus_chrf(["我们今天去北京。"], ["我们明天去北京。"]) == pytest.approx(
        found.scores["chrf"]
    )


def test_a_tokenizer_that_cannot_be_opened_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError("no network\n")

    require_tokenizer("13a")
    monkeypatch.setattr("nmt.evaluation.metrics.BLEU", fail)
    for name in ("flores200", "ja-mecab"):
        with pytest.raises(UserError, match=f"^--tokenize {name}: [^\n]*$"):
            require_tokenizer(name)  # type: ignore[arg-type]


def test_the_signature_names_the_test_set() -> None:
    scores = evaluate_texts(["Geh."], ["Geh."], bootstrap=0, test_set=("wmt20", "en-de"))
    assert all("|test:wmt20|lang:en-de|" in text for text in scores.signatures.values())
