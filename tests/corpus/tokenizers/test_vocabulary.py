"""Vocabularies of words: special tokens first, frequent words next, the rest unknown."""

import json
from collections import Counter
from pathlib import Path

import pytest

from nmt.corpus.tokenizers.vocabulary import Vocabulary
from nmt.errors import UserError
from nmt.special_tokens import SPECIALS, UNK

COUNTS = Counter({"und": 3, "aber": 3, "Öl": 2, "selten": 1})


def test_the_special_tokens_come_first() -> None:
    vocabulary = Vocabulary.build(COUNTS, 100, 1)
    assert vocabulary.words[:4] == ["<pad>", "<unk>", "<sos>", "<eos>"]


def test_frequent_words_come_first_and_ties_fall_alphabetically() -> None:
    vocabulary = Vocabulary.build(COUNTS, 100, 1)
    assert vocabulary.words[4:] == ["aber", "und", "Öl", "selten"]
    assert [vocabulary.id(word) for word in vocabulary.words[4:]] == [4, 5, 6, 7]


def test_ties_do_not_depend_on_the_order_of_counting() -> None:
    turned = Counter(dict(reversed(COUNTS.items())))
    assert Vocabulary.build(turned, 100, 1).words == Vocabulary.build(COUNTS, 100, 1).words


def test_rare_words_are_unknown() -> None:
    vocabulary = Vocabulary.build(COUNTS, 100, 2)
    assert len(vocabulary) == 7
    assert vocabulary.id("selten") == UNK
    assert vocabulary.id("nie") == UNK


def test_the_size_includes_special_tokens() -> None:
    assert Vocabulary.build(COUNTS, 6, 1).words == [*SPECIALS, "aber", "und"]
    assert len(Vocabulary.build(COUNTS, 4, 1)) == 4


@pytest.mark.parametrize("word", SPECIALS)
def test_text_like_a_special_token_is_not_encoded_as_one(word: str) -> None:
    assert Vocabulary.build(COUNTS, 100, 1).id(word) == UNK
    seen = Vocabulary.build(Counter({word: 5, "und": 9}), 100, 1)
    assert seen.id(word) == 5


def test_unusual_words_are_saved_and_loaded(tmp_path: Path) -> None:
    odd = ["\r", "a\u2028b", "\x85", "\\", '"', "😀", "\u00a0", "ü", ""]
    Vocabulary([*SPECIALS, *odd]).save(tmp_path / "v.json")
    loaded = Vocabulary.load(tmp_path / "v.json")
    assert loaded.words == [*SPECIALS, *odd]
    assert [loaded.id(word) for word in odd] == list(range(4, 13))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[",
        b"\xff",
        b"{}",
        b"3",
        b"[]",
        b'["a"]',
        json.dumps([*SPECIALS, 3]).encode(),
        json.dumps([*reversed(SPECIALS), "a"]).encode(),
        b"[" * 100_000,
    ],
)
def test_an_invalid_vocabulary_is_refused_in_one_line(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "v.json"
    path.write_bytes(content)
    with pytest.raises(UserError, match=r"v\.json: cannot be read: .*; delete") as caught:
        Vocabulary.load(path)
    assert "\n" not in str(caught.value)


def test_a_missing_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"v\.json: cannot be read: No such file"):
        Vocabulary.load(tmp_path / "v.json")
