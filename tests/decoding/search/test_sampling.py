"""Tokens are drawn with the model's probabilities, reproducibly for a given seed."""

from collections import Counter

import pytest
import torch

from nmt.config.decoding import DecodingConfig
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.search.sampling import Sampler
from nmt.special_tokens import BOS, PAD

LOGITS = torch.tensor([[0.0, 0.0, 0.0, 0.5, 0.3, 0.15]]).log().clamp_min(-30)


def shares(count: int = 4000, **decoding: object) -> dict[int, float]:
    settings = DecodingConfig.model_validate({"temperature": 1.0} | decoding)
    sampler = Sampler(settings, [[5]] * count, range(count))
    _, tokens = sampler.draw(LOGITS.repeat(count, 1), range(count))
    return {token: times / count for token, times in Counter(tokens.flatten().tolist()).items()}


def assert_shares(found: dict[int, float], expected: dict[int, float]) -> None:
    total = sum(expected.values())
    assert found == pytest.approx({k: p / total for k, p in expected.items()}, abs=0.03)


def test_tokens_are_drawn_with_their_probabilities():
    assert_shares(shares(), {3: 0.5, 4: 0.3, 5: 0.15})


def test_the_temperature_is_the_reciprocal_of_an_exponent():
    assert_shares(shares(temperature=2.0), {3: 0.5**0.5, 4: 0.3**0.5, 5: 0.15**0.5})
    assert shares(temperature=0.01) == shares(temperature=1e-40) == {3: 1.0}


def test_top_k_draws_only_the_most_probable_tokens():
    assert_shares(shares(top_k=2), {3: 0.5, 4: 0.3})
    assert shares(top_k=1) == {3: 1.0}


def test_top_p_draws_from_the_smallest_set_with_that_probability():
    assert_shares(shares(top_p=0.6), {3: 0.5, 4: 0.3})
    assert shares(top_p=0.3) == {3: 1.0}


def test_with_top_k_top_p_is_a_share_of_what_is_left():
    # Without the third token, the most probable one has 0.5 / 0.8 = 0.625.
    assert shares(top_k=2, top_p=0.6) == {3: 1.0}
    assert_shares(shares(top_k=2, top_p=0.65), {3: 0.5, 4: 0.3})


def test_a_draw_close_to_one_selects_the_last_allowed_token(monkeypatch):
    sampler = Sampler(DecodingConfig(temperature=1.0, top_k=2), [[5]], [0])
    monkeypatch.setattr(sampler, "_generators", [type("", (), {"random": lambda self: 1.0})()])
    _, tokens = sampler.draw(LOGITS.clone(), [0])
    assert tokens.tolist() == [[4]]


def test_pad_and_sos_are_never_drawn():
    logits = torch.zeros(500, 6)
    logits[:, [PAD, BOS]] = 10.0
    sampler = Sampler(DecodingConfig(temperature=1.0), [[5]] * 500, range(500))
    _, tokens = sampler.draw(logits, range(500))
    assert set(tokens.flatten().tolist()) == {1, 3, 4, 5}


def test_log_probabilities_ignore_temperature_and_top_k():
    sampler = Sampler(DecodingConfig(temperature=3.0, top_k=2), [[5]], [0])
    found, tokens = sampler.draw(LOGITS.clone(), [0])
    torch.testing.assert_close(found, LOGITS.log_softmax(1).gather(1, tokens))


def test_samples_depend_on_the_seed_but_not_on_the_batch(random_model, random_sources):
    engine, sources = PyTorchEngine([random_model(1)]), random_sources(20, 5)
    sources += sources  # equal sources have different samples
    limits = [12] * 40
    decoding = DecodingConfig(temperature=1.0, seed=7)
    found = engine(sources, limits, decoding, 3)
    alone = engine(sources, limits, decoding.model_copy(update={"batch_tokens": 1}), 3)
    assert [[h.ids for h in each] for each in alone] == [[h.ids for h in each] for each in found]
    assert found[:20] != found[20:]
    assert engine(sources, limits, decoding.model_copy(update={"seed": 8}), 3) != found
    for hypotheses in found:
        assert [h.score for h in hypotheses] == sorted([h.score for h in hypotheses], reverse=True)
    assert sum(len({tuple(h.ids) for h in hypotheses}) == 3 for hypotheses in found) > 10
