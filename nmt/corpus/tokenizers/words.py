"""Whole words; a word that touches its neighbour ("." in "Hello.") has a joiner mark."""

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import chain
from pathlib import Path

from typing_extensions import override

from nmt.config.tokenizer import TokenizerConfig
from nmt.corpus.text.normalization import JOINER, printable
from nmt.corpus.tokenizers.tokenizer import Texts, Tokenizer
from nmt.corpus.tokenizers.vocabulary import Vocabulary
from nmt.errors import UserError, one_line
from nmt.files.text_files import read_chunks
from nmt.progress import with_progress


class WordTokenizer(Tokenizer):
    """Whole words: split at spaces, or by spaCy's blank tokenizer."""

    whole_words = True

    def __init__(self, kind: str, language: str, vocabulary: Vocabulary):
        self.vocabulary = vocabulary
        self.split_lines = word_splitter(kind, language)

    @staticmethod
    @override
    def files(joint: bool) -> list[str]:
        sides = ["joint"] if joint else ["source", "target"]
        return [f"{side}.vocabulary.json" for side in sides]

    @classmethod
    @override
    def train(cls, config: TokenizerConfig, texts: Texts, symbols: str, file: Path) -> None:
        counts: Counter[str] = Counter()
        for language, path in texts:
            split = word_splitter(config.kind, language)
            chunks = chain.from_iterable(read_chunks(path))
            for words in split(with_progress(chunks, "counting words")):
                counts.update(words)
        Vocabulary.build(counts, config.vocabulary_size, config.min_count).save(file)

    @classmethod
    @override
    def load(cls, config: TokenizerConfig, language: str, file: Path) -> "WordTokenizer":
        return cls(config.kind, language, Vocabulary.load(file))

    @property
    @override
    def size(self) -> int:
        return len(self.vocabulary)

    @override
    def encode_lines(self, lines: Sequence[str]) -> list[list[int]]:
        return [[self.vocabulary.id(word) for word in words] for words in self.split_lines(lines)]

    @override
    def split(self, text: str) -> list[str]:
        return next(iter(self.split_lines([text])))

    @override
    def tokens(self, ids: Sequence[int]) -> list[str]:
        return [self.vocabulary.words[i] for i in ids]

    @override
    def join(self, tokens: Sequence[str]) -> str:
        text = " ".join(tokens).replace(f" {JOINER}", "").removeprefix(JOINER)
        return printable(text)  # a vocabulary may be hostile


def word_splitter(kind: str, language: str) -> Callable[[Iterable[str]], Iterable[list[str]]]:
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
