"""O'Rahilly: post-norm, positions by column; his padding mask, which leaks, and ours."""

import math
import re

import numpy as np
import pytest
import torch

from nmt.corpus.preparing.prepare import prepare
from nmt.corpus.sources.readers import read_pickle
from nmt.corpus.tokenizers.words import word_splitter
from nmt.model.positions import sinusoids
from nmt.model.transformer import Transformer
from nmt.special_tokens import PAD
from nmt.training.schedules import learning_rate

SECTION = "O'Rahilly"
BOTH = "english-german-both.pkl"
TINY = ["model.d_key=4", "model.d_value=4"]


def his_mask(source):
    """His decoder's padding mask: built from the source's length, whatever the target's length."""
    length = sum(token != PAD for token in source)
    return lambda i, j: j <= i and i < length


def slow_logits(eq, source, target, may_see_past=None, masked=-math.inf):
    def embed(name, ids):
        return eq.rows(name, ids) + eq.waves(range(len(ids)), exponent="column")

    return eq.logits(source, target, embed, layers=1, may_see_past=may_see_past, masked=masked)


def test_the_words_of_the_rebuilt_file_are_counted(corpora, parameters, documented):
    pairs = [[side.split() for side in pair] for pair in read_pickle(corpora / BOTH)]
    longest = [max(len(pair[side]) for pair in pairs) for side in (0, 1)]
    words = [len({word for pair in pairs for word in pair[side]}) for side in (0, 1)]
    documented(SECTION, "at most {} English and {} German words".format(*longest))
    documented(SECTION, "has {:,} and {:,} different words".format(*words))
    assert parameters("orahilly", *(count + 3 for count in words)) == 12_242_986


def test_the_parameter_count_follows_the_formula(parameters, documented):
    assert parameters("orahilly", 2285, 3626) == 12_242_986
    assert parameters("orahilly", 700, 900) == 7_356_416 + 512 * (700 + 2 * 900) + 900
    documented(SECTION, "12,242,986")


def test_the_model_equals_the_equations(tiny_model, assert_equal_to):
    model = tiny_model("orahilly", *TINY)
    assert_equal_to(model, slow_logits)


def test_the_model_learns_to_copy(copied):
    assert copied("orahilly", "model.d_key=32", "model.d_value=32") >= 0.95


def test_there_is_no_dropout(dropout_rates):
    assert dropout_rates("orahilly") == {}


def test_the_learning_rate_is_constant_from_the_first_update(load):
    training = load("orahilly").training
    assert {learning_rate(training, update, 5000) for update in (1, 2, 100, 5000)} == {1e-3}


# --------------------------------------------------------------------------------------- deviations


def test_words_are_split_at_spaces_only(load):
    [words] = word_splitter(load("orahilly").tokenizer.kind, "en")(["Tom, it isn't  far."])
    assert words == ["Tom,", "it", "isn't", "far."]


def test_nltk_would_split_one_word_of_the_rebuilt_file(corpora, documented):
    words = {word for pair in read_pickle(corpora / BOTH) for side in pair for word in side.split()}
    assert all(re.fullmatch("[a-z]+", word) for word in words)
    # The words of letters alone that `word_tokenize` splits.
    splits = words & {"cannot", "gimme", "gonna", "gotta", "lemme", "wanna"}
    documented(SECTION, 'a single word: nltk splits "{}"'.format(*splits))
    assert len(splits) == 1
    assert "dont" in words
    assert [list(found) for found in word_splitter("spacy", "en")(["dont"])] == [["do", "￭nt"]]


def test_exponents_by_column_make_half_of_the_columns_nearly_constant(documented):
    by_pair, by_column = (sinusoids(10, 512, exponent=kind) for kind in ("pair", "column"))
    alike = [column for column in range(512) if by_pair[:, column].equal(by_column[:, column])]
    assert alike == [0]
    moves = [float((table - table[0])[:, 256:].abs().max()) for table in (by_pair, by_column)]
    documented(SECTION, "agree only in column 0")
    documented(SECTION, f"it changes by at most {moves[1]:.4f}")
    documented(SECTION, f"With exponents by pair, it changes by up to {moves[0]:.2f}")


def test_his_padding_mask_lets_rows_beyond_the_source_attend_to_the_future(
    tiny_model, equations, documented
):
    eq = equations(tiny_model("orahilly", *TINY))
    source, target = [5, 6, 3, PAD, PAD, PAD], [2, 7, 4, 8, 9, 5]
    other = [*target[:-1], 10]
    query, key = np.random.default_rng(1).normal(size=(2, 6, 4))
    weights = eq.weigh(query, key, his_mask(source), 2.0, masked=-1e9)
    future = [float(weights[i, i + 1 :].sum()) for i in range(6)]
    assert future == pytest.approx([0, 0, 0, 2 / 6, 1 / 6, 0])
    assert weights[3:] == pytest.approx(np.full((3, 6), 1 / 6))
    documented(SECTION, f"{future[3]:.1%} and {future[4]:.1%} of their attention")

    def changed_rows(*mask):
        before, after = (slow_logits(eq, source, ids, *mask) for ids in (target, other))
        return [row + 1 for row in range(6) if not np.allclose(before[row], after[row])]

    his, ours = changed_rows(his_mask(source), -1e9), changed_rows()
    assert (his, ours) == ([4, 5, 6], [6])
    documented(SECTION, "changes the logits of rows 4, 5 and 6; with our mask, only those of row 6")


def test_his_mask_lets_some_rows_of_the_pickle_attend_to_the_future(corpora, documented):
    rows = leaking = 0
    for english, german in read_pickle(corpora / "english-german-test.pkl"):
        source, target = len(english.split()) + 1, len(german.split()) + 1  # <eos>; <sos>
        rows += target
        leaking += max(0, target - 1 - source)  # the last row has no future
    documented(SECTION, f"{leaking / rows:.1%} of the target rows of `english-german-test.pkl`")


def test_a_vocabulary_from_the_training_set_lacks_some_held_out_words(
    corpora, load, tmp_path, monkeypatch, documented
):
    monkeypatch.chdir(tmp_path)

    def unknown(*files):
        known = prepare(load("orahilly", *files)).report["coverage"]["test"]
        return [f"{1 - known[side]:.0%}" for side in ("source", "target")]

    source, target = unknown(f"data.path={corpora / BOTH}")
    assert source == target
    his = (f"data.{split}_path={corpora}/english-german-{split}.pkl" for split in ("train", "test"))
    english, german = unknown(*his)
    documented(SECTION, f"lack about {source} of the test set's words on either side; with his own")
    documented(SECTION, f"with his own split, {english} (English) and {german} (German).")


def test_unscaled_embeddings_need_the_scale_of_the_positions(load, documented):
    def spread(*overrides):
        torch.manual_seed(1)
        model = Transformer(load("orahilly", *overrides).model, 2285, 9)
        return float(model.source_embedding.tokens.weight.detach().std())

    position = float(sinusoids(10, 512).square().mean().sqrt())
    assert spread() == pytest.approx(1, rel=0.01)
    nmts = spread("model.embedding_std=null")
    documented(SECTION, f"default, {nmts:.3f}, is meant for scaled embeddings")
    documented(SECTION, f"positions of size {position:.2f} would drown them out")
