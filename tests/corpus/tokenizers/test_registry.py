"""Tokenizers: encoding to ids and decoding preserves any text."""

import hashlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sentencepiece

from nmt.config.data import DataConfig
from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.text.normalization import JOINER
from nmt.corpus.tokenizers import subwords as module
from nmt.corpus.tokenizers.registry import Tokenizers, load_tokenizers, train_tokenizers
from nmt.corpus.tokenizers.subwords import SPACE, SubwordTokenizer
from nmt.corpus.tokenizers.tokenizer import Tokenizer
from nmt.corpus.tokenizers.vocabulary import Vocabulary
from nmt.corpus.tokenizers.words import WordTokenizer
from nmt.errors import UserError
from nmt.files.text_files import read_chunks
from nmt.special_tokens import BOS, EOS, PAD, SPECIALS, UNK

Texts = tuple[Path, Path]
DATA = DataConfig()
SUBWORDS = ("bpe", "unigram", "char")
SUFFIX = (False, True)
WORDS = ("spacy", "whitespace")
SEEN = [
    "I see the old house.", "Don't shout, it's late!", "„Schrei nicht“, sagte sie – es ist spät!",
    "The well-known <pad> of 1,000 oaks.", "Größe: 1.000 Äpfel & Öl; zwölf U-Bahnen (neu).",
    "<unk> <0x41> <sos> <eos>", "",
]  # fmt: skip
UNSEEN = [
    "Übermäßig schöne Straßenbahnhaltestellen: »so was«!",
    "emoji 😀👩\u200d🔬 und 你好, Ωμέγα … naïve",
    "a\"b'c\\d/e|f<g>h{i}[j]~`",
    "<s> </s> <0x0A> <0xF0> <pad>",
    "x" * 500,
]


def trained(texts: Texts, folder: Path, **fields: Any) -> Tokenizers:
    config = TokenizerConfig(**{"vocabulary_size": 400, **fields})
    train_tokenizers(DATA, config, texts, folder)
    return load_tokenizers(DATA, config, folder)


@pytest.fixture(scope="module", params=[*SUBWORDS, "bpe end", "unigram end", *WORDS])
def tokenizers(
    request: pytest.FixtureRequest, training_texts: Texts, tmp_path_factory: pytest.TempPathFactory
) -> Tokenizers:
    kind, _, mark = request.param.partition(" ")
    folder = tmp_path_factory.mktemp("all")
    return trained(training_texts, folder, kind=kind, whitespace_as_suffix=mark == "end")


@pytest.fixture(scope="module", params=[(kind, suffix) for kind in SUBWORDS for suffix in SUFFIX])
def subwords(
    request: pytest.FixtureRequest, training_texts: Texts, tmp_path_factory: pytest.TempPathFactory
) -> SubwordTokenizer:
    kind, suffix = request.param
    folder = tmp_path_factory.mktemp("subwords")
    tokenizer = trained(training_texts, folder, kind=kind, whitespace_as_suffix=suffix).source
    assert isinstance(tokenizer, SubwordTokenizer)
    return tokenizer


def spacy_tokenizer(text: str, language: str = "en") -> WordTokenizer:
    """Return a spaCy tokenizer that knows the words of `text`."""
    words = dict.fromkeys(WordTokenizer("spacy", language, Vocabulary([])).split(text))
    return WordTokenizer("spacy", language, Vocabulary([*SPECIALS, *words]))


# -------------------------------------------------------------------------------------- round trip


@pytest.mark.parametrize("text", SEEN)
def test_encoding_and_decoding_preserve_text(tokenizers: Tokenizers, text: str) -> None:
    for tokenizer in (tokenizers.source, tokenizers.target):
        assert tokenizer.join(tokenizer.split(text)) == text
        if isinstance(tokenizer, SubwordTokenizer):
            assert tokenizer.decode(tokenizer.encode(text)) == text


@pytest.mark.parametrize("text", UNSEEN)
def test_unknown_characters_are_spelled_as_bytes(subwords: SubwordTokenizer, text: str) -> None:
    ids = subwords.encode(text)
    assert UNK not in ids
    assert subwords.decode(ids) == text


def test_without_byte_fallback_unseen_characters_are_unknown(
    training_texts: Texts, tmp_path: Path
) -> None:
    tokenizer = trained(training_texts, tmp_path, byte_fallback=False, vocabulary_size=200).source
    assert UNK in tokenizer.encode("old 你 house")
    assert tokenizer.decode(tokenizer.encode("old 你 house")) == "old <unk> house"


