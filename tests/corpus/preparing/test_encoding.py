"""Token ids of training and held-out pairs; tested through `prepare`."""

import re
from pathlib import Path

import pytest

from nmt.config.data import DataConfig
from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.text.cleaning import Cleaner
from nmt.corpus.tokenizers.registry import Tokenizers, load_tokenizers
from nmt.special_tokens import PLACEHOLDERS

from ..conftest import Make, held_out, sentence_pairs, train_pairs, write_tsv


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_the_target_uses_only_the_first_ids_of_a_joint_vocabulary(
    make_config: Make, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # 100 ids per chunk, so that the corpus has many chunks.
    monkeypatch.setattr("nmt.corpus.preparing.encoding._RENUMBERED", 100)
    prepared = prepare(make_config(tokenizer={"kind": kind}), tmp_path / "out")
    sizes = prepared.report["vocabulary_size"]
    assert sizes["target"] < sizes["source"]
    for split in ("train", "validation"):
        source, target = prepared.sequences(split)
        assert target.ids.max() < sizes["target"]
        assert source.ids.max() < sizes["source"]
    assert prepared.sequences("train")[0].ids.max() >= sizes["target"]
    assert set(train_pairs(prepared)) <= set(sentence_pairs())


def test_held_out_text_is_raw_and_its_ids_are_clean(make_config: Make, tmp_path: Path) -> None:
    pairs = [(f"{s[:-1]} \u00adX", f"„{t}“") for s, t in sentence_pairs()]
    path = write_tsv(tmp_path / "raw.tsv", pairs)
    config = make_config(data={"path": str(path), "lowercase": "both"})
    prepared = prepare(config, tmp_path / "out")
    assert set(held_out(prepared, "validation")) <= set(pairs)
    source, target = prepared.sequences("validation")
    cleaner = Cleaner(config.data)
    for number, example in enumerate(prepared.examples("validation")):
        decoded = prepared.tokenizers.source.decode(source[number].tolist())
        assert decoded == cleaner.source(example.source)
        decoded = prepared.tokenizers.target.decode(target[number].tolist())
        assert decoded == cleaner.target(example.reference)
    assert all(re.fullmatch(r"[a-z .]+ x", text) for text, _ in train_pairs(prepared))


def test_unknown_words_in_held_out_pairs_are_hidden_as_in_translation(
    make_config: Make, tmp_path: Path
) -> None:
    path = write_tsv(tmp_path / "new.tsv", [("Zora sees Wutz.", "Zora sieht den Utz.")] * 20)
    data = {"lowercase": "source", "validation_path": str(path), "min_coverage": 0}
    prepared = prepare(make_config(data={**data, "placeholders": "all"}), tmp_path / "out")
    source, target = prepared.sequences("validation")
    first, second, third = PLACEHOLDERS[:3]
    decoded = prepared.tokenizers.source.decode(source[0].tolist())
    assert decoded == f"{first} {second} {third}."
    decoded = prepared.tokenizers.target.decode(target[0].tolist())
    assert decoded == f"{first} sieht den Utz."


@pytest.mark.parametrize(("joint", "loads"), [(True, 2), (False, 1)])
def test_tokenizers_are_loaded_once_and_again_when_renumbered(
    make_config: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, joint: bool, loads: int
) -> None:
    loaded: list[Path] = []

    def load_and_count(data: DataConfig, config: TokenizerConfig, folder: Path) -> Tokenizers:
        loaded.append(folder)
        return load_tokenizers(data, config, folder)

    for name in ("preparing.encoding", "prepared"):
        monkeypatch.setattr(f"nmt.corpus.{name}.load_tokenizers", load_and_count)
    config = make_config(tokenizer={"joint": joint}, model={"tie": "none"})
    prepare(config, tmp_path / "out")
    assert len(loaded) == loads
