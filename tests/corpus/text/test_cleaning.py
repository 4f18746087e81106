"""How text is cleaned for the model, and which training pairs are dropped."""

from typing import Any

import pytest

from nmt.config.data import DataConfig
from nmt.corpus.text.cleaning import Cleaner
from nmt.special_tokens import PLACEHOLDERS

COMPOSED, DECOMPOSED = "\u00fc", "u\u0308"


def cleaner(**fields: Any) -> Cleaner:
    return Cleaner(DataConfig(**fields))


@pytest.mark.parametrize(
    ("form", "decomposed", "compatible"),
    [("NFC", COMPOSED, "ﬁ ½ ２"), ("NFKC", COMPOSED, "fi 1⁄2 2"), ("none", DECOMPOSED, "ﬁ ½ ２")],
)
def test_unicode_is_normalized_as_configured(form: str, decomposed: str, compatible: str) -> None:
    clean = cleaner(unicode=form)
    for side in (clean.source, clean.target):
        assert (side(DECOMPOSED), side("ﬁ ½ ２")) == (decomposed, compatible)
    assert clean.source("a\ud800b") == "a?b"
    for text in ("u\u200b\u0308", "e\u00ad\u0301 \u00a0ﬁ", "a \u0308 \x00\u0308"):
        assert clean.source(clean.source(text)) == clean.source(text)


@pytest.mark.parametrize(
    ("lowercase", "source", "target"),
    [("none", "Ärger Ab", "Öl Ab"), ("source", "ärger ab", "Öl Ab"), ("both", "ärger ab", "öl ab")],
)
def test_the_configured_sides_are_lower_cased(lowercase: str, source: str, target: str) -> None:
    clean = cleaner(lowercase=lowercase)
    assert (clean.source("Ärger Ab"), clean.target("Öl Ab")) == (source, target)


def test_ascii_punctuation_is_removed_from_both_sides_if_configured() -> None:
    clean = cleaner(strip_punctuation=True)
    assert clean.source("It's 3.5 km - well-known, isn't it?") == "Its 35 km wellknown isnt it"
    assert clean.target("¿Qué (es) „das“?") == "¿Qué es „das“"
    assert clean.sources(["- a.", "…", "!?"]) == ["a", "…", ""]
    reasons = clean.reasons_to_drop(["a.", "!?", "a"], ["b", "b", "..."])
    assert reasons.tolist() == ["", "empty side", "empty side"]
    assert cleaner().reasons_to_drop(["!?"], ["b"]).tolist() == [""]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("  a   b  ", "a b"),
        ("a\tb\nc\rd\x0be\x0cf", "a b c d e f"),
        ("a\u00a0b\u2003c\u3000d\u202fe", "a b c d e"),
        ("a\u2028b\u2029c\x85d", "a b c d"),
        ("a\0b\x07c\x1bd\x7fe\x80f", "abcdef"),
        ("\ufeffDonau\u00addampf\u200bschiff\u2060fahrt", "Donaudampfschifffahrt"),
        *(("a \u200b b", "a b"), ("", ""), (" \u200b\t", ""), ("👩\u200d🔬", "👩\u200d🔬")),
        ("„Ja“, sagte sie – 'nein'.", "„Ja“, sagte sie – 'nein'."),
        (f"a{PLACEHOLDERS}b", "ab"),
    ],
)
def test_spaces_are_collapsed_and_invisible_characters_removed(text: str, expected: str) -> None:
    assert cleaner().source(text) == cleaner().target(text) == expected


def test_every_dropped_pair_has_a_reason() -> None:
    reasons = {
        ("a", "b"): "",
        ("", "b"): "empty side",
        ("a", ""): "empty side",
        ("", ""): "empty side",
        ("", "a b c d e"): "empty side",
        ("a b c d", "a b c d"): "",
        ("a b c d e", "a b c d"): "too long",
        ("a b c d", "a b c d e"): "too long",
        ("a", "b" * 200): "",
        ("a", "b" * 201): "too long",
        ("a b", "a b c d"): "",
        ("a", "a b c"): "length ratio",
        ("a b c", "a"): "length ratio",
    }
    found = cleaner(max_words=4, max_ratio=2).reasons_to_drop(*zip(*reasons, strict=True))
    assert found.tolist() == list(reasons.values())


@pytest.mark.parametrize("form", ["NFC", "NFKC", "none"])
@pytest.mark.parametrize("lowercase", ["none", "source", "both"])
def test_cleaning_in_batches_changes_nothing(form: str, lowercase: str) -> None:
    texts = [DECOMPOSED, "\u0308 a", "", "ΟΔΟΣ", "a\nb", "", "\u200b", "İ \ud800", "\r"]
    texts += ["ﬁ\u2028½ ", ""]
    clean = cleaner(unicode=form, lowercase=lowercase)
    for some in (texts, texts[:4], [""]):
        assert clean.sources(some) == [clean.source(text) for text in some]
        assert clean.targets(some) == [clean.target(text) for text in some]
