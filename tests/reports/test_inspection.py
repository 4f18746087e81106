"""Tokens are located in the text that they spell."""

import numpy as np
import pytest

from nmt.corpus.text.normalization import JOINER
from nmt.documents.texts import links_in
from nmt.reports.attention import AttentionMap
from nmt.reports.inspection import Inspection, spell


@pytest.mark.parametrize(
    ("tokens", "text", "covered"),
    [
        (["▁An", "na", "▁sings", ".", "<eos>"], "Anna  sings.", ["An", "na", "sings", ".", ""]),
        (["ben</w>", f"{JOINER}.</w>", "<eos>"], "Ben.", ["Ben", ".", ""]),
        (["▁", "<0xE2>", "<0x82>", "<0xAC>", "5"], "€5", ["", "€", "€", "€", "5"]),
        (["<0xF0>", "<0x9F>", "<0x8E>", "<0x89>", "▁Hi"], "🎉 Hi", ["🎉"] * 4 + ["Hi"]),
        (["▁sing", "s"], "si\u00adngs\u200b", ["si\u00adng", "s"]),
    ],
)
def test_each_token_covers_the_characters_it_spells(
    tokens: list[str], text: str, covered: list[str]
) -> None:
    spans = spell(tokens, text)
    assert spans
    assert [text[start:end] for start, end in spans] == covered


def test_an_invisible_character_is_no_word() -> None:
    source, translation = "An\u00ad na!", "Anna!"
    tokens, written = ["▁An", "▁na", "!", "<eos>"], ["▁Anna", "!", "<eos>"]
    spans = spell(tokens, source), spell(written, translation)
    cross = AttentionMap("cross", written, tokens, np.ones((1, 1, 3, 4), np.float32))
    found = Inspection(source, translation, tokens, written, *spans, cross, [])
    links = links_in(found)
    assert links
    assert [source[start:end] for start, end in links.sources] == ["An", "na", "!"]


@pytest.mark.parametrize("tokens", [["▁Ann"], ["▁Anna", "s"], ["▁Emma"], ["<0xC3>"]])
def test_tokens_of_another_text_have_no_place(tokens: list[str]) -> None:
    assert spell(tokens, "Anna") is None
