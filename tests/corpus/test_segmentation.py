"""Random segmentation: the same text in other pieces, drawn alike wherever it is drawn."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.config import DataConfig, TokenizerConfig
from nmt.corpus.segmentation import SegmentationSampler
from nmt.corpus.tokenizers import SubwordTokenizer, load_tokenizers, train_tokenizers

Texts = tuple[Path, Path]
KINDS = ["bpe", "unigram"]


def tokenizer_of(kind: str, texts: Texts, folder: Path, **fields: Any) -> SubwordTokenizer:
    config = TokenizerConfig(kind=kind, **{"vocabulary_size": 400, **fields})
    train_tokenizers(DataConfig(), config, texts, folder)
    tokenizer = load_tokenizers(DataConfig(), config, folder).source
    assert isinstance(tokenizer, SubwordTokenizer)
    return tokenizer


@pytest.fixture(scope="module")
def models(
    training_texts: Texts, tmp_path_factory: pytest.TempPathFactory
) -> dict[str, SubwordTokenizer]:
    folder = tmp_path_factory.mktemp("models")
    return {kind: tokenizer_of(kind, training_texts, folder / kind) for kind in KINDS}


def sampler(model: SubwordTokenizer, kind: str, rate: float) -> SegmentationSampler:
    return SegmentationSampler(model, TokenizerConfig(kind=kind, sampling=rate))


def random_words(number: int) -> list[str]:
    """Return words of the letters and syllables that the models know."""
    generator = np.random.default_rng(1)
    parts = [
        "see",
        "hou",
        "se",
        "Bäu",
        "me",
        "grün",
        "e",
        "a",
        "t",
        "the",
        "wir",
        "ß",
        ".",
        "Vog",
    ]
    return ["".join(generator.choice(parts, generator.integers(1, 7))) for _ in range(number)]


TEXT = "wir sehe das grüne alte Haus. the old green house, Tom!"


def test_rate_0_is_sentencepieces_own_bpe(models: dict[str, SubwordTokenizer]) -> None:
    draw = sampler(models["bpe"], "bpe", 0)
    generator = np.random.default_rng(1)
    for word in random_words(600):
        ids = models["bpe"].encode(word)
        assert draw.resample(ids, generator) == ids


def test_rate_1_spells_bpe_by_letters(models: dict[str, SubwordTokenizer]) -> None:
    draw = sampler(models["bpe"], "bpe", 1).resample(
        models["bpe"].encode("the house"), np.random.default_rng(1)
    )
    assert models["bpe"].pieces(draw) == list("▁the▁house")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", [0.1, 0.5, 1])
def test_what_is_drawn_spells_the_same_text(
    models: dict[str, SubwordTokenizer], kind: str, rate: float
) -> None:
    model = models[kind]
    ids = model.encode(TEXT)
    generator = np.random.default_rng(1)
    resampler = sampler(model, kind, rate)
    drawn = [resampler.resample(ids, generator) for _ in range(50)]
    assert {model.decode(other) for other in drawn} == {TEXT}
    if rate < 1:
        assert len({tuple(other) for other in drawn}) > 10


@pytest.mark.parametrize("kind", KINDS)
def test_a_higher_rate_changes_more(models: dict[str, SubwordTokenizer], kind: str) -> None:
    def changed(rate: float) -> int:
        generator = np.random.default_rng(1)
        resampler = sampler(models[kind], kind, rate)
        all_ids = [models[kind].encode(word) for word in random_words(200)]
        return sum(resampler.resample(ids, generator) != ids for ids in all_ids)

    assert changed(0) == 0
    assert 5 < changed(0.1) < changed(0.5) < changed(1) <= 200


def test_the_rate_of_unigram_is_the_share_of_words_that_change(
    models: dict[str, SubwordTokenizer],
) -> None:
    generator = np.random.default_rng(1)
    resampler = sampler(models["unigram"], "unigram", 0.3)
    words = [models["unigram"].encode(word) for word in random_words(1000)]
    long = [ids for ids in words if len(ids) > 2]
    share = np.mean([resampler.resample(ids, generator) != ids for ids in long])
    assert share == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_the_same_generator_draws_the_same_whatever_was_drawn_before(
    models: dict[str, SubwordTokenizer], kind: str
) -> None:
    ids = models[kind].encode(TEXT)
    first, second = (sampler(models[kind], kind, 0.5) for _ in range(2))
    for word in random_words(50):
        second.resample(models[kind].encode(word), np.random.default_rng(2))
    draws = [s.resample(ids, np.random.default_rng(7)) for s in (first, first, second)]
    assert draws[0] == draws[1] == draws[2]
    assert first.resample(ids, np.random.default_rng(8)) != draws[0]


SCRIPT = """
import json, sys
from pathlib import Path
import numpy as np
from nmt.config import TokenizerConfig
from nmt.corpus.segmentation import SegmentationSampler
from nmt.corpus.tokenizers import SubwordTokenizer
drawn = []
for kind, model in zip(["bpe", "unigram"], sys.argv[2:]):
    tokenizer = SubwordTokenizer(Path(model), kind)
    sampler = SegmentationSampler(tokenizer, TokenizerConfig(kind=kind, sampling=0.5))
    drawn.append(sampler.resample(tokenizer.encode(sys.argv[1]), np.random.default_rng(7)))
print(json.dumps(drawn))
"""


def test_another_process_draws_the_same(training_texts: Texts, tmp_path: Path) -> None:
    models = {kind: tokenizer_of(kind, training_texts, tmp_path / kind) for kind in KINDS}
    paths = [str(tmp_path / kind / "joint.model") for kind in KINDS]
    here = [
        sampler(model, kind, 0.5).resample(model.encode(TEXT), np.random.default_rng(7))
        for kind, model in models.items()
    ]
    command = [sys.executable, "-c", SCRIPT, TEXT, *paths]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(there) == here


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "text", ["a😀b", "😀", "你好 Ω", "<0xF0><0x41> <pad> <unk> 1<2>3", "x\u200dy"]
)
def test_bytes_and_spelled_out_special_tokens_survive(
    models: dict[str, SubwordTokenizer], kind: str, text: str
) -> None:
    model = models[kind]
    generator = np.random.default_rng(1)
    resampler = sampler(model, kind, 0.5)
    for _ in range(20):
        assert model.decode(resampler.resample(model.encode(text), generator)) == text


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_characters_stay_unknown(training_texts: Texts, tmp_path: Path, kind: str) -> None:
    fields = {"byte_fallback": False, "vocabulary_size": 150}
    model = tokenizer_of(kind, training_texts, tmp_path, **fields)
    ids = model.encode("see 你 house")
    generator = np.random.default_rng(1)
    resampler = sampler(model, kind, 0.5)
    drawn = {model.decode(resampler.resample(ids, generator)) for _ in range(20)}
    assert drawn == {"see <unk> house"}


@pytest.mark.parametrize("kind", KINDS)
def test_nothing_is_drawn_from_nothing(models: dict[str, SubwordTokenizer], kind: str) -> None:
    assert sampler(models[kind], kind, 0.5).resample([], np.random.default_rng(1)) == []
