"""CTranslate2 finds what our own searches find, with models of every kind."""

from collections.abc import Callable

import pytest
import torch

from nmt.config import DataConfig, DecodingConfig
from nmt.corpus.tokenizers import Tokenizers, WordTokenizer
from nmt.corpus.vocabulary import Vocabulary
from nmt.decoding.ctranslate2 import ComputeType, CTranslate2Search
from nmt.decoding.hypothesis import Hypothesis, length_penalty
from nmt.decoding.loading import load_translator
from nmt.decoding.search import ModelSearch
from nmt.decoding.translator import Translator
from nmt.errors import UserError
from nmt.model.transformer import Transformer
from nmt.special_tokens import EOS, PAD, SOS, SPECIALS, UNK

pytest.importorskip("ctranslate2", reason="the extra `ctranslate2` is not installed")

ALPHA = 0.6
VARIANTS: list[dict[str, object]] = [
    {},
    {"norm": "post"},
    {"norm": "post", "final_norm": False},
    {"final_norm": False},
    {"norm_epsilon": 0.5},
    {"activation": "gelu"},
    {"score_scale": "d_model"},
    {"d_key": 12, "d_value": 12},
    {"d_key": 3, "d_value": 3, "heads": 3},
    {"attention_bias": False},
    {"positions": "learned"},
    {"positions": "rotary"},
    {"positions": "rotary", "d_key": 12, "d_value": 12, "norm": "post"},
    {"position_exponent": "column"},
    {"first_position": 1},
    {"scale_embeddings": False},
    {"tie": "all"},
    {"tie": "inputs"},
    {"tie": "target"},
    {"encoder_layers": 2, "decoder_layers": 3},
]


def words(*more: str) -> Tokenizers:
    tokenizer = WordTokenizer("whitespace", "de", Vocabulary([*SPECIALS, *"abcdef", *more]))
    return Tokenizers(tokenizer, tokenizer)


def engine(model: Transformer, compute_type: ComputeType = "float32") -> CTranslate2Search:
    return CTranslate2Search(model, words("g"), ALPHA, compute_type)


@pytest.fixture
def model(random_model: Callable[..., Transformer]) -> Callable[..., Transformer]:
    """Return a function that makes a random model with biases of its own on some tokens.

    <pad> and <sos> are improbable, as in a trained model: the library leaves their share out.
    """

    def make(biases: dict[int, float] | None = None, **changes: object) -> Transformer:
        made = random_model(3, **changes)
        with torch.no_grad():
            for token, bias in ({PAD: -100.0, SOS: -100.0} | (biases or {})).items():
                made.output.bias[token] = bias
        return made

    return make


def log_probability(model: Transformer, source: list[int], ids: list[int]) -> float:
    """Return that of the ids and <eos> after them, all at once by teacher forcing."""
    with torch.inference_mode():
        logits = model(torch.tensor([source]), torch.tensor([[SOS, *ids]]))
    steps = logits[0].log_softmax(-1)
    return float(steps[torch.arange(len(ids) + 1), torch.tensor([*ids, EOS])].sum())


@pytest.mark.parametrize("changes", VARIANTS, ids=str)
def test_greedy_search_finds_the_same_tokens_and_scores(changes, model, random_sources):
    sources, ready = random_sources(100, 5), model(**changes)
    limits = [4 + len(ids) for ids in sources]

    found = engine(ready)(sources, limits, 1, 1)

    expected = ModelSearch([ready], ALPHA)(sources, limits, 1, 1)
    assert [h.ids for [h] in found] == [h.ids for [h] in expected]
    assert [h.complete for [h] in found] == [h.complete for [h] in expected]
    for [h], [ours] in zip(found, expected, strict=True):
        if h.complete:
            assert h.score == pytest.approx(ours.score, abs=1e-3)


