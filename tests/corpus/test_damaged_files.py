"""Files of prepared data that are missing, damaged or of another kind are refused in one line."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.prepared import read_examples, read_report
from nmt.corpus.preparing.statistics import read_statistics
from nmt.corpus.text.capitals import Casing
from nmt.corpus.text.training_placeholders import KnownWords
from nmt.corpus.tokenizers.subwords import SubwordTokenizer
from nmt.corpus.tokenizers.vocabulary import Vocabulary
from nmt.errors import UserError
from nmt.special_tokens import SPECIALS

READERS: dict[str, Callable[[Path], object]] = {
    "casing.json": Casing.load,
    "known_words.json": lambda path: KnownWords.load(path.parent, only_names=False),
    "joint.vocabulary.json": Vocabulary.load,
    "test.jsonl": read_examples,
    "report.json": lambda path: read_report(path.parent),
    "frequent_words.json": lambda path: read_statistics(path.parent, seed=7),
    "joint.model": lambda path: SubwordTokenizer(path, TokenizerConfig(kind="bpe")),
}
DAMAGE = [None, b"{", b"\xff", b"3", b"\0", b"[" * 100_000]  # None: the file is missing
OF_ANOTHER_KIND = {
    "casing.json": [
        "",
        "[]",
        '{"words": {}, "after": {}}',
        '{"words": {"a": 1}, "after": {}, "sentence_capital": true}',
        '{"words": {"a": ""}, "after": {}, "sentence_capital": true}',
        '{"words": {"frau": "Mann"}, "after": {}, "sentence_capital": true}',
        '{"words": [], "after": {}, "sentence_capital": true}',
        '{"words": {}, "after": {}, "sentence_capital": "yes"}',
    ],
    "known_words.json": ["", '{"a": 1}', "[1]"],
    "joint.vocabulary.json": [
        "",
        "{}",
        "[]",
        '["a"]',
        json.dumps([*SPECIALS, 3]),
        json.dumps([*reversed(SPECIALS), "a"]),
    ],
    "test.jsonl": [
        "[]",
        "\n",
        '{"source": "a", "reference": "b", "source_in_',
        '{"source": "a"}',
        '{"source": 1, "reference": "b", "source_in_train": true}',
        '{"source": "a", "reference": null, "source_in_train": true}',
        '{"source": "a", "reference": "b", "source_in_train": 1}',
        '{"source": "a\\ud800", "reference": "b", "source_in_train": true}',
    ],
    "report.json": ["", "[]", '{"pairs": {"train": 9}, "lengths": {}}', '{"read": "9"}'],
    "frequent_words.json": ["", "[]", '{"source": []}', '{"source": 1, "target": 2}'],
    "joint.model": ["", "garbage"],
}


@pytest.mark.parametrize(
    ("name", "content"),
    [
        *((name, content) for name in READERS for content in DAMAGE),
        *((name, text.encode()) for name, texts in OF_ANOTHER_KIND.items() for text in texts),
    ],
)
def test_damaged_files_are_refused_in_one_line(
    tmp_path: Path, name: str, content: bytes | None
) -> None:
    (tmp_path / "train.target.keys").touch()  # beside frequent_words.json
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError) as caught:
        READERS[name](tmp_path / name)
    assert str(caught.value).startswith(f"{tmp_path / name}: ")
    assert "\n" not in str(caught.value)
