"""Tokenizers: text to ids and back, by words or by SentencePiece subwords.

Both kinds are reversible: SentencePiece marks the spaces; a spaCy word, or punctuation with
`whitespace_as_suffix`, that touches its neighbour ("." in "Hello.") has a joiner mark.
"""

import os
import shutil
import threading
from abc import ABC, abstractmethod
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from itertools import chain, count, islice
from pathlib import Path
from typing import TextIO

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from nmt.config.data import DataConfig
from nmt.config.tokenizer import TokenizerConfig, WordKind
from nmt.corpus.preparing.manifest import require_undamaged
from nmt.corpus.sources.readers import MAX_LINE_BYTES
from nmt.corpus.text.capitals import CASING, Casing
from nmt.corpus.text.carried import Carrier
from nmt.corpus.text.normalization import JOINER, join_words, part_words, printable
from nmt.corpus.text.placeholders import KNOWN_WORDS, KnownWords
from nmt.corpus.tokenizers.vocabulary import Vocabulary
from nmt.errors import UserError, one_line
from nmt.files.json_files import unreadable
from nmt.files.small_files import read_small
from nmt.files.text_files import read_chunks
from nmt.progress import elapsed, with_progress
from nmt.special_tokens import BOS, EOS, NUMBERS, PAD, PLACEHOLDERS, SPECIALS, TAGS, UNK

SPACE = "▁"
MOST_LINES = 1_000_000  # to learn subwords from
# In bytes: room for `MOST_SUBWORDS`. A forged model takes up to 40 times its size in memory.
LARGEST_MODEL = 10_000_000


