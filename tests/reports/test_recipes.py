"""Settings for one's own corpus are a configuration that trains, and warn of what will not work."""

from pathlib import Path

import pytest

from nmt.config_files import load_config
from nmt.errors import UserError
from nmt.reports.recipes import recommend


def corpus(path: Path, pairs: int, words: int) -> Path:
    lines = (f"{'a ' * (words - 1)}a{i}\t{'b ' * (words - 1)}b{i}\n" for i in range(pairs))
    path.write_text("".join(lines), encoding="utf-8")
    return path


def test_more_pairs_get_a_larger_model_and_less_dropout(tmp_path: Path) -> None:
    found = []
    for pairs in (5_000, 20_000, 150_000):
        file = corpus(tmp_path / "my: pairs.tsv", pairs, 6)
        (tmp_path / "mine.yaml").write_text(recommend(file, 12).yaml, encoding="utf-8")
        config = load_config(tmp_path / "mine.yaml")
        assert config.data.path == file
        assert config.training.max_minutes == 12
        found.append((config.model.d_model * config.model.encoder_layers, config.model.dropout))
    sizes, dropouts = zip(*found, strict=True)
    assert list(sizes) == sorted(set(sizes))
    assert list(dropouts) == sorted(dropouts, reverse=True)


def test_short_sentences_and_few_pairs_are_warned_of(tmp_path: Path) -> None:
    short = recommend(corpus(tmp_path / "a.tsv", 200, 5), 30).warnings
    assert any("the longest sentence has 5 words" in warning for warning in short)
    assert any("200 pairs are few" in warning for warning in short)
    assert recommend(corpus(tmp_path / "b.tsv", 10_000, 6), 30).warnings == []


def test_a_corpus_of_a_few_lines_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="3 pairs are too few to learn from"):
        recommend(corpus(tmp_path / "a.tsv", 3, 5), 30)
