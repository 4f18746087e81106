"""Target words are aligned to the source words that they attend to."""

from collections import Counter
from types import SimpleNamespace

import pytest
import torch

from nmt.cli.output import align_lines
from nmt.config.data import DataConfig
from nmt.config.decoding import DecodingConfig
from nmt.corpus.text.sentences import SplitText
from nmt.corpus.tokenizers.registry import Tokenizers
from nmt.corpus.tokenizers.vocabulary import Vocabulary
from nmt.corpus.tokenizers.words import WordTokenizer
from nmt.decoding.alignment import align, format_pairs
from nmt.decoding.attention import (
    attention_of,
    cross_attention,
    pair_words,
    word_attention,
    words_of_tokens,
)
from nmt.decoding.engines.pytorch import PyTorchEngine
from nmt.decoding.loading import load_translator
from nmt.decoding.search.hypothesis import Hypothesis
from nmt.decoding.translator import Trace, Translation, Translator
from nmt.errors import UserError
from nmt.special_tokens import EOS, SPECIALS, TAGS

WORDS = WordTokenizer("whitespace", "en", Vocabulary([*SPECIALS, "a", "b"]))
A, B = WORDS.encode("a b")


def aligned(translator: Translator, line: str) -> tuple[Translation, list[tuple[int, int]]]:
    """Translate a line; return the translation and its pairs of aligned words."""
    [translation] = translator.translate([line])
    return translation, align(translator, line, translation)


def test_a_trained_model_aligns_names_and_verbs(trained_run):
    translator = load_translator(trained_run, engine="pytorch", device="cpu")
    translation, pairs = aligned(translator, "Anna sings today.")
    text = translation.text
    assert text == "Anna singt heute."
    assert [t for _, t in sorted(pairs, key=lambda pair: pair[1])] == [0, 1, 2]
    assert {s for s, _ in pairs} <= {0, 1, 2}
    assert (0, 0) in pairs
    assert aligned(translator, "")[1] == []


def test_attention_is_the_mean_over_all_layers_and_heads(random_model):
    model = random_model(decoder_layers=2)
    layers = [layer.cross_attention for layer in model.decoder_layers()]
    first, second = attention_of(model, [5, 6, EOS], [7, 8], layers)
    expected = (first.mean(0) + second.mean(0))[:-1] / 2
    torch.testing.assert_close(cross_attention(model, [5, 6, EOS], [7, 8]), expected)
    assert not torch.allclose(first.mean(0), second.mean(0))


def test_word_numbers_continue_across_the_parts_of_a_line(trained_run):
    translator = load_translator(trained_run, engine="pytorch", device="cpu")
    translation, pairs = aligned(translator, "Anna sings today. " * 20)
    text = translation.text
    assert text == " ".join(["Anna singt heute."] * 20)
    _, once = aligned(translator, "Anna sings today.")
    assert pairs == sorted((s + 3 * i, t + 3 * i) for s, t in once for i in range(20))


def test_an_untranslated_sentence_does_not_shift_later_words(monkeypatch):
    parts = [
        Trace(["a", "<eos>"], [A, EOS], [], Hypothesis([], -1.0, -1.0, True), ""),
        Trace(["b", "<eos>"], [B, EOS], ["b"], Hypothesis([B], -1.0, -1.0, True), "b"),
        Trace(["a", "<eos>"], [A, EOS], ["a"], Hypothesis([A], -1.0, -1.0, True), "a"),
    ]
    weights = iter([torch.zeros(0, 2), *torch.tensor([[[0.9, 0.1]], [[0.8, 0.2]]])])
    monkeypatch.setattr("nmt.decoding.alignment.cross_attention", lambda *_: next(weights))
    translator = SimpleNamespace(
        translate=lambda lines: [Translation("b a", -3.0)],
        traces=lambda translation: parts,
        split=lambda line: SplitText(["a", "b", "a"], ["", "\n", "\n", ""]),
        segments=lambda sentence: [sentence],
        tokenizers=SimpleNamespace(source=WORDS, target=WORDS),
        pytorch=SimpleNamespace(models=[None]),
    )
    translation, pairs = aligned(translator, "a\nb\na")
    assert (translation.text, pairs) == ("b a", [(1, 0), (2, 1)])


