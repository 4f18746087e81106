"""Random segmentation: it preserves the text, and is reproducible on every machine."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from nmt.config.data import DataConfig
from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.prepared import Sequences
from nmt.corpus.tokenizers.registry import load_tokenizers, train_tokenizers
from nmt.corpus.tokenizers.subword_regularization import SegmentationSampler
from nmt.corpus.tokenizers.subwords import SubwordTokenizer

Texts = tuple[Path, Path]
KINDS = ["bpe", "unigram"]


def tokenizer_of(kind: str, texts: Texts, folder: Path, **fields: Any) -> SubwordTokenizer:
    config = TokenizerConfig(kind=kind, **{"vocabulary_size": 400, **fields})
    train_tokenizers(DataConfig(), config, texts, folder)
    tokenizer = load_tokenizers(DataConfig(), config, folder).source
    assert isinstance(tokenizer, SubwordTokenizer)
    return tokenizer


Models = dict[str, SubwordTokenizer]


@pytest.fixture(scope="module")
def models(training_texts: Texts, tmp_path_factory: pytest.TempPathFactory) -> Models:
    folder = tmp_path_factory.mktemp("models")
    return {kind: tokenizer_of(kind, training_texts, folder / kind) for kind in KINDS}


def sampler(
    model: SubwordTokenizer, kind: str, rate: float, corpus: list[list[int]]
) -> SegmentationSampler:
    config = TokenizerConfig(kind=kind, subword_regularization=rate)
    ids = np.array([i for sentence in corpus for i in sentence], np.int32)
    return SegmentationSampler(model, config, Sequences(ids, np.cumsum([0, *map(len, corpus)])))


def draw(drawing: SegmentationSampler, seed: int = 1, longest: int = 1000) -> list[list[int]]:
    drawn = drawing.draw(np.random.default_rng(seed), longest)
    return drawn.rows(np.arange(len(drawn)))


def random_words(number: int) -> list[str]:
    """Return random words made of letters and syllables that the models know."""
    generator = np.random.default_rng(1)
    parts = [
        "see", "hou", "se", "Bäu", "me", "grün", "e", "a", "t", "the", "wir", "ß", ".", "Vog",
    ]  # fmt: skip
    return ["".join(generator.choice(parts, generator.integers(1, 7))) for _ in range(number)]


TEXT = "wir sehe das grüne alte Haus. the old green house, Tom!"


def test_rate_0_equals_sentencepieces_bpe_and_rate_1_gives_letters(models: Models) -> None:
    corpus = [models["bpe"].encode(word) for word in random_words(600)]
    assert draw(sampler(models["bpe"], "bpe", 0, corpus)) == corpus
    [drawn] = draw(sampler(models["bpe"], "bpe", 1, [models["bpe"].encode("the house")]))
    assert models["bpe"].tokens(drawn) == list("▁the▁house")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("rate", [0.1, 0.5, 1])
def test_sampled_tokens_spell_the_same_text(models: Models, kind: str, rate: float) -> None:
    model = models[kind]
    texts = [TEXT, "", "the old house", "the old house", "Tom!"]
    drawing = sampler(model, kind, rate, [model.encode(text) for text in texts])
    drawn = [draw(drawing, seed) for seed in range(50)]
    assert all([model.decode(ids) for ids in corpus] == texts for corpus in drawn)
    if rate < 1:
        assert len({tuple(corpus[0]) for corpus in drawn}) > 10
        # Each sentence is drawn independently.
        assert any(corpus[2] != corpus[3] for corpus in drawn)


def test_a_sentence_that_would_get_too_long_keeps_its_segmentation(models: Models) -> None:
    texts = ("the house", "the houses", TEXT, "the")
    corpus = [models["bpe"].encode(text) for text in texts]
    letters = len("▁the▁house")
    drawn = draw(sampler(models["bpe"], "bpe", 1, corpus), longest=letters)
    assert [len(drawn[0]), len(drawn[3])] == [letters, len("▁the")]
    assert drawn[1:3] == corpus[1:3]


@pytest.mark.parametrize("kind", KINDS)
def test_with_end_marks_words_are_segmented_independently(
    training_texts: Texts, tmp_path: Path, kind: str
) -> None:
    model = tokenizer_of(kind, training_texts, tmp_path, whitespace_as_suffix=True)
    texts = [TEXT, "the the the the", "house"]
    drawing = sampler(model, kind, 0.5, [model.encode(text) for text in texts])
    drawn = [draw(drawing, seed) for seed in range(50)]
    assert all([model.decode(ids) for ids in corpus] == texts for corpus in drawn)
    assert len({tuple(corpus[0]) for corpus in drawn}) > 10
    words = ["".join(model.tokens(corpus[1])).split("▁") for corpus in drawn]
    assert all(found == ["the"] * 4 + [""] for found in words)


def test_rate_1_splits_bpe_with_end_marks_into_letters(
    training_texts: Texts, tmp_path: Path
) -> None:
    model = tokenizer_of("bpe", training_texts, tmp_path, whitespace_as_suffix=True)
    [drawn] = draw(sampler(model, "bpe", 1, [model.encode("the house.")]))
    assert model.tokens(drawn) == list("the▁house▁￭.▁")


@pytest.mark.parametrize("kind", KINDS)
def test_a_higher_rate_changes_more_words(models: Models, kind: str) -> None:
    corpus = [models[kind].encode(word) for word in random_words(200)]

    def changed(rate: float) -> int:
        drawn = draw(sampler(models[kind], kind, rate, corpus))
        return sum(other != ids for other, ids in zip(drawn, corpus, strict=True))

    assert changed(0) == 0
    assert 5 < changed(0.1) < changed(0.5) < changed(1) <= 200


def test_the_rate_of_unigram_is_the_share_of_words_that_change(models: Models) -> None:
    words = [models["unigram"].encode(word) for word in random_words(1000)]
    others = draw(sampler(models["unigram"], "unigram", 1, words))
    with_others = [ids for other, ids in zip(others, words, strict=True) if other != ids]
    assert len(with_others) > 500
    drawn = draw(sampler(models["unigram"], "unigram", 0.3, with_others))
    share = np.mean([other != ids for other, ids in zip(drawn, with_others, strict=True)])
    assert share == pytest.approx(0.3, abs=0.05)


@pytest.mark.parametrize("kind", KINDS)
def test_draws_depend_only_on_the_generator(models: Models, kind: str) -> None:
    corpus = [models[kind].encode(TEXT)]
    first, second = (sampler(models[kind], kind, 0.5, corpus) for _ in range(2))
    for seed in range(20, 30):
        draw(second, seed)
    draws = [draw(drawing, 7) for drawing in (first, first, second)]
    assert draws[0] == draws[1] == draws[2]
    assert draw(first, 8) != draws[0]


SCRIPT = """
import json, sys
from pathlib import Path
import numpy as np
from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.prepared import Sequences
from nmt.corpus.tokenizers.subword_regularization import SegmentationSampler
from nmt.corpus.tokenizers.subwords import SubwordTokenizer
drawn = []
for kind, model in zip(["bpe", "unigram"], sys.argv[2:]):
    tokenizer = SubwordTokenizer(Path(model), TokenizerConfig(kind=kind))
    ids = np.array(tokenizer.encode(sys.argv[1]), np.int32)
    corpus = Sequences(ids, np.array([0, len(ids)]))
    config = TokenizerConfig(kind=kind, subword_regularization=0.5)
    sampler = SegmentationSampler(tokenizer, config, corpus)
    drawn.append(sampler.draw(np.random.default_rng(7), 1000).ids.tolist())
