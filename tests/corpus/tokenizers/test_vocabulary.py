"""Vocabularies of words: special tokens first, frequent words next, the rest unknown."""

from collections import Counter
from pathlib import Path

import pytest

from nmt.corpus.tokenizers.vocabulary import Vocabulary
from nmt.special_tokens import SPECIALS, UNK

COUNTS = Counter({"und": 3, "aber": 3, "Öl": 2, "selten": 1})


@pytest.mark.parametrize("counts", [COUNTS, Counter(dict(reversed(COUNTS.items())))])
def test_frequent_words_come_first_and_ties_fall_alphabetically(counts: Counter[str]) -> None:
    vocabulary = Vocabulary.build(counts, 100, 1)
    assert vocabulary.words[:4] == ["<pad>", "<unk>", "<sos>", "<eos>"]
    assert vocabulary.words[4:] == ["aber", "und", "Öl", "selten"]
    assert [vocabulary.id(word) for word in vocabulary.words[4:]] == [4, 5, 6, 7]


def test_rare_words_are_unknown_and_the_size_includes_special_tokens() -> None:
    vocabulary = Vocabulary.build(COUNTS, 100, 2)
    assert len(vocabulary) == 7
    assert vocabulary.id("selten") == vocabulary.id("nie") == UNK
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