class Tokenizer(ABC):
    """Converts the text of one language to ids and back."""

    #: Whether the word boundary mark is at the end of words instead of at their start.
    marks_end: bool = False

    @property
    @abstractmethod
    def size(self) -> int:
        """Number of ids, including the four special tokens."""

    @property
    def unknown_ids(self) -> list[int]:
        """The ids that represent out-of-vocabulary text."""
        return [UNK]

    @abstractmethod
    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        """Return the ids of each line, without special tokens."""

    @abstractmethod
    def tokens(self, ids: Sequence[int]) -> list[str]:
        """Return the tokens of ids as they appear in the vocabulary."""

    @abstractmethod
    def join(self, tokens: Sequence[str]) -> str:
        """Return the readable text that tokens spell."""

    def encode_flat(self, lines: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """Return the concatenated ids of all lines, and the number of ids of each line."""
        ids = self.encode_lines(lines)
        return _flat(ids), _lengths(ids)

    def encode(self, text: str) -> list[int]:
        """Return the ids of one line, without special tokens."""
        return self.encode_lines([text])[0]

    def knows(self, text: str) -> bool:
        """Return whether a text can be spelled without unknown tokens and without bytes."""
        ids = self.encode(text)
        return bool(ids) and set(self.unknown_ids).isdisjoint(ids)

    def split(self, text: str) -> list[str]:
        """Return the tokens of one line as written, including unknown ones."""
        return self.tokens(self.encode(text))

    def decode(self, ids: Sequence[int]) -> str:
        """Return the text of ids, without special tokens other than <unk>."""
        return self.join(self.tokens([i for i in ids if i not in (PAD, BOS, EOS)]))


def _flat(ids: Sequence[list[int]]) -> NDArray[np.int32]:
    return np.fromiter(chain.from_iterable(ids), np.int32)


def _lengths(ids: Sequence[list[int]]) -> NDArray[np.int64]:
    return np.fromiter(map(len, ids), np.int64, len(ids))


class SubwordTokenizer(Tokenizer):
    """SentencePiece BPE (Sennrich et al. 2016) or unigram (Kudo 2018) tokens."""

    def __init__(self, model: Path, config: TokenizerConfig):
        self._kind = config.kind
        self.marks_end = config.whitespace_as_suffix
        try:
            # Read the file here: the library's own loader aborts on a broken file.
            proto = read_small(model, LARGEST_MODEL)
            self.processor = sentencepiece.SentencePieceProcessor(model_proto=proto)
        except (OSError, RuntimeError) as error:
            reason = getattr(error, "strerror", None) or "damaged"
            raise unreadable(model, reason) from None
        self._size: int = self.processor.get_piece_size()
        while self._size and self.processor.is_unused(self._size - 1):
            self._size -= 1  # source-only tokens of a joint vocabulary
        if tuple(self.tokens(range(min(self.size, len(SPECIALS))))) != SPECIALS:
            raise unreadable(model, "not a SentencePiece model that `nmt prepare` wrote")

    @property
    def size(self) -> int:
        """See `Tokenizer.size`."""
        return self._size

    @property
    def unknown_ids(self) -> list[int]:
        """<unk>, and the bytes that spell characters outside the vocabulary."""
        return [UNK, *(i for i in range(self.size) if self.processor.is_byte(i))]

    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        """See `Tokenizer.encode_lines`."""
        return self._encode(self._parted(lines))

    def encode(self, text: str) -> list[int]:
        """See `Tokenizer.encode`."""
        # The library's batch call is ten times slower for a single line.
        [line] = self._parted([text])
        ids: list[int] = self.processor.encode(line, out_type=int)
        return ids

    def _parted(self, lines: Sequence[str]) -> list[str]:
        return list(map(part_words, lines) if self.marks_end else lines)

    def _encode(self, lines: list[str]) -> list[list[int]]:
        ids: list[list[int]] = self.processor.encode(lines, out_type=int)
        return ids

    def encode_flat(self, lines: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
        """See `Tokenizer.encode_flat`."""
        text = " ".join(lines)
        # SentencePiece handles its space symbol specially if it occurs in the text.
        if self._kind != "bpe" or not lines or SPACE in text:
            return super().encode_flat(lines)
        lines = self._parted(lines)
        text = " ".join(lines)
        # No BPE token crosses a space, and words recur: encode each distinct word once.
        different: defaultdict[str, int] = defaultdict(count().__next__)
        words = np.fromiter(map(different.__getitem__, text.split(" ")), np.int64)
        ids = self._encode(list(different))
        lengths = _lengths(ids)
        starts = np.cumsum(lengths) - lengths  # of each distinct word, in the flat ids
        word_lengths = lengths[words]
        word_starts = np.cumsum(word_lengths) - word_lengths  # of each word, in the result
        moves = np.repeat(starts[words] - word_starts, word_lengths)
        words_before = np.cumsum([0] + [line.count(" ") + 1 for line in lines])[:-1]
        return (
            _flat(ids)[np.arange(len(moves)) + moves],
            np.add.reduceat(word_lengths, words_before),
        )

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """See `Tokenizer.tokens`."""
        return [self.processor.id_to_piece(int(i)) for i in ids]

    def join(self, tokens: Sequence[str]) -> str:
        """See `Tokenizer.join`."""
        # Byte tokens can spell invalid UTF-8, newlines and commands for the terminal; keep the
        # output a clean single line.
        text: str = self.processor.decode(list(tokens))
        text = " ".join(printable(text).split())
        return join_words(text) if self.marks_end else text


class WordTokenizer(Tokenizer):
    """Whole words: split at spaces, or by spaCy's blank tokenizer."""

    def __init__(self, kind: WordKind, language: str, vocabulary: Vocabulary):
        self.vocabulary = vocabulary
        self.split_lines = word_splitter(kind, language)

    @property
    def size(self) -> int:
        """See `Tokenizer.size`."""
        return len(self.vocabulary)

    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        """See `Tokenizer.encode_lines`."""
        return [[self.vocabulary.id(word) for word in words] for words in self.split_lines(lines)]

    def split(self, text: str) -> list[str]:
        """See `Tokenizer.split`."""
        return next(iter(self.split_lines([text])))

    def tokens(self, ids: Sequence[int]) -> list[str]:
        """See `Tokenizer.tokens`."""
        return [self.vocabulary.words[i] for i in ids]

    def join(self, tokens: Sequence[str]) -> str:
        """See `Tokenizer.join`."""
        text = " ".join(tokens).replace(f" {JOINER}", "").removeprefix(JOINER)
        return printable(text)  # a vocabulary may be hostile


def word_splitter(kind: WordKind, language: str) -> Callable[[Iterable[str]], Iterable[list[str]]]:
    """Return the function that splits lines into words, with joiner marks where words touch."""
    if kind == "whitespace":
        return lambda lines: (line.split() for line in lines)
    import spacy

    try:
        tokenizer = spacy.blank(language).tokenizer
    except Exception as error:  # a language without rules, or one that needs more packages
        raise UserError(
            f"tokenizer.kind: spaCy cannot tokenize language {language}: "
            f"{one_line(error)[:200]}; use bpe, unigram or whitespace"
        ) from None

    def split(line: str) -> list[str]:
        words: list[str] = []
        touches = False
        for token in tokenizer(line):
            words.append(JOINER + token.text if touches else token.text)
            touches = not token.whitespace_
        return words

    return lambda lines: map(split, lines)


@dataclass(frozen=True)
class Tokenizers:
    """The tokenizers of both sides.

    A joint vocabulary gives both the same ids; for subwords, the target uses only the lower ones.

    known: the source words that need no placeholder; None if `data.carry_over` is none
    casing: how target words are capitalized; None unless `data.restore_case` is set
    """

    source: Tokenizer
    target: Tokenizer
    known: KnownWords | None = None
    casing: Casing | None = None

    def carrier(self, data: DataConfig) -> Carrier | None:
        """Return what hides unknown words, numbers and codes, if anything is hidden."""
        if self.known is None:
            return None
        languages = (data.source_language, data.target_language)
        knows = lru_cache(10_000)(self.source.knows)
        return Carrier(self.known.words, self.known.only_names, languages, knows)


def train_tokenizers(
    data: DataConfig, config: TokenizerConfig, texts: tuple[Path, Path], folder: Path
) -> None:
    """Learn vocabularies from the two text files of the training split; write them to `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    languages = (data.source_language, data.target_language)
    groups: dict[str, list[int]] = (
        {"joint": [0, 1]} if config.joint else {"source": [0], "target": [1]}
    )
    for name, sides in groups.items():
        paths = [texts[side] for side in sides]
        if config.subword:
            symbols = "" if data.carry_over == "none" else PLACEHOLDERS
            if data.carry_numbers and _occur(NUMBERS, texts[0]):
                symbols += NUMBERS
            symbols += TAGS[: len(data.tags)]
            _train_subwords(config, paths, symbols, folder / f"{name}.model")
            if config.joint:  # `put_target_first` separates them after the text is encoded
                shutil.copyfile(folder / f"{name}.model", folder / "target.model")
        else:
            counts = _count_words(config, [(languages[side], texts[side]) for side in sides])
            vocabulary = Vocabulary.build(counts, config.vocabulary_size, config.min_count)
            vocabulary.save(folder / f"{name}.vocabulary.json")


def vocabulary_files(config: TokenizerConfig) -> list[str]:
    """Return the names of the vocabulary files of source and target, or of the joint one.

    For joint subwords, the target has its own file, with the source-only tokens marked as unused.
    """
    if config.subword:
        return ["joint.model" if config.joint else "source.model", "target.model"]
    names = ["joint"] if config.joint else ["source", "target"]
    return [f"{name}.vocabulary.json" for name in names]


def load_tokenizers(data: DataConfig, config: TokenizerConfig, folder: Path) -> Tokenizers:
    """Load the tokenizers that `prepare` wrote, with their casing rules and known words."""
    paths = [folder / name for name in vocabulary_files(config)]
    require_undamaged([*paths, folder / CASING, folder / KNOWN_WORDS])
    casing = Casing.load(folder / CASING) if data.restore_case else None
    languages = (data.source_language, data.target_language)
    if config.kind == "bpe" or config.kind == "unigram":
        source = SubwordTokenizer(paths[0], config)
        target = SubwordTokenizer(paths[1], config)
        if config.joint and target.size > source.size:
            raise unreadable(paths[1], f"does not match {paths[0].name}")
        known = None
        if data.carry_over != "none":
            known = KnownWords.load(folder / KNOWN_WORDS, data.carry_over == "names")
        return Tokenizers(source, target, known, casing)
    vocabularies = [Vocabulary.load(path) for path in paths]
    return Tokenizers(
        WordTokenizer(config.kind, languages[0], vocabularies[0]),
        WordTokenizer(config.kind, languages[1], vocabularies[-1]),
        casing=casing,
    )


def _occur(characters: str, path: Path) -> bool:
    lines = chain.from_iterable(read_chunks(path))
    return any(not set(characters).isdisjoint(line) for line in lines)


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(partial(file.read, 2**20), b""))


def _count_words(config: TokenizerConfig, texts: list[tuple[str, Path]]) -> Counter[str]:
    assert config.kind == "spacy" or config.kind == "whitespace"
    counts: Counter[str] = Counter()
    for language, path in texts:
        split = word_splitter(config.kind, language)
        chunks = chain.from_iterable(read_chunks(path))
        for words in split(with_progress(chunks, "counting words")):
            counts.update(words)
    return counts


def _train_subwords(config: TokenizerConfig, texts: list[Path], symbols: str, model: Path) -> None:
    lines, marks_end = _sample_lines(texts), config.whitespace_as_suffix
    stopped: list[Exception] = []

    def stoppable(lines: Iterable[str]) -> Iterator[str]:
        """Note an error of reading: SentencePiece turns it into a RuntimeError."""
        try:
            yield from lines
        except Exception as error:
            stopped.append(error)
            raise

    try:
        with (
            model.open("wb") as file,
            _silent_stderr() as stderr,
            elapsed("learning subwords", stderr),
        ):
            _interruptibly(
                sentencepiece.SentencePieceTrainer.train,
                sentence_iterator=stoppable(map(part_words, lines) if marks_end else lines),
                treat_whitespace_as_suffix=marks_end,
                model_writer=file,
                model_type=config.kind,
                vocab_size=config.vocabulary_size,
                max_sentence_length=MAX_LINE_BYTES,  # it would silently skip longer lines
                hard_vocab_limit=False,
                byte_fallback=config.byte_fallback,
                character_coverage=0.9999,
                normalization_rule_name="identity",  # done already, by `data.unicode`
                pad_id=PAD,
                unk_id=UNK,
                bos_id=BOS,
                eos_id=EOS,
                pad_piece=SPECIALS[PAD],
                unk_piece=SPECIALS[UNK],
                bos_piece=SPECIALS[BOS],
                eos_piece=SPECIALS[EOS],
                unk_surface=SPECIALS[UNK],
                user_defined_symbols=list(symbols),  # always separate tokens
                num_threads=8,  # fixed, because rounding depends on the number of threads
                minloglevel=2,
            )
    except RuntimeError:
        if stopped:
            raise stopped[0] from None
        without_bytes = (
            " (byte_fallback alone takes 256), or set tokenizer.byte_fallback to false"
            if config.byte_fallback
            else ""
        )
        raise UserError(
            f"tokenizer.vocabulary_size: {config.vocabulary_size} is too small for the characters "
            f"of this text; raise it{without_bytes}"
        ) from None


def _interruptibly(work: Callable[..., object], **arguments: object) -> None:
    """Call a function that ignores signals, in a thread, so that Ctrl-C ends the wait for it."""
    errors: list[BaseException] = []

    def call() -> None:
        try:
            work(**arguments)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=call, daemon=True)
    thread.start()
    while thread.is_alive():
        thread.join(0.2)
    if errors:
        raise errors[0]


def _sample_lines(paths: list[Path]) -> Iterator[str]:
    """Yield lines of all files in turn, evenly subsampled if there are very many."""
    lines = sum(map(_count_lines, paths))
    step = max(1, -(-lines // MOST_LINES))
    thinned = [islice(chain.from_iterable(read_chunks(path)), 0, None, step) for path in paths]
    for turn in zip(*thinned, strict=True):
        yield from turn


@contextmanager
def _silent_stderr() -> Iterator[TextIO]:
    """Silence file descriptor 2: SentencePiece logs errors before it raises them.

    Yields the original standard error, for output that should be visible.
    """
    nowhere = os.open(os.devnull, os.O_WRONLY)
    with open(os.dup(2), "w", encoding="utf-8") as saved:  # noqa: PTH123 no path
        try:
            os.dup2(nowhere, 2)
            yield saved
        finally:
            os.dup2(saved.fileno(), 2)
            os.close(nowhere)
