"""The most attended source word replaces <unk>."""

from types import SimpleNamespace

import pytest
import torch
from torch import Tensor

from nmt.corpus.tokenizers.vocabulary import Vocabulary
from nmt.corpus.tokenizers.words import WordTokenizer
from nmt.decoding.unknown_words import replace_unknown
from nmt.special_tokens import EOS, SPECIALS, UNK

KNOWN = 4
TARGET = WordTokenizer("whitespace", "de", Vocabulary([*SPECIALS, "und", "sagt"]))


class AttendingModel:
    """Stands in for a two-layer Transformer whose last layer attends with the given weights.

    weights: (heads, target, source)
    """

    def __init__(self, weights: list[list[list[float]]]):
        self.weights = torch.tensor(weights)[None]
        self.layers = [
            SimpleNamespace(cross_attention=SimpleNamespace(recorded=None)) for _ in range(2)
        ]

    def parameters(self):
        yield torch.zeros(1)

    def decoder_layers(self):
        return self.layers

    def decoder_output(self, source: Tensor, target_in: Tensor) -> None:
        first, last = (layer.cross_attention.recorded for layer in self.layers)
        if first is not None:
            first.append(torch.ones_like(self.weights))
        last.append(self.weights[:, :, : target_in.shape[1]])


def replaced(
    source: list[tuple[str, int]], target_ids: list[int], *heads: list[list[float]]
) -> list[str]:
    words, ids = zip(*source, strict=True)
    return replace_unknown(AttendingModel(list(heads)), [*ids, EOS], words, target_ids, TARGET)


def test_the_most_attended_word_is_copied():
    source = [("a", KNOWN), ("b", KNOWN), ("c", KNOWN)]
    tokens = replaced(source, [UNK], [[0.2, 0.5, 0.3, 0.0], [1.0, 0.0, 0.0, 0.0]])
    assert tokens == ["b"]


def test_each_unknown_token_uses_its_own_row_of_weights():
    source = [("Zora", UNK), ("und", KNOWN), ("Yann", UNK)]
    rows = [[0.1, 0.1, 0.8, 0], [0.0, 1.0, 0.0, 0], [0.7, 0.1, 0.2, 0], [0.0, 0.0, 1.0, 0]]
    assert replaced(source, [UNK, 4, UNK], rows) == ["Yann", "und", "Zora"]


def test_known_tokens_are_kept():
    assert replaced([("Zora", UNK)], [5, 4], [[1.0, 0.0]] * 3) == ["sagt", "und"]


def test_unknown_source_words_are_preferred_to_known_ones():
    source = [("the", KNOWN), ("Zora", UNK), ("Yann", UNK)]
    assert replaced(source, [UNK], [[0.8, 0.05, 0.15, 0.0]] * 2) == ["Yann"]


def test_the_heads_are_averaged():
    source = [("a", KNOWN), ("b", KNOWN)]
    heads = [[[0.6, 0.4, 0.0]] * 2, [[0.1, 0.9, 0.0]] * 2, [[0.6, 0.4, 0.0]] * 2]
    assert replaced(source, [UNK], *heads) == ["b"]


def test_eos_is_never_copied():
    source = [("a", KNOWN), ("b", KNOWN)]
    assert replaced(source, [UNK], [[0.1, 0.2, 0.7]] * 2) == ["b"]


@pytest.mark.parametrize("positions", ["sinusoidal", "learned"])
def test_a_real_model_copies_the_only_unknown_word(positions, random_model):
    model = random_model(positions=positions, target_size=6)
    tokens = replace_unknown(model, [5, UNK, 7, EOS], ["a", "Zora", "b"], [4, UNK, UNK], TARGET)
    assert tokens == ["und", "Zora", "Zora"]
