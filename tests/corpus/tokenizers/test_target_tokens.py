"""In a joint vocabulary, the target's tokens get the first ids; segmentation does not change."""

from pathlib import Path

import numpy as np
import pytest

from nmt.config.data import DataConfig
from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.prepared import Sequences
from nmt.corpus.tokenizers.registry import Tokenizers, load_tokenizers, train_tokenizers
from nmt.corpus.tokenizers.subword_regularization import SegmentationSampler
from nmt.corpus.tokenizers.subwords import SubwordTokenizer
from nmt.corpus.tokenizers.target_tokens import put_target_first
from nmt.errors import UserError
from nmt.files.text_files import read_chunks
from nmt.special_tokens import PLACEHOLDERS, SPECIALS

Texts = tuple[Path, Path]
SIZE = 420


def lines_of(text: Path) -> list[str]:
    return [line for chunk in read_chunks(text) for line in chunk]


Reordered = tuple[Tokenizers, Tokenizers, list[int]]


def put_first(texts: Texts, folder: Path, kind: str, placeholders: str = "none") -> Reordered:
    """Return the tokenizers before and after, and the new id of each old id."""
    data = DataConfig.model_validate({"placeholders": placeholders})
    config = TokenizerConfig.model_validate({"kind": kind, "vocabulary_size": SIZE})
    train_tokenizers(data, config, texts, folder)
    plain = DataConfig()
    before = load_tokenizers(plain, config, folder)
    used = np.zeros(before.target.size, np.bool_)
    for ids in before.target.encode_lines(lines_of(texts[1])):
        used[ids] = True
    numbers = put_target_first(folder / "joint.model", folder / "target.model", used)
    return before, load_tokenizers(plain, config, folder), numbers.tolist()


@pytest.fixture(scope="module", params=["bpe", "unigram"])
def tokenizers(
    request: pytest.FixtureRequest, training_texts: Texts, tmp_path_factory: pytest.TempPathFactory
) -> Reordered:
    return put_first(training_texts, tmp_path_factory.mktemp(request.param), request.param)


def test_all_tokens_are_kept_under_new_ids_and_the_first_are_the_targets(
    tokenizers: Reordered,
) -> None:
    before, after, numbers = tokenizers
    assert sorted(numbers) == list(range(before.source.size))
    assert after.source.size == before.source.size
    assert after.source.tokens(numbers) == before.source.tokens(range(before.source.size))
    assert tuple(after.target.tokens(range(len(SPECIALS)))) == SPECIALS
    assert 270 < after.target.size < after.source.size
    assert after.target.size % 8 == 0
    first = range(after.target.size)
    assert after.target.tokens(first) == after.source.tokens(first)


def test_another_vocabulary_for_the_target_is_refused(
    training_texts: Texts, tmp_path: Path
) -> None:
    for name, size in (("mine", 400), ("other", SIZE)):
        config = TokenizerConfig(vocabulary_size=size)
        train_tokenizers(DataConfig(), config, training_texts, tmp_path / name)
    (tmp_path / "other" / "target.model").replace(tmp_path / "mine" / "target.model")
    with pytest.raises(UserError, match=r"target\.model: .*does not match joint\.model"):
        load_tokenizers(DataConfig(), TokenizerConfig(), tmp_path / "mine")


def test_training_text_keeps_its_tokens_or_gets_smaller_ones_that_the_target_has(
    tokenizers: Reordered, training_texts: Texts
) -> None:
    before, after, numbers = tokenizers
    for line in lines_of(training_texts[0]):
        assert after.source.encode(line) == [numbers[i] for i in before.source.encode(line)]
    for line in lines_of(training_texts[1]):
        expected = [numbers[i] for i in before.target.encode(line)]
        assert after.target.encode(line) == expected == after.source.encode(line)
    _, after, _ = tokenizers
    otherwise = 0
    for line in [*lines_of(training_texts[0]), "你好 😀"]:
        ids = after.target.encode(line)
        assert max(ids) < after.target.size
        assert after.target.decode(ids) == line
        otherwise += ids != after.source.encode(line)
    assert otherwise > 10


def test_the_target_keeps_all_placeholders(training_texts: Texts, tmp_path: Path) -> None:
    _, after, _ = put_first(training_texts, tmp_path, "bpe", placeholders="all")
    placed = after.target.tokens(range(after.target.size))
    assert set(PLACEHOLDERS) <= set(placed)


def test_random_segmentation_uses_only_target_tokens_and_preserves_the_text(
    training_texts: Texts, tmp_path: Path
) -> None:
    _, after, _ = put_first(training_texts, tmp_path, "bpe")
    assert isinstance(after.target, SubwordTokenizer)
    lines = lines_of(training_texts[1])
    given = after.target.encode_lines(lines)
    flat, lengths = after.target.encode_flat(lines)
    corpus = Sequences(flat, np.concatenate([[0], np.cumsum(lengths)]))

    def drawn(rate: float) -> list[list[int]]:
        config = TokenizerConfig(kind="bpe", subword_regularization=rate)
        assert isinstance(after.target, SubwordTokenizer)
        sampler = SegmentationSampler(after.target, config, corpus)
        found = sampler.draw(np.random.default_rng(1), 1000)
        return found.rows(np.arange(len(found)))

    assert drawn(1e-9) == given
    often = drawn(0.5)
    assert often != given
    assert max(map(max, often)) < after.target.size
    assert list(map(after.target.decode, often)) == lines
