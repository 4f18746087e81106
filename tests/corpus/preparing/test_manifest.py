"""The manifest of prepared data: which files a run copies, and how damage is reported."""

from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config.config import Config
from nmt.corpus.preparing.manifest import read_manifest, run_files
from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.tokenizers.registry import load_tokenizers
from nmt.errors import UserError

Make = Callable[..., Config]


def test_a_run_copies_all_files_except_the_ids(make_config: Make, tmp_path: Path) -> None:
    folder = prepare(make_config(), tmp_path / "prepared").folder
    names = ["frequent_words.json", "joint.model", "prepared.json", "report.json", "target.model"]
    names += ["target_words.json", "test.jsonl", "train.target.keys", "validation.jsonl"]
    assert [path.name for path in run_files(folder)] == names


@pytest.mark.parametrize(
    ("fields", "name"),
    [
        ({}, "joint.model"),
        ({}, "target.model"),
        ({"tokenizer": {"kind": "whitespace"}}, "joint.vocabulary.json"),
        ({"data": {"placeholders": "all"}}, "known_words.json"),
        ({"data": {"lowercase": "both", "restore_case": True}}, "casing.json"),
    ],
)
def test_a_changed_letter_in_a_tokenizer_is_reported(
    make_config: Make, tmp_path: Path, fields: dict[str, dict[str, object]], name: str
) -> None:
    config = make_config(**fields)
    folder = prepare(config, tmp_path / "prepared").folder
    load_tokenizers(config.data, config.tokenizer, folder)
    content = (folder / name).read_bytes()  # "us" is in "house" or "Haus"
    (folder / name).write_bytes(content.replace(b"us", b"xs", 1))
    with pytest.raises(UserError, match=rf"{name}: .*checksum"):
        load_tokenizers(config.data, config.tokenizer, folder)


def test_a_folder_without_checksums_can_be_opened(make_config: Make, tmp_path: Path) -> None:
    config = make_config()
    folder = prepare(config, tmp_path / "prepared").folder
    path = folder / "prepared.json"
    path.write_text(path.read_text("utf-8").replace('"checksums"', '"other"'), "utf-8")
    manifest = read_manifest(folder)
    assert manifest is not None
    assert manifest.checksums == {}
    assert load_tokenizers(config.data, config.tokenizer, folder).target.size
