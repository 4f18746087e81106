import math

import pytest

from nmt.decoding.loading import load_translator
from nmt.decoding.scoring import Score, dual_score, score_pairs


def test_scores_do_not_depend_on_other_pairs(trained_run):
    translator = load_translator(trained_run, device="cpu")
    pairs = [
        ("Anna sings today.", "Anna singt heute."),
        ("Ben reads.", "Ben liest."),
        ("", "Ben liest."),
        ("Ben reads. " * 200, "Ben liest."),
        ("Ben reads a book at home.", "Ben liest zu Hause ein Buch."),
    ]
    together = [each.log_probability for each in score_pairs(translator, pairs)]
    alone = [next(score_pairs(translator, [pair])).log_probability for pair in pairs]
    assert together == pytest.approx(alone, abs=1e-4)
    assert together[2:4] == [-math.inf, -math.inf]


def test_two_directions_must_agree():
    sure, unsure, impossible = Score(-1.0, 10), Score(-30.0, 10), Score(-math.inf, 1)
    assert dual_score(Score(0.0, 3), Score(0.0, 5)) == 1
    assert dual_score(sure, sure) > dual_score(unsure, unsure) > dual_score(sure, unsure) > 0
    assert dual_score(sure, impossible) == dual_score(impossible, impossible) == 0
