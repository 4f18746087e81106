"""The picture of prepared data shows the numbers of its report."""

from collections.abc import Callable
from pathlib import Path

from nmt.config.config import Config
from nmt.corpus.preparing.prepare import prepare
from nmt.reports.lengths import draw_lengths

from .conftest import texts


def test_the_picture_shows_lengths_pairs_and_coverage(
    toy_config: Callable[..., Config], toy_corpus: Path, tmp_path: Path
) -> None:
    more = toy_corpus.read_text(encoding="utf-8") + "\tleer\nBen sings.\tBen singt.\n" * 2
    (tmp_path / "more.tsv").write_text(more + "a " * 101 + "\tb\n", encoding="utf-8")
    config = toy_config(
        data={"path": str(tmp_path / "more.tsv"), "min_coverage": 0.3},
        tokenizer={"kind": "whitespace", "vocabulary_size": 24},
    )
    prepared = prepare(config, tmp_path / "prepared")
    draw_lengths(prepared, tmp_path / "a.svg")
    found = texts(tmp_path / "a.svg")
    source, _ = prepared.sequences("train")
    assert f"source (en), mean {source.lengths.mean():.1f}" in found
    drops = ["dropped: empty side", "dropped: too long", "dropped: duplicate"]
    assert set(drops) <= set(found)
    assert {"205", "169", "16", "2", "1"} <= set(found)  # read, train, validation, test, drops
    share = prepared.report["coverage"]["test"]["source"]
    assert 0.3 < share < 1
    assert f"{share:.2%}" in found


def test_coverage_is_not_drawn_if_there_are_no_unknown_words(
    toy_config: Callable[..., Config], tmp_path: Path
) -> None:
    prepared = prepare(
        toy_config(tokenizer={"byte_fallback": True, "vocabulary_size": 400}), tmp_path
    )
    draw_lengths(prepared, tmp_path / "a.svg")
    found = texts(tmp_path / "a.svg")
    assert "tsv, bpe tokens, no token unknown" in found
    assert not [text for text in found if text.startswith("100.0")]
