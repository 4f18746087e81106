"""Validation on the whole split, or on an evenly spaced subset."""

import math
from dataclasses import replace

import pytest
import torch

from nmt.config.config import Config
from nmt.config.decoding import DecodingConfig
from nmt.corpus.prepared import PreparedData
from nmt.corpus.preparing.prepare import prepare
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.segments import TrainingLines
from nmt.decoding.translator import Translator
from nmt.evaluation.metrics import corpus_bleu
from nmt.model.transformer import Transformer
from nmt.training.distributed import Worker
from nmt.training.validation import Validator, spread

pytestmark = pytest.mark.usefixtures("in_empty_folder")


def make_validator(config: Config) -> tuple[Validator, PreparedData]:
    prepared = prepare(config)
    return Validator(config, prepared, Worker(torch.device("cpu"))), prepared


def make_model(config: Config, prepared: PreparedData) -> Transformer:
    tokenizers = prepared.tokenizers
    torch.manual_seed(1)
    return Transformer(config.model, tokenizers.source.size, tokenizers.target.size)


def test_validation_pairs_are_selected_evenly():
    assert list(spread(5, None)) == list(spread(5, 9)) == [0, 1, 2, 3, 4]
    assert list(spread(5, 1)) == [0]
    assert list(spread(6, 3)) == list(spread(7, 3)) == [0, 2, 4]


def test_loss_and_translations_use_the_same_pairs(toy_config):
    config = toy_config(training={"validate_pairs": 4})
    validator, prepared = make_validator(config)
    every = prepared.examples("validation")
    assert validator.examples == [every[number] for number in (0, 4, 8, 12)]
    encode = prepared.tokenizers.source.encode
    expected = sorted(len(encode(example.source)) + 1 for example in validator.examples)
    lengths = [int(row.count_nonzero()) for batch in validator._batches for row in batch.source]
    assert sorted(lengths) == expected


def test_validation_is_greedy_even_if_decoding_samples(toy_config):
    found = []
    for decoding in ({"beam_size": 1}, {"beam_size": 3}, {"temperature": 2.0}):
        config = toy_config(decoding=decoding)
        validator, prepared = make_validator(config)
        model = make_model(config, prepared).eval()
        found.append(validator._translate(model))
    engine = PyTorchEngine([model])
    greedy = DecodingConfig(beam_size=1)
    translator = Translator(engine, prepared.tokenizers, config.data, greedy)
    sources = [example.source for example in prepared.examples("validation")]
    assert found == [[each.text for each in translator.translate(sources)]] * 3


def test_measures_are_means_per_label(toy_config, monkeypatch):
    validator, _ = make_validator(toy_config())
    references = [example.reference for example in validator.examples]
    translations = [references[0].split()[0], *references[1:]]
    monkeypatch.setattr(validator, "_score", lambda model: (10.0, 3, 5))
    monkeypatch.setattr(validator, "_translate", lambda model: translations)
    measures = validator.measure(None)
    measured = [measures[name] for name in ("loss", "perplexity", "accuracy")]
    assert measured == pytest.approx([2.0, math.exp(2), 0.6])
    assert measures["pairs"] == 16
    assert measures["bleu"] == corpus_bleu(translations, references)
    assert measures["bleu"] != pytest.approx(corpus_bleu(references, translations), abs=0.1)
    assert measures["samples"] == [
        {"source": e.source, "reference": e.reference, "translation": text}
        for e, text in zip(validator.examples[:3], translations[:3], strict=True)
    ]
    monkeypatch.setattr(validator, "_score", lambda model: (5000.0, 0, 5))
    measures = validator.measure(None)
    assert (measures["loss"], measures["perplexity"]) == (1000.0, math.exp(100))


def test_chrf_is_measured_in_languages_without_spaces(toy_config, monkeypatch):
    validator, _ = make_validator(toy_config())
    references = [example.reference for example in validator.examples]
    monkeypatch.setattr(validator, "_score", lambda model: (10.0, 3, 5))
    monkeypatch.setattr(validator, "_translate", lambda model: references)
    assert "chrf" not in validator.measure(None)
    data = validator._config.data.model_copy(update={"target_language": "zh"})
    validator._config = validator._config.model_copy(update={"data": data})
    assert validator.measure(None)["chrf"] == pytest.approx(100)


def test_loss_is_measured_without_dropout(toy_config):
    validator, prepared = make_validator(toy_config(model={"dropout": 0.5}))
    model = make_model(validator._config, prepared).train()
    first = validator._score(model)
    assert validator._score(model.train()) == first


@pytest.mark.parametrize("split", [True, False])
def test_validation_splits_lines_as_decoding_does(toy_config, monkeypatch, split):
    config = toy_config(decoding={"split_sentences": split})
    validator, prepared = make_validator(config)
    made = []

    def watched(*arguments: object) -> Translator:
        made.append(arguments)
        return Translator(*arguments)

    monkeypatch.setattr("nmt.training.validation.Translator", watched)
    validator._translate(make_model(config, prepared))
    expected = TrainingLines.of(prepared.report, config.decoding)
    assert expected.one_sentence_per_line == split
    assert [arguments[4] for arguments in made] == [replace(expected, growth=0.0)]


def test_unused_memory_is_returned_before_and_after_a_validation(toy_config, monkeypatch):
    config = toy_config()
    validator, prepared = make_validator(config)
    model = make_model(config, prepared)
    steps = []
    monkeypatch.setattr("nmt.training.validation.return_memory", lambda: steps.append("return"))
    translate = validator._translate
    monkeypatch.setattr(validator, "_translate", lambda m: steps.append("work") or translate(m))
    validator.measure(model)
    assert steps == ["return", "work", "return"]