def test_hypotheses_are_ranked_by_our_length_penalty(model, random_sources):
    sources, ready = random_sources(40, 7), model()

    found = engine(ready)(sources, [20] * 40, 4, 3)

    complete = [(i, h) for i, hypotheses in enumerate(found) for h in hypotheses if h.complete]
    assert len({len(h.ids) for _, h in complete}) > 3  # or the penalty would show little
    for i, h in complete:
        expected = log_probability(ready, sources[i], h.ids)
        assert h.log_probability == pytest.approx(expected, abs=1e-3)
        assert h.score == h.log_probability / length_penalty(len(h.ids) + 1, ALPHA)
    for hypotheses in found:
        assert len(hypotheses) == 3
        assert hypotheses == sorted(hypotheses, key=lambda h: -h.score)


def test_every_output_keeps_to_its_own_limit(model, random_sources):
    sources, endless = random_sources(12, 8), model({EOS: -100.0})
    limits = [2 + i % 3 for i in range(12)]

    for beam_size in (1, 3):
        found = engine(endless)(sources, limits, beam_size, 1)

        assert [len(h.ids) for [h] in found] == limits
        assert not any(h.complete for [h] in found)


@pytest.mark.parametrize("beam_size", [1, 3])
def test_padding_and_the_start_are_never_written(beam_size, model, random_sources):
    tempted = model({PAD: 50.0, SOS: 50.0})

    found = engine(tempted)(random_sources(20, 9), [8] * 20, beam_size, beam_size)

    assert not {PAD, SOS} & {i for hypotheses in found for h in hypotheses for i in h.ids}


def test_a_translation_may_be_empty(model):
    [[found]] = engine(model({EOS: 50.0}))([[4, 5, EOS]], [8], 1, 1)

    assert found == Hypothesis([], pytest.approx(0, abs=1e-3), pytest.approx(0, abs=1e-3), True)


def test_a_beam_may_be_wider_than_the_vocabulary(model):
    [found] = engine(model())([[4, 5, EOS]], [8], 30, 30)

    assert len(found) == 30


def test_eight_bits_run(model, random_sources):
    found = engine(model(), "int8")(random_sources(10, 10), [8] * 10, 2, 1)

    assert any(h.ids for [h] in found)


def test_numbers_that_the_processor_cannot_multiply_are_refused(model):
    with pytest.raises(UserError, match=r"float16.* --compute-type .*float32") as caught:
        engine(model(), "float16")

    assert "\n" not in str(caught.value)


def test_widths_that_differ_are_refused(model):
    with pytest.raises(UserError, match=r"model\.d_value: 6 is not model\.d_key 5"):
        engine(model(d_key=5, d_value=6))


def test_a_word_that_spells_a_special_token_is_refused(model):
    with pytest.raises(UserError, match=r"tokenizer\.kind: the corpus has the word <unk>"):
        CTranslate2Search(model(), words("<unk>"), ALPHA, "float32")


def test_the_text_path_is_the_same(trained_run):
    lines = ["Anna sings today.", "", "Ben swims often. " * 20, "Zorbax\u2028dances  at night."]
    ours, theirs = (
        load_translator(trained_run, device=torch.device("cpu"), engine=name).translate(lines)
        for name in ("pytorch", "ctranslate2")
    )

    assert [t.text for t in theirs] == [t.text for t in ours]
    assert [t.parts for t in theirs] == [t.parts for t in ours] == [1, 0, 20, 1]


def test_unknown_words_are_replaced_all_the_same(random_model: Callable[..., Transformer]):
    model, tokenizers = random_model(1), words("g")
    with torch.no_grad():
        model.output.bias[UNK] = 20.0
    search = CTranslate2Search(model, tokenizers, ALPHA, "float32")
    settings = DecodingConfig(beam_size=1)

    [found] = Translator(model, tokenizers, DataConfig(), settings, search=search).translate(
        ["Zora a b"]
    )

    assert set(found.text.split()) == {"Zora"}
