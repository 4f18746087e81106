"""A served run, used by several threads in parallel."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from nmt.decoding.loading import load_translator
from nmt.decoding.translator import Translation
from nmt.runs.folder import RunFolder
from nmt.serve.served_run import ServedRun


def test_the_best_of_equal_translations_is_kept_at_its_place(
    served: ServedRun, monkeypatch: pytest.MonkeyPatch
) -> None:
    options = [Translation(text, score) for text, score in (("x", -1.0), ("y", -2.0), ("x", -3.0))]
    monkeypatch.setattr(served.translator, "n_best", lambda lines, n: [options])
    [found] = served.translate(["a"], 3)
    assert found == options[:2]


def test_concurrent_requests_do_not_mix_up_attention(served: ServedRun) -> None:
    [[best]] = served.translate(["Anna sings today."], 1)
    alone = served.inspect("Anna sings today.", best).cross.weights
    with ThreadPoolExecutor(2) as threads:
        others = [threads.submit(served.translate, ["Ben reads at home."], 1) for _ in range(30)]
        found = [threads.submit(served.inspect, "Anna sings today.", best) for _ in range(10)]
        for each in found:
            np.testing.assert_allclose(each.result().cross.weights, alone, atol=1e-5)
        for other in others:
            assert other.result()[0][0].text == "Ben liest zu Hause."


@pytest.fixture(scope="module")
def truncating(trained_run: RunFolder) -> ServedRun:
    """A run whose translations are cut off after a few tokens."""
    limits = ["decoding.max_length_factor=0.1", "decoding.max_length_extra=2"]
    translator = load_translator(trained_run, overrides=limits, engine="pytorch")
    return ServedRun("toy", trained_run, translator, "pytorch")


def test_the_beam_of_a_truncated_translation_has_its_score_and_no_eos(
    truncating: ServedRun,
) -> None:
    [[best]] = truncating.translate(["Anna sings today."], 1)
    assert not best.complete
    last = truncating.record_beam(best)[-1]
    scores = [step.score for step in last if step.fate == "ends"]
    assert scores[0] == pytest.approx(best.score, abs=1e-4)
    assert all(step.token != "<eos>" for step in last)


def test_the_tokens_of_a_truncated_translation_are_found_in_its_text(
    truncating: ServedRun,
) -> None:
    [[best]] = truncating.translate(["Anna sings today."], 1)
    found = truncating.inspect("Anna sings today.", best)
    assert found.target_tokens[-1] == "(cut)"
    assert found.target_spans
    assert found.target_spans[-2][1] == len(best.text)
