"""The section `tokenizer`."""

from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from pydantic import Field
from typing_extensions import override

from nmt.config.section import MOST, BrokenRule, Section
from nmt.special_tokens import SPECIALS

SubwordKind = Literal["bpe", "unigram", "char"]
MOST_SUBWORDS = 250_000
_BYTES_AND_SPECIALS = 256 + len(SPECIALS)


class TokenizerConfig(Section):
    """How text is split into tokens, and tokens become ids."""

    kind: Literal["bpe", "unigram", "char", "spacy", "whitespace"] = Field(
        "bpe",
        description="SentencePiece subwords (bpe, unigram), characters (char), or words (spaCy's "
        "blank tokenizer, or split at whitespace)",
    )
    joint: bool = Field(True, description="one vocabulary for both languages")
    vocabulary_size: int = Field(
        8000,
        ge=8,
        le=10_000_000,
        description="maximum size of a vocabulary, including special tokens; for subwords, at most "
        f"{MOST_SUBWORDS:,}",
    )
    whitespace_as_suffix: bool = Field(
        False,
        description="mark the last token of each word as its end instead of the first one as its "
        "start (subwords only), so that a compound shares its last tokens with its last component; "
        "punctuation is split off, so that the mark directly follows the word",
    )
    min_count: int = Field(
        1,
        ge=1,
        le=MOST,
        description="words that occur less often than this in training become <unk> "
        "(word level only)",
    )
    byte_fallback: bool = Field(
        True, description="encode characters outside the vocabulary as bytes (subwords only)"
    )
    run: Path | None = Field(
        None,
        description="use the vocabularies of this run folder, and keep its held-out pairs out of "
        "training (nmt train --from sets it); unset: learn new vocabularies",
    )
    subword_regularization: float = Field(
        0.0,
        ge=0,
        le=1,
        description="random segmentation during training (subwords only): for bpe, the probability "
        "of dropping a merge (0.1 is usual); for unigram, the share of words to resample",
    )

    @property
    def subword(self) -> bool:
        """Whether SentencePiece makes the tokens."""
        return self.kind in get_args(SubwordKind)

    @override
    def broken_rules(self) -> Iterator[BrokenRule]:
        if self.subword_regularization and self.kind not in ("bpe", "unigram"):
            message = f"`subword_regularization` needs `kind: bpe` or `unigram`, not `{self.kind}`"
            yield ("subword_regularization", "kind"), message
        if self.whitespace_as_suffix and not self.subword:
            message = (
                f"`whitespace_as_suffix` needs `kind: bpe`, `unigram` or `char`, not `{self.kind}`"
            )
            yield ("whitespace_as_suffix", "kind"), message
        if self.vocabulary_size > MOST_SUBWORDS and self.subword:
            message = f"`vocabulary_size` is at most {MOST_SUBWORDS:,} for `kind: {self.kind}`"
            yield ("vocabulary_size", "kind"), message
        if self.vocabulary_size <= _BYTES_AND_SPECIALS and self.subword and self.byte_fallback:
            message = f"`vocabulary_size` must be more than {_BYTES_AND_SPECIALS} with "
            yield ("vocabulary_size", "byte_fallback", "kind"), message + "`byte_fallback: true`"
        if self.min_count > 1 and self.subword:
            message = f"`min_count` needs `kind: spacy` or `whitespace`, not `{self.kind}`"
            yield ("min_count", "kind"), message
