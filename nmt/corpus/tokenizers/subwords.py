"""Subwords and characters, by SentencePiece, which marks the spaces."""

import os
import shutil
import threading
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property, partial
from itertools import chain, count, islice
from pathlib import Path
from typing import TextIO

import numpy as np
import sentencepiece
from numpy.typing import NDArray
from typing_extensions import override

from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.sources.readers import MAX_LINE_BYTES
from nmt.corpus.text.normalization import join_words, part_words, printable
from nmt.corpus.tokenizers.tokenizer import Texts, Tokenizer, flat_ids, line_lengths
from nmt.errors import UserError
from nmt.files.json_files import unreadable
from nmt.files.small_files import read_small
from nmt.files.text_files import read_chunks
from nmt.progress import elapsed
from nmt.special_tokens import BOS, EOS, PAD, SPECIALS, UNK

SPACE = "▁"
MOST_LINES = 1_000_000  # to learn subwords from
# In bytes: room for `MOST_SUBWORDS`. A forged model takes up to 40 times its size in memory.
LARGEST_MODEL = 10_000_000


class SubwordTokenizer(Tokenizer):
    """SentencePiece BPE (Sennrich et al. 2016), unigram (Kudo 2018) or single characters."""

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

    @staticmethod
    def files(joint: bool) -> list[str]:
        """The target of a joint vocabulary has its own file, with source-only tokens unused."""
        return ["joint.model" if joint else "source.model", "target.model"]

    @classmethod
    @override
    def train(cls, config: TokenizerConfig, texts: Texts, symbols: str, file: Path) -> None:
        _train_subwords(config, [path for _, path in texts], symbols, file)
        if config.joint:  # `put_target_first` separates them after the text is encoded
            shutil.copyfile(file, file.with_name("target.model"))

    @classmethod
    @override
    def load(cls, config: TokenizerConfig, language: str, file: Path) -> "SubwordTokenizer":
        return cls(file, config)

    @property
    @override
    def size(self) -> int:
        return self._size

    @cached_property  # asks about every token, which takes milliseconds
    @override
    def unknown_ids(self) -> list[int]:
        """<unk>, and the bytes that spell characters outside the vocabulary."""
        return [UNK, *(i for i in range(self.size) if self.processor.is_byte(i))]

    @override
    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        return self._encode(self._parted(lines))

    @override
    def encode(self, text: str) -> list[int]:
        # The library's batch call is ten times slower for a single line.
        [line] = self._parted([text])
        ids: list[int] = self.processor.encode(line, out_type=int)
        return ids

    def _parted(self, lines: Sequence[str]) -> list[str]:
        return list(map(part_words, lines) if self.marks_end else lines)

    def _encode(self, lines: list[str]) -> list[list[int]]:
        ids: list[list[int]] = self.processor.encode(lines, out_type=int)
        return ids

    @override
    def encode_flat(self, lines: Sequence[str]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
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
        lengths = line_lengths(ids)
        starts = np.cumsum(lengths) - lengths  # of each distinct word, in the flat ids
        word_lengths = lengths[words]
        word_starts = np.cumsum(word_lengths) - word_lengths  # of each word, in the result
        moves = np.repeat(starts[words] - word_starts, word_lengths)
        words_before = np.cumsum([0] + [line.count(" ") + 1 for line in lines])[:-1]
        return (
            flat_ids(ids)[np.arange(len(moves)) + moves],
            np.add.reduceat(word_lengths, words_before),
        )

    @override
    def tokens(self, ids: Sequence[int]) -> list[str]:
        return [self.processor.id_to_piece(int(i)) for i in ids]

    @override
    def join(self, tokens: Sequence[str]) -> str:
        # Byte tokens can spell invalid UTF-8, newlines and commands for the terminal; keep the
        # output a clean single line.
        text: str = self.processor.decode(list(tokens))
        text = " ".join(printable(text).split())
        return join_words(text) if self.marks_end else text


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


def _count_lines(path: Path) -> int:
    with path.open("rb") as file:
        return sum(block.count(b"\n") for block in iter(partial(file.read, 2**20), b""))


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