print(json.dumps(drawn))
"""


def test_another_process_draws_the_same_segmentation(training_texts: Texts, tmp_path: Path) -> None:
    here = []
    for kind in KINDS:
        model = tokenizer_of(kind, training_texts, tmp_path / kind)
        here += draw(sampler(model, kind, 0.5, [model.encode(TEXT)]), 7)
    paths = [str(tmp_path / kind / "joint.model") for kind in KINDS]
    command = [sys.executable, "-c", SCRIPT, TEXT, *paths]
    there = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(there) == here


TEXTS = ["a😀b", "😀", "你好 Ω", "<0xF0><0x41> <pad> <unk> 1<2>3", "x\u200dy"]


@pytest.mark.parametrize("kind", KINDS)
def test_bytes_and_text_like_special_tokens_are_preserved(models: Models, kind: str) -> None:
    model = models[kind]
    for text in TEXTS:
        drawing = sampler(model, kind, 0.5, [model.encode(text)])
        assert {model.decode(draw(drawing, seed)[0]) for seed in range(20)} == {text}
    for corpus in ([], [[], []]):
        assert draw(sampler(model, kind, 0.5, corpus)) == corpus


@pytest.mark.parametrize("kind", KINDS)
def test_unknown_characters_stay_unknown(training_texts: Texts, tmp_path: Path, kind: str) -> None:
    fields = {"byte_fallback": False, "vocabulary_size": 150}
    model = tokenizer_of(kind, training_texts, tmp_path, **fields)
    drawing = sampler(model, kind, 0.5, [model.encode("see 你 house")])
    drawn = {model.decode(draw(drawing, seed)[0]) for seed in range(20)}
    assert drawn == {"see <unk> house"}