def test_encoding_in_batches_changes_nothing(tokenizers: Tokenizers) -> None:
    lines = [*SEEN, *UNSEEN]
    together = tokenizers.target.encode_lines(lines)
    assert together == [tokenizers.target.encode(line) for line in lines]
    assert tokenizers.target.encode_lines([]) == []


@pytest.mark.parametrize("suffix", SUFFIX)
@pytest.mark.parametrize("byte_fallback", [True, False])
@pytest.mark.parametrize("kind", SUBWORDS)
def test_flat_ids_equal_the_ids_of_the_single_lines(
    kind: str, byte_fallback: bool, suffix: bool, training_texts: Texts, tmp_path: Path
) -> None:
    fields = {"kind": kind, "byte_fallback": byte_fallback, "whitespace_as_suffix": suffix}
    tokenizer = trained(training_texts, tmp_path, **fields).source
    known = [*SEEN, *UNSEEN, "the  old\thouse ", " ", "", "你 你好 the 你"]
    for lines in (known, [*known, f"the{SPACE} old", f"{SPACE}{SPACE}"], [""], []):
        ids, lengths = tokenizer.encode_flat(lines)
        each = [tokenizer.encode(line) for line in lines]
        assert ids.tolist() == [i for line in each for i in line]
        assert lengths.tolist() == [len(line) for line in each]


@pytest.mark.parametrize("kind", SUBWORDS)
def test_with_end_marks_a_word_has_the_same_tokens_everywhere(
    kind: str, training_texts: Texts, tmp_path: Path
) -> None:
    tokenizer = trained(training_texts, tmp_path, kind=kind, whitespace_as_suffix=True).source
    word = tokenizer.split("house")
    assert word[-1].endswith(SPACE)
    for text in ("the house.", "greenhouse", "(house)", "house"):
        tokens = tokenizer.split(text)
        assert any(tokens[i : i + len(word)] == word for i in range(len(tokens))), text


@pytest.mark.parametrize("text", [*SPECIALS, "a <pad> b <eos>", "<sos><eos>", "<s> </s>", "<unk>"])
def test_text_never_becomes_a_special_token(tokenizers: Tokenizers, text: str) -> None:
    ids = tokenizers.source.encode(text)
    assert not {PAD, BOS, EOS} & set(ids)
    if isinstance(tokenizers.source, SubwordTokenizer):
        assert UNK not in ids
        assert tokenizers.source.decode(ids) == text


def test_only_unk_is_shown_of_the_special_tokens_which_have_the_first_ids(
    tokenizers: Tokenizers,
) -> None:
    assert isinstance(tokenizers.source, Tokenizer)
    assert tokenizers.source.tokens(range(4)) == ["<pad>", "<unk>", "<sos>", "<eos>"]
    ids = tokenizers.source.encode("the old house")
    noisy = [PAD, BOS, *ids, EOS, PAD]
    assert tokenizers.source.decode(noisy) == "the old house"
    assert tokenizers.source.decode([UNK]) == "<unk>"
    assert tokenizers.source.decode([PAD, BOS, EOS]) == ""


def test_decoding_any_bytes_gives_one_line_of_valid_unicode(subwords: SubwordTokenizer) -> None:
    byte = {i: subwords.processor.piece_to_id(f"<0x{i:02X}>") for i in range(256)}
    for content, text in (
        (b"a\nb\r\nc\x0bd\x1ce", "a b c d e"),
        ("f\u2028g\x85h".encode(), "f g h"),
        (b"\xf0\x9fa\xff", "a"),
        ("😀".encode(), "😀"),
        (b"\n", ""),
        ("a\x1b[31m\x07\x9bb".encode(), "a[31mb"),
    ):
        assert subwords.decode([byte[b] for b in content]) == text


# --------------------------------------------------------------------------------- word tokenizers


def test_adjacent_spacy_tokens_are_marked_with_a_joiner_also_at_the_beginning() -> None:
    expected = ["Do", "￭n't", "(", "￭really", "￭)", "go", "￭."]
    assert spacy_tokenizer("").split("Don't (really) go.") == expected
    tokenizer = spacy_tokenizer("Go on. Now!")
    ids = [tokenizer.vocabulary.id(word) for word in (f"{JOINER}.", "Now", f"{JOINER}!")]
    assert tokenizer.decode(ids) == ". Now!"


@pytest.mark.parametrize("language", ["en", "de"])
def test_spacy_restores_any_text_of_known_words(language: str) -> None:
    texts = [*SEEN[:5], *UNSEEN]
    tokenizer = spacy_tokenizer(" ".join(texts), language)
    for text in texts:
        assert UNK not in tokenizer.encode(text)
        assert tokenizer.decode(tokenizer.encode(text)) == text


