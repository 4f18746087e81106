"""An ensemble searches with the mean of its members' probabilities, step by step."""

import itertools
import math
from collections.abc import Sequence

import pytest
import torch

from nmt.config.data import DataConfig
from nmt.config.decoding import DecodingConfig
from nmt.corpus.tokenizers.registry import Tokenizers
from nmt.corpus.tokenizers.vocabulary import Vocabulary
from nmt.corpus.tokenizers.words import WordTokenizer
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.search.beam import beam_search
from nmt.decoding.search.ensemble import Ensemble
from nmt.decoding.search.greedy import greedy_search
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.translator import Translator
from nmt.model.padding import pad
from nmt.model.transformer import Transformer
from nmt.special_tokens import BOS, EOS, PAD, SPECIALS, UNK

A, B = 4, 5
ONE = torch.tensor([[A, EOS]])
LARGER = {"d_model": 24, "heads": 3, "encoder_layers": 2, "decoder_layers": 2}


def search(
    model: object, sources: list[list[int]], beam_size: int, first: int = 0
) -> list[list[Hypothesis]]:
    """Return each sentence's hypotheses: all of the beam, or the greedy one.

    first: the number of the first sentence, on which its limit depends
    """
    limits = torch.tensor([3 + number % 13 for number in range(first, first + len(sources))])
    if beam_size == 1:
        return [[found] for found in greedy_search(model, pad(sources), limits, alpha=0.6)]
    return beam_search(model, pad(sources), limits, beam_size, 0.6, n_best=beam_size)


def assert_alike(found: list[list[Hypothesis]], expected: list[list[Hypothesis]]) -> None:
    for ours, theirs in zip(found, expected, strict=True):
        assert [h.ids for h in ours] == [h.ids for h in theirs]
        assert [h.score for h in ours] == pytest.approx([h.score for h in theirs], abs=1e-4)
        assert [h.complete for h in ours] == [h.complete for h in theirs]


def mean_of_probabilities(
    models: Sequence[Transformer], source: list[int], written: list[int]
) -> torch.Tensor:
    """Return the probabilities of the next token by definition, without search and cache."""
    rows = torch.tensor([source]), torch.tensor([[BOS, *written]])
    return sum(model(*rows)[0, -1].double().softmax(-1) for model in models) / len(models)


def test_the_probabilities_of_a_step_sum_to_one(random_model):
    ensemble = Ensemble([random_model(1), random_model(2)])
    step = ensemble.step(torch.tensor([BOS]), ensemble.init_state(ONE))
    torch.testing.assert_close(step.exp().sum(-1), torch.ones(1))


@pytest.mark.parametrize("beam_size", [1, 4])
@pytest.mark.parametrize("count", [1, 2, 3])
def test_an_ensemble_of_a_model_with_itself_equals_the_model(
    count, beam_size, random_model, random_sources
):
    model, sources = random_model(1), random_sources(25, 101)
    together = search(Ensemble([model] * count), sources, beam_size)
    alone = search(model, sources, beam_size)
    assert len({tuple(best.ids) for best, *_ in alone}) > 15  # or the test would prove little
    assert_alike(together, alone)


@torch.inference_mode()
def test_greedy_search_chooses_the_highest_mean_probability_at_every_step(
    random_model, random_sources
):
    models = [random_model(1), random_model(2, **LARGER)]
    sources = random_sources(15, 5)
    limits = torch.full((15,), 8)
    found = greedy_search(Ensemble(models), pad(sources), limits)
    for source, hypothesis in zip(sources, found, strict=True):
        written: list[int] = []
        total = 0.0
        while EOS not in written and len(written) < 8:
            mean = mean_of_probabilities(models, source, written)
            mean[[PAD, BOS]] = 0
            best = int(mean.argmax())
            total += math.log(mean[best])
            written.append(best)
        assert [*hypothesis.ids, *[EOS] * hypothesis.complete] == written
        assert hypothesis.log_probability == pytest.approx(total, abs=1e-4)
    alone = [[h.ids for h in greedy_search(model, pad(sources), limits)] for model in models]
    assert [h.ids for h in found] not in alone  # or the test would prove little


@pytest.mark.parametrize("alpha", [0.0, 1.0])
@torch.inference_mode()
def test_an_exhaustive_beam_equals_enumeration(alpha, random_model):
    models = [random_model(1, target_size=6), random_model(2, target_size=6, **LARGER)]
    source, limit = [7, 9, 5, EOS], 3
    expected = []
    for length in range(limit + 1):
        for tokens in itertools.product([UNK, A, B], repeat=length):
            ids = [*tokens, EOS] if length < limit else tokens
            total = sum(
                math.log(mean_of_probabilities(models, source, ids[:step])[token])
                for step, token in enumerate(ids)
            )
            expected.append((total / ((5 + length + 1) / 6) ** alpha, list(tokens)))
    expected.sort(reverse=True)
    [found] = beam_search(
        Ensemble(models), torch.tensor([source]), torch.tensor([limit]), 1000, alpha, len(expected)
    )
    assert [h.ids for h in found] == [ids for _, ids in expected]
    assert [h.score for h in found] == pytest.approx([s for s, _ in expected], abs=1e-4)