def test_sentences_without_a_space_between_them_share_a_word(trained_run):
    translator = load_translator(trained_run, engine="pytorch", device="cpu")
    apart = "Anna sings today. Ben swims today."
    assert (
        len(translator.split(apart).sentences) == len(translator.split("sings.Ben").sentences) == 2
    )
    translation, pairs = aligned(translator, apart.replace(". ", "."))
    text = translation.text
    assert text == translator.translate([apart])[0].text  # a missing space is added
    _, usual = aligned(translator, apart)
    assert pairs == sorted({(s - (s > 2), t) for s, t in usual})


def test_a_token_without_text_belongs_to_the_word_after_it():
    class Joined:
        def join(self, tokens: list[str]) -> str:
            text = "".join(tokens).replace("▁", " ").replace("<0xC3><0xB6>", "ö")
            return text.replace("<0xC3>", "")

    tokens = ["▁", "Q", "u", "▁", "<0xC3>", "<0xB6>", "l", "▁"]
    assert words_of_tokens(Joined(), tokens) == [0, 0, 0, 1, 1, 1, 1, 1]


def test_a_target_word_is_aligned_by_the_sum_over_its_tokens():
    weights = torch.tensor([[0.5, 0.3, 0.0, 0.2], [0.0, 0.6, 0.3, 0.1], [0.1, 0.1, 0.1, 0.7]])
    # Source tokens of words 0, 1, 1 and <eos>; target tokens of words 0, 0 and 1.
    assert pair_words(word_attention(weights, [0, 1, 1], [0, 0, 1])) == [(1, 0)]
    assert pair_words(word_attention(weights, [0, 1, 2], [0, 0, 1])) == [(1, 0)]
    assert pair_words(word_attention(weights, [0, 1, 1], [0, 1, 2])) == [(0, 0), (1, 1)]


def test_a_translation_without_text_has_no_pairs():
    weights = torch.ones(2, 3)
    assert pair_words(word_attention(weights, [0, 1], [-1, -1])) == []
    assert pair_words(word_attention(weights[:0], [0, 1], [])) == []


def test_a_tag_is_not_a_word():
    assert words_of_tokens(WORDS, [TAGS[0], "a", "b"]) == [-1, 0, 1]
    weights = torch.tensor([[0.8, 0.1, 0.1, 0.0], [0.1, 0.2, 0.6, 0.1]])
    assert pair_words(word_attention(weights, [-1, 0, 1], [0, 1])) == [(1, 1)]


def test_ensembles_are_refused(random_model):
    models = [random_model(seed, source_size=6, target_size=6) for seed in (1, 2)]
    tokenizers = Tokenizers(WORDS, WORDS)
    translator = Translator(PyTorchEngine(models), tokenizers, DataConfig(), DecodingConfig())
    with pytest.raises(UserError, match="one model"):
        next(align_lines(translator, ["a b"], Counter()))


def test_pairs_are_written_in_pharaoh_format():
    assert format_pairs([(0, 0), (1, 2)]) == "0-0 1-2"


@pytest.mark.parametrize("engine", ["pytorch", "ctranslate2"])
def test_emphasis_is_put_around_the_aligned_words(trained_run, monkeypatch, engine):
    translator = load_translator(trained_run, engine=engine, device="cpu")
    [translation] = translator.translate(["**Anna** sings today."])
    assert translation.text == "**Anna** singt heute."
    monkeypatch.setattr("nmt.decoding.attention.pair_words", lambda *_: [(0, 2), (2, 1)])
    [translation] = translator.translate(["**Anna** sings [today](https://example.com)."])
    assert translation.text == "Anna [singt](https://example.com) **heute**."
