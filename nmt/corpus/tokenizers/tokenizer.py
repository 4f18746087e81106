"""The interface of all tokenizers: text to ids and back."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from itertools import chain
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from nmt.config.tokenizer import TokenizerConfig
from nmt.special_tokens import BOS, EOS, PAD, UNK

Texts = Sequence[tuple[str, Path]]  # language and file


class Tokenizer(ABC):
    """Converts the text of one language to ids and back."""

    #: Whether the word boundary mark is at the end of words instead of at their start.
    marks_end: bool = False
    #: Whether each token is a whole word, so that no other words can be spelled.
    whole_words: bool = False

    @staticmethod
    @abstractmethod
    def files(joint: bool) -> list[str]:
        """Return the names of the vocabulary files of source and target, or of the joint one."""

    @classmethod
    @abstractmethod
    def train(cls, config: TokenizerConfig, texts: Texts, symbols: str, file: Path) -> None:
        """Learn a vocabulary from texts, and write it.

        symbols: characters that are always tokens of their own (subwords only). Raises `UserError`
        if the text does not fit the configuration.
        """

    @classmethod
    @abstractmethod
    def load(cls, config: TokenizerConfig, language: str, file: Path) -> "Tokenizer":
        """Read a vocabulary; raises `UserError` if it is damaged."""

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
        return flat_ids(ids), line_lengths(ids)

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


def flat_ids(ids: Sequence[list[int]]) -> NDArray[np.int32]:
    """Return the concatenated ids of all lines."""
    return np.fromiter(chain.from_iterable(ids), np.int32)


def line_lengths(ids: Sequence[list[int]]) -> NDArray[np.int64]:
    """Return the number of ids of each line."""
    return np.fromiter(map(len, ids), np.int64, len(ids))