def members(scripted, *first: dict[int, float]) -> Ensemble:
    """An ensemble of models with these probabilities of the first token; the second is <eos>."""
    return Ensemble(
        [scripted(lambda _, prefix, first=each: {EOS: 1.0} if prefix else first) for each in first]
    )


def test_probabilities_are_averaged_not_log_probabilities(scripted):
    # A has the higher mean, B the higher product: .5 · (.9 + .01) > .3, but .9 · .01 < .3 · .3
    ensemble = members(scripted, {A: 0.9, B: 0.3}, {A: 0.01, B: 0.3, UNK: 0.89})
    [found] = greedy_search(ensemble, ONE, torch.tensor([5]))
    assert found.ids == [A]


def test_a_token_that_one_member_excludes_can_be_chosen(scripted):
    ensemble = members(scripted, {A: 1.0}, {B: 1.0})
    [found] = beam_search(ensemble, ONE, torch.tensor([5]), 2, alpha=0.0, n_best=2)
    assert sorted(h.ids for h in found) == [[A], [B]]
    assert [h.log_probability for h in found] == pytest.approx([math.log(0.5)] * 2)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_the_order_of_members_does_not_matter(beam_size, random_model, random_sources):
    models = [random_model(1), random_model(2, **LARGER), random_model(3)]
    sources = random_sources(25, 101)
    found = search(Ensemble(models), sources, beam_size)
    assert_alike(search(Ensemble(models[::-1]), sources, beam_size), found)


@pytest.mark.parametrize("beam_size", [1, 4])
def test_batching_does_not_change_the_results(beam_size, random_model, random_sources):
    ensemble = Ensemble([random_model(1), random_model(2, **LARGER)])
    sources = random_sources(25, 101)
    together = search(ensemble, sources, beam_size)
    assert len({len(best.ids) for best, *_ in together}) > 5  # or the test would prove little
    for number, source in enumerate(sources):
        assert_alike(search(ensemble, [source], beam_size, number), together[number : number + 1])


# ------------------------------------------------------------------------------- text in, text out


@pytest.fixture
def words() -> Tokenizers:
    """Tokenizers that split at spaces, with the same vocabulary on both sides."""
    vocabulary = Vocabulary([*SPECIALS, "Anna", "Ben", "singt", "liest", "."])
    tokenizer = WordTokenizer("whitespace", "de", vocabulary)
    return Tokenizers(tokenizer, tokenizer)


@pytest.fixture
def translator(random_model, words):
    """Return a function that creates a translator from several random models."""

    def make(*models: Transformer, replace_unknown: bool = False) -> Translator:
        settings = DecodingConfig(beam_size=2, max_length_extra=3, replace_unknown=replace_unknown)
        return Translator(PyTorchEngine(models), words, DataConfig(), settings)

    return make


def test_lines_are_translated_by_all_members(translator, random_model):
    models = [random_model(seed, source_size=9, target_size=9).train() for seed in (1, 2)]
    lines = ["Anna singt .", "", "Ben liest", "Ben singt .", "Anna"]
    together = translator(*models).translate(lines)
    assert not any(model.training for model in models)  # dropout is off in every member
    assert together == translator(*models[::-1]).translate(lines)
    assert [t.text for t in together] not in [
        [t.text for t in translator(model).translate(lines)] for model in models
    ]


def test_lines_are_limited_by_the_smallest_max_length(translator, random_model):
    long, short = (
        random_model(1, source_size=9, target_size=9, positions="learned", max_length=length)
        for length in (24, 5)
    )
    for models in ((long, short), (short, long)):
        [found] = translator(*models).translate(["Anna singt . Ben liest . Anna"])
        assert found.parts == 3


def test_unknown_words_are_replaced_with_the_attention_of_the_first_member(
    translator, random_model, monkeypatch
):
    first, second = (random_model(seed, source_size=9, target_size=9) for seed in (1, 2))
    asked = []
    monkeypatch.setattr(
        "nmt.decoding.engines.pytorch.beam_search",
        lambda *_: [[Hypothesis([A, UNK], -1.0, -1.0, True)]],
    )
    monkeypatch.setattr(
        "nmt.decoding.unknown_words.replace_unknown",
        lambda model, *_: asked.append(model) or ["Anna", "Zora"],
    )
    [found] = translator(first, second, replace_unknown=True).translate(["Anna Zora"])
    assert found.text == "Anna Zora"
    assert asked == [first]