def test_the_whitespace_tokenizer_splits_at_spaces() -> None:
    tokenizer = WordTokenizer("whitespace", "en", Vocabulary([*SPECIALS, "go", "on."]))
    assert tokenizer.encode("go on. go on") == [4, 5, 4, 1]
    assert tokenizer.split("go on. stop!") == ["go", "on.", "stop!"]
    assert tokenizer.decode([4, 1, 5]) == "go <unk> on."


def test_rare_words_are_left_out_of_a_trained_vocabulary(
    training_texts: Texts, tmp_path: Path
) -> None:
    often = trained(training_texts, tmp_path, kind="whitespace", min_count=4).target
    assert often.encode("Tom spät!") == [often.encode("Tom")[0], UNK]
    assert often.encode("Tom")[0] > EOS


def test_a_language_that_spacy_does_not_support_is_refused(
    training_texts: Texts, tmp_path: Path
) -> None:
    config = TokenizerConfig(kind="spacy")
    with pytest.raises(UserError, match=r"tokenizer\.kind: .* qq"):
        train_tokenizers(DataConfig(target_language="qq"), config, training_texts, tmp_path)


# --------------------------------------------------------------------------------- joint, separate


@pytest.mark.parametrize("kind", ["bpe", "unigram", *WORDS])
def test_both_sides_have_the_same_ids_only_with_a_joint_vocabulary(
    training_texts: Texts, tmp_path: Path, kind: str
) -> None:
    joint = trained(training_texts, tmp_path, kind=kind)
    assert joint.source.size == joint.target.size
    everything = range(joint.source.size)
    assert joint.source.tokens(everything) == joint.target.tokens(everything)
    apart = trained(training_texts, tmp_path, kind=kind, joint=False, vocabulary_size=360)
    for word, at_home, abroad in (("house", "source", "target"), ("grüne", "target", "source")):
        known = getattr(apart, at_home).encode(word)
        foreign = getattr(apart, abroad).encode(word)
        assert UNK not in known
        assert foreign == [UNK] if kind in WORDS else len(foreign) > len(known)


@pytest.mark.parametrize("joint", [True, False])
@pytest.mark.parametrize("kind", ["bpe", "whitespace"])
def test_loading_restores_the_trained_tokenizers(
    training_texts: Texts, tmp_path: Path, kind: str, joint: bool
) -> None:
    config = TokenizerConfig(kind=kind, joint=joint, vocabulary_size=330)
    before = trained(training_texts, tmp_path, kind=kind, joint=joint, vocabulary_size=330)
    after = load_tokenizers(DATA, config, tmp_path)
    for text in SEEN:
        assert after.source.encode(text) == before.source.encode(text)
        assert after.target.encode(text) == before.target.encode(text)


@pytest.mark.parametrize("kind", SUBWORDS)
def test_training_is_reproducible_with_any_number_of_cores(
    training_texts: Texts, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The tokens of a unigram model depend on the number of threads."""
    threads: list[int] = []
    learn = sentencepiece.SentencePieceTrainer.train

    def recording(**options: Any) -> None:
        threads.append(options["num_threads"])
        learn(**options)

    monkeypatch.setattr(sentencepiece.SentencePieceTrainer, "train", recording)

    def digest(folder: str) -> str:
        trained(training_texts, tmp_path / folder, kind=kind)
        return hashlib.sha256((tmp_path / folder / "joint.model").read_bytes()).hexdigest()

    assert digest("a") == digest("b")
    assert threads == [8, 8]


# ---------------------------------------------------------------------------------------- refusals


def test_fewer_tokens_than_characters_are_refused(
    training_texts: Texts, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(UserError, match="265 is too small for the characters of this") as caught:
        trained(training_texts, tmp_path, vocabulary_size=265)
    assert "\n" not in str(caught.value)
    assert capfd.readouterr().err == ""


@pytest.mark.parametrize("suffix", SUFFIX)
def test_an_error_while_lines_are_read_is_reported_as_such(
    training_texts: Texts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, suffix: bool
) -> None:
    def damaged(path: Path) -> Iterator[list[str]]:
        yield ["a b"]
        raise UserError("the file is damaged")

    monkeypatch.setattr(module, "read_chunks", damaged)
    with pytest.raises(UserError, match="the file is damaged"):
        trained(training_texts, tmp_path, vocabulary_size=300, whitespace_as_suffix=suffix)


def test_ctrl_c_does_not_wait_until_subwords_are_learned(
    training_texts: Texts, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    finished: list[bool] = []

    def learn(**_: object) -> None:
        hashlib.pbkdf2_hmac("sha256", b"", b"", 10_000_000)  # like SentencePiece, ignores signals
        finished.append(True)

    monkeypatch.setattr("sentencepiece.SentencePieceTrainer.train", learn)
    timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        trained(training_texts, tmp_path, vocabulary_size=300)
    assert not finished


def test_subwords_are_also_learned_from_long_lines(tmp_path: Path) -> None:
    text = tmp_path / "long.txt"
    text.write_text("".join("Anna sings and Ben reads. " * 200 + f"{i}\n" for i in range(10)))
    ids = trained((text, text), tmp_path, vocabulary_size=300).source.encode("Anna sings.")
    assert len(ids) < len("Anna sings.") / 2


@pytest.mark.parametrize("kind", ["bpe", "unigram"])
def test_a_small_text_gives_fewer_tokens_than_requested(
    training_texts: Texts, tmp_path: Path, kind: str
) -> None:
    size = trained(training_texts, tmp_path, kind=kind, vocabulary_size=50_000).source.size
    assert 270 < size < 50_000


@pytest.mark.parametrize(
    ("sides", "tokens"),
    [
        ((["another house"] * 100, ["zwölf Brücken"] * 100), "▁another ▁house ▁zwölf ▁Brücken"),
        ((["another"] * 100 + ["house"] * 100,) * 2, "▁another ▁house"),
    ],
    ids=["both sides", "beginning and end"],
)
def test_lines_are_sampled_from_the_whole_corpus(
    sides: tuple[list[str], ...], tokens: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("nmt.corpus.tokenizers.subwords.MOST_LINES", 40)
    texts = (tmp_path / "a", tmp_path / "b")
    for path, lines in zip(texts, sides, strict=True):
        path.write_text("".join(f"{line}\n" for line in lines))
    tokenizer = trained(texts, tmp_path, vocabulary_size=340).source
    assert tokenizer.split(tokens.replace("▁", "")) == tokens.split(" ")


@pytest.mark.parametrize("kind", ["bpe", "whitespace"])
def test_an_empty_text_and_a_missing_vocabulary_are_refused(tmp_path: Path, kind: str) -> None:
    with pytest.raises(UserError, match="joint"):
        load_tokenizers(DATA, TokenizerConfig(kind=kind), tmp_path)
    (tmp_path / "text").touch()
    with pytest.raises(UserError, match=r"tokenizer\.vocabulary_size"):
        trained((tmp_path / "text", tmp_path / "text"), tmp_path)


def test_damaged_and_other_models_are_refused(training_texts: Texts, tmp_path: Path) -> None:
    trained(training_texts, tmp_path)
    whole = (tmp_path / "joint.model").read_bytes()
    options = {"input": str(training_texts[0]), "model_prefix": str(tmp_path / "other")}
    options |= {"vocab_size": 60, "hard_vocab_limit": False, "minloglevel": 2}
    sentencepiece.SentencePieceTrainer.train(**options)
    other = (tmp_path / "other.model").read_bytes()  # which has other special tokens
    path = tmp_path / "damaged.model"
    for content in (whole[:-1], whole[:10], whole[len(whole) // 2 :], b"\0" + whole, other):
        path.write_bytes(content)
        with pytest.raises(UserError, match=r"damaged\.model: ") as caught:
            SubwordTokenizer(path, TokenizerConfig(kind="bpe"))
        assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("immediate_progress")
def test_learning_subwords_shows_progress(
    training_texts: Texts,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    read = module._sample_lines

    def read_until_something_is_shown(paths: list[Path]) -> Iterator[str]:
        assert "learning subwords: 00:00" in capfd.readouterr().err
        yield from read(paths)

    monkeypatch.setattr(module, "_sample_lines", read_until_something_is_shown)
    train_tokenizers(DATA, TokenizerConfig(vocabulary_size=400), training_texts, tmp_path)
    assert (tmp_path / "joint.model").exists()


def test_only_line_feeds_end_lines(tmp_path: Path) -> None:
    path = tmp_path / "lines"
    path.write_bytes("a\u2028b\rc\x85\nd\n\ne".encode())
    assert list(read_chunks(path, 2)) == [["a\u2028b\rc\x85", "d"], ["", "e"]]


def test_importing_loads_no_heavy_packages() -> None:
    code = """
import sys
from nmt.corpus.text import capitals as casing, cleaning, placeholders
from nmt.corpus import prepared
from nmt.corpus.sources import readers
from nmt.corpus.preparing import statistics
from nmt.corpus.tokenizers import registry
heavy = {"torch", "spacy", "requests", "sacremoses", "datasets", "pandas", "google.protobuf"}
print(heavy & set(sys.modules))
"""
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "set()\n"
